"""Prodigy's JSONL: one file, several, or a folder with a file for each annotator."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay._util.text import counted
from assay.data.task import Task
from assay.io.files.sources import Source, members_of
from assay.io.formats import Export
from assay.io.formats.annotation_answers import SUBMITTED, Value
from assay.io.formats.annotations import Study

TITLE, RECOGNISED_BY = "Prodigy JSONL", "tasks with `_task_hash` and `answer`"

TASK, INPUT = "_task_hash", "_input_hash"
ANNOTATORS = ("_annotator_id", "_session_id")
UNNAMED = re.compile(r"(.*-)?\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}")
"""Session without a name: its start time."""
REGIONS = ("spans", "relations", "audio_spans", "image_spans", "tokens")
"""Keys of tasks that mark regions."""
WITHDRAWN = {"ignore": "ignored", "reject": "rejected", "accept": "skipped"}
KNOWN = ("accept", "reject", "ignore")
LABEL = "label"
ACCEPTED = "accepted"
"""Label of tasks that only ask whether something is right."""
NOBODY = "annotator"


def detect(source: Source) -> str:
    """Claim tasks with Prodigy's hashes and answers."""
    found = ""
    for member in members_of(source):
        first = member.source.first_json
        marked = [r for r in first if "answer" in r and {TASK, INPUT} & r.keys()]
        if not marked:
            return ""
        found = f"tasks with `{TASK if TASK in marked[0] else INPUT}` and `answer`"
    return found


@dataclass(kw_only=True)
class _Given:
    """Answers of one annotator to one item, perhaps from a task for each label."""

    place: object
    answers: dict[str, Value] = field(default_factory=dict)
    status: str = SUBMITTED


def read(source: Source, task: Task | None) -> Export:
    """Read choices, and accepted or rejected labels; ignored tasks are abstentions."""
    study = Study(source=source, unit="line", item=TASK)
    given: dict[tuple[object, str, int], _Given] = {}
    folder = source.kind == "folder"
    nameless = 0
    for member in members_of(source):
        for line, record in member.source.each():
            place = f"{member.file}:{line}" if folder else line
            item = record.get(TASK) if _is_choice(record) else record.get(INPUT)
            item = record.get(TASK, record.get(INPUT)) if item is None else item
            if item is None or record.get("answer") not in KNOWN:
                study.fault("{n} task{s} without a hash or without `answer`", place)
                continue
            names = [str(record[key]) for key in ANNOTATORS if record.get(key)]
            # Sessions without a name say when they began.
            rater = names[0] if names and not UNNAMED.fullmatch(names[0]) else ""
            nameless += not rater
            meta = record.get("meta")
            study.describe(item, meta if isinstance(meta, Mapping) else {})
            _gather(study, given, item, rater or (member.stem if folder else NOBODY), record, place)
    for (item, rater, _), said in given.items():
        study.add(item, rater, said.answers.items(), place=said.place, status=said.status)
    if nameless and not folder:
        study.note(
            f"{counted(nameless, 'task', 'name')} no annotator, so all of them count as one rater",
            code="nameless-annotators", tasks=nameless,
        )  # fmt: skip
    return study.export("prodigy", task)


def _is_choice(record: Mapping[str, Any]) -> bool:
    """Whether options were offered; some data sets keep only the chosen one."""
    return isinstance(record.get("options"), list) or isinstance(record.get("accept"), list)


def _gather(
    study: Study, given: dict[tuple[object, str, int], _Given], item: object, rater: str,
    record: Mapping[str, Any], place: object,
) -> None:  # fmt: skip
    """Add a task to the answers of an annotator; a repeated question is a repeated rating."""
    question, value = _answer(record)
    if not question:
        study.regions["spans"] += 1
        return
    repeat = 0
    while (key := (item, rater, repeat)) in given and question in given[key].answers:
        repeat += 1
    said = given.setdefault(key, _Given(place=place))
    if value is None:
        said.status = SUBMITTED if said.answers else WITHDRAWN[record["answer"]]
    else:
        said.answers[question], said.status = value, SUBMITTED


def _answer(record: Mapping[str, Any]) -> tuple[str, Value | None]:
    """Return question and answer of a task; no answer if ignored, no question if it marks spans."""
    answer = record["answer"]
    if _is_choice(record):
        chosen = tuple(map(str, record.get("accept") or ()))
        return LABEL, chosen if answer == "accept" else None
    named = record.get(LABEL)
    question = named if isinstance(named, str) and named else ACCEPTED
    if question == ACCEPTED and any(key in record for key in REGIONS):
        return "", None
    return question, {"accept": "yes", "reject": "no"}.get(answer)

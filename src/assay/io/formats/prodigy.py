"""Prodigy's annotations as JSONL: one file, or a folder with a file for each annotator."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay._util.text import counted
from assay.data.task import Task
from assay.io.annotation_answers import Value
from assay.io.annotations import Study
from assay.io.formats.format import Export, Format
from assay.io.json_stream import records_in
from assay.io.sources import Source, member_sources

TASK, INPUT = "_task_hash", "_input_hash"
ANNOTATORS = ("_annotator_id", "_session_id")
REGIONS = ("spans", "relations", "audio_spans", "image_spans")
LABEL = "label"


def detect(source: Source) -> str:
    """Claim tasks with the hash that Prodigy gives them, and what became of them."""
    for one in member_sources(source):
        if one.kind != "json":
            return ""
        marked = [r for r in one.first if {"answer"} <= r.keys() and {TASK, INPUT} & r.keys()]
        if not marked:
            return ""
        return f"tasks with `{TASK if TASK in marked[0] else INPUT}` and `answer`"
    return ""


def read(source: Source, task: Task | None) -> Export:
    """Read choices, and accepted or rejected labels; what was ignored is an abstention."""
    study = Study(source=source, unit="line")
    folder = source.kind == "folder"
    nameless = rejected = 0
    for one in member_sources(source):
        name = Path(one.name).name.split(".")[0]
        for line, record in records_in(one):
            rater = next((record[key] for key in ANNOTATORS if record.get(key)), None)
            if rater is None:
                nameless += 1
                rater = name if folder else "annotator"
            place = f"{Path(one.name).name}:{line}" if folder else line
            item = record.get(TASK, record.get(INPUT))
            if item is None or record.get("answer") not in ("accept", "reject", "ignore"):
                study.fault("{n} task{s} without a hash or without `answer`", place)
                continue
            meta = record.get("meta")
            study.describe(item, meta if isinstance(meta, Mapping) else {})
            rejected += _is_choice(record) and record["answer"] == "reject"
            _add(study, item, rater, record, place)
    if nameless and not folder:
        study.note(
            f"{counted(nameless, 'task', 'name')} no annotator: one rater is taken for all of them",
            "nameless-annotators", tasks=nameless,
        )  # fmt: skip
    if rejected:
        study.note(
            f"{counted(rejected, 'task', 'were')} rejected as a whole: an abstention each",
            "rejected-tasks", tasks=rejected,
        )  # fmt: skip
    return study.export("prodigy", task)


def _is_choice(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("options"), Sequence) or record.get("_view_id") == "choice"


def _add(
    study: Study, item: object, rater: object, record: Mapping[str, Any], place: object
) -> None:
    """Add one task: the options that were chosen, or whether its label is right."""
    answer = record["answer"]
    if answer == "ignore" or (_is_choice(record) and answer == "reject"):
        study.add(item, rater, (), place=place, status="ignored")
        return
    answers: list[tuple[str, Value]] = []
    if _is_choice(record):
        chosen = tuple(map(str, record.get("accept") or ()))
        single = _style(record) == "single"
        if chosen or not single:
            answers.append((LABEL, chosen))
    elif isinstance(record.get("label"), str) and not any(record.get(key) for key in REGIONS):
        answers.append((str(record["label"]), "yes" if answer == "accept" else "no"))
    elif not any(key in record for key in REGIONS):
        answers.append(("accepted", "yes" if answer == "accept" else "no"))
    if answers:
        study.add(item, rater, answers, place=place)
    elif not any(key in record for key in REGIONS):
        study.add(item, rater, (), place=place, status="skipped")


def _style(record: Mapping[str, Any]) -> str:
    config = record.get("config")
    told = config.get("choice_style") if isinstance(config, Mapping) else None
    return str(told or "")


FORMAT = Format(
    name="prodigy",
    title="Prodigy JSONL",
    recognised="tasks with `_task_hash` and `answer`",
    detect=detect,
    read=read,
)

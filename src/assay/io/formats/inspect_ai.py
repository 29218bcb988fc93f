"""inspect-ai's logs (JSON, packed, or a folder): the scores of each sample."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from assay._util.errors import RatingsError
from assay._util.text import counted
from assay.data.task import Task
from assay.io.files.sources import FilesSource, FolderSource, JsonSource, Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import MODEL, Value, unused_name
from assay.io.formats.annotations import Study

TITLE, RECOGNISED_BY = "inspect-ai log", "a log with `eval`, `plan` and `samples`"

HEADERS = ("header.json", "_journal/start.json")
SAMPLES = "samples/"
LOGS = (".json", ".eval")
VERDICTS = {"C": "yes", "I": "no", "P": "partly", "N": "no"}
"""Verdicts of scorers; a system that gives no answer is wrong."""
GRADES = ("no", "partly", "yes")
CORRECT = "correct"
"""Label of scorers that say right or wrong."""
JUDGES = ("model", "grader", "judge", "grader_model", "judge_model")
"""Options of scorers that name the grading model."""
MOST_CHARACTERS = 100
"""Most characters of a text that can be a class."""


def detect(source: Source) -> str:
    """Claim logs with an evaluation and its samples."""
    for record in source.first_json[:1]:
        if isinstance(record.get("eval"), Mapping) and {"plan", "version"} <= record.keys():
            return "a log with `eval`, `plan` and `samples`"
        scores = record.get("scores")
        scored = isinstance(scores, Mapping) and all(
            isinstance(score, Mapping) and "value" in score for score in scores.values()
        )
        if "id" in record and "epoch" in record and scored:
            return "samples with `id`, `epoch` and `scores`"
    if isinstance(source, FilesSource) and set(HEADERS) & set(source.files):
        return "a packed log with header.json or _journal"
    if isinstance(source, FolderSource):
        logs = [file for file in source.files if file.endswith(LOGS) and file != "logs.json"]
        if logs and len(logs) == len([f for f in source.files if f != "logs.json"]):
            return "logs of evaluations" if all(map(detect, map(source.member, logs[:3]))) else ""
    return ""


def read(source: Source, task: Task | None) -> Export:
    """Read scorers as raters, and evaluated models as systems."""
    study = Study(source=source, unit="sample")
    logs = list(_logs(source))
    several = len({_system(header) for header, _ in logs}) > 1
    unscored = place = 0
    for header, samples in logs:
        scorers = _scorers(header)
        for sample in samples:
            place += 1
            unscored += _add_sample(study, header, sample, scorers, place, several=several)
    if unscored:
        study.note(
            f"{counted(unscored, 'score', 'are')} missing, because the scorer gave none",
            code="scores-missing", scores=unscored,
        )  # fmt: skip
    return study.export("inspect", task)


Log = tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]]


def _logs(source: Source) -> Iterator[Log]:
    """Yield the header and the samples of each log."""
    if isinstance(source, JsonSource):
        for _, record in source.each():
            if "eval" not in record:  # a sample a line, without a header
                yield {}, iter([record])
                continue
            samples = record.get("samples")
            held = samples if isinstance(samples, list) else []
            yield record, iter([one for one in held if isinstance(one, Mapping)])
    elif isinstance(source, FilesSource):
        name = next((file for file in HEADERS if file in source.files), "")
        if not name:
            raise RatingsError.of(
                "damaged-export", "the log has no header", source.name,
                mend="copy the log again from the place where inspect wrote it",
            )  # fmt: skip
        files = [file for file in source.files if file.startswith(SAMPLES)]
        yield _record(source, name), (_record(source, file) for file in files)
    elif isinstance(source, FolderSource):
        for file in source.files:
            if file.endswith(LOGS) and file != "logs.json":
                yield from _logs(source.member(file))


def _record(source: FilesSource, file: str) -> Mapping[str, Any]:
    member = source.member(file)
    return next((record for _, record in member.each()), {})


def _system(header: Mapping[str, Any]) -> str:
    told = header.get("eval")
    return str(told.get("model") or "") if isinstance(told, Mapping) else ""


def _scorers(header: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return label and rater of each scorer, by the key of its scores."""
    told = header.get("eval")
    listed = (told.get("scorers") if isinstance(told, Mapping) else None) or []
    found: dict[str, tuple[str, str]] = {}
    for scorer in listed:
        if not isinstance(scorer, Mapping) or not scorer.get("name"):
            continue
        name = str(scorer["name"]).rpartition("/")[2]
        key = unused_name(name, found, first=1, between="")
        options = scorer.get("options")
        judge = next((options[o] for o in JUDGES if isinstance(options.get(o), str)), "") if (
            isinstance(options, Mapping)
        ) else ""  # fmt: skip
        found[key] = (name, judge or key)
    return found


def _add_sample(
    study: Study, header: Mapping[str, Any], sample: Mapping[str, Any],
    scorers: Mapping[str, tuple[str, str]], place: int, *, several: bool,
) -> int:  # fmt: skip
    """Add the scores of a sample; return how many are missing."""
    if sample.get("id") is None:
        study.fault("{n} sample{s} without an id", place)
        return 0
    system, known = _system(header), str(sample["id"])
    epoch, settings = sample.get("epoch"), header.get("eval")
    config = settings.get("config") if isinstance(settings, Mapping) else None
    epochs = config.get("epochs") if isinstance(config, Mapping) else 1
    several_epochs = isinstance(epoch, int) and isinstance(epochs, int) and epochs > 1
    item = f"{known}, epoch {epoch}" if several_epochs else known
    item = f"{item}, {system}" if several else item
    study.describe(item, {"system": system, "cluster": known})
    raters: dict[str, tuple[dict[str, Value], dict[str, float]]] = {}
    missing = 0
    told = sample.get("scores")
    scores: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    for key, score in scores.items():
        value = score.get("value") if isinstance(score, Mapping) else score
        same = re.sub(r"\d+$", "", key)  # same names are numbered
        name, rater = scorers.get(key) or (same if same in scores else key, key)
        answers, graded = raters.setdefault(rater, ({}, {}))
        parts = value.items() if isinstance(value, Mapping) else [("", value)]
        for part, held in parts:
            label = f"{name}: {part}" if part and len(scorers) > 1 else str(part) or name
            missing += _add_score(label, held, answers, graded)
    for rater, (answers, graded) in raters.items():
        study.add(item, rater, answers.items(), place=place, group=MODEL, scores=graded)
    return missing


def _add_score(
    label: str, value: object, answers: dict[str, Value], graded: dict[str, float]
) -> bool:
    """Add a score as an answer, or as a number from 0 to 1; return whether it is missing."""
    if isinstance(value, str) and value in VERDICTS:
        answers[CORRECT] = VERDICTS[value]
    elif isinstance(value, str) and value.lower() not in ("", "nan"):
        if len(value) <= MOST_CHARACTERS:
            answers[label] = value
    elif isinstance(value, bool):
        answers[label] = "yes" if value else "no"
    elif isinstance(value, int | float) and not math.isnan(value):
        if float(value).is_integer():
            answers[label] = value
        elif 0 <= value <= 1:
            graded[label] = float(value)
    else:
        return True
    return False

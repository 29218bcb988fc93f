"""Label Studio's JSON export: tasks with annotations and predictions."""

from collections.abc import Iterator, Mapping
from typing import Any

from assay._util.text import counted
from assay.data.task import Task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import MODEL, SUBMITTED, Value
from assay.io.formats.annotations import Study

TITLE, RECOGNISED_BY = "Label Studio JSON", "tasks with `data` and `annotations`"

MADE = ("annotations", "completions")
"""Keys of annotations, in newer and older versions."""
NAMES = ("email", "username", "id")
"""Fields of ``completed_by`` that name the rater."""
CHOSEN = ("choices", "rating", "number", "taxonomy", "pairwise", "text", "datetime", "ranker")
"""Types of answers to a whole task; other results are about regions."""
PARTS = frozenset({"start", "end", "x", "points", "rle"})
"""Keys of values about a region."""
GRADES = ("rating", "number")


def detect(source: Source) -> str:
    """Claim JSON of tasks with data, and annotations or predictions."""
    for record in source.first_json:
        held = [key for key in (*MADE, "predictions") if isinstance(record.get(key), list)]
        if held and isinstance(record.get("data"), dict):
            return f"tasks with `data` and `{held[0]}`"
    return ""


def read(source: Source, task: Task | None) -> Export:
    """Read controls as labels, cancelled annotations as abstentions, predictions as raters."""
    study = Study(source=source, unit="task", item="id")
    drafts = 0
    for place, found in source.each():
        drafts += len(found.get("drafts") or ())
        if found.get("id") is None and found.get("inner_id") is None:
            item = place
        else:
            item = found.get("id", found.get("inner_id"))
        if isinstance(found.get("data"), dict):
            study.describe(item, found["data"])
        made: list[Any] = next((found[key] for key in MADE if isinstance(found.get(key), list)), [])
        for annotation in made:
            if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
                study.fault("{n} annotation{s} without a list `result`", item)
                continue
            answers = list(_answers(study, annotation["result"], item))
            if annotation.get("ground_truth"):
                study.know(item, answers)
                continue
            _add_annotation(study, item, annotation, answers)
        for prediction in found.get("predictions") or ():
            if isinstance(prediction, dict) and isinstance(prediction.get("result"), list):
                _add_prediction(study, item, prediction)
    if study.shared:
        study.note(
            f"{counted(study.shared, 'prediction', 'have')} one score for several answers, which "
            "is read as the confidence in each",
            code="shared-score", predictions=study.shared,
        )  # fmt: skip
    if drafts:
        study.note(
            f"{counted(drafts, 'draft', 'are')} left out, because they were never submitted",
            code="drafts-left-out", drafts=drafts,
        )  # fmt: skip
    return study.export("label_studio", task)


def _add_annotation(
    study: Study, item: object, annotation: Mapping[str, Any], answers: list[tuple[str, Value]]
) -> None:
    rater = annotation.get("completed_by")  # a number, or an object with names
    if isinstance(rater, dict):
        rater = next((rater[key] for key in NAMES if rater.get(key) not in (None, "")), None)
    if rater is None:
        study.fault("{n} annotation{s} without `completed_by`", item)
        return
    cancelled = annotation.get("was_cancelled") or annotation.get("skipped")
    if not answers and not cancelled and annotation["result"]:
        return  # only regions are marked
    study.add(
        item, rater, answers, place=item,
        status="cancelled" if cancelled else SUBMITTED,
        seconds=_number(annotation.get("lead_time")),
    )  # fmt: skip


def _add_prediction(study: Study, item: object, prediction: Mapping[str, Any]) -> None:
    """Add a prediction; its score is shared by all its answers."""
    answers = list(_answers(study, prediction["result"], item))
    if not answers:
        return
    scores = {
        str(result.get("from_name")): number
        for result in prediction["result"]
        if isinstance(result, dict) and (number := _number(result.get("score"))) is not None
    }
    whole = _number(prediction.get("score"))
    names = {name for name, _ in answers}
    if not scores and whole is not None:
        scores = dict.fromkeys(names, whole)
        study.shared += len(names) > 1
    name = str(prediction.get("model_version") or "predictions")
    study.add(item, name, answers, place=item, group=MODEL, confidence=scores)


def _answers(study: Study, results: list[Any], item: object) -> Iterator[tuple[str, Value]]:
    """Yield the answers of an annotation by control; count results about regions."""
    for result in results:
        if not isinstance(result, dict):
            study.fault("{n} result{s} that are no objects", item)
            continue
        kind, value = result.get("type"), result.get("value")
        if kind == "relation" or not result.get("from_name"):
            continue
        if not isinstance(value, dict):
            study.fault("{n} result{s} without `value`", item)
            continue
        name = str(result["from_name"])
        if (kind not in CHOSEN and kind != "textarea") or not PARTS.isdisjoint(value):
            study.regions[name] += 1
            continue
        answer = _answer(kind, value)
        if answer is not None:
            yield name, answer


def _answer(kind: object, value: Mapping[str, Any]) -> Value | None:
    """Return the answer of a result; None if it has none."""
    if kind in GRADES:
        return _number(value.get(str(kind)))
    if kind == "pairwise":
        return str(value["selected"]) if value.get("selected") else None
    given = value.get("text" if kind == "textarea" else str(kind))
    if kind == "taxonomy" and isinstance(given, list):
        return tuple(" / ".join(map(str, path)) for path in given if isinstance(path, list))
    if kind == "choices" and isinstance(given, list):
        return tuple(map(str, given)) or None
    if isinstance(given, list):
        return " ".join(map(str, given))
    return None if given is None else str(given)


def _number(found: object) -> float | None:
    return None if isinstance(found, bool) or not isinstance(found, int | float) else found

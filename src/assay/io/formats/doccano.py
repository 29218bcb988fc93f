"""doccano's exports of classes (JSONL, JSON, CSV): a file for each user, in a folder or archive."""

from collections.abc import Mapping
from typing import Any

from assay._util.text import counted
from assay.data.task import Task
from assay.io.files.sources import Source, members_of
from assay.io.formats import Export
from assay.io.formats.annotations import Study

TITLE, RECOGNISED_BY = "doccano export", "texts with `id`, `label` and `Comments`"

COMMENTS = ("Comments", "comments", "annotation_approver")
TEXTS = ("text", "data", "filename")
LABELS = ("label", "labels", "cats", "categories")
SPANS = ("entities", "relations")
BETWEEN = "#"
"""Separator of the labels of a text in CSV."""
LABEL = "label"


def detect(source: Source) -> str:
    """Claim texts with a list of labels and comments."""
    found = ""
    for member in members_of(source):
        columns = set(member.source.columns)
        if not columns & set(COMMENTS) or not columns & set(TEXTS) or "id" not in columns:
            return ""
        if not columns & set(LABELS):
            return ""
        found = "texts with `id`, `label` and `Comments`"
    return found


def read(source: Source, task: Task | None) -> Export:
    """Read each file as a rater; a text without a label was not rated."""
    study = Study(source=source, unit="line", item="id")
    folder = source.kind == "folder"
    empty = 0
    for member in members_of(source):
        for line, record in member.source.each():
            place = f"{member.file}:{line}" if folder else line
            if record.get("id") in (None, ""):
                study.fault("{n} text{s} without an id", place)
                continue
            chosen = _labels(record)
            if _has_spans(record):
                study.regions["spans"] += 1
            if not chosen:
                empty += not _has_spans(record)
                continue
            item = str(record["id"])
            others = {k: v for k, v in record.items() if k not in (*LABELS, *COMMENTS, "id")}
            study.describe(item, others)
            study.add(item, member.stem, [(LABEL, chosen)], place=place)
    if empty and study.places:
        study.note(
            f"{counted(empty, 'text', 'have')} no label in a file and are not ratings: the format "
            "does not say whether no label applies or no rater read them",
            code="texts-without-label", texts=empty,
        )  # fmt: skip
    if not folder:
        study.note(
            "one file holds one rater. To compare raters, give the folder or the zip file with the "
            "files of all users",
            code="one-file-one-rater",
        )
    return study.export("doccano", task)


def _labels(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the classes of a text, without spans."""
    for held in (record[key] for key in LABELS if key in record):
        if isinstance(held, str):
            return tuple(part for part in held.split(BETWEEN) if part)
        if isinstance(held, list) and held and all(isinstance(part, str) for part in held):
            return tuple(held)
    return ()


def _has_spans(record: Mapping[str, Any]) -> bool:
    """Whether parts of a text are marked."""
    held = [record.get(key) for key in (*LABELS, *SPANS)]
    return any(isinstance(one, list) and any(not isinstance(p, str) for p in one) for one in held)

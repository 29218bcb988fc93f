"""Argilla's flattened records (JSON, Parquet, Hugging Face), with columns for each question."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from assay.data.task import Task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import one_or_several
from assay.io.formats.annotations import Study
from assay.io.formats.argilla import add_responses, add_suggestions, first_of

TITLE, RECOGNISED_BY = "Argilla data set", "columns `….responses` and `….responses.users`"

RESPONSES, USERS, STATUS = ".responses", ".responses.users", ".responses.status"
SUGGESTION = ".suggestion"
OWN = ("id", "status", "_server_id", "external_id", "inserted_at", "updated_at")


def detect(source: Source) -> str:
    """Claim columns of responses with users, or of suggestions with agents."""
    columns = set(source.columns)
    for name in source.columns:
        if (
            name.endswith(USERS)
            and f"{name.removesuffix(USERS)}{RESPONSES}" in columns
            and any(_listed(record.get(name)) for record in source.first)
        ):
            return f"columns {name.removesuffix(USERS)}{RESPONSES} and {name}"
        if name.endswith(f"{SUGGESTION}.agent") and name.removesuffix(".agent") in columns:
            return f"columns {name.removesuffix('.agent')} and {name}"
    return ""


def read(source: Source, task: Task | None) -> Export:
    """Read each question as a label, and agents of suggestions as raters."""
    study = Study(source=source, unit="record", item="id")
    answered = [c.removesuffix(USERS) for c in source.columns if c.endswith(USERS)]
    suggested = [c.removesuffix(SUGGESTION) for c in source.columns if c.endswith(SUGGESTION)]
    names = dict.fromkeys([*answered, *suggested])
    beside = [
        c for c in source.columns
        if c not in OWN and not any(c.startswith((f"{q}{RESPONSES}", f"{q}{SUGGESTION}"))
                                    for q in names)
    ]  # fmt: skip
    for place, record in source.each():
        item = first_of(record, "id", "external_id", "_server_id", otherwise=place)
        study.describe(item, {key: record[key] for key in beside if key in record})
        add_responses(study, item, dict(_responses(study, record, answered, place)), place)
        add_suggestions(study, item, {q: _suggestion(record, q) for q in suggested}, place)
    return study.export("argilla", task)


def _responses(
    study: Study, record: Mapping[str, Any], questions: list[str], place: int
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the responses to each question, which has parallel lists of its own."""
    for question in questions:
        values, who, what = (_listed(record.get(f"{question}{end}"))
                             for end in (RESPONSES, USERS, STATUS))  # fmt: skip
        if len(values) != len(who) or (what and len(what) != len(who)):
            study.fault("{n} record{s} whose lists of responses and users differ in length", place)
            continue
        yield (
            question,
            [
                {"user_id": str(user), "value": _plain(value), "status": status}
                for value, user, status in zip(values, who, what or [None] * len(who), strict=True)
            ],
        )


def _suggestion(record: Mapping[str, Any], question: str) -> dict[str, Any]:
    name = f"{question}{SUGGESTION}"
    agent = record.get(f"{name}.agent")
    return {
        "value": _plain(record.get(name)), "score": _plain(record.get(f"{name}.score")),
        "agent": agent if isinstance(agent, str) else None,
    }  # fmt: skip


def _listed(cell: object) -> list[Any]:
    held = _plain(cell)
    return list(held) if isinstance(held, list | tuple) else []


def _plain(cell: object) -> Any:
    """Return a cell with arrays and texts of lists as lists."""
    if isinstance(cell, str) and cell.startswith("["):
        listed = one_or_several(cell)
        return list(listed) if isinstance(listed, tuple) else cell
    if isinstance(cell, np.ndarray):
        return [_plain(part) for part in cell.tolist()]
    return cell.item() if isinstance(cell, np.generic) else cell

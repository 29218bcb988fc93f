"""Argilla's flattened records (JSON, Parquet, Hugging Face), with columns for each question."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.data.task import Task
from assay.io.files.sources import Source
from assay.io.formats.annotation_answers import Value, one_or_several
from assay.io.formats.annotations import Study
from assay.io.formats.argilla import AGENT, add_agents, add_users, answer_of, first_of, score_of
from assay.io.formats.format import Export, Format

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
        _add_responses(study, item, record, answered, place)
        _add_suggestions(study, item, record, suggested, place)
    return study.export("argilla", task)


def _add_responses(
    study: Study, item: object, record: Mapping[str, Any], questions: list[str], place: int
) -> None:
    """Add the answers of each user; each question has its own parallel lists."""
    users: dict[str, dict[str, Value]] = {}
    status: dict[str, str] = {}
    for question in questions:
        values, who, what = (_listed(record.get(f"{question}{end}"))
                             for end in (RESPONSES, USERS, STATUS))  # fmt: skip
        if len(values) != len(who) or (what and len(what) != len(who)):
            study.fault("{n} record{s} whose lists of responses and users differ in length", place)
            continue
        for n, (value, user) in enumerate(zip(values, who, strict=True)):
            answers = users.setdefault(str(user), {})
            answer = answer_of(_plain(value))
            if answer is not None:
                answers[question] = answer
            if what and what[n]:
                status[str(user)] = str(what[n])
    add_users(study, item, users, status, place)


def _add_suggestions(
    study: Study, item: object, record: Mapping[str, Any], questions: list[str], place: int
) -> None:
    agents: dict[str, dict[str, tuple[Value, Any]]] = {}
    for question in questions:
        answer = answer_of(_plain(record.get(f"{question}{SUGGESTION}")))
        agent = record.get(f"{question}{SUGGESTION}.agent")
        score = score_of(_plain(record.get(f"{question}{SUGGESTION}.score")))
        if answer is not None:
            named = agent if isinstance(agent, str) and agent else AGENT
            agents.setdefault(named, {})[question] = (answer, score)
    add_agents(study, item, agents, place)


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


FORMAT = Format(
    name="argilla-flat",
    title="Argilla data set",
    recognised="columns `….responses` and `….responses.users`",
    detect=detect,
    read=read,
)

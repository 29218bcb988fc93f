"""Argilla's records as JSON, with nested fields, responses and suggestions."""

from collections.abc import Mapping
from typing import Any

from assay.data.task import Task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import MODEL, SUBMITTED, Value
from assay.io.formats.annotations import Study

TITLE, RECOGNISED_BY = "Argilla records", "records with `fields`, `responses` and `suggestions`"

AGENT = "suggestions"
"""Name of the model rater whose suggestions name no agent."""


def detect(source: Source) -> str:
    """Claim records with fields, and responses or suggestions by question."""
    for record in source.first_json:
        nested = isinstance(record.get("responses"), dict | list)
        if nested and isinstance(record.get("fields"), dict) and "suggestions" in record:
            return "records with `fields`, `responses` and `suggestions`"
    return ""


def read(source: Source, task: Task | None) -> Export:
    """Read each question as a label, and agents of suggestions as raters."""
    study = Study(source=source, unit="record", item="id")
    told = False
    for place, record in source.each():
        item = first_of(record, "id", "external_id", "_server_id", otherwise=place)
        metadata = record.get("metadata")
        if isinstance(metadata, Mapping):
            study.describe(item, metadata)
        if isinstance(record.get("fields"), Mapping):
            study.describe(item, record["fields"])
        told |= add_responses(study, item, record.get("responses"), place)
        add_suggestions(study, item, record.get("suggestions"), place)
    if not told:
        study.note(
            "this format does not say which responses are drafts or discarded, so all count. "
            "The data set as Parquet (`to_datasets`) has their status",
            code="status-lost",
        )
    return study.export("argilla", task)


def first_of(record: Mapping[str, Any], *keys: str, otherwise: object) -> object:
    """Return the first non-empty value of these keys."""
    held = (record.get(key) for key in keys)
    return next((one for one in held if one is not None and one != ""), otherwise)


def add_responses(study: Study, item: object, given: object, place: int) -> bool:
    """Add the responses of each user; return whether they have a status."""
    users: dict[str, dict[str, Value]] = {}
    status: dict[str, str] = {}
    for question, responses in _by_question(given, study, place):
        for response in responses:
            if not isinstance(response, Mapping) or response.get("user_id") is None:
                study.fault("{n} response{s} without `user_id`", place)
                continue
            user = str(response["user_id"])
            answer = _answer(response.get("value"))
            users.setdefault(user, {})
            if answer is not None:
                users[user][question] = answer
            if response.get("status"):
                status[user] = str(response["status"])
    for user, answers in users.items():
        word = status.get(user, SUBMITTED)
        study.add(item, user, answers.items(), place=place, status=word)
    return bool(status)


def _by_question(given: object, study: Study, place: int) -> list[tuple[str, list[Any]]]:
    """Return the responses by question, from newer and older versions."""
    if isinstance(given, Mapping):
        return [(str(k), v if isinstance(v, list) else [v]) for k, v in given.items()]
    found: dict[str, list[Any]] = {}
    for one in given if isinstance(given, list) else ():
        if not isinstance(one, Mapping) or not isinstance(one.get("values"), Mapping):
            study.fault("{n} response{s} without `values`", place)
            continue
        for question, held in one["values"].items():
            value = held.get("value") if isinstance(held, Mapping) else held
            found.setdefault(str(question), []).append({**one, "value": value})
    return list(found.items())


def add_suggestions(study: Study, item: object, given: object, place: int) -> None:
    """Add the suggestions of each agent as a rating by a model."""
    if isinstance(given, list):
        given = {one.get("question_name"): one for one in given if isinstance(one, Mapping)}
    agents: dict[str, dict[str, tuple[Value, Any]]] = {}
    for question, held in given.items() if isinstance(given, Mapping) else ():
        if isinstance(held, Mapping) and (answer := _answer(held.get("value"))) is not None:
            agent = str(held.get("agent") or AGENT)
            agents.setdefault(agent, {})[str(question)] = (answer, _score(held.get("score")))
    for agent, found in agents.items():
        scores = {name: score for name, (_, score) in found.items() if score is not None}
        answers = [(name, answer) for name, (answer, _) in found.items()]
        study.add(item, agent, answers, place=place, group=MODEL, confidence=scores)


def _answer(value: object) -> Value | None:
    """Return a class, a grade, or a tuple of options; None for rankings and spans."""
    if isinstance(value, bool | int | float):
        return None if value != value else value
    if isinstance(value, list | tuple):
        whole = all(isinstance(part, str) for part in value)
        return tuple(map(str, value)) if whole else None
    return str(value) if isinstance(value, str) else None


def _score(value: object) -> float | tuple[float, ...] | None:
    """Return a score, or one for each option; None if there is none."""
    if isinstance(value, list | tuple):
        numbers = [float(part) for part in value if isinstance(part, int | float)]
        return tuple(numbers) if len(numbers) == len(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return float(value)

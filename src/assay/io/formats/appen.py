"""Appen's full report (Figure Eight, CrowdFlower): a row for each judgement."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from assay._util.errors import RatingsError
from assay._util.text import counted
from assay.data.task import Task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import Value, one_or_several
from assay.io.formats.annotations import Study

TITLE, RECOGNISED_BY = "Appen full report", "columns `_unit_id` and `_worker_id`"

UNIT, WORKER, GOLDEN, TRUSTED = "_unit_id", "_worker_id", "_golden", "_trusted_judgments"
GOLD, REASON, CONFIDENCE = "_gold", "_gold_reason", ":confidence"
SEVERAL = "\n"
"""Separator of several answers in a cell."""


def detect(source: Source) -> str:
    """Claim tables of units with workers, or with aggregated answers."""
    columns = set(source.columns)
    if source.kind != "table" or UNIT not in columns:
        return ""
    if WORKER in columns:
        return f"columns {UNIT} and {WORKER}"
    return f"columns {UNIT} and {TRUSTED}" if TRUSTED in columns else ""


def read(source: Source, task: Task | None) -> Export:
    """Read each question as a label, and gold answers as truth; refuse aggregated reports."""
    if WORKER not in source.columns:
        raise RatingsError.of(
            "aggregated-report",
            "this is the aggregated report, with one answer for each unit and no judgements",
            source.name,
            mend="export the full report, which has a row for each judgement",
        )
    table = source.plain_table()
    questions = _questions(table.frame, () if task is None else task.label_names)
    study = Study(source=source, unit="line", item=UNIT)
    several = {q for q in questions if table.frame[q].str.contains(SEVERAL).any()}
    own = {f"{question}{end}" for question in questions for end in ("", GOLD, REASON, CONFIDENCE)}
    beside = [c for c in table.frame.columns if not c.startswith("_") and c not in own]
    either: set[tuple[str, str]] = set()
    tainted = 0
    for place, row in zip(table.lines, table.frame.to_dict("records"), strict=True):
        if not row[UNIT] or not row[WORKER]:
            study.fault("{n} row{s} without _unit_id or _worker_id", place)
            continue
        study.describe(row[UNIT], {name: row[name] for name in beside if row[name]})
        answers = [(q, _answer(row[q], q in several)) for q in questions if row[q]]
        study.add(row[UNIT], row[WORKER], answers, place=place)
        study.know(row[UNIT], _gold(row, questions, several, either))
        tainted += row.get("_tainted", "").lower() == "true"
    _note(study, len(either), tainted)
    study.truth = {item: known for item, known in study.truth.items() if known}
    return study.export("appen", task)


def _questions(frame: pd.DataFrame, named: Sequence[str]) -> list[str]:
    """Return columns that vary within units, those with gold if any; others were only shown."""
    columns = [
        c for c in frame.columns
        if not c.startswith("_") and not c.endswith((GOLD, REASON, CONFIDENCE))
    ]  # fmt: skip
    if named and (found := [c for c in columns if c in named]):
        return found
    within = frame.groupby(UNIT, sort=False)[columns].nunique().max()
    answered = [c for c in columns if within[c] > 1]
    golden = [c for c in columns if f"{c}{GOLD}" in frame.columns]
    return [c for c in answered if c in golden] or answered or golden


def _answer(cell: str, several: bool) -> Value:
    listed = one_or_several(cell.strip())
    if isinstance(listed, tuple):
        return listed
    parts = tuple(part.strip() for part in cell.split(SEVERAL) if part.strip())
    return parts if several else cell.strip()


def _gold(
    row: Mapping[Any, str], questions: Sequence[str], several: set[str],
    either: set[tuple[str, str]],
) -> Iterator[tuple[str, Value]]:  # fmt: skip
    """Yield the gold of a unit; several answers to a single choice are no truth."""
    for question in questions:
        cell = row.get(f"{question}{GOLD}", "").strip()
        if not cell:
            continue
        gold = _answer(cell, several=True)
        if question in several:
            yield question, gold
        elif isinstance(gold, tuple) and len(gold) == 1:
            yield question, gold[0]
        else:
            either.add((row[UNIT], question))


def _note(study: Study, either: int, tainted: int) -> None:
    if either:
        study.note(
            f"{counted(either, 'gold answer', 'allow')} several classes, so they are not used as "
            "truth",
            code="gold-of-several", answers=either,
        )  # fmt: skip
    if tainted:
        study.note(
            f"{counted(tainted, 'judgement', 'are')} of workers that the platform did "
            "not trust; they count like all others, because reliability is estimated",
            code="untrusted-kept", judgements=tainted,
        )  # fmt: skip

"""Label Studio's exports with a row for each annotation: JSON_MIN, CSV and TSV."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from assay._util.text import counted, listed
from assay.data.task import Task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import Value, number_in
from assay.io.formats.annotations import Study

TITLE, RECOGNISED_BY = (
    "Label Studio JSON_MIN or CSV",
    "columns `annotator`, `annotation_id` and `lead_time`",
)

MARKS = frozenset({"annotator", "annotation_id", "lead_time"})
OWN = (*MARKS, "id", "created_at", "updated_at", "agreement", "history")
FEWEST_TASKS = 3
"""Fewest tasks with several annotations to tell data of tasks, which are constant within them."""


def detect(source: Source) -> str:
    """Claim rows with Label Studio's own columns."""
    columns = set(source.columns)
    return "columns annotator, annotation_id and lead_time" if columns >= MARKS else ""


def read(source: Source, task: Task | None) -> Export:
    """Read each control as a label; the format does not distinguish controls from data of tasks."""
    rows = [row for _, row in source.each()]
    controls = _controls(source, rows, () if task is None else task.label_names)
    table = source.plain_table() if source.kind == "table" else None
    places = range(1, len(rows) + 1) if table is None else list(table.lines)
    study = Study(source=source, unit="row" if table is None else "line", item="id")
    others = [
        key
        for key in dict.fromkeys(key for row in rows for key in row)
        if key not in (*OWN, *controls)
    ]
    several = [name for name in controls if any(_is_several(row.get(name)) for row in rows)]
    for place, row in zip(places, rows, strict=True):
        _add(study, row, place, controls, others, several)
    empty = {n: sum(_answer(_unpacked(row.get(n))) is None for row in rows) for n in several}
    for name in (n for n in several if empty[n]):
        study.note(
            f"{counted(empty[name], 'empty cell')} of {name} count as no option chosen",
            code="nothing-chosen", cells=empty[name],
        )  # fmt: skip
    study.note(
        "this format has no skipped annotations, predictions or ground truth, but the export as "
        "JSON has them",
        code="format-loses",
    )
    if others:
        study.note(
            f"{listed(others)} {'is' if len(others) == 1 else 'are'} read as data of the tasks, "
            f"and {listed(controls)} as {'a label' if len(controls) == 1 else 'labels'}, because "
            "the format does not distinguish them",
            code="controls-or-data",
        )
    return study.export("label_studio", task)


def _controls(source: Source, rows: Sequence[Mapping[str, Any]], named: Sequence[str]) -> list[str]:
    """Return the columns of controls; in JSON, those between the task's id and the annotator."""
    keys = [k for k in dict.fromkeys(key for row in rows for key in row) if k not in OWN]
    if source.kind == "json" and all("id" in row for row in rows[:1]):
        between: dict[str, None] = {}
        for row in rows:
            names = list(row)
            if "id" in row and "annotator" in row:
                between.update(dict.fromkeys(names[names.index("id") : names.index("annotator")]))
        inside = [key for key in keys if key in between]
        if inside:
            return inside
    data = _data_of_tasks(rows, keys)
    answers = [key for key in keys if key in named or _may_answer(rows, key)]
    return [key for key in answers if key in named or key not in data] or answers


def _data_of_tasks(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> set[str]:
    """Return columns that are constant within tasks."""
    frame = pd.DataFrame({key: [str(row.get(key, "")) for row in rows] for key in keys})
    tasks = pd.Series([str(row.get("id", "")) for row in rows])
    several = tasks.duplicated(keep=False).to_numpy()
    if tasks[several].nunique() < FEWEST_TASKS:
        return set()
    within = frame[several].groupby(tasks[several]).nunique().max()
    return {key for key in keys if within[key] == 1}


def _may_answer(rows: Sequence[Mapping[str, Any]], key: str) -> bool:
    """Whether a column holds repeated words, or JSON of choices."""
    cells = [cell for row in rows if (cell := row.get(key)) not in (None, "")]
    if any(isinstance(_unpacked(cell), dict | list) for cell in cells[:100]):
        return True
    distinct = len(set(map(str, cells)))
    return distinct > 0 and (distinct * 2 <= len(cells) or distinct <= 2)


def _add(
    study: Study, row: Mapping[str, Any], place: int, controls: Sequence[str],
    others: Sequence[str], several: Sequence[str],
) -> None:  # fmt: skip
    rater = row.get("annotator")
    if rater in (None, "") and row.get("annotation_id") in (None, ""):
        return  # a task without annotations
    if rater in (None, ""):
        study.fault("{n} row{s} without an annotator", place)
        return
    data = {key: row[key] for key in others if row.get(key) not in (None, "")}
    item = row.get("id")
    if item in (None, ""):
        if not data:
            study.fault("{n} row{s} without an id", place)
            return
        item = next(iter(data.values()))
    study.describe(item, data)
    found = {name: _answer(_unpacked(row.get(name))) for name in controls}
    found |= {name: () for name in several if found[name] is None}
    answers = [(name, answer) for name, answer in found.items() if answer is not None]
    seconds = number_in(row.get("lead_time"))
    study.add(item, rater, answers, place=place, seconds=seconds)


def _is_several(cell: object) -> bool:
    """Whether a cell holds several chosen options."""
    return isinstance(_answer(_unpacked(cell)), tuple)


def _unpacked(cell: object) -> Any:
    """Parse a cell that is JSON of a list or an object."""
    if isinstance(cell, str) and cell[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    return cell


def _answer(cell: object) -> Value | None:
    """Return the answer in a cell; None if empty or about regions."""
    match cell:
        case None | "" | []:
            return None
        case float() if np.isnan(cell):
            return None
        case {"choices": list(chosen)}:
            return tuple(map(str, chosen))
        case [{"rating": int() | float() as grade}] | [{"number": int() | float() as grade}]:
            return grade
        case [{"selected": str(side)}]:
            return side
        case [str(), *_]:
            return " ".join(map(str, cell))
        case list() | dict():
            return None
    return cell if isinstance(cell, int | float) else str(cell)

"""Mechanical Turk's batch results: a row for each assignment, with columns Input.* and Answer.*."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay._util.text import counted
from assay.data.task import Task
from assay.io.annotation_answers import SUBMITTED, Value, one_or_several
from assay.io.annotations import Study
from assay.io.formats.format import Export, Format
from assay.io.names import RECOGNISED, bare, squash
from assay.io.sources import Source

HIT, WORKER, STATUS = "HITId", "WorkerId", "AssignmentStatus"
INPUT, ANSWER = "Input.", "Answer."
PACKED = "Answer.taskAnswers"
"""The column of answers as JSON, by elements of a form of one's own."""
SECONDS = "WorkTimeInSeconds"
TRUE, FALSE = ("true", "on"), ("false", "")
WITHDRAWN = ("rejected", "returned", "abandoned")
ITEM_NAMES = {squash(name) for name in RECOGNISED["item"]}
"""Names of inputs that name the item, squashed."""


def detect(source: Source) -> str:
    """Claim tables of HITs with their workers and answers."""
    columns = source.columns
    if source.kind != "table" or HIT not in columns or WORKER not in columns:
        return ""
    answers = [name for name in columns if name.startswith(ANSWER)]
    return f"columns {HIT}, {WORKER} and {answers[0]}" if answers else ""


def read(source: Source, task: Task | None) -> Export:
    """Read each field of the form as a label; boxes that can be ticked are options of one."""
    table = source.plain_table()
    frame = table.frame
    study = Study(source=source, unit="line")
    inputs = [name for name in frame.columns if name.startswith(INPUT)]
    fields = _fields([n for n in frame.columns if n.startswith(ANSWER) and n != PACKED], frame)
    named = next((name for name in inputs if bare(name) in ITEM_NAMES), "")
    items = _items(frame[[HIT, WORKER, *inputs]].to_dict("records"), inputs)
    rejected = 0
    for place, row in zip(table.lines, frame.to_dict("records"), strict=True):
        if not row[HIT] or not row[WORKER]:
            study.fault("{n} row{s} without HITId or WorkerId", place)
            continue
        item = row[named] if named and row[named] else items[row[HIT]]
        study.describe(item, {name.removeprefix(INPUT): row[name] for name in inputs if row[name]})
        withdrawn = str(row.get(STATUS, "")).lower() in WITHDRAWN
        rejected += withdrawn
        answers = [*_answers(row, fields), *_packed(study, row.get(PACKED), place)]
        study.add(
            item, row[WORKER], answers, place=place, seconds=_number(row.get(SECONDS)),
            status="rejected" if withdrawn else SUBMITTED if answers else "skipped",
        )  # fmt: skip
    if not named and len(set(items.values())) < len(items) and inputs:
        study.note(
            f"{len(items)} HITs show {len(set(items.values()))} different inputs: HITs of the same "
            "input are one item",
            "hits-are-items", hits=len(items),
        )  # fmt: skip
    if rejected:
        study.note(
            f"{counted(rejected, 'assignment', 'were')} rejected by the requester: an abstention "
            "each",
            "rejected-tasks", tasks=rejected,
        )  # fmt: skip
    return study.export("mturk", task)


def _items(rows: Sequence[Mapping[Any, str]], inputs: Sequence[str]) -> dict[str, str]:
    """Return the item of each HIT: the first HIT that shows the same input.

    Where a worker did two such HITs, something else tells them apart, and each HIT is an item.
    """
    first: dict[tuple[str, ...], str] = {}
    found: dict[str, str] = {}
    done: dict[tuple[str, str], str] = {}
    for row in rows:
        shown = tuple(row[name] for name in inputs) if inputs else (row[HIT],)
        item = found.setdefault(row[HIT], first.setdefault(shown, row[HIT]))
        if done.setdefault((item, row[WORKER]), row[HIT]) != row[HIT]:
            return {row[HIT]: row[HIT] for row in rows}
    return found


Fields = dict[str, dict[str, str]]
"""By field the columns of its options; of a field of one answer the column under ``""``."""


def _fields(columns: Sequence[str], frame: Any) -> Fields:
    """Return the fields of a form, with the columns that hold true or false for each option."""
    found: Fields = {}
    for column in columns:
        name = column.removeprefix(ANSWER)
        parent, dot, option = name.rpartition(".")
        words = {str(cell).strip().lower() for cell in frame[column].unique()}
        if dot and words <= {*TRUE, *FALSE} and words & {*TRUE, "false"}:
            found.setdefault(parent, {})[option] = column
        else:
            found[_field(name)] = {"": column}
    return found


def _field(name: str) -> str:
    """Return the name of a field of one answer, without the part that forms add."""
    return name.removesuffix(".label") or name


def _answers(row: Mapping[Any, str], fields: Fields) -> Iterator[tuple[str, Value]]:
    for name, options in fields.items():
        if "" in options:
            cell = row[options[""]].strip()
            if cell and cell != "{}":
                yield name, one_or_several(cell)
            continue
        cells = {option: row[column].strip().lower() for option, column in options.items()}
        if any(cells.values()):
            chosen = tuple(option for option, cell in cells.items() if cell in TRUE)
            if len(options) == 1:
                yield name, "yes" if chosen else "no"
            else:
                yield name, chosen


def _packed(study: Study, cell: object, place: object) -> Iterator[tuple[str, Value]]:
    """Return the answers in a cell of JSON."""
    if not cell:
        return
    try:
        held = json.loads(str(cell))
    except ValueError:
        study.fault("{n} cell{s} of Answer.taskAnswers that are no JSON", place)
        return
    for form in held if isinstance(held, list) else [held]:
        for name, value in form.items() if isinstance(form, Mapping) else ():
            if isinstance(value, Mapping):
                if "label" in value:
                    yield name, str(value["label"])
                    continue
                ticked = {k: v for k, v in value.items() if isinstance(v, bool)}
                chosen = tuple(option for option, on in ticked.items() if on)
                if len(ticked) == 1:
                    yield name, "yes" if chosen else "no"
                elif ticked:
                    yield name, chosen
            elif isinstance(value, bool):
                yield name, "yes" if value else "no"
            elif isinstance(value, str | int | float) and value != "":
                yield name, str(value)


def _number(cell: object) -> float | None:
    try:
        return float(str(cell)) if cell else None
    except ValueError:
        return None


FORMAT = Format(
    name="mturk",
    title="Mechanical Turk results",
    recognised="columns `HITId`, `WorkerId` and `Answer.…`",
    detect=detect,
    read=read,
)

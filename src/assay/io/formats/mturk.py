"""Mechanical Turk's batch results: a row for each assignment, columns Input.* and Answer.*."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.data.task import Task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.formats.annotation_answers import SUBMITTED, Value, number_in, one_or_several
from assay.io.formats.annotations import Study
from assay.io.names import KNOWN, bare

TITLE, RECOGNISED_BY = "Mechanical Turk results", "columns `HITId`, `WorkerId` and `Answer.…`"

HIT, WORKER, STATUS = "HITId", "WorkerId", "AssignmentStatus"
INPUT, ANSWER = "Input.", "Answer."
PACKED = "Answer.taskAnswers"
"""Column of all answers as JSON, by element of a custom form."""
SECONDS = "WorkTimeInSeconds"
TRUE, FALSE = ("true", "on"), ("false", "")
WITHDRAWN = ("rejected", "returned", "abandoned")
NUMBERED = re.compile(r"(?P<name>.*?)[_. -]?(?P<number>\d+)")
FEWEST_SCREENS = 2


def detect(source: Source) -> str:
    """Claim tables of HITs with workers and answers."""
    columns = source.columns
    if source.kind != "table" or HIT not in columns or WORKER not in columns:
        return ""
    answers = [name for name in columns if name.startswith(ANSWER)]
    return f"columns {HIT}, {WORKER} and {answers[0]}" if answers else ""


@dataclass(frozen=True, kw_only=True)
class _Screen:
    """What a worker saw: a HIT, or one of the items of a HIT, with its columns."""

    number: str
    inputs: Mapping[str, str]
    fields: "Fields"


def read(source: Source, task: Task | None) -> Export:
    """Read each field of the form as a label; check boxes are options of one field.

    Where inputs and answers have the same numbers, a HIT shows several items.
    """
    table = source.plain_table()
    rows = table.frame.to_dict("records")
    study = Study(source=source, unit="line")
    screens = _screens(list(map(str, table.frame.columns)), table.frame)
    items = _items(rows, screens)
    named = next((n for n in screens[0].inputs if bare(f"{INPUT}{n}") in KNOWN["item"]), "")
    study.item = named or "item"
    for place, row in zip(table.lines, rows, strict=True):
        if not row[HIT] or not row[WORKER]:
            study.fault("{n} row{s} without HITId or WorkerId", place)
            continue
        withdrawn = str(row.get(STATUS, "")).lower() in WITHDRAWN
        for screen in screens:
            told = {name: row[column] for name, column in screen.inputs.items() if row[column]}
            item = told[named] if named in told else items[row[HIT], screen.number]
            study.describe(item, told)
            answers = [*_answers(row, screen.fields), *_packed(study, row.get(PACKED), place)]
            study.add(
                item, row[WORKER], answers, place=place,
                seconds=number_in(row.get(SECONDS)) if len(screens) == 1 else None,
                status="rejected" if withdrawn else SUBMITTED,
            )  # fmt: skip
    _note_items(study, {} if named else items, screens)
    return study.export("mturk", task)


def _screens(columns: Sequence[str], frame: Any) -> list[_Screen]:
    """Return the screens of a HIT: one, or one for each number that inputs and answers share."""
    inputs = [name for name in columns if name.startswith(INPUT)]
    answers = [name for name in columns if name.startswith(ANSWER) and name != PACKED]
    shown, asked = _numbered(inputs, INPUT), _numbered(answers, ANSWER)
    numbers = [number for number in asked if number in shown]
    if len(numbers) < FEWEST_SCREENS or len(numbers) < len(asked):
        whole = {name.removeprefix(INPUT): name for name in inputs}
        return [_Screen(number="", inputs=whole, fields=_fields(answers, frame))]
    return [
        _Screen(
            number=number, inputs=shown[number],
            fields={
                name: found for column in asked[number].values()
                for field, found in _fields([column], frame).items()
                for match in [NUMBERED.fullmatch(field)]
                for name in [match["name"] if match else field]
            },
        )
        for number in sorted(numbers, key=int)
    ]  # fmt: skip


def _numbered(columns: Sequence[str], start: str) -> dict[str, dict[str, str]]:
    """Return the columns whose names end in a number, by number and name."""
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        match = NUMBERED.fullmatch(column.removeprefix(start))
        if match:
            found.setdefault(match["number"], {})[match["name"]] = column
    return found


Items = dict[tuple[str, str], str]
"""Item by HIT and number of the screen."""


def _items(rows: Sequence[Mapping[Any, str]], screens: Sequence[_Screen]) -> Items:
    """Return the item of each screen: the first screen with the same inputs.

    If a worker saw the same inputs twice, inputs do not identify items, and each screen is an item.
    """
    first: dict[tuple[str, ...], str] = {}
    found: Items = {}
    own: Items = {}
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    alone = True
    for row in rows:
        for one in screens:
            key = (row[HIT], one.number)
            own[key] = f"{row[HIT]}/{one.number}" if one.number else row[HIT]
            shown = tuple(row[name] for name in one.inputs.values()) or (own[key],)
            item = found.setdefault(key, first.setdefault(shown, own[key]))
            alone &= seen.setdefault((item, row[WORKER]), key) == key
    return found if alone else own


def _note_items(study: Study, items: Items, screens: Sequence[_Screen]) -> None:
    """Note what was taken for an item."""
    if len(screens) > 1:
        study.note(
            f"a HIT shows {len(screens)} items: inputs and answers have the same numbers",
            code="hits-of-several", items=len(screens),
        )  # fmt: skip
    distinct = len(set(items.values()))
    if distinct < len(items):
        study.note(
            f"{len(items)} screens show {distinct} different inputs; screens with the same input "
            "are one item",
            code="hits-are-items", screens=len(items),
        )  # fmt: skip


Fields = dict[str, dict[str, str]]
"""Columns of the options of each field; ``""`` for a field with a single answer."""


def _fields(columns: Sequence[str], frame: Any) -> Fields:
    """Return the fields of a form; options have columns of true or false."""
    found: Fields = {}
    for column in columns:
        name = column.removeprefix(ANSWER)
        parent, dot, option = name.rpartition(".")
        words = {str(cell).strip().lower() for cell in frame[column].unique()}
        if dot and words <= {*TRUE, *FALSE} and words & {*TRUE, "false"}:
            found.setdefault(parent, {})[option] = column
        else:
            found[name.removesuffix(".label") or name] = {"": column}
    return found


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
    """Yield the answers in a cell of JSON."""
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

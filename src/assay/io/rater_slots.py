"""Rows with several ratings, each in a slot: columns of the rater's name and of the answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pandas as pd

from assay._util.errors import RatingsError, as_code
from assay._util.text import counted, first_names, listed
from assay.io.arguments import Arguments
from assay.io.formats import Export
from assay.io.name_patterns import few_values
from assay.io.names import EMPTY, empty_cells, names_rater, squash, words_in
from assay.io.reshaping import free_name, long_table, with_items
from assay.io.tables import Table, reader_note

SLOT = "{slot}"
"""Stands for the number or letter of a slot in the name of a column, such as ``rater{slot}``."""
NUMBER = re.compile(r"\d+|(?<=[\W_])[A-Za-z](?=[\W_]|$)")
OF_RATINGS = ("rater", "labels", "group", "score", "confidence", "audit", "session", "seconds")
"""Arguments that may name a column of each slot."""
ANSWERS = ("labels", "score", "confidence")
SIGNS = re.compile(r"[\W_]+")
FEWEST_ROWS = 5
"""Fewest rows with two names that show slots."""
TIMES = frozenset({"seconds", "time", "duration"})

Parts = tuple[str, str]
"""What stands before and after the number of a slot."""


def slots_apart(export: Export, given: Arguments) -> tuple[Export, Arguments]:
    """Give each rating a row, if arguments name columns by ``{slot}``."""
    asked = {name: one for name in OF_RATINGS if SLOT in str(one := getattr(given, name))}
    if not asked:
        return export, given
    table = export.table
    patterns = list(dict.fromkeys(p for one in asked.values() for p in _named(one) if SLOT in p))
    rater = [p for p in _named(given.rater) if SLOT in p]
    answers = list(dict.fromkeys(p for n in ANSWERS for p in _named(asked.get(n)) if SLOT in p))
    columns = [str(c) for c in table.frame.columns]
    slots = _slots(columns, rater, answers)
    if not slots:
        raise RatingsError.of(
            "unknown-column",
            f"no slot has the columns that `rater={given.rater!r}` and the answers "
            f"({listed(answers) or 'none'}) name",
            table.source,
            mend=f"{SLOT} stands for the number of a slot, as in `rater='rater{SLOT}'` beside "
            f"`labels='label{SLOT}'`; columns: {listed(columns)}",
            go_on={**dict.fromkeys(asked), **_found(table.frame)},
        )
    places = {
        (slot, pattern): column
        for slot in slots
        for pattern in patterns
        if (column := pattern.replace(SLOT, slot)) in columns
    }
    table, roles = with_items(table, list(places.values()), given)
    rest = table.frame.drop(columns=list(dict.fromkeys(places.values())))
    names = {pattern: free_name(_tidy(pattern), rest) for pattern in patterns}
    slot = free_name("slot", rest)
    made, empty, _ = long_table(table, places, slot, names, answers, EMPTY)
    made = replace(made, frame=made.frame.drop(columns=slot))
    note = reader_note(
        f"{counted(len(slots), 'slot')} of raters ({first_names(slots)}) were read from columns "
        f"called like {listed(patterns)}"
        + f"; {counted(empty, 'slot')} without an answer: no ratings"
        * bool(empty),
        code="columns-read",
        columns=len(places),
        empty=empty,
    )
    said = {name: _renamed(one, names) for name, one in asked.items()}
    export = replace(
        export, table=made, roles={**export.roles, **roles}, notes=(*export.notes, note),
        title="columns of each rater's slot",
    )  # fmt: skip
    return export, replace(given, **said)


def require_no_slots(table: Table, given: Arguments) -> None:
    """Refuse rows with slots that no argument names, with the arguments that read them."""
    if given.shapes or given.labels is not None or given.label is not None or table.part:
        return
    reading = _found(table.frame)
    if not reading or (given.rater is not None and SLOT not in str(given.rater)):
        return
    columns = sum(
        len(_of(table.frame, pattern)) for one in reading.values() for pattern in _named(one)
    )
    raise RatingsError.of(
        "wide-table",
        f"a row seems to hold the ratings of {len(_of(table.frame, reading['rater']))} raters, "
        "whose names stand beside their answers",
        table.source,
        mend=f"{as_code(reading)} reads them",
        numbers={"columns": columns},
        go_on=reading,
    )


def _found(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the arguments that read the slots of a table; empty if it has none.

    >>> frame = pd.DataFrame({"who1": list("abcab"), "who2": list("bcacc"),
    ...                       "is1": list("xyxyx"), "is2": list("yxyxx")})
    >>> _found(frame.rename(columns={"who1": "rater1", "who2": "rater2"}))
    {'rater': 'rater{slot}', 'labels': 'is{slot}'}
    """
    kinds: dict[Parts, dict[str, str]] = {}
    for column in map(str, frame.columns):
        for number in NUMBER.finditer(column):
            parts = column[: number.start()], column[number.end() :]
            kinds.setdefault(parts, {})[number[0]] = column
    for parts, named in kinds.items():
        if len(named) < 2 or not names_rater(" ".join(parts)):
            continue
        if not _hold_names(frame[list(named.values())]):
            continue
        beside = {p: of for p, of in kinds.items() if p != parts and of.keys() == named.keys()}
        times = [p for p in beside if TIMES & set(_words(p))]
        answers = [p for p, of in beside.items() if p not in times and _hold_answers(frame, of)]
        if not answers:
            continue
        short = _without_shared(answers, parts)
        labels = {name: _joined(p) for name, p in zip(short, answers, strict=True)}
        reading: dict[str, Any] = {"rater": _joined(parts)}
        reading["labels"] = labels if len(labels) > 1 else _joined(answers[0])
        return reading | ({"seconds": _joined(times[0])} if len(times) == 1 else {})
    return {}


def _hold_names(cells: pd.DataFrame) -> bool:
    """Whether columns hold names: each in several, and none twice in a row, unlike answers."""
    held = [words_in(cells[c]) for c in cells]
    blank = {c: empty_cells(cells[c]) for c in cells}
    shared, rows = False, 0
    for (a, one), (b, other) in combinations(zip(cells, held, strict=True), 2):
        both = ~blank[a] & ~blank[b]
        shared |= len(one & other) > 1
        rows += int(both.sum())
        if (cells[a][both].str.strip() == cells[b][both].str.strip()).any():
            return False
    return shared and rows >= FEWEST_ROWS


def _hold_answers(frame: pd.DataFrame, columns: Mapping[str, str]) -> bool:
    """Whether columns share a few values."""
    held = [few_values(frame[c]) for c in columns.values()]
    return all(held) and len(frozenset.intersection(*held)) > 0


def _slots(columns: Sequence[str], rater: Sequence[str], answers: Sequence[str]) -> list[str]:
    """Return the slots that have columns of the rater and of an answer, in the order of columns."""
    if len(rater) != 1 or not answers:
        return []
    before, after = map(re.escape, rater[0].split(SLOT, 1))
    found = [hit[1] for c in columns if (hit := re.fullmatch(f"{before}(.+){after}", c))]
    return [s for s in found if any(p.replace(SLOT, s) in columns for p in answers)]


def _of(frame: pd.DataFrame, pattern: str) -> list[str]:
    """Return the columns of a pattern."""
    before, after = map(re.escape, pattern.split(SLOT, 1))
    return [
        c for c in map(str, frame.columns) if re.fullmatch(f"{before}({NUMBER.pattern}){after}", c)
    ]


def _named(argument: Any) -> list[str]:
    """Return the names of columns in an argument."""
    if isinstance(argument, Mapping):
        return [one for one in argument.values() if isinstance(one, str)]
    return [argument] if isinstance(argument, str) else list(argument or ())


def _renamed(argument: Any, names: Mapping[str, str]) -> Any:
    """Return an argument with the new names of columns."""
    if isinstance(argument, Mapping):
        return {key: names.get(one, one) for key, one in argument.items()}
    if isinstance(argument, str):
        return names.get(argument, argument)
    return [names.get(one, one) for one in argument]


def _joined(parts: Parts) -> str:
    return SLOT.join(parts)


def _words(parts: Parts) -> list[str]:
    return [word for word in SIGNS.split(" ".join(parts).casefold()) if word]


def _tidy(pattern: str) -> str:
    """Return the name of a pattern's column without the slot: coder_{slot}_id is coder_id."""
    words = [part.strip("_ .:-/") for part in pattern.split(SLOT)]
    return "_".join(word for word in words if word) or "value"


def _without_shared(answers: Sequence[Parts], rater: Parts) -> list[str]:
    """Return the names of labels, without what they share with the rater's column."""
    found = []
    for before, after in answers:
        own = (before if before != rater[0] else "", after if after != rater[1] else "")
        found.append(_tidy(SLOT.join(own)) if any(own) else _tidy(SLOT.join((before, after))))
    return (
        found
        if len({squash(name) for name in found}) == len(found)
        else [_tidy(_joined(parts)) for parts in answers]
    )

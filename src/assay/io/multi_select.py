"""Multiple-choice questions: detected, with a label for each option."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from assay._util.text import counted
from assay.data.class_words import NUMBER, canonical
from assay.data.task import Label
from assay.io.cells import spellings
from assay.io.columns import Roles
from assay.io.empty_words import EMPTY
from assay.io.list_cells import Lists, lists_of, parallel
from assay.io.reading_log import Ledger
from assay.io.tables import SET_ASIDE, Table
from assay.io.wide_tables import names_people

SEPARATORS = ("|", ";", "\n", ",", "+", "&")
EVERYDAY = (",", "+", "&")
"""Separators that occur in plain text; then each part must also be an answer alone."""
OF_NAMES = ("+", "&")
"""Separators that occur in names (R&D); then options must be combined in several ways."""
FEWEST_ROWS = 3
"""Fewest rows for lists of equal length to be the answers of as many raters."""
MOST_OPTIONS = 24
"""Most options that a proposed task file lists."""


@dataclass(frozen=True, kw_only=True)
class Joined:
    """Cells with several answers: separator, cells and options; ``votes`` if a cell repeats one."""

    separator: str
    cells: tuple[str, ...]
    options: tuple[str, ...]
    votes: bool = False


def joined_answers(words: Sequence[str], label: Label) -> Joined | None:
    """Find cells that join several answers by a separator.

    Parts must be classes of the label. If the data define the classes, most such cells must have
    parts that occur alone or in other cells, in varying numbers or places: "agree, strongly" beside
    "disagree, strongly" is one answer.
    """
    filled = [word for word in words if canonical(word) not in EMPTY]
    for separator in SEPARATORS:
        parts = {word: _parts(word, separator) for word in filled}
        several = {w: ps for w, ps in parts.items() if len(ps) > 1 and all(ps)}
        if several and _are_answers(parts, several, label, separator):
            used = {ps[0] for ps in parts.values() if len(ps) == 1}
            used |= {part for ps in several.values() for part in ps}
            options = [name for name in label.classes if name in used] or sorted(used)
            votes = any(len(set(ps)) < len(ps) for ps in several.values())
            return Joined(
                separator=separator, cells=tuple(several), options=tuple(options), votes=votes
            )
    return None


def _parts(word: str, separator: str) -> list[str]:
    """Split a cell; some forms end it with the separator."""
    return [part.strip() for part in word.strip().strip(separator).split(separator)]


def _are_answers(
    parts: Mapping[str, Sequence[str]],
    several: Mapping[str, Sequence[str]],
    label: Label,
    separator: str,
) -> bool:
    """Whether the parts of cells are answers."""
    if label.classes:
        known = spellings(label)
        named = {*label.classes, *map(canonical, known)}
        unknown = [ps for w, ps in several.items() if w not in known and canonical(w) not in known]
        return any(all(canonical(p) in named or p in named for p in ps) for ps in unknown)
    if separator in OF_NAMES and len({frozenset(ps) for ps in several.values()}) < 2:
        return False
    if separator == "," and all(_is_decimal(ps) for ps in several.values()):
        return False
    alone = {ps[0] for ps in parts.values() if len(ps) == 1}
    uses = Counter(part for ps in several.values() for part in ps)
    often = 1 if separator not in EVERYDAY else np.inf
    known_parts = [all(p in alone or uses[p] > often for p in ps) for ps in several.values()]
    places = Counter(
        part for part, _ in {(p, n) for ps in several.values() for n, p in enumerate(ps)}
    )
    varied = len({len(ps) for ps in several.values()}) > 1 or bool(alone & set(uses))
    varied |= max(places.values()) > 1
    return varied and 2 * sum(known_parts) >= len(several)


def _is_decimal(parts: Sequence[str]) -> bool:
    """Whether a cell may be a number with a decimal comma."""
    return len(parts) == 2 and all(NUMBER.fullmatch(part) for part in parts)


def chosen_options(
    table: Table, column: str, label: Label, *, has_rater: bool
) -> dict[str, tuple[str, ...]]:
    """Return the options in each distinct cell, if cells hold several; empty cells choose none.

    Cells that look like the answers of several raters are no multiple choice.
    """
    cells = table.frame[column]
    lists = lists_of(cells)
    if max(map(len, lists.values()), default=0) > 1:
        beside = [other for other in parallel(table.frame, column) if other != column]
        if beside or _are_votes(lists, len(cells), has_rater=has_rater):
            return {}
        return {cell: tuple(map(str, items)) for cell, items in lists.items()}
    distinct = _distinct(cells)
    found = joined_answers(distinct, label)
    if found is None or found.votes:
        return {}
    return {
        cell: tuple(part for part in _parts(cell, found.separator) if part)
        if canonical(cell) not in EMPTY
        else ()
        for cell in distinct
    }


def _are_votes(lists: Lists, rows: int, *, has_rater: bool) -> bool:
    """Whether lists are the answers of several raters: they repeat one, or are of one length."""
    repeated = any(len(set(map(str, items))) < len(items) for items in lists.values())
    alike = rows >= FEWEST_ROWS and len(set(map(len, lists.values()))) == 1
    return repeated or (alike and not has_rater)


def require_one_answer(
    columns: Mapping[str, str],
    labels: Mapping[str, Label],
    roles: Roles,
    ledger: Ledger,
) -> bool:
    """Add a problem, and return True, if cells of answers hold several."""
    frame = ledger.table.frame
    return any(
        _from_lists(column, roles, ledger)
        or _from_text(column, joined_answers(_distinct(frame[column]), labels[name]), roles, ledger)
        for name, column in columns.items()
    )


def _distinct(column: "pd.Series[str]") -> list[str]:
    return [str(word) for word in pd.unique(column)]


def _from_lists(column: str, roles: Roles, ledger: Ledger) -> bool:
    """Report lists of several answers."""
    frame = ledger.table.frame
    lists = lists_of(frame[column])
    if max(map(len, lists.values()), default=0) < 2:
        return False
    beside = [c for c in parallel(frame, column) if c != column]
    raters = roles["rater"].columns[0] if "rater" in roles else ""
    if raters and lists_of(frame[raters]) and raters not in beside:
        return _report_lengths(column, raters, ledger)
    if beside and "rater" not in roles:
        who = next((c for c in beside if names_people(c)), beside[0])
        ledger.problem(
            "list-cells",
            f"cells of {column} are lists of several elements, such as "
            f"{max(lists, key=len)[:60]}; lists of as many elements: {', '.join(beside)}",
            allowed="a row for each rating, or lists of raters and of their answers",
            mend=f"if one of these lists names the raters, give `rater={who!r}`",
            go_on={"rater": who},
        )
        return True
    options = dict.fromkeys(str(item) for items in lists.values() for item in items)
    several = [cell for cell, items in lists.items() if len(items) > 1]
    read = "" if column in ledger.table.lists else (
        f"frame[{column!r}] = frame[{column!r}].map(json.loads, na_action='ignore'); "
    )  # fmt: skip
    if _are_votes(lists, len(frame), has_rater="rater" in roles):
        _report_votes(column, several, read, roles, ledger)
        return True
    words = all(isinstance(item, str) for items in lists.values() for item in items)
    join = (
        ".str.join('|')"
        if words
        else ".map(lambda chosen: '|'.join(map(str, chosen)), na_action='ignore')"
    )
    start = f"{read}options = frame[{column!r}]{join}"
    _report(column, several, list(options), start, "|", ledger)
    return True


def _report_lengths(column: str, raters: str, ledger: Ledger) -> bool:
    """Report lists of raters and answers that differ in length."""
    frame = ledger.table.frame
    sizes = [
        frame[c].map({k: len(v) for k, v in lists_of(frame[c]).items()}) for c in (column, raters)
    ]
    rows = np.flatnonzero(sizes[0] != sizes[1])
    ledger.problem(
        "list-cells",
        f"in {counted(len(rows), 'row')} the lists of {raters} and {column} differ in length",
        where=ledger.table.where(rows, column),
        allowed="a list of raters, and one of as many answers",
        mend="complete these rows, or leave them out: `set_aside=True`",
        numbers={"rows": len(rows)},
        go_on=SET_ASIDE,
    )
    return True


def _report_votes(
    column: str,
    cells: Sequence[str],
    start: str,
    roles: Roles,
    ledger: Ledger,
) -> None:
    """Report cells with answers of several raters, and how to give each a row."""
    item = list(roles["item"].columns) if "item" in roles else []
    named = "" if item else "frame = frame.rename_axis('item').reset_index(); "
    example = max(cells, key=len).replace("\n", "\\n")
    ledger.problem(
        "list-cells",
        f"cells of {column} hold several answers, such as {example[:60]}. They repeat or always "
        "have the same number, so they look like the answers of several raters",
        allowed="a row for each rating: the item, the rater, the answer",
        mend=f"give each answer a row, in Python: {start}{named}frame = "
        f"frame.explode({column!r}).reset_index(drop=True); frame['rater'] = "
        f"frame.groupby({item or ['item']!r}).cumcount(). The raters have no names, so fit "
        '`raters="pooled"`. If they have none, `rater="row"` does the same',
        go_on={"rater": "row"},
    )


def _from_text(column: str, found: Joined | None, roles: Roles, ledger: Ledger) -> bool:
    """Report cells that join several answers by a separator."""
    if found is None:
        return False
    sign = found.separator
    if found.votes:
        apart = rf"\s*{re.escape(sign)}\s*"
        start = f"frame[{column!r}] = frame[{column!r}].str.split({apart!r}, regex=True); "
        _report_votes(column, found.cells, start, roles, ledger)
        return True
    spaced = any(f"{sign} " in cell or f" {sign}" in cell for cell in found.cells)
    tight = f".str.replace({rf'\s*{re.escape(sign)}\s*'!r}, {sign!r}, regex=True)" * spaced
    start = f"options = frame[{column!r}]{tight}"
    _report(column, found.cells, found.options, start, sign, ledger)
    return True


def _report(
    column: str,
    cells: Sequence[str],
    options: Sequence[str],
    start: str,
    separator: str,
    ledger: Ledger,
) -> None:
    """Report a multiple choice, with the calls that make each option a label."""
    frame = ledger.table.frame
    rows = np.flatnonzero(frame[column].isin(cells))
    empty = frame[column].str.strip().isin(["", "[]"]).any()
    kept = f".where(frame[{column!r}].str.len() > 0)" * bool(empty)
    example = max(cells, key=len).replace("\n", "\\n")
    ledger.problem(
        "multi-select",
        f"{counted(len(rows), 'cell', 'hold')} several answers in column {column}, such as "
        f"{example[:60]}: several options can be chosen, and each option is a label of its own",
        where=ledger.table.where(rows, column),
        mend="leave out `task=`, and each option is a label by itself; or make a column of each "
        f"option, in Python: {start}.str.get_dummies({separator!r})"
        f"{kept}; frame[options.columns] = options. Read it with a task file of the line "
        f"{task_line(options)}",
        go_on={"task": None},
        numbers={"cells": len(rows)},
    )


def task_line(options: Sequence[str]) -> str:
    """Write the line of a task file with a yes-no label for each option."""
    shown = [f"{{name = {json.dumps(str(name), ensure_ascii=False)}}}" for name in options]
    more = ", ..." * (len(shown) > MOST_OPTIONS)
    return f"labels = [{', '.join(shown[:MOST_OPTIONS])}{more}]"

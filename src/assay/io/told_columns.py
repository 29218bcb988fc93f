"""Which columns are the item, the rater and the answers, told by the table that they give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from assay._util.errors import as_code
from assay._util.grouping import unique_rows
from assay._util.text import counted, listed
from assay._util.typing import Ints
from assay.io.arguments import BY_ROW
from assay.io.files.file_paths import FILE
from assay.io.likely_columns import (
    IDENTIFIER,
    LONGEST_NAME,
    MOST_FREE,
    MOST_REPEATED,
    MOST_ROWS,
    are_times,
    crossing,
    has_few,
    likely_answers,
)
from assay.io.names import (
    FLAGS,
    FORM,
    MADE,
    REASONS,
    SUMMARIES,
    TRUTH_NAMES,
    WORDS,
    WORKPLACE,
    bare,
    empty_cells,
    names_answer,
    names_criterion,
    names_item,
    names_measure,
    names_rater,
    names_system,
    squash,
    words_in,
)
from assay.io.reading_log import Ledger

MOST_KEY = 3
"""Most columns that name an item together."""
MIN_RATED = 1.3
"""Fewest ratings of an item, on average, for a key that no name recommends."""
ALIKE = 1.02
"""Largest ratio of the pairs of two keys to their items for both to name the same items."""
MOSTLY = 0.8
"""Smallest share of values that are called like raters for their column to be one."""
SHOWN = 3
NO_PART = (
    FLAGS | TRUTH_NAMES | SUMMARIES | WORKPLACE | REASONS | MADE | frozenset(WORDS["numbering"])
)
"""Squashed names of what is no rater, and no part of an item."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a table tells of its columns.

    raters, items : columns or keys that fit equally well; one of each if the table is clear
    answers : columns that vary between the raters of an item, and between the items of a rater
    named : whether the name or the values of a column speak for the rater or a system
    """

    raters: tuple[str, ...] = ()
    items: tuple[tuple[str, ...], ...] = ()
    sizes: Mapping[str | tuple[str, ...], int]
    answers: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    named: bool = False

    @property
    def clear(self) -> bool:
        """Whether one rater and one item fit, and a name speaks for them."""
        return self.named and len(self.raters) == len(self.items) == 1

    @property
    def unclear(self) -> bool:
        """Whether several raters or items fit equally well, or one fits that nothing speaks for."""
        one = len(self.raters) == len(self.items) == 1
        return bool(self.raters) and not (one and (self.named or len(self.answers) < 2))

    def alone(self, columns: Sequence[str]) -> bool:
        """Whether these are all answers, and one column is the item."""
        whole = self.clear and {*self.answers} == {*columns}
        return whole and len(self.items[0]) == 1

    def guess(self) -> dict[str, str]:
        """Return item, rater and system as far as each is a single column."""
        if not self.clear:
            return {}
        (key,), (rater,) = self.items, self.raters
        system = next((c for c in key if c in self.systems), "")
        rest = [c for c in key if c != system]
        if len(key) > 1 and (not system or len(rest) > 1):
            return {"rater": rater}
        return {"item": rest[0] if rest else system, "rater": rater} | (
            {"system": system} if rest and system else {}
        )


@dataclass(frozen=True)
class _Fit:
    key: tuple[str, ...]
    rater: str
    answers: tuple[str, ...]
    evidence: int


def told_columns(
    frame: pd.DataFrame, free: Sequence[str], known: Mapping[str, Sequence[str]]
) -> Told:
    """Return the raters and items that give a table which can be modelled.

    Hardly a rater rates an item twice, items have several raters and outnumber them, and some
    column varies as answers do. ``known`` columns of item, rater, system and answer are taken.
    """
    if not MADE.isdisjoint(known.get("rater", ())):
        return Told(sizes={})  # raters without names tell nothing
    head = frame.head(MOST_ROWS).drop_duplicates()
    own = list(known.get("system", ()))
    usable = [c for c in dict.fromkeys([*free, *own]) if c and _usable(c, head)]
    usable = [str(c) for c in frame.columns if c in usable]
    codes = {str(c): pd.factorize(head[c])[0] for c in head.columns}
    sizes = {c: int(codes[c].max(initial=-1)) + 1 for c in codes}
    usable = [c for c in usable if sizes[c] > 1][: 2 * MOST_FREE]
    answers = list(known.get("answer", ()))
    named = [c for role in ("item", "rater") for c in known.get(role, ())]
    kinds = {c: _kind(c, head[c]) for c in dict.fromkeys([*usable, *named])}
    kinds |= dict.fromkeys(known.get("rater", ())[:1], "rater")
    kinds |= dict.fromkeys([c for c in own if c in kinds], "system")
    systems = [c for c, kind in kinds.items() if kind == "system" and has_few(head[c])]
    raters = list(known.get("rater", ())[:1]) or [
        c for c in usable
        if 2 * sizes[c] <= len(head) and _short(head[c])
        and not names_criterion(c) and not names_answer(c)
    ][:MOST_FREE]  # fmt: skip
    fits: list[_Fit] = []
    for rater in raters:
        parts = [c for c in usable if c != rater and c not in answers and not names_criterion(c)]
        item = list(known.get("item", ()))
        parts = [c for n, c in enumerate(parts) if n < MOST_FREE or c in systems]
        for key in _keys(rater, parts, item, systems, codes, len(head)):
            rest = [c for c in usable if c not in key and c not in own]
            fits += _fit(key, rater, head, answers, rest, kinds)
    best = max((fit.evidence for fit in fits), default=0)
    fits = [fit for fit in fits if fit.evidence == best]
    fits = _same_raters(fits, codes)
    items = _same_items(fits, codes) if len({fit.rater for fit in fits}) == 1 else fits
    counts: dict[str | tuple[str, ...], int] = {fit.rater: sizes[fit.rater] for fit in fits}
    counts |= {fit.key: _number(fit.key, codes) for fit in items}
    return Told(
        raters=tuple(dict.fromkeys(fit.rater for fit in fits)),
        items=tuple(dict.fromkeys(fit.key for fit in items)),
        sizes=counts,
        answers=fits[0].answers if fits else (),
        systems=tuple(c for c, kind in kinds.items() if kind == "system"),
        named=best > 0,
    )


def _keys(
    rater: str,
    parts: Sequence[str],
    item: Sequence[str],
    systems: Sequence[str],
    codes: Mapping[str, Ints],
    rows: int,
) -> list[tuple[str, ...]]:
    """Return the smallest keys of items that a rater hardly rates twice, and that are shared.

    So are those of a column with whose values nearly each of ``systems`` occurs.
    """
    starts: list[tuple[str, ...]] = [tuple(item)]
    parts = [c for c in parts if c not in item]
    raters = _number((rater,), codes)

    def fits(key: tuple[str, ...]) -> bool:
        if _number((*key, rater), codes) < (1 - MOST_REPEATED) * rows:
            return False
        items = _number(key, codes)
        return rows >= MIN_RATED * items and raters < items

    pairs: list[tuple[str, ...]] = (
        [(c, s) for c in parts for s in systems if c != s and s in parts] if not item else []
    )
    crossed = [key for key in pairs if crossing(key[:1], key[1:], codes) and fits(key)]
    for size in range(0 if item else 1, MOST_KEY + 1 - len(item)):
        found: list[tuple[str, ...]] = []
        for start in starts:
            found += [key for more in combinations(parts, size) if fits(key := (*start, *more))]
        if found:
            return found + [key for key in crossed if key not in found]
    return crossed


def _number(key: Sequence[str], codes: Mapping[str, Ints]) -> int:
    return len(unique_rows(*(codes[c] for c in key))[0])


def _fit(
    key: tuple[str, ...],
    rater: str,
    head: pd.DataFrame,
    answers: Sequence[str],
    usable: Sequence[str],
    kinds: Mapping[str, str],
) -> list[_Fit]:
    """Return the key and rater with their answers; nothing if no column varies as answers do."""
    if kinds[rater] in ("system", "item"):
        return []
    few = [c for c in (answers or usable) if c != rater and (answers or has_few(head[c]))]
    vary = likely_answers(head, few, key, [rater])
    if not vary and not answers:
        return []
    left = {kinds.get(c) for c in (*key, *vary)}
    if "rater" in left and kinds[rater] != "rater":
        return []
    unsaid = [c for c in (*key, rater) if not kinds[c] and has_few(head[c])]
    said = set[str]().union(*(words_in(head[c]) for c in vary))
    if any(not words_in(head[c]).isdisjoint(said) for c in unsaid):
        return []  # these are answers too: columns of raters
    unsaid = [c for c in unsaid if c != rater]
    if unsaid and any(kinds.get(c) == "system" for c in vary):
        return []  # answers in the place of the system
    systems = sum(kinds[c] == "system" for c in key)
    worth = {"rater": 2, "file": 1}.get(kinds[rater], 0) + systems
    return [_Fit(key, rater, tuple(vary or answers), worth)]


def _kind(column: str, cells: "pd.Series[str]") -> str:
    """Return what the name of a column, or most of its values, say that it is; "" if nothing."""
    values = [str(v) for v in pd.unique(cells)]
    for names, kind in ((names_rater, "rater"), (names_system, "system"), (names_item, "item")):
        if names(column):
            return kind
    for names, kind in ((names_rater, "rater"), (names_system, "system"), (names_item, "item")):
        if sum(map(names, values)) >= MOSTLY * len(values):
            return kind
    if sum("@" in v for v in values) >= MOSTLY * len(values):
        return "rater"
    return "file" if column == FILE else ""  # files of a folder are mostly raters


def _same_raters(fits: Sequence[_Fit], codes: Mapping[str, Ints]) -> list[_Fit]:
    """Leave out raters that are others by another name: mail addresses beside names."""
    kept: list[str] = []
    for rater in dict.fromkeys(fit.rater for fit in fits):
        alike = [
            other for other in kept
            if _number((rater, other), codes) == _number((rater,), codes)
            == _number((other,), codes)
        ]  # fmt: skip
        if not alike:
            kept.append(rater)
    return [fit for fit in fits if fit.rater in kept]


def _same_items(fits: Sequence[_Fit], codes: Mapping[str, Ints]) -> list[_Fit]:
    """Return a fit for each different set of items; keys with names of items or ids first."""
    worth = {fit: sum(bool(IDENTIFIER.search(c)) or names_item(c) for c in fit.key) for fit in fits}
    best = max(worth.values(), default=0)
    kept: list[_Fit] = []
    for fit in (fit for fit in fits if worth[fit] == best):
        size = _number(fit.key, codes)
        if not any(
            _number((*fit.key, *one.key), codes) <= ALIKE * min(size, _number(one.key, codes))
            for one in kept
        ):
            kept.append(fit)
    return kept


def _usable(column: str, head: pd.DataFrame) -> bool:
    """Whether a column may be a rater, a part of an item, or an answer."""
    name = squash(column)
    if name in NO_PART or bare(column) in NO_PART or any(part in name for part in FORM):
        return False
    if names_measure(column) or are_times(head[column]):
        return False
    return 2 * int(empty_cells(head[column]).sum()) < len(head)


def _short(column: "pd.Series[str]") -> bool:
    """Whether most cells are names, and no texts."""
    return float(column.str.len().median()) <= LONGEST_NAME


def say_unclear(told: Told, ledger: Ledger) -> bool:
    """Add a problem, and return True, if several columns could be the rater or the item.

    So may one that nothing speaks for, as columns of answers may be raters too.
    """
    if told.unclear and len(told.raters) == len(told.items) == 1:
        (rater,), answers = told.raters, listed(told.answers)
        criteria = all(map(names_criterion, told.answers))
        other = f"each of {answers}"
        mend = f"{as_code({'wide': list(told.answers)})} if {answers} are raters"
        if criteria:
            other = "nobody that a column names"
            labels = {"labels": {c: c for c in told.answers}, "rater": BY_ROW}
            mend = f"{as_code(labels)} if no column does"
        ledger.problem(
            "which-column",
            f"I cannot tell which columns are the raters: {rater} "
            f"({counted(told.sizes[rater], 'value')}), or {other}",
            mend=f"{as_code({'rater': rater})} if {rater} says who gave the answers; {mend}",
            role="rater",
            numbers={"columns": 1 + len(told.answers)},
        )
        return True
    if len(told.raters) > 1:
        shown = [f"{c} ({counted(told.sizes[c], 'value')})" for c in told.raters[:SHOWN]]
        ledger.problem(
            "which-column",
            f"I cannot tell which column is the rater: {' or '.join(shown)}",
            mend="name the one that says who gave the answer: "
            f"{' or '.join(as_code({'rater': c}) for c in told.raters[:SHOWN])}; the other is a "
            "part of what was rated",
            role="rater",
            numbers={"columns": len(told.raters)},
        )
        return True
    if len(told.items) > 1:
        keys = told.items[:SHOWN]
        shown = [f"{listed(key)} ({counted(told.sizes[key], 'item')})" for key in keys]
        ledger.problem(
            "which-column",
            f"I cannot tell which columns are the item: {' or '.join(shown)}",
            mend="name the columns that say what several raters rated, such as "
            f"{as_code({'item': keys[0][0] if len(keys[0]) == 1 else list(keys[0])})}",
            role="item",
            numbers={"keys": len(told.items)},
        )
        return True
    return False

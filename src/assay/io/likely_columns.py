"""Guess the columns of item, rater and answer from their cells."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd

from assay._util.grouping import unique_rows
from assay._util.text import listed
from assay._util.typing import Ints
from assay.data.class_words import NUMBER, canonical
from assay.data.task import MAX_CLASSES, Task
from assay.data.task_files import MAX_NAME
from assay.io.names import (
    ALL_KNOWN,
    EMPTY,
    FLAGS,
    FORM,
    REASONS,
    SUMMARIES,
    TRUTH_NAMES,
    WORKPLACE,
    bare,
    empty_cells,
    names_answer,
    names_measure,
    names_rater,
    names_system,
    squash,
    words_in,
)

FIRST_ROWS, MOST_ROWS = 2000, 20_000
"""Rows that are looked at: for a first look, and for what is rare."""
TIME = r"(\d{4}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d{2,4}),?[T ]+\d\d?:\d\d.*"
"""A date with its time."""
MOST_CLASSES = 12
MOST_FREE = 12
"""Most columns tried for each of the three."""
MOST_REPEATED = 0.1
"""Largest share of rows that may repeat a rater and an item where columns are guessed."""
CROSSED = 0.8
"""Smallest share of all pairs of an item and a system that must occur."""
MIN_SHARED = 2
"""Fewest ratings of an item, on average, for a key of columns that nothing else recommends."""
LONGEST_NAME = 60
"""Characters beyond which most cells of a column are texts and no names."""
MOST_STATES = Task.max_states
"""Combinations of classes up to which columns are proposed as labels together."""
IDENTIFIER = re.compile(r"(?:^|[\W_])(?:id|nr|no|key)$|[a-z]I[dD]$", re.ASCII)
"""How names of columns end that identify something."""
KINDS = ("item", "rater", "answer")


def likely_columns(
    frame: pd.DataFrame, free: Sequence[str], known: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Guess the columns of item, rater and answer that are not ``known``, and perhaps of a
    ``system``.

    They fit if raters hardly rate an item twice and are fewer than items, and answers have few
    values. The last of several columns of answers is taken; empty if none fit.
    """
    head = frame.head(FIRST_ROWS).drop_duplicates()
    codes = {c: pd.factorize(head[c])[0] for c in head.columns}
    sizes = {c: int(codes[c].max(initial=-1)) + 1 for c in codes}
    named = [c for c in free if c and not any(part in squash(c) for part in FORM)]
    named = [c for c in named if squash(c) not in REASONS and not names_measure(c)]
    short = (c for c in named if sizes[c] > 1 and head[c].str.len().median() <= LONGEST_NAME)
    tried = list(short)[:MOST_FREE]
    answers = [c for c in reversed(tried) if has_few(head[c]) and _may_be_answer(c)]
    answers = [c for c in answers if not IDENTIFIER.search(c)] or answers
    answers = [c for c in answers if not names_rater(c) and not names_system(c)] or answers
    raters = [c for c in tried if not names_answer(c) and not are_fractions(head[c])]
    own = {"answer": answers, "rater": raters}
    choices = [[""] if kind in known else own.get(kind, tried) for kind in KINDS]
    systems = [
        *known.get("system", ()),
        *(c for c in tried if names_system(c) and has_few(head[c])),
    ]
    best: tuple[float, dict[str, str]] = (np.inf, {})
    for chosen in product(*choices):
        guess = {kind: c for kind, c in zip(KINDS, chosen, strict=True) if c}
        if len(set(guess.values())) < len(guess):
            continue
        columns = {k: [guess[k]] if k in guess else list(known[k]) for k in KINDS}
        others = [c for c in systems if not any(c in one for one in columns.values())]
        if len(columns["item"]) == 1 and (system := crossing(columns["item"], others, codes)):
            columns["item"].append(system)
            guess["system"] = system
        cost = _cost(columns, codes)
        if cost < best[0]:
            best = cost, guess
    return best[1]


def are_fractions(column: "pd.Series[str]") -> bool:
    """Whether a column holds numbers from 0 to 1, some of them between."""
    words = [str(word).strip() for word in pd.unique(column)]
    filled = [word for word in words if canonical(word) not in EMPTY]
    if not filled or not all(map(NUMBER.fullmatch, filled)):
        return False
    numbers = [float(word) for word in filled]
    return min(numbers) >= 0 and max(numbers) <= 1 and any(0 < number < 1 for number in numbers)


def crossing(item: Sequence[str], systems: Sequence[str], codes: Mapping[str, Ints]) -> str:
    """Return the first column that nearly each item occurs with each value of; "" if none is."""
    items = [codes[c] for c in item]
    for column in systems:
        pairs, each = len(unique_rows(*items, codes[column])[0]), len(np.unique(codes[column]))
        if each > 1 and pairs >= CROSSED * each * len(unique_rows(*items)[0]):
            return column
    return ""


def once_each(frame: pd.DataFrame, key: Sequence[str]) -> bool:
    """Whether hardly a row repeats a key."""
    head = frame.head(FIRST_ROWS)
    return bool(head.duplicated(list(key)).mean() <= MOST_REPEATED)


def likely_answers(
    frame: pd.DataFrame, free: Sequence[str], item: Sequence[str], rater: Sequence[str]
) -> list[str]:
    """Return the columns that vary between raters of an item and between items of a rater.

    Other columns describe the item or the rater.
    """
    head = frame.head(MOST_ROWS)
    codes = {str(c): pd.factorize(head[c])[0] for c in head.columns}
    sizes = [len(unique_rows(*(codes[c] for c in key))[0]) for key in (item, rater)]
    return [
        column
        for column in free
        if _may_be_answer(column)
        and all(
            len(unique_rows(*(codes[c] for c in key), codes[column])[0]) > size
            for key, size in zip((item, rater), sizes, strict=True)
        )
    ]


def likely_key(
    frame: pd.DataFrame,
    free: Sequence[str],
    parts: Sequence[str],
    beside: Sequence[str],
    *,
    wide: bool = False,
) -> list[str]:
    """Guess the columns that name the item together: the smallest key that raters hardly repeat.

    At most one is ``free``; ``parts`` may belong to it by name; ``beside`` distinguish ratings of
    an item. Failing that, if ``wide``, the two or three free columns with the fewest items.
    """
    head = frame.head(FIRST_ROWS).drop_duplicates()
    codes = {str(c): pd.factorize(head[c])[0] for c in head.columns}
    several = [c for c in free if c and 1 < len(np.unique(codes[c])) < len(head)][:MOST_FREE]

    def items_of(key: Sequence[str]) -> int:
        """Return the number of items under a key; 0 if raters repeat them, or none is shared."""
        items = len(unique_rows(*(codes[c] for c in key))[0])
        pairs = len(unique_rows(*(codes[c] for c in (*key, *beside)))[0])
        hardly = pairs >= (1 - MOST_REPEATED) * len(head)
        return items if hardly and len(head) > items else 0

    keys = [
        (*start, *more)
        for size in range(len(parts) + 1)
        for start in [(), *((c,) for c in several)]
        for more in combinations(parts, size)
        if len(start) + size > 1
    ]
    for key in sorted(keys, key=lambda key: (len(key), not {*key} <= {*parts})):
        if items_of(key):
            return [c for c in codes if c in key]
    wider = [key for size in (2, 3) if wide for key in combinations(several, size)]
    counts = {key: items for key in wider if 0 < MIN_SHARED * (items := items_of(key)) <= len(head)}
    best = min(counts, key=lambda key: (counts[key], len(key)), default=())
    return [c for c in codes if c in best]


def free_answers(frame: pd.DataFrame) -> list[str]:
    """Return the columns of a few values whose names say nothing else.

    >>> rows = [(n, "ab"[n % 2], "yn"[n % 2], "de"[n % 2]) for n in range(20)]
    >>> free_answers(pd.DataFrame(rows, columns=["item", "rater", "ok", "system"], dtype="str"))
    ['ok']
    """
    return [
        str(c)
        for c in frame.columns
        if squash(str(c)) not in ALL_KNOWN and _may_be_answer(str(c)) and has_few(frame[c])
    ]


def _cost(
    columns: Mapping[str, Sequence[str]],
    codes: Mapping[str, "np.ndarray[tuple[int], np.dtype[np.intp]]"],
) -> float:
    """Return the cost of a guess: infinite if raters rate items twice."""
    keys = {kind: [codes[c] for c in columns[kind]] for kind in ("item", "rater")}
    if not all(keys.values()):
        return float(np.inf)
    rows = len(keys["item"][0])
    items, raters = len(unique_rows(*keys["item"])[0]), len(unique_rows(*keys["rater"])[0])
    pairs = len(unique_rows(*keys["item"], *keys["rater"])[0])
    repeated = 1 - pairs / max(rows, 1)
    if repeated > MOST_REPEATED or raters >= items or raters == rows:
        return float(np.inf)
    once = items == rows  # nothing is rated twice
    named = sum(map(names_rater, columns["rater"])) - sum(map(names_system, columns["rater"]))
    return raters + 1000 * once + 500 * (repeated > 0) + 1000 * repeated - 600 * named


def _may_be_answer(column: str) -> bool:
    """Whether a name is not that of a flag, a status, or the truth."""
    name = bare(column)
    others = FLAGS | TRUTH_NAMES | SUMMARIES | WORKPLACE
    return name not in others and not name.endswith(("status", "state"))


def within_states(frame: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return the columns of the fewest values that one model can hold as labels, in their order."""
    sizes = {c: max(2, frame[c].nunique()) for c in columns if not IDENTIFIER.search(c)}
    kept, states = set[str](), 1
    for column in sorted(sizes, key=lambda c: sizes[c]):
        states *= sizes[column]
        if states > MOST_STATES:
            break
        kept.add(column)
    return [c for c in columns if c in kept]


def left_out(columns: Sequence[str], kept: Sequence[str]) -> str:
    """Say which columns are left out as labels; "" if none is."""
    left = [c for c in columns if c not in kept]
    if not left:
        return ""
    return (
        f"one model cannot hold all {len(left) + len(kept)} labels, so that {len(kept)} are kept: "
        f"the first of those with the fewest classes; left out: {listed(left)}"
    )


def are_times(column: "pd.Series[str]") -> bool:
    """Whether a column says when: dates with times, which name nothing that is rated.

    >>> are_times(pd.Series(["2024-05-25T16:03:22Z", "25.5.2024 16:03", ""], dtype="str"))
    True
    """
    told = column[column.str.strip() != ""].str.strip()
    return not told.empty and bool(told.str.fullmatch(TIME).all())


def are_numbers(column: "pd.Series[str]") -> bool:
    """Whether a column holds nothing but numbers."""
    words = {str(word).strip() for word in pd.unique(column)}
    return all(NUMBER.fullmatch(word) for word in words if canonical(word) not in EMPTY)


def has_few(column: "pd.Series[str]") -> bool:
    """Whether a column has few values, as answers have."""
    return 1 < len(words_in(column)) <= MOST_CLASSES < len(column)


def repeats_names(column: "pd.Series[str]") -> bool:
    """Whether a column has more values than answers usually have, but repeats them as classes."""
    words = {str(word).strip() for word in pd.unique(column)} - EMPTY
    filled = int((column.str.strip() != "").sum())
    short = max(map(len, words), default=0) <= MAX_NAME
    return MOST_CLASSES < len(words) <= MAX_CLASSES and 2 * len(words) <= filled and short


def mark_columns(frame: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return the columns that hold one word or nothing.

    >>> frame = pd.DataFrame({"long": ["Y", ""], "rude": ["", "Y"], "ok": ["Y", "N"]}, dtype="str")
    >>> mark_columns(frame, list(frame))
    ['long', 'rude']
    """
    return [c for c in columns if holds_marks(frame[c])]


def holds_marks(column: "pd.Series[str]") -> bool:
    """Whether a column holds one word or nothing."""
    return len(words_in(column)) == 1 and bool(empty_cells(column).any())

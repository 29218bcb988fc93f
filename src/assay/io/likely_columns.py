"""Columns that could be the item, the rater and the answer, by what stands in them."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from assay._util.grouping import unique_rows
from assay.data.class_words import canonical
from assay.io.cells import EMPTY
from assay.io.names import FLAGS, TRUTH_NAMES, bare

FIRST_ROWS = 2000
MOST_CLASSES = 12
MOST_FREE = 12
"""Columns that are tried for each of the three."""
LONGEST_NAME = 60
"""Characters beyond which most cells of a column are texts and no names."""
KINDS = ("item", "rater", "answer")


def likely_columns(
    frame: pd.DataFrame, free: Sequence[str], known: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Guess the columns of the item, the rater and the answer that are not known.

    Parameters
    ----------
    frame : DataFrame
    free : sequence of str
        Columns without a role; one without a name cannot be advised, and is not tried.
    known : mapping of str to sequence of str
        The columns of those of ``item``, ``rater`` and ``answer`` that are known.

    Returns
    -------
    dict of str to str
        Nothing if no columns fit: no rater rates an item twice, there are fewer raters than items,
        and answers have a few values. Of several columns of answers it is the last.

    Examples
    --------
    >>> rows = [(f"t{n // 2}", "ab"[n % 2], "yn"[n % 3 % 2]) for n in range(20)]
    >>> frame = pd.DataFrame(rows, columns=["text", "who", "ok"])
    >>> likely_columns(frame, ["text", "who", "ok"], {})
    {'item': 'text', 'rater': 'who', 'answer': 'ok'}
    """
    head = frame.head(FIRST_ROWS)
    codes = {c: pd.factorize(head[c])[0] for c in head.columns}
    sizes = {c: int(codes[c].max(initial=-1)) + 1 for c in codes}
    tried = [c for c in free if c and sizes[c] > 1 and _are_names(head[c])][:MOST_FREE]
    answers = [c for c in reversed(tried) if has_few(head[c]) and _may_be_answer(c)]
    choices = [[""] if kind in known else answers if kind == "answer" else tried for kind in KINDS]
    best: tuple[float, dict[str, str]] = (np.inf, {})
    for chosen in product(*choices):
        guess = {kind: c for kind, c in zip(KINDS, chosen, strict=True) if c}
        if len(set(guess.values())) < len(guess):
            continue
        cost = _cost({k: [guess[k]] if k in guess else list(known[k]) for k in KINDS}, codes)
        if cost < best[0]:
            best = cost, guess
    return best[1]


def _cost(
    columns: Mapping[str, Sequence[str]],
    codes: Mapping[str, "np.ndarray[tuple[int], np.dtype[np.intp]]"],
) -> float:
    """Return how unlikely columns are: infinite if a rater rates an item twice."""
    keys = {kind: [codes[c] for c in columns[kind]] for kind in ("item", "rater")}
    if not all(keys.values()):
        return float(np.inf)
    rows = len(keys["item"][0])
    items, raters = len(unique_rows(*keys["item"])[0]), len(unique_rows(*keys["rater"])[0])
    pairs = len(unique_rows(*keys["item"], *keys["rater"])[0])
    if pairs < rows or raters >= items or raters == rows:
        return float(np.inf)
    once = items == rows  # nothing is rated twice
    return raters + 1000 * once


def _may_be_answer(column: str) -> bool:
    """Whether a name says nothing else: a flag, a status, the truth."""
    name = bare(column)
    return name not in FLAGS | TRUTH_NAMES and not name.endswith(("status", "state"))


def _are_names(column: "pd.Series[str]") -> bool:
    return bool(column.str.len().median() <= LONGEST_NAME)


def has_few(column: "pd.Series[str]") -> bool:
    """Whether a column has a few values, as answers have."""
    words = {canonical(str(word)) for word in pd.unique(column)} - EMPTY
    return 1 < len(words) <= MOST_CLASSES < len(column)

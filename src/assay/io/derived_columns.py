"""Columns beside those of raters that are computed from them, such as their majority."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from assay._util.typing import Bools, Ints
from assay.data.class_words import canonical
from assay.io.names import EMPTY

FEWEST_OTHERS, MOST_COLUMNS = 3, 30
"""Fewest raters whose majority is a column, and most columns that are tried."""
FEWEST_SPLIT = 15
"""Fewest rows with a majority of raters who do not all agree."""
MOST_APART = 0.02
"""Largest share of rows with a majority in which the column may have another class."""
BY_CHANCE = 0.1
"""Probability below which a rater who is always right would not fit the majority so well."""
SHUFFLES, SEED = 200, 1
MOST_ROWS = 2000
"""Rows that are looked at."""


@dataclass(frozen=True, kw_only=True)
class Derived:
    """How a column fits the majority of the others: ``same`` of the ``rows`` that have one.

    In ``split`` of these rows, the others do not all agree.
    """

    rows: int
    same: int
    split: int

    def said(self, column: str) -> str:
        """Return what is seen of the column, and what it may mean."""
        all_rows = (
            f"all {self.rows}" if self.same == self.rows else f"{self.same} of the {self.rows}"
        )
        return (
            f"{column} is the majority of the others in {all_rows} rows that have one, and in "
            f"{self.split} of these they do not all agree. So it seems to be computed from them, "
            "or to be of a rater who sees their votes"
        )


def derived_columns(frame: pd.DataFrame, columns: Sequence[str]) -> dict[str, Derived]:
    """Return the columns that have the class of the majority of the others, if they have one.

    A good rater does so, too, where the majority is right. But raters err, and where two of three
    err in the same way, a rater who knows better differs from them. So the answers of the others
    are shuffled among rows in which the column has the same class: this is how often the majority
    would be wrong if the column were the truth, and raters erred on their own.
    """
    if not FEWEST_OTHERS < len(columns) <= MOST_COLUMNS:
        return {}
    cells = frame[list(columns)].head(MOST_ROWS)
    words = cells.map(canonical).to_numpy(object)
    raw, distinct = pd.factorize(words.ravel())
    empty = np.array([word in EMPTY for word in distinct], bool)
    codes = np.where(empty[raw], -1, raw).reshape(words.shape)
    found = {}
    for n, column in enumerate(columns):
        own = codes[:, n]
        there = own >= 0
        others = [m for m in range(len(columns)) if not (codes[:, m] == own).all()]
        if len(others) < FEWEST_OTHERS:
            continue
        fit = _fit(own[there], codes[there][:, others])
        if fit is not None:
            found[column] = fit
    return found


def _fit(own: Ints, others: Ints) -> Derived | None:
    """Return how a column fits the majority of the others; None if no better than good raters."""
    has, top, split = _majority(others)
    rows, apart = int(has.sum()), int((has & (top != own)).sum())
    divided = int((has & split).sum())
    if divided < FEWEST_SPLIT or apart > MOST_APART * rows:
        return None
    rng, times = np.random.default_rng(SEED), []
    groups = [np.flatnonzero(own == one) for one in np.unique(own)]
    for _ in range(SHUFFLES):
        mixed = others.copy()
        for of_class in groups:
            mixed[of_class] = rng.permuted(others[of_class], axis=0)
        one_has, one_top, _ = _majority(mixed)
        times.append(int((one_has & (one_top != own)).sum()))
    if np.mean(np.array(times) <= apart) >= BY_CHANCE:
        return None
    return Derived(rows=rows, same=rows - apart, split=divided)


def _majority(codes: Ints) -> tuple[Bools, Ints, Bools]:
    """Return which rows have a class of most votes (several), this class, and who has others."""
    classes = np.unique(codes[codes >= 0])
    votes = np.stack([(codes == one).sum(axis=1) for one in classes], axis=1)
    most = votes.max(axis=1)
    has = (most > 1) & ((votes == most[:, None]).sum(axis=1) == 1)
    return has, classes[votes.argmax(axis=1)], votes.sum(axis=1) > most

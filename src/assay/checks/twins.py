"""Raters who agree so often that they may be one witness and not two."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import Numbers
from assay._util.grouping import unique_rows
from assay._util.plurals import counted, does, some
from assay.checks.findings import Level, Part, findings_on
from assay.data.rater_pairs import SHARED_ITEMS, RaterPairs, rater_pairs
from assay.data.ratings import Ratings
from assay.data.states import MISSING

_finding = findings_on("raters")

TWIN_AGREEMENT = 0.98
LONG_AGREEMENT = 100
CHANCE_LIMIT = 0.9


def check_twins(ratings: Ratings) -> Part:
    """Say which raters agree so often that they may not be independent witnesses."""
    first = (ratings.answers != MISSING).any(axis=1) & (ratings.replicate == 0)
    if len(np.unique(ratings.rater[first])) < 2:
        return Part()
    _, pattern = unique_rows(*ratings.answers[first].T)
    shares = np.bincount(pattern) / max(len(pattern), 1)
    chance = float((shares**2).sum())
    if chance >= CHANCE_LIMIT:
        text = "almost all answers are alike: raters who are not independent cannot be told"
        return _part("note", text, code="near-duplicates-untold", numbers={"agreement": chance})
    pairs = rater_pairs(ratings.rater[first], ratings.item[first], len(ratings.raters))
    if pairs is None:
        text = "too many raters an item to compare every pair: no search for near-duplicates"
        return _part("note", text, code="near-duplicates-untold")
    if not len(pairs.items):
        text = (
            f"no two raters answered {SHARED_ITEMS} items in common: whether some of them look "
            "like one cannot be told"
        )
        return _part("note", text, code="near-duplicates-untold", numbers={"items": SHARED_ITEMS})
    table = _twins(pairs, pairs.agreements(pattern) / pairs.items, ratings)
    if table.empty:
        text = "no two raters agree so often that they look like one"
        return _part("ok", text, code="no-near-duplicates")
    # On a few dozen items, two good raters may agree throughout by chance.
    long = bool((table["items"] >= LONG_AGREEMENT).any())
    said = [f"{line.rater} and {line.other}" for line in table.itertuples()]
    text = (
        f"{counted(len(table), 'pair')} of raters {does(len(table), 'agree')} on more than "
        f"{TWIN_AGREEMENT:.0%} of their common items: both are right, or they are not "
        f"independent witnesses: {some(said)}"
    )
    numbers = {"pairs": len(table), "agreement": TWIN_AGREEMENT}
    level: Level = "warning" if long else "note"
    return _part(
        level, text, code="near-duplicate-raters", numbers=numbers, near_duplicate_raters=table
    )


def _part(
    level: Level,
    text: str,
    *,
    code: str,
    numbers: Numbers | None = None,
    **tables: pd.DataFrame,
) -> Part:
    """Return a part of one finding."""
    return Part(findings=(_finding(level, text, code=code, numbers=numbers),), tables=tables)


def _twins(pairs: RaterPairs, agreement: NDArray[np.float64], ratings: Ratings) -> pd.DataFrame:
    """Return the pairs that agree so often, by name."""
    close = agreement > TWIN_AGREEMENT
    names = ratings.raters.index.to_numpy()
    return pd.DataFrame(
        {
            "rater": names[pairs.one[close]],
            "other": names[pairs.other[close]],
            "items": pairs.items[close],
            "agreement": agreement[close],
        }
    )

"""Replicates: how often a rater who rates an item again says the same."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import unique_rows
from assay._util.plurals import counted, does
from assay.checks.findings import Finding, Part
from assay.data.ratings import Ratings


def check_replicates(ratings: Ratings) -> Part:
    """Say how many pairs of ratings of one item by one rater there are, and how many agree."""
    table = replicate_table(ratings)
    if table.empty:
        return Part()
    pairs, same = int(table["pairs"].sum()), int(table["same"].sum())
    text = (
        f"{counted(pairs, 'pair')} of ratings of one item by the same rater "
        f"({counted(len(table), 'rater')}); {same} {does(same, 'say')} the same "
        f"({same / pairs:.1%}): a rater's ratings of one item may not be "
        "independent given the truth"
    )
    found = Finding(
        level="note",
        topic="replicates",
        text=text,
        code="replicate-agreement",
        numbers={"pairs": pairs, "raters": len(table), "same": same, "share": same / pairs},
    )
    return Part(findings=(found,), tables={"replicates": table})


def replicate_table(ratings: Ratings) -> pd.DataFrame:
    """Return per rater the items rated again, the pairs of ratings, and those that agree.

    A pair agrees if the whole answer vectors are equal; ratings without an answer form no pair.
    """
    answered = (ratings.answers >= 0).any(axis=1)
    rater, item = ratings.rater[answered], ratings.item[answered]
    first, again = unique_rows(rater, item)
    one, alike = unique_rows(again, *ratings.answers[answered].T)
    same = np.zeros(len(first), np.int64)
    np.add.at(same, again[one], _pairs(np.bincount(alike)))
    pairs = _pairs(np.bincount(again))
    table = pd.DataFrame(
        {
            "rater": ratings.raters.index.to_numpy(object)[rater[first]],
            "items": (pairs > 0).astype(int),
            "pairs": pairs,
            "same": same,
        }
    )
    table = table.groupby("rater", sort=False).sum().reset_index()
    table = table[table["pairs"] > 0].reset_index(drop=True)
    return table.assign(share_same=table["same"] / table["pairs"])


def _pairs(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(counts * (counts - 1) // 2, np.int64)

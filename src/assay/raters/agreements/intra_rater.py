"""Whether raters agree with themselves: the items that somebody rated more than once."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.data.ratings import Ratings
from assay.raters.agreements.columns import Column, build_columns

Ints = NDArray[np.int64]


def intra_rater_table(ratings: Ratings, names: Sequence[str]) -> pd.DataFrame:
    """Agreement of each rater's own answers to the same item.

    Returns
    -------
    pandas.DataFrame
        ``rater``, ``label``, ``n`` (items with two answers of the rater or more), ``percent``.
    """
    visits, visit = np.unique(
        np.column_stack([ratings.rater, ratings.item]), axis=0, return_inverse=True
    )
    columns = build_columns(ratings.task, ratings.answers, names)
    parts = [_column(column, visit.ravel(), visits[:, 0], ratings) for column in columns]
    table = pd.concat(parts, ignore_index=True)
    return table.sort_values(["rater", "label"], kind="stable", ignore_index=True)


def _column(column: Column, visit: Ints, rater: Ints, ratings: Ratings) -> pd.DataFrame:
    """Lines of one column; a visit is all that one rater said about one item."""
    given = column.codes >= 0
    answers = np.bincount(visit[given], minlength=len(rater))
    cells, count = np.unique(
        visit[given] * column.classes + column.codes[given], return_counts=True
    )
    agreeing = np.bincount(cells // column.classes, count * (count - 1.0), minlength=len(rater))
    many = answers >= 2
    share = agreeing[many] / (answers[many] * (answers[many] - 1))
    items = np.bincount(rater[many], minlength=len(ratings.raters))
    total = np.bincount(rater[many], share, minlength=len(ratings.raters))
    again = np.flatnonzero(items)
    return pd.DataFrame(
        {
            "rater": ratings.raters.index.to_numpy(object)[again],
            "label": column.name,
            "n": items[again],
            "percent": total[again] / items[again],
        }
    )

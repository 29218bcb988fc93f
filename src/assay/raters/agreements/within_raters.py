"""Agreement of raters with themselves, and the agreement that a fitted model expects."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from assay._util.errors import FitError
from assay._util.typing import Floats, Ints
from assay.data.overlap import FirstRatings
from assay.data.ratings import Ratings
from assay.data.states import Vectors
from assay.data.task import Task
from assay.fits.view import FitView
from assay.raters.agreements.coefficients import Column, build_columns, build_tally, statistics


def replicated_statistics(
    task: Task, design: FirstRatings, replicates: Iterable[Vectors], names: Sequence[str]
) -> list[dict[str, Floats]]:
    """Return statistics of each column in each replicate of the answers (rating, label)."""
    found: list[list[dict[str, Floats]]] = []
    for answers in replicates:
        columns = build_columns(task, answers[design.first], names)
        tallies = [build_tally(column, design) for column in columns]
        found.append([statistics(t, {k: b.total() for k, b in t.blocks.items()}) for t in tallies])
    return [
        {name: np.concatenate([one[name] for one in column]) for name in column[0]}
        for column in zip(*found, strict=True)
    ]


def require_same_ratings(fit: FitView, ratings: Ratings) -> None:
    """Raise :class:`FitError` unless the fit is one of these ratings."""
    fitted = fit.ratings
    same = (
        np.array_equal(fitted.answers, ratings.answers)
        and np.array_equal(fitted.item, ratings.item)
        and np.array_equal(fitted.rater, ratings.rater)
        and fitted.task.label_names == ratings.task.label_names
    )
    if not same:
        raise FitError(
            f"the fit is of other ratings: it has {fitted!r}, and the ratings are {ratings!r}; "
            "pass the ratings that were fitted, or fit these",
            code="other-ratings",
        )


def intra_rater_table(ratings: Ratings, names: Sequence[str]) -> pd.DataFrame:
    """Return the agreement of each rater's own answers to the same item: ``rater``, ``label``,
    ``n`` (items answered twice or more) and ``percent``.
    """
    visits, visit = np.unique(
        np.column_stack([ratings.rater, ratings.item]), axis=0, return_inverse=True
    )
    columns = build_columns(ratings.task, ratings.answers, names)
    parts = [_column(column, visit.ravel(), visits[:, 0], ratings) for column in columns]
    table = pd.concat(parts, ignore_index=True)
    return table.sort_values(["rater", "label"], kind="stable", ignore_index=True)


def _column(column: Column, visit: Ints, rater: Ints, ratings: Ratings) -> pd.DataFrame:
    """Return the lines of one column; a visit is all ratings of one item by one rater."""
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

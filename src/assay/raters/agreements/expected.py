"""The agreement that a fitted model expects of the same raters on the same items."""

from collections.abc import Iterable, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import FitError
from assay.data.meetings import Design
from assay.data.ratings import Ratings
from assay.data.states import Vectors
from assay.data.task import Task
from assay.fits.datatree import ratings_of
from assay.raters.agreements.columns import build_columns
from assay.raters.agreements.statistics import statistics
from assay.raters.agreements.tallies import build_tally

Floats = NDArray[np.float64]


def replicated_statistics(
    task: Task, design: Design, replicates: Iterable[Vectors], names: Sequence[str]
) -> list[dict[str, Floats]]:
    """Statistics of each column in each replicate of the answers (rating, label): (replicate,)."""
    found: list[list[dict[str, Floats]]] = []
    for answers in replicates:
        columns = build_columns(task, answers[design.first], names)
        tallies = [build_tally(column, design) for column in columns]
        found.append([statistics(t, {k: b.total() for k, b in t.blocks.items()}) for t in tallies])
    return [
        {name: np.concatenate([one[name] for one in column]) for name in column[0]}
        for column in zip(*found, strict=True)
    ]


def require_same_ratings(fit: xr.DataTree, ratings: Ratings) -> None:
    """Raise :class:`FitError` unless the fit is one of these ratings."""
    fitted = ratings_of(fit)
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

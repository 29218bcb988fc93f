"""On how many items raters are wrong more often than right, where difficulty has no bound."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from assay.model import Structure

Floats = NDArray[np.float64]
MANY = 0.3
"""Share of the items from which on what raters say is no consensus on the classes."""
TENTHS = norm.ppf(np.arange(0.05, 1, 0.1))
"""Difficulty of the middle item of each tenth, where it is normal."""


def turned_shares(structure: Structure, values: Mapping[str, Floats]) -> Floats:
    """Share of the items to which another answer than the right one is given most often.

    Parameters
    ----------
    values : mapping of str to ndarray (draw, ...)
        The parameters.

    Returns
    -------
    ndarray (label,)
        In [0, 1], the mean over classes and draws; of an average rater and of an average rating,
        the smaller one. 0 unless difficulty is continuous.
    """
    labels = structure.ratings.task.labels
    if structure.difficulty.kind != "continuous":
        return np.zeros(len(labels))
    by_tenth = np.stack([structure.mean_reliability(values, float(x)) for x in TENTHS])
    found = []
    for n, label in enumerate(labels):
        count = len(label.classes)
        tables = by_tenth[..., n, :count, :count]
        own = np.diagonal(tables, axis1=-2, axis2=-1)
        # tenth, weighting, draw, class; a class that nobody rated is NaN, and never turned.
        found.append((tables.max(axis=-1) > own).mean(axis=(0, 2, 3)).min())
    return np.array(found)

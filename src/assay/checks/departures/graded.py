"""Test for graded items: each rater says yes above a threshold on a continuum."""

from dataclasses import replace

import numpy as np

from assay._util.typing import Floats
from assay.checks.departures.null_model import (
    PASSES_AGAIN,
    LabelRows,
    NullFit,
    climb,
    fit_null,
    softmax,
)

NODES = np.linspace(-2.4, 2.4, 7)
"""Quadrature nodes of the normal continuum, in SDs."""
START = (0.0, 2.5)
"""Prior means of a rater's threshold and slope, on the logit scale."""
SPREAD = np.array([1.5, 1.0])
"""SDs of threshold and slope over raters."""
WIDTH = 0.7
"""SD of the initial position of an item on the continuum."""


class Continuum:
    """Raters whose log odds of yes are linear in the continuum, updated by each call."""

    def __init__(self, rows: LabelRows) -> None:
        shape = (rows.n_raters, rows.answer.shape[1])
        self.lines = np.broadcast_to(np.array(START), (*shape, 2)).copy()

    def __call__(self, rows: LabelRows, posterior: Floats) -> Floats:
        """Take a Newton step for each rater, and return chances as in the null model."""
        at = posterior[rows.item]
        count = rows.of_raters.sums(at)
        yes = rows.of_raters.sums(at * (rows.answer == rows.classes - 1)[..., None])
        design = np.stack([np.ones_like(NODES), NODES], axis=-1)
        p = self.chance()
        slope = (yes - count * p) @ design - (self.lines - START) / SPREAD**2
        weight = count * p * (1 - p)
        curve = np.einsum("jsk,ka,kb->jsab", weight, design, design) + np.diag(SPREAD**-2)
        step = np.linalg.solve(curve, slope[..., None])[..., 0]
        self.lines = self.lines + np.clip(step, -1.0, 1.0)
        p = np.clip(self.chance(), 1e-6, 1 - 1e-6)
        return np.stack([1 - p, p], axis=1)

    def chance(self) -> Floats:
        """Return the chance of yes, (rater, set, node)."""
        line = self.lines[..., :1] + self.lines[..., 1:] * NODES
        return np.asarray(1 / (1 + np.exp(-line)))


def graded_gain(rows: LabelRows, fit: NullFit) -> Floats:
    """Return the log likelihood of the continuum minus that of classes, per item, (set,).

    Both ignore clusters and known truth, which would enter the two models differently.
    """
    items = np.arange(len(rows.truth))
    plain = replace(rows, truth=np.full_like(rows.truth, -1), cluster=items)
    yes = rows.by_item((rows.answer == rows.classes - 1).astype(float))
    share = (yes + 0.5) / (rows.by_item(np.ones(rows.answer.shape)) + 1)
    place = np.log(share / (1 - share))[..., None]
    posterior = softmax(-0.5 * ((NODES - place) / WIDTH) ** 2)
    continuum = climb(plain, Continuum(rows), posterior, PASSES_AGAIN)
    return (continuum.evidence() - fit_null(plain, fit).evidence()) / len(np.unique(rows.item))

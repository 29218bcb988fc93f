"""Where the chains of NUTS walk: in units of the posterior's width, positive unknowns by scores."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from assay.inference.density import Density
from assay.inference.effort import Effort
from assay.inference.normal_scores import NormalScores, exponential_scores

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Start:
    """Where chains start, and how far they walk in a step.

    Attributes
    ----------
    centre : ndarray (value,)
        The mode.
    root : csr_array (value, value)
        Of the covariance of the approximation at the mode: it makes steps of the unknowns of
        numbers that are about standard normal. Chains start that far around the centre.
    """

    centre: Floats
    root: csr_array

    @property
    def scale(self) -> Floats:
        """Standard deviation of each unknown: (value,)."""
        return np.sqrt(np.asarray(self.root.power(2).sum(axis=1)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Walk:
    """What the chains of a run have in common.

    They walk around the centre, in the coordinates of the root. Positive unknowns, of which the
    density has the logarithms, stand there by their scores: where an SD may be next to 0, chains
    would lose themselves in the long tail of its logarithm.
    """

    density: Density
    start: Start
    draws: int
    tune: int
    target_accept: float

    @cached_property
    def scores(self) -> NormalScores:
        """The scores of the positive unknowns."""
        return exponential_scores(self.density)

    @cached_property
    def units(self) -> tuple[Floats, csr_array]:
        """Centre and root; those of positive unknowns by their scores."""
        centre, at = self.start.centre.copy(), self.scores.at
        centre[at] = self.scores.scores(self.start.centre[at])
        by_score = np.ones(len(centre))
        by_score[at] = 1 / self.scores.slopes(centre[at])[0]
        return centre, csr_array(diags_array(by_score) @ self.start.root)

    def points(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the unknowns at points (draw, value) of a chain, and the log Jacobian there."""
        centre, root = self.units
        x, at = centre + (root @ z.T).T, self.scores.at
        slope, _ = self.scores.slopes(x[:, at])
        x[:, at] = self.scores.logs(x[:, at])
        return x, np.log(slope).sum(axis=1)


def walk_of(density: Density, start: Start, effort: Effort) -> Walk:
    """Return what chains of this effort have in common: each runs in one thread."""
    return Walk(
        density=replace(density, threads=1),
        start=start,
        draws=effort.draws,
        tune=effort.tune,
        target_accept=effort.target_accept,
    )


def arrays_of(walk: Walk) -> list[NDArray[Any]]:
    """Return what the compiled density takes, in the order of its cards."""
    density, prior = walk.density, np.array([walk.density.places.prior])
    centre, root = walk.units
    needed: tuple[Any, ...] = (centre, root.data, *density.tape, prior)
    needed += (*density.places[1:], density.log_weight, *density.data)
    needed += (walk.scores.at, -np.log(walk.scores.rate))
    needed += (root.indptr.astype(np.int64), root.indices.astype(np.int64))
    return [np.ascontiguousarray(array) for array in needed]

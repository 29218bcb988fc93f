"""How many unjudged documents are relevant, by cells within which the judged ones are a sample."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LOGITS = np.linspace(-12.0, 6.0, 91)
"""Grid of the mean prevalence of a cell."""
CONCENTRATIONS = np.geomspace(0.5, 2000.0, 13)
"""Grid of how alike queries are in it; each is equally likely at first."""


BEYOND = 1.0
"""SD, in logits, of how far the mean of a listed cell may lie beyond those of all strata."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CellModel:
    r"""Prevalence of relevant documents in cells of queries.

    Attributes
    ----------
    cell : ndarray of int (group,)
        The cell of each group; a group is a cell of one query.
    judged : ndarray of int (group,)
        Judged documents of each group.
    stratum : ndarray of int (cell,)
        The sampling stratum of each cell.
    listed : ndarray of bool (cell,)
        Whether some run lists its documents.

    Notes
    -----
    Of the documents of a cell, those that are judged are drawn at random. With mean :math:`m_c` and
    concentration :math:`\nu_c` of cell c, query q has the prevalence

    .. math:: p_{qc} \sim \mathrm{Beta}(m_c \nu_c, (1 - m_c) \nu_c), \quad
              y_{qc} \sim \mathrm{Binomial}(n_{qc}, p_{qc}),

    with :math:`\nu_c` log-uniform. Of documents that no run lists, the prior is :math:`m_c \sim
    \mathrm{Beta}(1/2, 1/2)`, which leaves room for relevant documents where none was found. Cells
    of listed documents may have few judged ones or none: their :math:`\mathrm{logit}\, m_c` is
    uniform between the lowest and the highest prevalence of a stratum, and normal beyond, with an
    SD of 1. Mean and concentration are drawn from their posterior on a grid.
    """

    cell: Ints
    judged: Ints
    stratum: Ints
    listed: NDArray[np.bool_]

    @cached_property
    def _grid(self) -> tuple[Floats, Floats, Floats]:
        """Logit of the mean, the mean, and the concentration of each point."""
        logit, size = (part.ravel() for part in np.meshgrid(LOGITS, CONCENTRATIONS))
        return logit, 1 / (1 + np.exp(-logit)), size

    @cached_property
    def _known(self) -> dict[tuple[int, int], Floats]:
        return {}

    def _log_likelihood(self, yes: int, judged: int) -> Floats:
        """Return the log probability of a count at each point of the grid."""
        key = (yes, judged)
        if key not in self._known:
            _, mean, size = self._grid
            a, b = mean * size, (1 - mean) * size
            self._known[key] = betaln(a + yes, b + judged - yes) - betaln(a, b)
        return self._known[key]

    def draw(self, yes: Ints, rng: np.random.Generator) -> Floats:
        """Draw the prevalence of each group, given how many of its judged documents are relevant.

        Parameters
        ----------
        yes : ndarray of int (group,)
        rng : numpy.random.Generator

        Returns
        -------
        ndarray (group,)
        """
        _, mean, size = self._grid
        lowest, highest = self._range_of_strata(yes, rng)
        found = np.empty(len(self.cell))
        for cell in range(len(self.stratum)):
            groups = np.flatnonzero(self.cell == cell)
            log = self._log_prior(cell, lowest, highest)
            told = groups[self.judged[groups] > 0]
            counts = np.stack([yes[told], self.judged[told]])
            pairs, times = np.unique(counts, axis=1, return_counts=True)
            for (y, n), number in zip(pairs.T.tolist(), times, strict=True):
                log = log + number * self._log_likelihood(y, n)
            shares = np.exp(log - log.max()).cumsum()
            point = int(np.searchsorted(shares, rng.random() * shares[-1]))
            a, b = mean[point] * size[point], (1 - mean[point]) * size[point]
            found[groups] = rng.beta(a + yes[groups], b + self.judged[groups] - yes[groups])
        return found

    def _range_of_strata(self, yes: Ints, rng: np.random.Generator) -> tuple[float, float]:
        """Draw the prevalence of each stratum; return the lowest and the highest as logits."""
        of = self.stratum[self.cell]
        strata = int(self.stratum.max()) + 1
        held = np.bincount(of, weights=yes, minlength=strata)
        number = np.bincount(of, weights=self.judged, minlength=strata)
        drawn = np.clip(rng.beta(held + 0.5, number - held + 0.5), 1e-6, 1 - 1e-6)
        logits = np.log(drawn) - np.log1p(-drawn)
        return float(logits.min()), float(logits.max())

    def _log_prior(self, cell: int, lowest: float, highest: float) -> Floats:
        logit, mean, _ = self._grid
        if self.listed[cell]:
            beyond = np.maximum(np.maximum(lowest - logit, logit - highest), 0) / BEYOND
            return np.asarray(-0.5 * beyond**2)
        # The density of Beta(1/2, 1/2) in the logit.
        return np.asarray(0.5 * np.log(mean) + 0.5 * np.log1p(-mean))

"""Kendall's tau-b between scores and graded truth."""

import numpy as np
from numpy.typing import NDArray

from assay._util.quotients import divided
from assay.raters.scoring.runs import Runs, ahead, ranking_totals

Values = NDArray[np.float64]


def kendall_tau(counts: Values, size: Values, runs: Runs) -> Values:
    r"""Kendall's :math:`\tau_b` of each ranking.

    Parameters
    ----------
    counts : ndarray of float (level, ..., run)
        Number of items of each level, the lowest level first, in each run, highest score first.
    size : ndarray of float (..., run)
        Number of items in each run.
    runs : Runs

    Returns
    -------
    ndarray of float (..., ranking)
        In [-1, 1]; NaN where all items of a ranking have one score or one level.

    Notes
    -----
    .. math:: \tau_b = \frac{C - D}{\sqrt{(P - T_s)(P - T_y)}}

    with :math:`C` concordant and :math:`D` discordant pairs of all :math:`P` pairs, :math:`T_s`
    of them tied in the score and :math:`T_y` in the truth (Kendall 1945).

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33(3), 239-251.

    Examples
    --------
    >>> from assay.raters.scoring.runs import run_totals, tied_runs
    >>> runs = tied_runs(np.array([0.9, 0.5, 0.1]))
    >>> truth = np.array([1, 0, 0])
    >>> counts = run_totals(np.stack([truth == 0, truth == 1]), runs)
    >>> kendall_tau(counts, counts.sum(axis=0), runs).round(4)
    array([0.8165])
    """
    everything = ranking_totals(size, runs)
    within = np.stack([ranking_totals(level, runs) for level in counts])
    surplus = sum(_surplus(counts[:level], counts[level], runs) for level in range(1, len(counts)))
    untied = _pairs(everything) - ranking_totals(_pairs(size), runs)
    graded = _pairs(everything) - _pairs(within).sum(axis=0)
    scale = np.sqrt(untied) * np.sqrt(graded)
    return divided(surplus, scale)


def _surplus(lower: Values, level: Values, runs: Runs) -> Values:
    """Concordant minus discordant pairs of the items of a level with those of lower levels."""
    below = lower.sum(axis=0)
    above = ahead(below, runs)
    after = ranking_totals(below, runs)[..., runs.ranking] - above - below
    return ranking_totals(level * (after - above), runs)


def _pairs(count: Values) -> Values:
    return np.asarray(count * (count - 1) / 2)

"""How sure a statistic is: clusters drawn with replacement, within strata."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.agreements.design import Design
from assay.agreements.statistics import statistics
from assay.agreements.tallies import Block, Tally

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NUMBERS = 4_000_000
"""Numbers held at a time: bounds the memory of the bootstrap."""

FULL = 0.05
"""Share of entries from which on a dense product is the faster one."""


def bootstrap(
    tallies: Sequence[Tally], design: Design, draws: int, rng: np.random.Generator
) -> list[dict[str, Floats]]:
    """Statistics of each tally in bootstrap samples of the clusters: (draw,) each.

    All statistics of a draw are of the same sample.
    """
    matrices = [
        {name: _by_cluster(block, design) for name, block in tally.blocks.items()}
        for tally in tallies
    ]
    sizes = [block.size for tally in tallies for block in tally.blocks.values()]
    step = max(1, NUMBERS // max(len(design.stratum), *sizes))
    parts: list[list[dict[str, Floats]]] = [[] for _ in tallies]
    for start in range(0, draws, step):
        times = times_drawn(design.stratum, min(step, draws - start), rng)
        for tally, matrix, part in zip(tallies, matrices, parts, strict=True):
            part.append(statistics(tally, {name: m @ times for name, m in matrix.items()}))
    return [{name: np.concatenate([p[name] for p in part]) for name in part[0]} for part in parts]


def _by_cluster(block: Block, design: Design) -> Any:
    """Matrix (size, cluster) of a block's sums in each cluster: sparse, unless it is full."""
    from scipy import sparse

    where = (block.row, design.cluster[block.item])
    matrix = sparse.csr_matrix((block.value, where), shape=(block.size, len(design.stratum)))
    cells = matrix.shape[0] * matrix.shape[1]
    return matrix.toarray() if FULL * cells < matrix.nnz and cells < 5 * NUMBERS else matrix


def times_drawn(stratum: Ints, draws: int, rng: np.random.Generator) -> Floats:
    r"""How much each cluster counts: (cluster, draw). Each stratum keeps its size.

    Notes
    -----
    Of the :math:`n` clusters of a stratum :math:`n - 1` are drawn with replacement, and count
    :math:`n / (n - 1)` each: then a mean varies as sampling has it, where :math:`n` draws would
    leave :math:`(n - 1) / n` of that, in strata of two clusters a half.

    References
    ----------
    Rao, J. N. K. & Wu, C. F. J. (1988). Resampling inference with complex survey data. Journal of
    the American Statistical Association 83, 231-241.
    """
    times = np.empty((len(stratum), draws))
    for one in np.unique(stratum):
        inside = np.flatnonzero(stratum == one)
        size = len(inside)
        drawn = max(size - 1, 1)
        picked = rng.integers(size, size=(draws, drawn)) + size * np.arange(draws)[:, None]
        counts = np.bincount(picked.ravel(), minlength=size * draws) * (size / drawn)
        times[inside] = counts.reshape(draws, size).T
    return times

"""How sure a statistic is: clusters drawn with replacement, within strata."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.bootstrap import times_drawn
from assay.data.meetings import Design
from assay.raters.agreements.statistics import statistics
from assay.raters.agreements.tallies import Block, Tally

Floats = NDArray[np.float64]

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

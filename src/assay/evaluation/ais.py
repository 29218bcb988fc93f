"""Metrics of the task ``ais``: each stage is a share of those that passed the one before.

Rashkin, H. et al. (2023). Measuring attribution in natural language generation models.
Computational Linguistics 49(4), 777-840.
"""

import numpy as np
from numpy.typing import NDArray

from assay._util.typing import Bools, Floats, Ints
from assay.evaluation.registry import metric
from assay.evaluation.shares import share

Codes = NDArray[np.integer]


@metric("flag_rate", task="ais", labels=["flagged"], better="lower", additive=True)
def flag_rate(y: Codes, mask: Bools) -> Floats:
    """Share of all outputs that are flagged (Flag %)."""
    return share(y[..., 0] == 1, mask)


@metric(
    "interpretable_rate",
    task="ais",
    labels=["flagged", "interpretable"],
    kind="ratio",
    additive=True,
)
def interpretable_rate(y: Codes, mask: Bools) -> tuple[Ints, Ints]:
    """Share of the outputs not flagged that are interpretable (Int %)."""
    judged = (y[..., 0] == 0) & mask
    return (judged & (y[..., 1] == 1)).sum(axis=-1), judged.sum(axis=-1)


@metric(
    "attributable_rate",
    task="ais",
    labels=["interpretable", "attributable"],
    kind="ratio",
    additive=True,
)
def attributable_rate(y: Codes, mask: Bools) -> tuple[Ints, Ints]:
    """Share of the interpretable outputs that are attributable to the source (AIS %)."""
    interpretable = (y[..., 0] == 1) & mask
    return (interpretable & (y[..., 1] == 1)).sum(axis=-1), interpretable.sum(axis=-1)

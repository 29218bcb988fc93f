"""Metrics of the task ``grounding``: rates over answers."""

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.registry import metric
from assay.evaluation.shares import Flags, share

Codes = NDArray[np.integer]
Values = NDArray[np.float64]
Counts = NDArray[np.int64]


@metric("grounding_presence_rate", task="grounding", labels=["support_present"], additive=True)
def grounding_presence_rate(y: Codes, mask: Flags) -> Values:
    """Share of answers with a claim that the context supports."""
    return share(y[..., 0] == 1, mask)


@metric(
    "unsupported_claim_rate",
    task="grounding",
    labels=["unsupported_claim_present"],
    better="lower",
    additive=True,
)
def unsupported_claim_rate(y: Codes, mask: Flags) -> Values:
    """Share of answers with a claim that the context does not support."""
    return share(y[..., 0] == 1, mask)


@metric(
    "contradiction_rate",
    task="grounding",
    labels=["contradicted_claim_present"],
    better="lower",
    additive=True,
)
def contradiction_rate(y: Codes, mask: Flags) -> Values:
    """Share of answers with a claim that the context contradicts."""
    return share(y[..., 0] == 1, mask)


@metric("citation_presence_rate", task="grounding", labels=["source_cited"], additive=True)
def citation_presence_rate(y: Codes, mask: Flags) -> Values:
    """Share of answers that cite a source."""
    return share(y[..., 0] == 1, mask)


@metric(
    "conditional_fabrication_rate",
    task="grounding",
    labels=["source_cited", "fabricated_source"],
    kind="ratio",
    better="lower",
    additive=True,
)
def conditional_fabrication_rate(y: Codes, mask: Flags) -> tuple[Counts, Counts]:
    """Share of the answers that cite which cite a fabricated source; undefined if none cites."""
    cited = (y[..., 0] == 1) & mask
    return (cited & (y[..., 1] == 1)).sum(axis=-1), cited.sum(axis=-1)

"""Metrics of the task ``grounding``: rates over answers."""

import numpy as np
from numpy.typing import NDArray

from assay._util.typing import Bools, Ints
from assay.evaluation.registry import metric, register_rates

Codes = NDArray[np.integer]


register_rates(
    "grounding",
    {
        "grounding_presence_rate": "Share of answers with a claim that the context supports.",
        "unsupported_claim_rate": (
            "Share of answers with a claim that the context does not support."
        ),
        "contradiction_rate": "Share of answers with a claim that the context contradicts.",
        "citation_presence_rate": "Share of answers that cite a source.",
    },
    lower=("unsupported_claim_rate", "contradiction_rate"),
)


@metric(
    "conditional_fabrication_rate",
    task="grounding",
    labels=["source_cited", "fabricated_source"],
    kind="ratio",
    better="lower",
    additive=True,
)
def conditional_fabrication_rate(y: Codes, mask: Bools) -> tuple[Ints, Ints]:
    """Share of the answers that cite which cite a fabricated source; undefined if none cites."""
    cited = (y[..., 0] == 1) & mask
    return (cited & (y[..., 1] == 1)).sum(axis=-1), cited.sum(axis=-1)

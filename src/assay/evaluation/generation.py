"""Metrics of the task ``generation``: rates over answers."""

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.registry import metric
from assay.evaluation.shares import Flags, share

Codes = NDArray[np.integer]
Values = NDArray[np.float64]


@metric("proper_action_rate", task="generation", labels=["proper_action"], additive=True)
def proper_action_rate(y: Codes, mask: Flags) -> Values:
    """Share of answers that are what the query called for."""
    return share(y[..., 0] == 1, mask)


@metric("on_topic_rate", task="generation", labels=["response_on_topic"], additive=True)
def on_topic_rate(y: Codes, mask: Flags) -> Values:
    """Share of answers that are about the query."""
    return share(y[..., 0] == 1, mask)


@metric("helpfulness_rate", task="generation", labels=["helpful"], additive=True)
def helpfulness_rate(y: Codes, mask: Flags) -> Values:
    """Share of answers that help."""
    return share(y[..., 0] == 1, mask)


@metric(
    "incompleteness_rate", task="generation", labels=["incomplete"], better="lower", additive=True
)
def incompleteness_rate(y: Codes, mask: Flags) -> Values:
    """Share of answers that leave out something essential."""
    return share(y[..., 0] == 1, mask)


@metric(
    "unsafe_content_rate",
    task="generation",
    labels=["unsafe_content"],
    better="lower",
    additive=True,
)
def unsafe_content_rate(y: Codes, mask: Flags) -> Values:
    """Share of answers with unsafe content."""
    return share(y[..., 0] == 1, mask)

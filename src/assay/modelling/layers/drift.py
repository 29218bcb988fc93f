"""Reliability that changes over sessions: a random walk over ordered periods."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.modelling.confusion import ConfusionLayout
from assay.modelling.families.family import Raters
from assay.modelling.parameters import Parameter, offsets
from assay.modelling.priors import Prior

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Drift:
    r"""A random walk of each rater's log odds of right answers, for each label.

    .. math::

        \operatorname{logit} P(\text{right} \mid k, t) = \operatorname{logit} \theta_{jlk} +
        w_{jlt}, \quad w_{jl1} = 0, \quad w_{jlt} = w_{jl,t-1} + \tau_{g(j) l} z_{jlt}, \quad
        z_{jlt} \sim \mathrm{Normal}(0, 1)

    The confusion is that of the first session.

    Attributes
    ----------
    sessions : tuple of str
        In order.
    raters : Raters
        Of the family; one row for all if they share a confusion.
    shared : bool
    unit_rater, unit_session : ndarray of int (unit,)
    """

    layout: ConfusionLayout
    sessions: tuple[str, ...]
    raters: Raters
    shared: bool
    unit_rater: Ints
    unit_session: Ints
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """SD of the steps by group and label, and the steps of each rater."""
        names = ("all",) if self.shared else self.raters.names
        groups = ("all",) if self.shared else self.raters.groups
        coords = {
            "walker": names,
            "walker_group": groups,
            "label_name": self.layout.task.label_names,
            "step": self.sessions[1:],
        }
        dims, by_group = ("walker", "label_name", "step"), ("walker_group", "label_name")
        labels = len(coords["label_name"])
        at = self._group[:, None] * labels + np.arange(labels)
        return [
            Parameter(name="drift_sd", dims=by_group, prior=self.priors["drift_sd"], coords=coords),
            offsets("drift_step", dims, coords, spread="drift_sd", at=at[:, :, None]),
        ]

    @property
    def _group(self) -> Ints:
        """Group of each walker."""
        return np.zeros(1, np.int64) if self.shared else self.raters.group

    def walk(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Where each rater stands in each session: (..., rater, label, session)."""
        steps = values["drift_sd"][..., self._group, :, None] * values["drift_step"]
        count = len(self.sessions)
        # Column t adds up the steps before session t; the first session is where the walk starts.
        adds = np.triu(np.ones((count - 1, count)), 1)
        return xp.matmul(steps, adds)

    def tilt(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return what the walk adds to the log odds of right answers: (..., unit, asked row)."""
        labels = np.array(self.layout.labels)
        walk = self.walk(values, xp)
        return walk[..., self.unit_rater[:, None], labels[None, :], self.unit_session[:, None]]

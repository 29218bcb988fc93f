"""Reliability that changes between sessions: a random walk over ordered periods."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.typing import Ints
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.families.family import Raters
from assay.modelling.parameters import Parameter, offsets
from assay.modelling.priors import Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class Drift:
    r"""A random walk of each rater's log odds of right answers, for each label.

    .. math::

        \operatorname{logit} P(\text{right} \mid k, t) = \operatorname{logit} \theta_{jlk} +
        w_{jlt}, \quad w_{jl1} = 0, \quad w_{jlt} = w_{jl,t-1} + \tau_{g(j) l} z_{jlt}, \quad
        z_{jlt} \sim \mathrm{Normal}(0, 1)

    The confusion is that of the first session. ``sessions`` are in order; ``raters`` is one row if
    all share a confusion.
    """

    layout: ConfusionLayout
    sessions: tuple[str, ...]
    raters: Raters
    unit_rater: Ints
    unit_session: Ints
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """Return SDs of the steps by group and label, and each rater's steps."""
        coords = {
            "walker": self.raters.names,
            "walker_group": self.raters.groups,
            "label_name": self.layout.task.label_names,
            "step": self.sessions[1:],
        }
        dims, by_group = ("walker", "label_name", "step"), ("walker_group", "label_name")
        labels = len(coords["label_name"])
        at = self.raters.group[:, None] * labels + np.arange(labels)
        return [
            Parameter(name="drift_sd", dims=by_group, prior=self.priors["drift_sd"], coords=coords),
            offsets("drift_step", dims, coords, spread="drift_sd", at=at[:, :, None]),
        ]

    def walk(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return each rater's position in each session, (..., rater, label, session)."""
        steps = values["drift_sd"][..., self.raters.group, :, None] * values["drift_step"]
        count = len(self.sessions)
        # Column t sums the steps before session t.
        adds = np.triu(np.ones((count - 1, count)), 1)
        return xp.matmul(steps, adds)

    def tilt(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the walk's effect on log odds of right answers, (..., unit, asked row)."""
        labels = np.array(self.layout.labels)
        walk = self.walk(values, xp)
        return walk[..., self.unit_rater[:, None], labels[None, :], self.unit_session[:, None]]

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
    r"""A random walk of each rater's log odds of right answers, for each label and true class.

    .. math::

        \operatorname{logit} P(\text{right} \mid k, t) = \operatorname{logit} \theta_{jlkk} +
        w_{jlt} + v_{jlkt}, \quad w_{jlt} = \tau_{g(j) l} \sum_{u \le t} z_{jlu}, \quad
        v_{jlkt} = \omega_{g(j) l} \sum_{u \le t} x_{jlku}, \quad
        z, x \sim \mathrm{Normal}(0, 1)

    from the second session on. ``sessions`` are in order; ``raters`` is one row if all share a
    confusion.
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
            "row": tuple(self.layout.row_names),
            "step": self.sessions[1:],
        }
        by_group = ("walker_group", "label_name")
        labels = len(coords["label_name"])
        at = self.raters.group[:, None] * labels + np.arange(labels)
        by_row = self.raters.group[:, None] * labels + np.array(self.layout.labels)
        found = []
        for name, dim, place in (("drift", "label_name", at), ("drift_lean", "row", by_row)):
            sd, dims = f"{name}_sd", ("walker", dim, "step")
            found += [
                Parameter(name=sd, dims=by_group, prior=self.priors[sd], coords=coords),
                offsets(f"{name}_step", dims, coords, spread=sd, at=place[:, :, None]),
            ]
        return found

    def walk(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return each rater's position in each session, (..., rater, asked row, session)."""
        label, group = np.array(self.layout.labels), self.raters.group
        steps = values["drift_sd"][..., group, :, None] * values["drift_step"]
        steps = steps[..., label, :]
        if "drift_lean_sd" in values:  # not in fits by earlier versions
            sd = values["drift_lean_sd"][..., group, :][..., label, None]
            steps = steps + sd * values["drift_lean_step"]
        count = len(self.sessions)
        # Column t sums the steps before session t.
        adds = np.triu(np.ones((count - 1, count)), 1)
        return xp.matmul(steps, adds)

    def tilt(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the walk's effect on log odds of right answers, (..., unit, asked row)."""
        rows = np.arange(self.layout.asked_rows)
        walk = self.walk(values, xp)
        return walk[..., self.unit_rater[:, None], rows[None, :], self.unit_session[:, None]]

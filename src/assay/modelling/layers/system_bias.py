"""Bias by system: confusions that differ between the systems of the items."""

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
class SystemBias:
    r"""Effect of an item's system on a rater's log odds of right answers.

    .. math::

        \operatorname{logit} P(\text{right} \mid k, c) = \operatorname{logit} \theta_{jlk}
            + \tau_{g(j) l}\, b_{jlkc}, \quad b_{jlkc} \sim \mathrm{Normal}(0, 1)

    for an item of system c.

    raters : one row if all share a confusion
    unit_system : -1 for items of several systems or none, which have no bias
    """

    layout: ConfusionLayout
    systems: tuple[str, ...]
    raters: Raters
    unit_rater: Ints
    unit_system: Ints
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """Return SDs of the biases by group and label, and each rater's biases."""
        coords = {
            "biased": self.raters.names,
            "biased_group": self.raters.groups,
            "label_name": self.layout.task.label_names,
            "row": tuple(self.layout.row_names),
            "biased_system": self.systems,
        }
        sd, by_group = self.priors["system_bias_sd"], ("biased_group", "label_name")
        dims = ("biased", "row", "biased_system")
        at = self.raters.group[:, None] * len(coords["label_name"]) + np.array(self.layout.labels)
        return [
            Parameter(name="system_bias_sd", dims=by_group, prior=sd, coords=coords),
            offsets("system_bias_offset", dims, coords, spread="system_bias_sd", at=at[:, :, None]),
        ]

    def tilt(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the bias in log odds of right answers, (..., unit, asked row)."""
        labels = np.array(self.layout.labels)
        sd = values["system_bias_sd"][..., self.raters.group, :][..., labels]
        bias = sd[..., None] * values["system_bias_offset"]
        rows = np.arange(len(labels))
        at = np.maximum(self.unit_system, 0)
        found = bias[..., self.unit_rater[:, None], rows[None, :], at[:, None]]
        return found * (self.unit_system >= 0)[:, None].astype(float)

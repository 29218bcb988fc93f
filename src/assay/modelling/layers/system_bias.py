"""Bias by system: confusions that differ between the systems of the items."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.typing import Bools, Ints
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.families.family import Raters
from assay.modelling.parameters import Parameter, offsets
from assay.modelling.priors import Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemBias:
    r"""Effect of an item's system on a rater's log odds of right answers.

    .. math::

        \operatorname{logit} P(\text{right} \mid k, c) = \operatorname{logit} \theta_{jlk}
            + \sigma_{g(j) l}\, m_{g(j) lkc} + \tau_{g(j) l}\, b_{jlkc},
            \quad m_{glkc}, b_{jlkc} \sim \mathrm{Normal}(0, 1)

    for an item of system c. Groups of several raters have a mean m; one rater has b alone.

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
        """Return SDs of the biases by group and label, each rater's biases, and means of groups."""
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
        found = [
            Parameter(name="system_bias_sd", dims=by_group, prior=sd, coords=coords),
            offsets("system_bias_offset", dims, coords, spread="system_bias_sd", at=at[:, :, None]),
        ]
        if not (several := self._of_several).any():
            return found
        coords["biased_together"] = tuple(np.array(self.raters.groups)[several].tolist())
        name, by_group = "system_bias_mean_sd", ("biased_together", "label_name")
        at = np.arange(several.sum())[:, None] * len(coords["label_name"])
        at = (at + np.array(self.layout.labels))[:, :, None]
        dims = ("biased_together", "row", "biased_system")
        return [
            *found,
            Parameter(name=name, dims=by_group, prior=self.priors[name], coords=coords),
            offsets("system_bias_mean_offset", dims, coords, spread=name, at=at),
        ]

    @property
    def _of_several(self) -> Bools:
        """Whether each group has several raters: the mean of a single one is a bias of its own."""
        return np.bincount(self.raters.group, minlength=len(self.raters.groups)) > 1

    def tilt(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the bias in log odds of right answers, (..., unit, asked row)."""
        labels = np.array(self.layout.labels)
        sd = values["system_bias_sd"][..., self.raters.group, :][..., labels]
        bias = sd[..., None] * values["system_bias_offset"]
        if "system_bias_mean_sd" in values:  # not in fits by earlier versions
            sd = values["system_bias_mean_sd"][..., labels]
            mean = sd[..., None] * values["system_bias_mean_offset"]
            place = np.cumsum(self._of_several) - 1
            has = self._of_several[self.raters.group].astype(float)[:, None, None]
            bias = bias + mean[..., np.maximum(place, 0)[self.raters.group], :, :] * has
        rows = np.arange(len(labels))
        at = np.maximum(self.unit_system, 0)
        found = bias[..., self.unit_rater[:, None], rows[None, :], at[:, None]]
        return found * (self.unit_system >= 0)[:, None].astype(float)

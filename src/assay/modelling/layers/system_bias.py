"""Raters who judge the systems differently: confusions that vary with the system."""

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
class SystemBias:
    r"""What the log odds of a rater's right answers gain or lose on the items of one system.

    .. math::

        \operatorname{logit} P(\text{right} \mid k, c) = \operatorname{logit} \theta_{jlk}
            + \tau_{g(j) l}\, b_{jlkc}, \quad b_{jlkc} \sim \mathrm{Normal}(0, 1)

    for an item of system c. A judge that likes one system's style reports more of its items as
    good, whether they are or not: with one confusion for all systems that looks like a difference
    between the systems.

    Attributes
    ----------
    systems : tuple of str
    raters : Raters
        Of the family; one row for all if they share a confusion.
    shared : bool
    unit_rater, unit_system : ndarray of int (unit,)
        The system is -1 for items of several systems, or of none: they have no bias.
    """

    layout: ConfusionLayout
    systems: tuple[str, ...]
    raters: Raters
    shared: bool
    unit_rater: Ints
    unit_system: Ints
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """SD of the biases by group and label, and the bias of each rater."""
        names = ("all",) if self.shared else self.raters.names
        groups = ("all",) if self.shared else self.raters.groups
        coords = {
            "biased": names,
            "biased_group": groups,
            "label_name": self.layout.task.label_names,
            "row": tuple(self.layout.row_names),
            "biased_system": self.systems,
        }
        sd, by_group = self.priors["system_bias_sd"], ("biased_group", "label_name")
        dims = ("biased", "row", "biased_system")
        at = self._group[:, None] * len(coords["label_name"]) + np.array(self.layout.labels)
        return [
            Parameter(name="system_bias_sd", dims=by_group, prior=sd, coords=coords),
            offsets("system_bias_offset", dims, coords, spread="system_bias_sd", at=at[:, :, None]),
        ]

    @property
    def _group(self) -> Ints:
        """Group of each rater who has biases."""
        return np.zeros(1, np.int64) if self.shared else self.raters.group

    def tilt(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return what the bias adds to the log odds of right answers: (..., unit, asked row)."""
        labels = np.array(self.layout.labels)
        sd = values["system_bias_sd"][..., self._group, :][..., labels]
        bias = sd[..., None] * values["system_bias_offset"]
        rows = np.arange(len(labels))
        at = np.maximum(self.unit_system, 0)
        found = bias[..., self.unit_rater[:, None], rows[None, :], at[:, None]]
        return found * (self.unit_system >= 0)[:, None].astype(float)

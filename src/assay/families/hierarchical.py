"""Partial pooling of confusions within groups of raters (Paun et al. 2018); the default."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assay.families.family import Family
from assay.priors import Parameter, Prior


class Hierarchical(Family):
    r"""Logits of each confusion scatter around those of the rater's group.

    .. math::

        \theta_{jlk} = \mathrm{softmax}(\mu_{g(j)lk} + \sigma_{g(j)lk}\, z_{jlk}), \quad
        z_{jlk} \sim \mathrm{Normal}(0, 1)

    A binary row has one logit, that of the correct class; a longer row has one per class.
    """

    name: ClassVar[str] = "hierarchical"

    def parameters(self) -> list[Parameter]:
        """Mean and SD of each group, offset of each rater."""
        centre, spread = (
            self.layout.cell_values(
                binary=self.priors["mean_binary"].values[n],
                correct=self.priors["mean_correct"].values[n],
                other=self.priors["mean_other"].values[n],
            )
            for n in (0, 1)
        )
        coords = self.rater_coords()
        by_group, by_rater = ("group", "cell"), ("rater", "cell")
        mean = Prior(name="Normal", values=(centre, spread))
        offset = Prior(name="Normal", values=(0.0, 1.0))
        return [
            Parameter(name="logit_mean", dims=by_group, prior=mean, coords=coords),
            Parameter(name="logit_sd", dims=by_group, prior=self.priors["sd"], coords=coords),
            Parameter(name="logit_offset", dims=by_rater, prior=offset, coords=coords),
        ]

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Softmax of the raters' logits."""
        group = self.raters.group
        mean, sd = values["logit_mean"][..., group, :], values["logit_sd"][..., group, :]
        return self.layout.from_logits(mean + sd * values["logit_offset"], xp)

"""Partial pooling of confusions within groups of raters (Paun et al. 2018)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.modelling.families.family import Family, Owner
from assay.modelling.families.lean import LeanPrior, binary_leans
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior

BY_GROUP: Mapping[str, Owner] = {
    "mean_binary": "group",
    "mean_correct": "group",
    "mean_other": "group",
    "sd": "group",
}


class Hierarchical(Family):
    r"""Logits of each confusion scatter around those of the rater's group.

    .. math::

        \theta_{jlk} = \mathrm{softmax}(\mu_{g(j)lk} + \sigma_{g(j)lk}\, z_{jlk}), \quad
        z_{jlk} \sim \mathrm{Normal}(0, 1)

    A binary row has one logit, that of the correct class; a longer row has one per class. Where
    nothing but the raters says what is true of a binary label, their mean lean to one answer,
    :math:`\frac{1}{2J} \sum_j (\mathrm{logit}\, \theta_{j11} - \mathrm{logit}\, \theta_{j00})`,
    has a prior of its own, ``lean``: what most raters say is the truth unless the data show clearly
    that most of them are wrong in the same way.
    """

    name: ClassVar[str] = "hierarchical"
    by_owner: ClassVar[Mapping[str, Owner]] = BY_GROUP

    def parameters(self) -> list[Parameter]:
        """Mean and SD of each group, offset of each rater."""
        return logit_parameters(self)

    def lean_prior(self) -> LeanPrior | None:
        """Prior of the mean lean of all raters."""
        return lean_prior(self)

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Softmax of the raters' logits."""
        return self.layout.from_logits(pooled_logits(self, values), xp)


def logit_parameters(
    family: Family, spread: Prior | None = None, *, correct: str = "mean_correct"
) -> list[Parameter]:
    """Mean and SD of the logits of each group, offset of each rater.

    ``spread`` is the prior of the SDs, (group, cell) or broadcastable; that of ``sd`` if None.
    ``correct`` names the prior of the means of the correct classes of longer rows.
    """
    coords = family.rater_coords()
    by_group, by_rater = ("group", "cell"), ("rater", "cell")
    unit = Prior(name="Normal", values=(0.0, 1.0))
    spread = family.joined("sd", axes=1) if spread is None else spread
    cells = len(coords["cell"])
    return [
        Parameter(
            name="logit_mean", dims=by_group, prior=_mean_prior(family, correct), coords=coords
        ),
        Parameter(name="logit_sd", dims=by_group, prior=spread, coords=coords),
        Parameter(
            name="logit_offset",
            dims=by_rater,
            prior=unit,
            coords=coords,
            spread="logit_sd",
            location="logit_mean",
            spread_at=family.raters.group[:, None] * cells + np.arange(cells),
        ),
    ]


def _mean_prior(family: Family, correct: str) -> Prior:
    """Prior of the logits of a group's average rater: numbers (group, cell).

    Where the lean has a prior of its own, that of a row is the prior of the mean of the two rows:
    apart, they have an SD that is larger by the square root of 2.
    """
    names = {"binary": "mean_binary", "correct": correct, "other": "mean_other"}
    kinds = {kind: family.joined(name) for kind, name in names.items()}

    def cells(number: int) -> NDArray[np.float64]:
        by_group = ({k: p.values[number][g] for k, p in kinds.items()} for g in groups)
        return np.stack([family.layout.cell_values(**one) for one in by_group])

    groups = range(len(family.raters.groups))
    binary = family.layout.row_classes == 2
    read = [kinds["binary"]] * bool(binary.any())
    read += [kinds["correct"], kinds["other"]] * bool((~binary).any())
    leaning = _leaning(family)
    read += [family.priors["lean"]] * bool(leaning.any())
    apart = np.where(leaning, np.sqrt(2), 1.0)
    return Prior(name="Normal", values=(cells(0), cells(1) * apart), parts=tuple(read))


def pooled_logits(family: Family, values: Mapping[str, Any]) -> Any:
    """Logits of the raters: (..., rater, cell)."""
    group = family.raters.group
    mean, sd = values["logit_mean"][..., group, :], values["logit_sd"][..., group, :]
    return mean + sd * values["logit_offset"]


def lean_prior(family: Family, correct: str = "mean_correct") -> LeanPrior | None:
    """Prior of the mean lean of all raters, if there is a label to which it matters."""
    share = binary_leans(family.layout, family.raters.crowd)
    if share is None:
        return None
    centre, sd = _mean_prior(family, correct).values
    return LeanPrior(
        share=share, group=family.raters.group, centre=centre, sd=sd, prior=family.priors["lean"]
    )


def _leaning(family: Family) -> NDArray[np.bool_]:
    """Whether each cell is of a label whose lean has a prior: (cell,)."""
    share = binary_leans(family.layout, family.raters.crowd)
    return np.zeros(len(family.layout.cells), bool) if share is None else share.any(axis=(0, 1))

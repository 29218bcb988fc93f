"""Partial pooling of confusions within groups of raters (Paun et al. 2018)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from assay._util.typing import Bools, Floats
from assay.modelling.families.family import Family, Owner
from assay.modelling.families.lean import LeanPrior, binary_leans, rater_logits
from assay.modelling.families.pool_lean import PoolLean
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior

BY_GROUP: Mapping[str, Owner] = {
    "mean_binary": "group",
    "mean_correct": "group",
    "mean_other": "group",
    "sd": "group",
}


class Hierarchical(Family):
    r"""Logits of each confusion vary around those of the rater's group.

    .. math::

        \theta_{jlk} = \mathrm{softmax}(\mu_{g(j)lk} + \sigma_{g(j)lk}\, z_{jlk}), \quad
        z_{jlk} \sim \mathrm{Normal}(0, 1)

    A binary row has one logit, that of the correct class; a longer row has one per class. If only
    raters define the truth of a binary label, their mean lean to one answer, :math:`\frac{1}{2J}
    \sum_j (\mathrm{logit}\, \theta_{j11} - \mathrm{logit}\, \theta_{j00})`, has the prior ``lean``:
    the majority is right unless data show clearly that most raters are wrong in the same way.
    """

    name: ClassVar[str] = "hierarchical"
    by_owner: ClassVar[Mapping[str, Owner]] = BY_GROUP

    def parameters(self) -> list[Parameter]:
        """Return means and SDs by group, and offsets by rater."""
        return logit_parameters(self)

    def lean_prior(self) -> LeanPrior | None:
        """Return the prior of the raters' mean lean."""
        return lean_prior(self)

    def pool_lean(self) -> PoolLean | None:
        """Return how the raters' mean lean differs from their pool's."""
        return pool_lean(self)

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the log softmax of the raters' logits."""
        return self.layout.from_logits(rater_logits(values, self.raters.group), xp)


def logit_parameters(
    family: Family, spread: Prior | None = None, *, correct: str = "mean_correct"
) -> list[Parameter]:
    """Return means and SDs of the logits by group, and offsets by rater.

    ``spread`` is the prior of the SDs, (group, cell) or broadcastable; None is that of ``sd``.
    ``correct`` names the prior of the means of longer rows' correct classes.
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
    """Return the prior of the logits of a group's average rater, (group, cell).

    If the lean has its own prior, a row's prior is that of the mean of both rows, so that the SD of
    each is larger by the square root of 2.
    """
    names = {"binary": "mean_binary", "correct": correct, "other": "mean_other"}
    kinds = {kind: family.joined(name) for kind, name in names.items()}

    def cells(number: int) -> Floats:
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


def lean_prior(family: Family, correct: str = "mean_correct") -> LeanPrior | None:
    """Return the prior of the raters' mean lean; None if no label needs it."""
    share = _alone(family)
    if share is None:
        return None
    centre, sd = _mean_prior(family, correct).values
    return LeanPrior(
        share=share, group=family.raters.group, centre=centre, sd=sd, prior=family.priors["lean"]
    )


def _alone(family: Family) -> Floats | None:
    """Return the weights of leans of labels whose truth raters alone define."""
    crowd, alone = family.raters.crowd, family.raters.alone
    return binary_leans(family.layout, None if crowd is None or alone is None else crowd * alone)


def pool_lean(family: Family) -> PoolLean | None:
    """Return how the raters' mean lean differs from their pool's; None if no label needs it."""
    share = binary_leans(family.layout, family.raters.crowd)
    if share is None:
        return None
    of_cell = np.array(family.layout.labels)[[row for row, _ in family.layout.cells]]
    return PoolLean(
        share=share,
        labels=np.array([of_cell[cells.any(axis=0)][0] for cells in share]),
        group=family.raters.group,
        spread=family.priors["lean_spread"],
    )


def _leaning(family: Family) -> Bools:
    """Return whether a cell's label has a prior of the lean, (cell,)."""
    share = _alone(family)
    return np.zeros(len(family.layout.cells), bool) if share is None else share.any(axis=(0, 1))

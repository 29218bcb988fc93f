"""Partial pooling of confusions within groups of raters (Paun et al. 2018)."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.modelling.families.family import Family, Owner
from assay.modelling.parameters import Parameter, SumPrior
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
    has a prior of its own, ``lean``, and the offsets leave it as it is: what most raters say is
    the truth unless the data show clearly that most of them are wrong in the same way.
    """

    name: ClassVar[str] = "hierarchical"
    by_owner: ClassVar[Mapping[str, Owner]] = BY_GROUP

    def parameters(self) -> list[Parameter]:
        """Mean and SD of each group, offset of each rater."""
        return logit_parameters(self)

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Softmax of the raters' logits."""
        return self.layout.from_logits(pooled_logits(self, values, xp), xp)


def logit_parameters(
    family: Family, spread: Prior | None = None, *, correct: str = "mean_correct"
) -> list[Parameter]:
    """Mean and SD of the logits of each group, offset of each rater.

    ``spread`` is the prior of the SDs, (group, cell) or broadcastable; that of ``sd`` if None.
    ``correct`` names the prior of the means of the correct classes of longer rows.
    """
    coords, means = family.rater_coords(), _mean_prior(family, correct)
    by_group, by_rater = ("group", "cell"), ("rater", "cell")
    unit = Prior(name="Normal", values=(0.0, 1.0))
    spread = family.joined("sd", axes=1) if spread is None else spread
    cells = len(coords["cell"])
    return [
        Parameter(
            name="logit_mean",
            dims=by_group,
            prior=means,
            coords=coords,
            sums=_lean_prior(family),
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
    lean = _lean(family)
    read += [] if lean is None else [family.priors["lean"]]
    apart = 1.0 if lean is None else np.where(lean.back.any(axis=0), np.sqrt(2), 1.0)
    return Prior(name="Normal", values=(cells(0), cells(1) * apart), parts=tuple(read))


def pooled_logits(family: Family, values: Mapping[str, Any], xp: Any) -> Any:
    """Logits of the raters: (..., rater, cell)."""
    group = family.raters.group
    mean, sd = values["logit_mean"][..., group, :], values["logit_sd"][..., group, :]
    offset, lean = sd * values["logit_offset"], _lean(family)
    if lean is None:
        return mean + offset
    # Of the offsets, the part that all raters share is taken out: it is the lean of the means.
    apart = xp.matmul((offset * lean.share).sum(axis=-2)[..., None, :], lean.back)
    return mean + offset - apart


class _Lean(NamedTuple):
    """How far raters lean to the second answer of binary labels: half a difference of logits.

    Attributes
    ----------
    labels : tuple of int
        The binary labels of which the raters alone say what is true.
    share : ndarray (rater, cell)
        What the logits add to the mean lean of the raters.
    back : ndarray (cell, cell)
        From what the cells add to the lean to what the lean adds to cells.
    """

    labels: tuple[int, ...]
    share: NDArray[np.float64]
    back: NDArray[np.float64]


def _lean(family: Family) -> _Lean | None:
    """Return the lean of the raters, if there is a label to which it matters."""
    layout, crowd = family.layout, family.raters.crowd
    if crowd is None:
        return None
    found = [n for n, k in enumerate(layout.classes) if k == 2 and crowd[:, n].any()]
    if not found:
        return None
    row = np.array([row for row, _ in layout.cells])
    label = np.array(layout.labels)[row]
    sign = np.where(np.isin(label, found), 2.0 * np.array(layout.true_classes)[row] - 1, 0.0)
    back = np.where(label[:, None] == label[None, :], np.abs(sign)[:, None] * sign[None, :], 0.0)
    return _Lean(labels=tuple(found), share=crowd[:, label] * sign / 2, back=back)


def _lean_prior(family: Family) -> SumPrior | None:
    """Prior of the mean lean of the raters, as sums of the groups' means."""
    lean = _lean(family)
    if lean is None:
        return None
    group, label = family.raters.group, np.array(family.layout.labels)
    shares = np.zeros((len(family.raters.groups), lean.share.shape[1]))
    np.add.at(shares, group, lean.share)
    of_cell = label[[row for row, _ in family.layout.cells]]
    weight = np.stack([(shares * (of_cell == n)).ravel() for n in lean.labels])
    return SumPrior(weight=weight, prior=family.priors["lean"])

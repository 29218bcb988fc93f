"""Partial pooling of confusions within groups of raters (Paun et al. 2018)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from assay._util.typing import Bools, Floats
from assay.modelling.families.family import Family, JointPrior, Owner
from assay.modelling.families.lean import LeanPrior, binary_leans, rater_logits
from assay.modelling.families.pool_lean import AnswerPoolLean, BinaryPoolLean, PoolLean
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

    A binary row has one logit, a longer row one per class. If only raters define the truth of a
    binary label, :math:`\frac{1}{2J} \sum_j (\mathrm{logit}\, \theta_{j11} - \mathrm{logit}\,
    \theta_{j00})` has the prior ``lean``.
    """

    name: ClassVar[str] = "hierarchical"
    by_owner: ClassVar[Mapping[str, Owner]] = BY_GROUP

    def parameters(self) -> list[Parameter]:
        """Return means and SDs by group, and offsets by rater."""
        return logit_parameters(self, self._cells)

    def joint_priors(self) -> Sequence[JointPrior]:
        """Return the prior of the raters' mean lean."""
        return lean_priors(self, self._cells)

    def pool_leans(self) -> Sequence[PoolLean]:
        """Return how the raters' mean leans differ from their pool's."""
        return pool_leans(self, self._cells, self._lean_to)

    @property
    def _cells(self) -> Bools:
        return np.ones(len(self.layout.cells), bool)

    def _lean_to(self, label: int, values: Mapping[str, Floats], lean: Floats) -> dict[str, Floats]:
        """Add leans to the answers of a label (draw, class) to all raters' logits."""
        answer = self.layout.cells_of_answers(label)
        return {"logit_mean": values["logit_mean"] + (lean @ answer)[:, None]}

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the log softmax of the raters' logits."""
        return self.layout.from_logits(rater_logits(values, self.raters.group), xp)


def logit_parameters(family: Family, cells: Bools) -> list[Parameter]:
    """Return means and SDs of the logits of some cells by group, and offsets by rater."""
    coords = family.rater_coords()
    coords["cell"] = tuple(np.array(coords["cell"], object)[cells])
    by_group, by_rater = ("group", "cell"), ("rater", "cell")
    unit = Prior(name="Normal", values=(0.0, 1.0))
    prior, spread = mean_prior(family, cells), family.joined("sd", axes=1)
    count = len(coords["cell"])
    return [
        Parameter(name="logit_mean", dims=by_group, prior=prior, coords=coords),
        Parameter(name="logit_sd", dims=by_group, prior=spread, coords=coords),
        Parameter(
            name="logit_offset",
            dims=by_rater,
            prior=unit,
            coords=coords,
            spread="logit_sd",
            location="logit_mean",
            spread_at=family.raters.group[:, None] * count + np.arange(count),
        ),
    ]


def mean_prior(family: Family, cells: Bools, *, correct: str = "mean_correct") -> Prior:
    """Return the prior of the logits of a group's average rater, (group, cell).

    ``correct`` names that of right answers in longer rows. Where the lean has its own prior, both
    rows' mean has the row's prior, so each SD is larger by the square root of 2.
    """
    names = {"binary": "mean_binary", "correct": correct, "other": "mean_other"}
    kinds = {kind: family.joined(name) for kind, name in names.items()}

    def numbers(number: int) -> Floats:
        by_group = ({k: p.values[number][g] for k, p in kinds.items()} for g in groups)
        return np.stack([family.layout.cell_values(**one) for one in by_group])[:, cells]

    groups = range(len(family.raters.groups))
    binary = family.layout.row_classes[[row for row, _ in family.layout.cells]][cells] == 2
    read = [kinds["binary"]] * bool(binary.any())
    read += [kinds["correct"], kinds["other"]] * bool((~binary).any())
    leaning = _leaning(family)[cells]
    read += [family.priors["lean"]] * bool(leaning.any())
    apart = np.where(leaning, np.sqrt(2), 1.0)
    return Prior(name="Normal", values=(numbers(0), numbers(1) * apart), parts=tuple(read))


def lean_priors(family: Family, cells: Bools) -> list[JointPrior]:
    """Return the prior of the raters' mean lean over some cells, if a label needs it."""
    share = _alone(family)
    if share is None:
        return []
    centre, sd = mean_prior(family, cells).values
    return [
        LeanPrior(
            share=share[..., cells],
            group=family.raters.group,
            centre=centre,
            sd=sd,
            prior=family.priors["lean"],
        )
    ]


def _alone(family: Family) -> Floats | None:
    """Return the weights of leans of labels whose truth raters alone define."""
    crowd, alone = family.raters.crowd, family.raters.alone
    return binary_leans(family.layout, None if crowd is None or alone is None else crowd * alone)


def pool_leans(
    family: Family,
    cells: Bools,
    move: Callable[[int, Mapping[str, Floats], Floats], dict[str, Floats]],
) -> list[PoolLean]:
    """Return how the raters' mean leans differ from their pool's, where raters define the truth.

    ``move`` adds leans to the answers of a label with three classes or more.
    """
    crowd, layout, spread = family.raters.crowd, family.layout, family.priors["lean_spread"]
    if crowd is None:
        return []
    found: list[PoolLean] = []
    if (share := binary_leans(layout, crowd)) is not None:
        of_cell = np.array(layout.labels)[[row for row, _ in layout.cells]]
        labels = np.array([of_cell[weight.any(axis=0)][0] for weight in share])
        names = tuple(layout.task.labels[n].name for n in labels)
        group = family.raters.group
        found.append(
            BinaryPoolLean(
                labels=labels, names=names, spread=spread, share=share[..., cells], group=group
            )
        )
    for n, classes in enumerate(layout.classes):
        took = np.flatnonzero(crowd[:, n])
        if classes > 2 and len(took):
            label = layout.task.labels[n]
            found.append(
                AnswerPoolLean(
                    labels=np.full(classes, n),
                    names=tuple(f"{label.name}: {name}" for name in label.classes),
                    spread=spread,
                    log_confusion=partial(family.log_confusion, xp=np),
                    rows=np.flatnonzero(np.array(layout.labels) == n),
                    took=took,
                    move=partial(move, n),
                )
            )
    return found


def _leaning(family: Family) -> Bools:
    """Return whether a cell's label has a prior of the lean, (cell,)."""
    share = _alone(family)
    return np.zeros(len(family.layout.cells), bool) if share is None else share.any(axis=(0, 1))

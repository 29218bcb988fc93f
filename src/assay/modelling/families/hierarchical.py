"""Partial pooling of confusions within groups of raters (Paun et al. 2018)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from assay._util.typing import Bools, Floats
from assay.modelling.families.family import Family, Owner
from assay.modelling.families.lean import BinaryLeans, rater_logits
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
    leans: ClassVar[bool] = True

    def parameters(self) -> list[Parameter]:
        """Return means and SDs by group, and offsets by rater."""
        return logit_parameters(self, self._cells)

    def binary_leans(self) -> BinaryLeans | None:
        """Return the leans of the raters to the second answers of binary labels."""
        return binary_leans(self, self._cells)

    @property
    def _cells(self) -> Bools:
        return np.ones(len(self.layout.cells), bool)

    def lean_to(self, label: int, values: Mapping[str, Floats], lean: Floats) -> dict[str, Floats]:
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


def binary_leans(family: Family, cells: Bools) -> BinaryLeans | None:
    """Return the leans of a family's raters over some cells; None without a crowd, or without
    binary labels.
    """
    crowd, layout = family.raters.crowd, family.layout
    labels = [n for n, classes in enumerate(layout.classes) if classes == 2]
    if crowd is None or not labels:
        return None
    row = np.array([row for row, _ in layout.cells])[cells]
    of_cell, true = (np.array(one)[row] for one in (layout.labels, layout.true_classes))
    centre, sd = mean_prior(family, cells).values
    return BinaryLeans(
        crowd=crowd.T[labels],
        sign=np.stack([(of_cell == n) * (2.0 * true - 1) for n in labels]),
        group=family.raters.group,
        centre=centre,
        sd=sd,
    )


def _leaning(family: Family) -> Bools:
    """Return whether a cell's label has a prior of the lean, (cell,)."""
    alone, layout = family.raters.alone, family.layout
    if alone is None:
        return np.zeros(len(layout.cells), bool)
    told = alone[np.array(layout.labels)] & (layout.row_classes == 2)
    return np.asarray(told[[row for row, _ in layout.cells]])

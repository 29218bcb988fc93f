"""Honest ratings and spam (Hovy et al. 2013): a rating copies the truth, or is blind."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from assay._util.arrays import NEVER, append_constant, log_softmax, logsumexp
from assay._util.typing import Floats, Ints
from assay.modelling.confusion import Tilt
from assay.modelling.families.family import Family, Owner
from assay.modelling.parameters import Parameter

WRONG = -60.0
"""Log probability of an honest error.

It is finite, so that an honest rater who may not give the true answer gives a nearest one.
"""


class Mace(Family):
    r"""Each rating as a whole is honest or spam.

    .. math::

        p(y \mid s) = (1 - \phi_j)\, [y = s] + \phi_j \prod_l \xi_{jl}[y_l], \quad
        \phi_j \sim \mathrm{Beta}(\alpha, \beta), \quad \xi_{jl} \sim \mathrm{Dirichlet}(\gamma)

    Both terms are normalised over the answers that the interface allows. What layers add to log
    odds of right answers is added, on average, to those of an honest rating.
    """

    name: ClassVar[str] = "mace"
    unasked: ClassVar[bool] = True
    by_owner: ClassVar[Mapping[str, Owner]] = {"spamming": "rater", "strategy": "rater"}

    def parameters(self) -> list[Parameter]:
        """Return each rater's probability of spam, and strategy on each label."""
        coords = self.rater_coords()
        spamming = self.joined("spamming")
        found = [Parameter(name="spamming", dims=("rater",), prior=spamming, coords=coords)]
        strategy = self.joined("strategy", axes=1)
        for label in self.layout.task.labels:
            dim = f"class_of_{label.name}"
            found.append(
                Parameter(
                    name=f"strategy_{label.name}",
                    dims=("rater", dim),
                    prior=strategy,
                    coords=coords | {dim: label.classes},
                )
            )
        return found

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the log probability of each answer, over both kinds of ratings."""
        everyone = np.arange(len(self.raters.names))
        rows = slice(0, self.layout.asked_rows)
        kinds = [
            weight[..., None, None] + table[..., rows, :]
            for weight, table in self.components(values, everyone, None, xp)
        ]
        return logsumexp(xp.stack(kinds, axis=-1), xp)

    def components(
        self, values: Mapping[str, Any], unit_rater: Ints, tilt: Tilt | None, xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return honest ratings and spam, with their log weights."""
        spamming = values["spamming"][..., unit_rater]
        honest = xp.log1p(spamming * -1.0)
        if tilt is not None:
            honest = honest + tilt.total.sum(axis=-1) * (1 / self.layout.asked_rows)
        weight = log_softmax(xp.stack([honest, xp.log(spamming)], axis=-1), xp)
        spam = self._spam(values, unit_rater, xp)
        return [(weight[..., 0], xp.zeros_like(spam) + self._copies()), (weight[..., 1], spam)]

    def _spam(self, values: Mapping[str, Any], unit_rater: Ints, xp: Any) -> Any:
        """Return the log strategy in every row, with those "not asked", (..., unit, row, class)."""
        labels, width = self.layout.task.labels, self.layout.width
        by_label = []
        for label in labels:
            logs = xp.log(values[f"strategy_{label.name}"][..., unit_rater, :])
            pad = [NEVER] * (width - len(label.classes))
            by_label.append(append_constant(logs, pad, xp) if pad else logs)
        rows = np.array([*self.layout.labels, *self.layout.unasked_labels])
        return xp.stack(by_label, axis=-2)[..., rows, :]

    def _copies(self) -> Floats:
        """Return log probabilities of honest answers, none of them "not asked", (row, class)."""
        layout = self.layout
        of_row = [*layout.labels, *layout.unasked_labels]
        classes = np.array([layout.classes[label] for label in of_row])
        table = np.full((len(of_row), layout.width), WRONG)
        table[np.arange(layout.width) >= classes[:, None]] = NEVER
        table[np.arange(layout.asked_rows), np.array(layout.true_classes)] = 0.0
        return table

"""How hard items are: classes of difficulty, or a continuous one, summed out exactly."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.errors import ModelError
from assay.parameters import Parameter
from assay.prevalence.design import normal_quadrature
from assay.priors import Prior

Floats = NDArray[np.float64]
STEP = 0.3
"""Of the quadrature: 33 nodes. With loadings of 2, an item with ten answers has its log-likelihood
to 1e-6; Gauss and Hermite's rule needs sixty nodes for five answers, a hundred for ten."""
NODES = 5
"""At how many difficulties the mean over items of continuous difficulty is taken."""
HARD = 1.0
"""Where hard items stand on the scale of difficulty; easy ones stand at 0."""
GUESSING = "item_difficulty_guessing"
BY_RATER = "item_difficulty_by_rater"
BY_CLASS = "item_difficulty_by_class"
KINDS: Mapping[str, Literal["classes", "guessing", "continuous"]] = {
    "item_difficulty": "classes",
    GUESSING: "guessing",
    "item_difficulty_continuous": "continuous",
    BY_RATER: "continuous",
    BY_CLASS: "continuous",
}
"""The layers of difficulty, and the kind that each is."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Difficulty:
    r"""How hard an item is: one hidden number of the item that all its ratings share.

    .. math::

        \operatorname{logit} P(\text{right} \mid k, d) = \operatorname{logit} \theta_{jlk}
            - \lambda_{jlk}\, x_d, \qquad p(y_i \mid s) = \sum_d \rho_d \prod_a p_d(y_a \mid s)

    ``classes``: easy items have :math:`x = 0`, hard ones :math:`x = 1`, with a share that is
    learned. ``continuous``: :math:`x \sim \mathrm{Normal}(0, 1)` by quadrature
    (:func:`~assay.prevalence.design.normal_quadrature`). ``guessing``: classes, and on hard items
    the log odds between any two answers are :math:`e^{-\lambda}` times those on easy ones, so that
    no item is turned round. How much it weighs, :math:`\lambda_{jlk}`, is of
    :class:`~assay.layers.loading.Loading`.

    Attributes
    ----------
    kind : {"none", "classes", "guessing", "continuous"}
    priors : mapping of str to Prior
        ``hard_share`` if there are classes.
    """

    kind: Literal["none", "classes", "guessing", "continuous"] = "none"
    priors: Mapping[str, Prior] = field(default_factory=dict)

    @property
    def positions(self) -> Floats:
        """Return :math:`x_d`: (difficulty,)."""
        if self.kind == "none":
            return np.zeros(1)
        return np.array([0, HARD]) if self.has_classes else normal_quadrature(step=STEP)[0]

    @property
    def has_classes(self) -> bool:
        """Whether items are easy or hard."""
        return self.kind in ("classes", "guessing")

    @property
    def classes(self) -> int:
        """Number of classes, or of quadrature nodes."""
        return len(self.positions)

    @property
    def kinds_of_items(self) -> list[list[tuple[float, float]]]:
        """Positions of the items of each kind, with their shares.

        Hard items are a kind of their own where there are classes of difficulty: they may be called
        otherwise by most, as a mirror image within the model; where they are nearer to guessing at
        most, the easy ones say what a class is. Where difficulty is continuous, all items are one
        kind.
        """
        if self.kind == "guessing":
            return [[(0.0, 1.0)]]
        if self.kind != "continuous":
            return [[(float(position), 1.0)] for position in self.positions]
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        return [list(zip(nodes, weights / weights.sum(), strict=True))]

    def parameters(self) -> list[Parameter]:
        """Share of the hard items, if there are classes."""
        if not self.has_classes:
            return []
        return [Parameter(name="hard_share", prior=self.priors["hard_share"], coords={})]

    def log_weight(self, values: Mapping[str, Any], xp: Any) -> Any:
        r"""Log :math:`\rho_d`: (..., difficulty)."""
        if self.kind == "none":
            return np.zeros(1)
        if self.kind == "continuous":
            return normal_quadrature(step=STEP)[1]
        share = values["hard_share"]
        return xp.stack([xp.log1p(share * -1.0), xp.log(share)], axis=-1)


def difficulty_of(layers: set[str], priors: Mapping[str, Prior]) -> Difficulty:
    """Return the one difficulty of items that the layers of all rater groups name.

    Raises
    ------
    ModelError
        If groups want difficulties of several kinds.
    """
    named = [name for name in KINDS if name in layers]
    if len(named) > 1:
        raise ModelError(
            f"{' and '.join(named)} cannot both be: an item has one difficulty, which all groups "
            "that see it share"
        )
    if not named:
        return Difficulty()
    return Difficulty(kind=KINDS[named[0]], priors=priors)

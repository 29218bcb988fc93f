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
"""Of the quadrature: 33 nodes. An item with ten answers has its log-likelihood to 1e-6, whatever
the rate: answers to the hardest items are guesses, and no integrand is steep."""
SPREAD = 2.0
"""SD of the log of continuous difficulty: most items are easy, and some far harder than others."""
HARD = 1.0
"""Where hard items stand on the scale of difficulty; easy ones stand at 0."""
BY_RATER = "item_difficulty_by_rater"
BY_CLASS = "item_difficulty_by_class"
KINDS: Mapping[str, Literal["classes", "continuous"]] = {
    "item_difficulty": "classes",
    "item_difficulty_continuous": "continuous",
    BY_RATER: "continuous",
    BY_CLASS: "continuous",
}
"""The layers of difficulty, and the kind that each is."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Difficulty:
    r"""How hard an item is: one hidden number of the item that all its ratings share.

    .. math::

        p(y_i \mid s) = \sum_d \rho_d \prod_a p_d(y_a \mid s), \qquad
        p_d(k' \mid k) = w_{jlk}(h_d)\, \theta_{jlkk'}
            + \bigl(1 - w_{jlk}(h_d)\bigr)\, \bar\theta_{jlk'}, \qquad
        \bar\theta_{jlk'} = \frac{1}{K_l} \sum_{k=1}^{K_l} \theta_{jlkk'}

    The harder an item, the more answers to it are guesses :math:`\bar\theta`: what the rater says
    of items of which each class is as likely, so that a bias to an answer stays. The share of the
    others is :math:`w(h) = e^{-\lambda h}` (:class:`~assay.layers.loading.Loading`).

    ``classes``: easy items have :math:`h = 0`, hard ones :math:`h = 1`, with a share that is
    learned, and a truth of their own (:class:`~assay.layers.hard_truth.HardTruth`).
    ``continuous``: :math:`h = e^{2x}`, :math:`x \sim \mathrm{Normal}(0, 1)` by quadrature
    (:func:`~assay.prevalence.design.normal_quadrature`).

    Every row lies between the mean of the rows and what it is on the easiest items:

    .. math::

        p_d(k \mid k) - p_d(k \mid l) = w\, (\theta_{kk} - \theta_{lk})
        \text{ if } w_k = w_l = w, \qquad
        \min_d p_d(1 \mid 1) \ge \bar\theta_1 \ge \max_d p_d(1 \mid 0)

    for two classes and a rater who is no adversary, so that no difficulty turns an item round, and
    of exchangeable raters each more who says 1 makes 1 more likely.

    Attributes
    ----------
    kind : {"none", "classes", "continuous"}
    priors : mapping of str to Prior
        ``hard_share`` if there are classes.
    """

    kind: Literal["none", "classes", "continuous"] = "none"
    priors: Mapping[str, Prior] = field(default_factory=dict)

    @property
    def positions(self) -> Floats:
        """Return :math:`x_d`: (difficulty,)."""
        if self.kind == "none":
            return np.zeros(1)
        return np.array([0, HARD]) if self.has_classes else normal_quadrature(step=STEP)[0]

    def hardness(self, position: Any) -> Any:
        """Return :math:`h` at positions :math:`x`; at least 0."""
        return np.exp(SPREAD * position) if self.kind == "continuous" else position

    @property
    def has_classes(self) -> bool:
        """Whether items are easy or hard."""
        return self.kind == "classes"

    @property
    def classes(self) -> int:
        """Number of classes, or of quadrature nodes."""
        return len(self.positions)

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
            "that see it share",
            code="two-difficulties",
        )
    if not named:
        return Difficulty()
    return Difficulty(kind=KINDS[named[0]], priors=priors)

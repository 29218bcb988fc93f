"""The prior of the mean lean of all raters to one answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.arrays import merge_axes
from assay._util.typing import Floats, Ints
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.priors import Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class LeanPrior:
    r"""A prior of the raters' mean lean, replacing the one implied by their logits.

    .. math::

        L = \frac{1}{2J} \sum_j (\mathrm{logit}\, \theta_{j11} - \mathrm{logit}\, \theta_{j00}),
        \qquad p(\mu, \sigma, z) = p_0(\mu, \sigma, z)\,
        \frac{\mathrm{Normal}(L; m, \tau)}{p_0(L \mid \sigma)}

    with logits :math:`\mu + \sigma z` and normal :math:`p_0(L \mid \sigma)`: other priors stay the
    same.

    share : weight of each logit in the lean of a binary label; no cell has two labels
        (label, rater, cell)
    centre, sd : of the normal prior of the means (group, cell)
    prior : the normal prior of the lean
    """

    share: Floats
    group: Ints
    centre: Floats
    sd: Floats
    prior: Prior

    def log_density(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the addition to the log prior of the logits, (..., label)."""
        spread = values["logit_sd"]
        lean = self._of_labels(rater_logits(values, self.group), self.share, xp)
        varies = self._of_labels(spread * spread, self._squares(), xp) + self._known_variance()
        wanted, narrow = self._numbers()
        given, implied = (lean - wanted) * (1 / narrow), lean - self._implied_mean()
        logs = xp.log(varies)
        rest = implied * implied * xp.exp(-logs) * 0.5 + logs * 0.5
        return given * given * -0.5 + rest - np.log(narrow)

    def redraw(self, values: Mapping[str, Floats], rng: np.random.Generator) -> dict[str, Floats]:
        """Move means and offsets drawn without this prior to draws with it."""
        mean, spread, offset = (values[f"logit_{name}"] for name in ("mean", "sd", "offset"))
        own = spread[self.group]
        lean = self._of_labels(mean[self.group] + own * offset, self.share, np)
        varies = self._of_labels(spread**2, self._squares(), np) + self._known_variance()
        away = (rng.normal(*self._numbers(), len(lean)) - lean) / varies
        moved = {
            "logit_mean": mean + self.sd**2 * np.tensordot(away, self._by_group(self.share), 1),
            "logit_offset": offset + own * np.tensordot(away, self.share, 1),
        }
        return {name: np.asarray(value) for name, value in moved.items()}

    def _numbers(self) -> tuple[float, float]:
        mean, sd = self.prior.values
        return float(mean), float(sd)

    def _of_labels(self, table: Any, weight: Floats, xp: Any) -> Any:
        """Return weighted sums over the last two axes, (..., label)."""
        flat = weight.reshape(len(weight), -1)
        return xp.matmul(merge_axes(table, 2)[..., None, :], flat.T)[..., 0, :]

    def _by_group(self, weight: Floats) -> Floats:
        """Return sums over the raters of each group, (label, group, cell)."""
        found = np.zeros((len(weight), *self.centre.shape))
        for rater, group in enumerate(self.group):
            found[:, group] += weight[:, rater]
        return found

    def _squares(self) -> Floats:
        return self._by_group(self.share**2)

    def _implied_mean(self) -> Floats:
        return np.asarray(self._of_labels(self.centre, self._by_group(self.share), np))

    def _known_variance(self) -> Floats:
        """Return the variance of the lean due to the means, (label,)."""
        return np.asarray(self._of_labels(self.sd**2, self._by_group(self.share) ** 2, np))


def rater_logits(values: Mapping[str, Any], group: Ints) -> Any:
    """Return the logits of raters with these groups, (..., rater, cell)."""
    mean, sd = values["logit_mean"][..., group, :], values["logit_sd"][..., group, :]
    return mean + sd * values["logit_offset"]


def binary_leans(layout: ConfusionLayout, crowd: Floats | None) -> Floats | None:
    """Return the weight of each logit in the raters' mean lean, (leaning label, rater, cell).

    Only binary labels with a ``crowd`` (rater, label) have one; None if there is none.
    """
    if crowd is None:
        return None
    labels = [n for n, k in enumerate(layout.classes) if k == 2 and crowd[:, n].any()]
    if not labels:
        return None
    row = np.array([row for row, _ in layout.cells])
    of_cell = np.array(layout.labels)[row]
    sign = 2.0 * np.array(layout.true_classes)[row] - 1
    return np.stack([crowd[:, [n]] * (of_cell == n) * sign / 2 for n in labels])

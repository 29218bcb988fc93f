"""Leans of raters to the second answer of binary labels, and the prior of their mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from assay._util.arrays import merge_axes
from assay._util.typing import Bools, Floats, Ints
from assay.modelling.parameters import own_values
from assay.modelling.priors import Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class BinaryLeans:
    r"""How much the raters of one recipe lean to the second answers of binary labels.

    .. math:: \ell_j = \tfrac{1}{2} (\mathrm{logit}\, \theta_{j11} - \mathrm{logit}\, \theta_{j00})

    with logits :math:`\mu + \sigma z`.

    prefix : of the names of their parameters
    crowd : each rater's share in the crowd whose consensus is the truth (label, rater)
    sign : of each logit in a lean; no cell has two labels (label, cell)
    group : of each rater
    centre, sd : of the normal prior of the groups' means (group, cell)
    """

    prefix: str = ""
    crowd: Floats
    sign: Floats
    group: Ints
    centre: Floats
    sd: Floats

    def of_labels(self, some: Bools | Ints) -> "BinaryLeans":
        """Return the leans of some labels."""
        return replace(self, crowd=self.crowd[some], sign=self.sign[some])

    def logits(self, values: Mapping[str, Any]) -> Any:
        """Return the raters' logits, (..., rater, cell)."""
        return rater_logits(own_values(values, self.prefix), self.group)

    def mean(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return their part in the mean lean of all raters, (..., label)."""
        return _of_labels(self.logits(values), self.share, xp)

    def implied_variance(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the variance of that part given the SDs of raters, (..., label)."""
        spread = own_values(values, self.prefix)["logit_sd"]
        of_raters = _of_labels(spread * spread, self._by_group(self.share**2), xp)
        return of_raters + _of_labels(self.sd**2, self._by_group(self.share) ** 2, np)

    def implied_mean(self) -> Floats:
        """Return the prior mean of that part, (label,)."""
        return np.asarray(_of_labels(self.centre, self._by_group(self.share), np))

    def moved(self, values: Mapping[str, Floats], away: Floats) -> dict[str, Floats]:
        """Move means and offsets by ``away`` (label,) times their covariances with the leans."""
        own = own_values(values, self.prefix)
        means = np.tensordot(away, self._by_group(self.share), 1) * self.sd**2
        offsets = np.tensordot(away, self.share, 1) * own["logit_sd"][self.group]
        return {
            f"{self.prefix}logit_mean": np.asarray(own["logit_mean"] + means),
            f"{self.prefix}logit_offset": np.asarray(own["logit_offset"] + offsets),
        }

    @property
    def share(self) -> Floats:
        """Weight of each logit in the mean lean of all raters, (label, rater, cell)."""
        return self.crowd[..., None] * self.sign[:, None] / 2

    def _by_group(self, weight: Floats) -> Floats:
        """Return sums over the raters of each group, (label, group, cell)."""
        found = np.zeros((len(weight), *self.centre.shape))
        for rater, group in enumerate(self.group):
            found[:, group] += weight[:, rater]
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class LeanPrior:
    r"""A prior of the mean lean of all raters, replacing the one implied by their logits.

    .. math::

        L = \frac{1}{J} \sum_j \ell_j, \qquad p(\mu, \sigma, z) = p_0(\mu, \sigma, z)\,
        \frac{\mathrm{Normal}(L; m, \tau)}{p_0(L \mid \sigma)}

    with normal :math:`p_0(L \mid \sigma)`: other priors stay the same.

    parts : the leans of each recipe, of the same labels
    prior : the normal prior of the mean lean
    """

    parts: Sequence[BinaryLeans]
    prior: Prior

    def log_density(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the addition to the log prior of the logits, (..., label)."""
        wanted, narrow = self._numbers()
        lean = self._total(part.mean(values, xp) for part in self.parts)
        varies = self._total(part.implied_variance(values, xp) for part in self.parts)
        given, implied = (lean - wanted) * (1 / narrow), lean - self._implied_mean()
        logs = xp.log(varies)
        rest = implied * implied * xp.exp(-logs) * 0.5 + logs * 0.5
        return given * given * -0.5 + rest - np.log(narrow)

    def redraw(self, values: Mapping[str, Floats], rng: np.random.Generator) -> dict[str, Floats]:
        """Move means and offsets drawn without this prior to draws with it."""
        lean = self._total(part.mean(values, np) for part in self.parts)
        varies = self._total(part.implied_variance(values, np) for part in self.parts)
        away = (rng.normal(*self._numbers(), len(lean)) - lean) / varies
        return {k: v for part in self.parts for k, v in part.moved(values, away).items()}

    def _numbers(self) -> tuple[float, float]:
        mean, sd = self.prior.values
        return float(mean), float(sd)

    def _implied_mean(self) -> Floats:
        return np.asarray(self._total(part.implied_mean() for part in self.parts))

    @staticmethod
    def _total(of_parts: Any) -> Any:
        return reduce(add, of_parts)


def rater_logits(values: Mapping[str, Any], group: Ints) -> Any:
    """Return the logits of raters with these groups, (..., rater, cell)."""
    mean, sd = values["logit_mean"][..., group, :], values["logit_sd"][..., group, :]
    return mean + sd * values["logit_offset"]


def _of_labels(table: Any, weight: Floats, xp: Any) -> Any:
    """Return weighted sums over the last two axes, (..., label)."""
    flat = weight.reshape(len(weight), -1)
    return xp.matmul(merge_axes(table, 2)[..., None, :], flat.T)[..., 0, :]

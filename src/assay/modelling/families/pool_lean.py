"""How far the raters who took part lean from the pool of raters that defines the truth."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay._util.arrays import softmax
from assay._util.typing import Floats, Ints
from assay.modelling.families.lean import rater_logits
from assay.modelling.parameters import positive_log_density
from assay.modelling.priors import Prior

SPREADS = np.geomspace(0.001, 6.0, 120)
"""Spreads of leans in a pool, in logits."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PoolLean:
    r"""The mean lean of the raters of a binary label, as a random sample of a pool.

    The lean of rater :math:`j` is :math:`\ell_j = \frac{1}{2} (\mathrm{logit}\, \theta_{j11} -
    \mathrm{logit}\, \theta_{j00})`, and the ability is :math:`a_j`, half of their sum. By
    definition, the pool calls an item true as often as false where evidence is even. The mean of
    :math:`J` raters differs from it:

    .. math::

        \delta \sim \mathrm{Normal}\Bigl(0, \frac{c\, \omega}{\sqrt{J}}\Bigr), \quad
        c = \frac{\bar a / 2}{\tanh(\bar a / 2)}, \quad
        p(\omega \mid S) \propto p(\omega)\, \omega^{-(J - 1)} \exp\Bigl(-\frac{S}{2 \omega^2}\Bigr)

    where :math:`S = \sum_j (\ell_j - \bar\ell)^2`.

    An item on which the pool is split gets yes from a rater who leans by :math:`\delta` with log
    odds :math:`\delta`. With :math:`c\, \delta` added to all leans of the model, just these answers
    are no evidence.

    share : weight of each logit in the raters' mean lean (label, rater, cell)
    labels : positions of these labels in the task
    spread : prior of :math:`\omega`
    """

    share: Floats
    labels: Ints
    group: Ints
    spread: Prior

    def spreads(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return the posterior of the spread, and how far one spread moves the mean lean.

        They are (draw, label, spread), over ``SPREADS``, and (draw, label).
        """
        logits = rater_logits(values, self.group)
        shape = (len(logits), len(self.share))
        chance, unit = np.empty((*shape, len(SPREADS))), np.empty(shape)
        for n, share in enumerate(self.share):
            took = share.any(axis=1)
            own, sign = logits[:, took], np.sign(share[took])
            lean, ability = (own * sign).sum(axis=-1) / 2, (own * np.abs(sign)).sum(axis=-1) / 2
            count = int(took.sum())
            squares = ((lean - lean.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
            chance[:, n] = self._posterior(squares, count)
            unit[:, n] = _times(ability.mean(axis=1)) / np.sqrt(count)
        return chance, unit

    def of_model(self, values: Mapping[str, Floats]) -> Floats:
        """Return the raters' mean lean in the model, (draw, label)."""
        flat = rater_logits(values, self.group).reshape(-1, self.share[0].size)
        return np.asarray(flat @ self.share.reshape(len(self.share), -1).T)

    def moved(self, values: Mapping[str, Floats], lean: Floats) -> dict[str, Floats]:
        """Add leans (draw, label) to the logits of all raters; return what changes."""
        sign = np.sign(self.share.sum(axis=1))
        return {"logit_mean": values["logit_mean"] + (lean @ sign)[:, None]}

    def _posterior(self, squares: Floats, count: int) -> Floats:
        """Return the posterior of the spread given the sum of squares of ``count`` leans."""
        free, numbers = np.log(SPREADS), [np.asarray(v, float) for v in self.spread.values]
        log_prior = positive_log_density(self.spread.name, SPREADS, free, numbers)
        logs = log_prior - (count - 1) * free - squares[:, None] / (2 * SPREADS**2)
        return np.asarray(softmax(logs, np))


def _times(ability: Floats) -> Floats:
    """Return the factor from a lean on an item's own scale to that of the model's logits."""
    half = np.maximum(np.abs(ability), 1e-3) / 2
    return np.asarray(half / np.tanh(half))

r"""Labels of judged documents given the runs that list them, which a fit has not used.

Without the listing, doubtful labels lean to the mean of the stratum, and lists seem worse than they
are. Given the listing :math:`\ell` of a document of stratum and score x,

.. math:: \frac{p(t \mid y, \ell)}{p(f \mid y, \ell)} = \frac{p(t \mid y)}{p(f \mid y)} \cdot
          \frac{p(t \mid \ell, x)}{p(f \mid \ell, x)} \Big/ \frac{p(t \mid x)}{p(f \mid x)},

with t relevant and f not. The last two are of the model of cells, :math:`p(t \mid x) = \sum_\ell
p(\ell \mid x)\, p(t \mid \ell, x)`.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, logit

from assay._util.typing import Bools, Floats, Ints
from assay.studies.diras.cells import CellModel
from assay.studies.diras.pool import JudgedPool

LOWEST = 1e-12


@dataclass(kw_only=True, eq=False)
class ListedLabels:
    """Draws labels of judged pairs anew, given a model of cells.

    before : share of the fit's draws in which the pair is relevant (judged pair,)
    height : of the place of each group's documents (group,)
    """

    pool: JudgedPool
    before: Floats
    height: Floats
    _groups: Ints = field(init=False)
    _of_pair: Ints = field(init=False)
    _shares: Floats = field(init=False)
    _cell: Ints = field(init=False)
    _height: Floats = field(init=False)

    def __post_init__(self) -> None:
        """Count how the documents of each stratum and band are listed, over all queries."""
        pool = self.pool
        self._groups, self._of_pair = np.unique(pool.judged_group, return_inverse=True)
        listings, listing = np.unique(
            np.column_stack([pool.group_cell, self.height]), axis=0, return_inverse=True
        )
        self._cell, self._height = listings[:, 0].astype(np.int64), listings[:, 1]
        size = np.bincount(pool.judged_group, minlength=len(listing)) + pool.others
        size = size + np.bincount(pool.open_group, minlength=len(listing))
        stratum = pool.cell_stratum[pool.group_cell]
        self._shares = np.zeros((len(self._groups), len(listings)))
        for row, group in enumerate(self._groups):
            alike = stratum == stratum[group]
            if pool.group_ranked[group]:
                alike &= pool.group_ranked & (pool.group_score == pool.group_score[group])
            self._shares[row] = np.bincount(listing[alike], size[alike], len(listings))
        self._shares /= self._shares.sum(axis=1, keepdims=True)

    @property
    def certain(self) -> bool:
        """Whether all draws of the fit agree."""
        return bool(((self.before == 0) | (self.before == 1)).all())

    def draw(self, held: Bools, model: CellModel, rng: np.random.Generator) -> Bools:
        """Draw labels (judged pair); those of a draw of the fit are kept as often as possible."""
        odds = np.exp(self._log_ratio(model))[self._of_pair]
        after = self.before * odds / (self.before * odds + 1 - self.before)
        own, new = np.where(held, (self.before, after), (1 - self.before, 1 - after))
        stay = rng.random(len(held)) * own < new
        return np.asarray(np.where(stay, held, ~held))

    def _log_ratio(self, model: CellModel) -> Floats:
        """Return the log of the odds with the listing over those without it (judged group)."""
        pool, groups = self.pool, self._groups
        about = pool.group_query[groups], pool.group_score[groups]
        own = model.logits(pool.group_cell[groups], about[0], self.height[groups], about[1])
        every = model.logits(
            self._cell[None, :], about[0][:, None], self._height[None, :], about[1][:, None]
        )
        without = (self._shares * expit(every)).sum(axis=1)
        return np.asarray(own - logit(np.clip(without, LOWEST, 1 - LOWEST)))

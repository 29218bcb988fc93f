"""Some draws of the truth beside one rater's scores, counted once for all measures."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay._util.quotients import divided
from assay.raters.scoring.calibration import equal_mass_edges, equal_width_edges
from assay.raters.scoring.correlation import kendall_tau
from assay.raters.scoring.rankings import OverOrders, average_precisions, ndcg
from assay.raters.scoring.runs import Runs, run_totals, tied_runs
from assay.raters.scoring.scores import Scored

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting:
    """What stays the same for all draws.

    Attributes
    ----------
    scored : Scored
    positive : ndarray of bool (class,)
    gains : ndarray of float (class,)
        What nDCG adds up.
    grades : ndarray of float (class,)
        The order of the classes, for Kendall's tau.
    ranking : ndarray of int (item,)
        Which ranking each scored item is in.
    k : int or None
        How many ranks count.
    bins : int
        Of the calibration errors.
    """

    scored: Scored
    positive: Flags
    gains: Values
    grades: Values
    ranking: NDArray[np.int64]
    k: int | None
    bins: int

    @cached_property
    def pooled(self) -> Runs:
        """All items in one ranking."""
        return tied_runs(self.scored.score)

    @cached_property
    def ranked(self) -> Runs:
        """A ranking per cluster."""
        return tied_runs(self.scored.score, self.ranking)

    @cached_property
    def by_confidence(self) -> Runs:
        """All items, by the confidence in the guess."""
        assert self.scored.confidence is not None
        return tied_runs(self.scored.confidence)

    @cached_property
    def equal_width(self) -> Values:
        """Upper ends of equally wide bins."""
        return equal_width_edges(self.bins)

    @cached_property
    def equal_mass(self) -> Values:
        """Upper ends of bins with equally many items."""
        return equal_mass_edges(self.scored.score, self.bins)


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """Draws of the truth of the scored items.

    Attributes
    ----------
    setting : Setting
    codes : ndarray of int16 (draw, item)
        Positions in the classes; negative where the label is not known or does not apply.
    item_weight : ndarray of float (draw, item) or None
        Weight of each item in measures of all items; None is 1.
    ranking_weight : ndarray of float (draw, ranking) or None
        Weight of each ranking in the mean over rankings; None is 1.
    """

    setting: Setting
    codes: NDArray[np.int16]
    item_weight: Values | None = None
    ranking_weight: Values | None = None

    @cached_property
    def known(self) -> Flags:
        """Whether the label is known and applies (draw, item)."""
        return self.codes >= 0

    @cached_property
    def truth(self) -> Flags:
        """Whether the item is positive (draw, item)."""
        return np.asarray(np.r_[self.setting.positive, False][self.codes.clip(-1)])

    @cached_property
    def pooled(self) -> tuple[Values, Values]:
        """Weight of the positive and of the other items of each score (draw, run)."""
        return self._split(self.truth, self.setting.pooled)

    @cached_property
    def confident(self) -> tuple[Values, Values]:
        """Weight of the right and of the wrong guesses of each confidence (draw, run)."""
        assert self.setting.scored.guess is not None
        right = (self.truth == self.setting.scored.guess) & self.known
        return self._split(right, self.setting.by_confidence)

    @cached_property
    def table(self) -> tuple[Values, Values, Values, Values]:
        """Weight of hits, false alarms, misses and rejections (draw,)."""
        guess = self.setting.scored.guess
        assert guess is not None
        weight = 1.0 if self.item_weight is None else self.item_weight
        yes, no = weight * self.truth, weight * (self.known & ~self.truth)
        guessed = guess.astype(float)
        return yes @ guessed, no @ guessed, yes @ (1 - guessed), no @ (1 - guessed)

    @cached_property
    def size(self) -> Values:
        """Number of items in each run of each ranking (draw, run); one draw if all are alike."""
        known = self.known[:1] if self.known.all() else self.known
        return run_totals(known, self.setting.ranked)

    @cached_property
    def ndcg(self) -> OverOrders:
        """Of each ranking, over the orders of ties (draw, ranking)."""
        counts, gains = self._levels(self.setting.gains)
        return ndcg(counts, self.size, gains, self.setting.ranked, self.setting.k)

    @cached_property
    def average_precisions(self) -> OverOrders:
        """Of each ranking, over the orders of ties (draw, ranking)."""
        runs = self.setting.ranked
        return average_precisions(run_totals(self.truth, runs), self.size, runs, self.setting.k)

    @cached_property
    def kendall_tau(self) -> Values:
        """Of each ranking (draw, ranking)."""
        counts, _ = self._levels(self.setting.grades)
        return kendall_tau(counts, self.size, self.setting.ranked)

    def over_rankings(self, values: Values) -> Values:
        """Average (draw, ranking) over the rankings in which it is defined; NaN if in none."""
        defined = ~np.isnan(values)
        weight = defined * (1.0 if self.ranking_weight is None else self.ranking_weight)
        filled = np.where(defined, values, 0.0)
        return divided((filled * weight).sum(axis=-1), weight.sum(axis=-1))

    def _levels(self, values: Values) -> tuple[Values, Values]:
        """Numbers (level, draw, run) of the items of each distinct value, and the values."""
        distinct, level = np.unique(values, return_inverse=True)
        levels = np.r_[level, -1][self.codes.clip(-1)]
        runs = self.setting.ranked
        return np.stack([run_totals(levels == n, runs) for n in range(len(distinct))]), distinct

    def _split(self, truth: Flags, runs: Runs) -> tuple[Values, Values]:
        rest = self.known & ~truth
        if self.item_weight is None:
            return run_totals(truth, runs), run_totals(rest, runs)
        return (
            run_totals(truth * self.item_weight, runs),
            run_totals(rest * self.item_weight, runs),
        )

"""The measures of scores, found by name, and the sums that they need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import divided
from assay._util.errors import ModelError, UnknownNameError, suggest
from assay._util.typing import Bools, Floats, Ints
from assay._util.validation import names_given
from assay.raters.scoring import functions
from assay.raters.scoring.functions import (
    auroc,
    average_precision,
    brier,
    calibration_error,
    equal_mass_edges,
    equal_width_edges,
    kendall_tau,
)
from assay.raters.scoring.rankings import (
    OverOrders,
    Runs,
    average_precisions,
    ndcg,
    run_totals,
    tied_runs,
)
from assay.raters.scoring.scores import ScoredItems


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting:
    """Settings that are the same for all draws.

    positive, gains, grades : of the classes: which are positive, gains in nDCG, order for Kendall's
        tau (class,)
    ranking : ranking of each scored item (item,)
    k : number of ranks that count; None for all
    bins : number of bins of the calibration errors
    """

    scored: ScoredItems
    positive: Bools
    gains: Floats
    grades: Floats
    ranking: Ints
    k: int | None
    bins: int

    @cached_property
    def pooled(self) -> Runs:
        """All items in one ranking."""
        return tied_runs(self.scored.score)

    @cached_property
    def ranked(self) -> Runs:
        """One ranking for each cluster."""
        return tied_runs(self.scored.score, self.ranking)

    @cached_property
    def by_confidence(self) -> Runs:
        """All items, by the confidence in the guess."""
        assert self.scored.confidence is not None
        return tied_runs(self.scored.confidence)

    @cached_property
    def equal_width(self) -> Floats:
        """Upper ends of bins of equal width."""
        return equal_width_edges(self.bins)

    @cached_property
    def equal_mass(self) -> Floats:
        """Upper ends of bins with equally many items."""
        return equal_mass_edges(self.scored.score, self.bins)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredBlock:
    """Draws of the truth of the scored items.

    codes : positions in the classes (draw, item); negative if unknown or not applicable
    item_weight : weight of each item in measures of all items (draw, item); None is 1
    ranking_weight : weight of each ranking in the mean over rankings (draw, ranking); None is 1
    """

    setting: Setting
    codes: NDArray[np.int16]
    item_weight: Floats | None = None
    ranking_weight: Floats | None = None

    @cached_property
    def known(self) -> Bools:
        """Whether the label is known and applies, (draw, item)."""
        return self.codes >= 0

    @cached_property
    def truth(self) -> Bools:
        """Whether the item is positive, (draw, item)."""
        return np.asarray(np.r_[self.setting.positive, False][self.codes.clip(-1)])

    @cached_property
    def pooled(self) -> tuple[Floats, Floats]:
        """Weights of the positive and of the other items of each score, (draw, run)."""
        return self._split(self.truth, self.setting.pooled)

    @cached_property
    def confident(self) -> tuple[Floats, Floats]:
        """Weights of the right and of the wrong guesses of each confidence, (draw, run)."""
        assert self.setting.scored.guess is not None
        right = (self.truth == self.setting.scored.guess) & self.known
        return self._split(right, self.setting.by_confidence)

    @cached_property
    def table(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Weights of hits, false alarms, misses and rejections, (draw,)."""
        guess = self.setting.scored.guess
        assert guess is not None
        weight = 1.0 if self.item_weight is None else self.item_weight
        yes, no = weight * self.truth, weight * (self.known & ~self.truth)
        guessed = guess.astype(float)
        return yes @ guessed, no @ guessed, yes @ (1 - guessed), no @ (1 - guessed)

    @cached_property
    def size(self) -> Floats:
        """Number of items in each run, (draw, run); one draw if all are alike."""
        known = self.known[:1] if self.known.all() else self.known
        return run_totals(known, self.setting.ranked)

    @cached_property
    def ndcg(self) -> OverOrders:
        """Normalised gain of each ranking over the orders of ties, (draw, ranking)."""
        counts, gains = self._levels(self.setting.gains)
        return ndcg(counts, self.size, gains, self.setting.ranked, self.setting.k)

    @cached_property
    def average_precisions(self) -> OverOrders:
        """Average precision of each ranking over the orders of ties, (draw, ranking)."""
        runs = self.setting.ranked
        return average_precisions(run_totals(self.truth, runs), self.size, runs, self.setting.k)

    @cached_property
    def kendall_tau(self) -> Floats:
        """Kendall's tau of each ranking, (draw, ranking)."""
        counts, _ = self._levels(self.setting.grades)
        return kendall_tau(counts, self.size, self.setting.ranked)

    def over_rankings(self, values: Floats) -> Floats:
        """Average (draw, ranking) over the rankings in which it is defined; NaN if in none."""
        defined = ~np.isnan(values)
        weight = defined * (1.0 if self.ranking_weight is None else self.ranking_weight)
        filled = np.where(defined, values, 0.0)
        return divided((filled * weight).sum(axis=-1), weight.sum(axis=-1))

    def _levels(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the numbers of items of each distinct value, (level, draw, run), and values."""
        distinct, level = np.unique(values, return_inverse=True)
        levels = np.r_[level, -1][self.codes.clip(-1)]
        runs = self.setting.ranked
        return np.stack([run_totals(levels == n, runs) for n in range(len(distinct))]), distinct

    def _split(self, truth: Bools, runs: Runs) -> tuple[Floats, Floats]:
        rest = self.known & ~truth
        if self.item_weight is None:
            return run_totals(truth, runs), run_totals(rest, runs)
        return (
            run_totals(truth * self.item_weight, runs),
            run_totals(rest * self.item_weight, runs),
        )


Needs = Literal["order", "probability", "guess"]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure of scores, in every draw of the truth.

    title : what tables and figures call it
    function : from a Block to (draw,)
    needs : ``order``, scores that can be sorted; ``probability``; or ``guess``, guesses too
    ranking : whether it is computed for each ranking, and cut at ``k``
    """

    name: str
    title: str
    description: str
    function: Callable[[ScoredBlock], Floats]
    needs: Needs = "order"
    ranking: bool = False


def _ece(block: ScoredBlock) -> Floats:
    setting = block.setting
    return calibration_error(*block.pooled, setting.pooled.score, setting.equal_width)


def _ece_equal_mass(block: ScoredBlock) -> Floats:
    setting = block.setting
    return calibration_error(*block.pooled, setting.pooled.score, setting.equal_mass)


_ALL = (
    Measure(
        name="accuracy",
        title="Accuracy",
        description="Share of the guesses that are right",
        function=lambda block: functions.accuracy(*block.table),
        needs="guess",
    ),
    Measure(
        name="precision",
        title="Precision",
        description="Share of the positive guesses that are right",
        function=lambda block: functions.precision(*block.table[:2]),
        needs="guess",
    ),
    Measure(
        name="recall",
        title="Recall",
        description="Share of the positive items that are guessed",
        function=lambda block: functions.recall(block.table[0], block.table[2]),
        needs="guess",
    ),
    Measure(
        name="f1",
        title="F1",
        description="Harmonic mean of precision and recall",
        function=lambda block: functions.f1(*block.table[:3]),
        needs="guess",
    ),
    Measure(
        name="ece",
        title="ECE",
        description="Expected calibration error, bins of equal width",
        function=_ece,
        needs="probability",
    ),
    Measure(
        name="ece_equal_mass",
        title="ECE, equal mass",
        description="Expected calibration error, bins of equally many items",
        function=_ece_equal_mass,
        needs="probability",
    ),
    Measure(
        name="brier",
        title="Brier score",
        description="Mean squared distance of score and truth",
        function=lambda block: brier(*block.pooled, block.setting.pooled.score),
        needs="probability",
    ),
    Measure(
        name="auroc",
        title="AUROC",
        description="Area under the ROC curve of the score",
        function=lambda block: auroc(*block.pooled),
    ),
    Measure(
        name="average_precision",
        title="Average precision",
        description="Average precision of the score over all items, ties as one threshold",
        function=lambda block: average_precision(*block.pooled),
    ),
    Measure(
        name="confidence_auroc",
        title="AUROC of the confidence",
        description="Area under the ROC curve of the confidence, for guesses that are right",
        function=lambda block: auroc(*block.confident),
        needs="guess",
    ),
    Measure(
        name="kendall_tau",
        title="Kendall's tau",
        description="Kendall's tau-b of score and grade, mean over rankings",
        function=lambda block: block.over_rankings(block.kendall_tau),
        ranking=True,
    ),
    Measure(
        name="ndcg",
        title="nDCG",
        description="nDCG, mean over rankings and over all orders of tied items",
        function=lambda block: block.over_rankings(block.ndcg.mean),
        ranking=True,
    ),
    Measure(
        name="ndcg_lowest",
        title="nDCG, worst order of ties",
        description="nDCG if tied items stand in the worst order",
        function=lambda block: block.over_rankings(block.ndcg.lowest),
        ranking=True,
    ),
    Measure(
        name="ndcg_highest",
        title="nDCG, best order of ties",
        description="nDCG if tied items stand in the best order",
        function=lambda block: block.over_rankings(block.ndcg.highest),
        ranking=True,
    ),
    Measure(
        name="map",
        title="MAP",
        description="Average precision, mean over rankings and over all orders of tied items",
        function=lambda block: block.over_rankings(block.average_precisions.mean),
        ranking=True,
    ),
    Measure(
        name="map_lowest",
        title="MAP, worst order of ties",
        description="Mean average precision if tied items stand in the worst order",
        function=lambda block: block.over_rankings(block.average_precisions.lowest),
        ranking=True,
    ),
    Measure(
        name="map_highest",
        title="MAP, best order of ties",
        description="Mean average precision if tied items stand in the best order",
        function=lambda block: block.over_rankings(block.average_precisions.highest),
        ranking=True,
    ),
)
MEASURES = {measure.name: measure for measure in _ALL}


def choose_measures(names: str | Sequence[str] | None, scored: ScoredItems) -> list[Measure]:
    """Return measures by name; without names, all that the scores allow."""
    if names is None:
        return [measure for measure in _ALL if not _obstacle(measure, scored)]
    wanted = names_given(
        "metric", names, what="measure", otherwise="None for all that the scores allow"
    )
    for name in wanted:
        if name not in MEASURES:
            raise UnknownNameError(
                f"no metric {name!r}; {suggest(name, list(MEASURES), 20)}", code="unknown-metric"
            )
        if obstacle := _obstacle(MEASURES[name], scored):
            raise ModelError(f"{name} needs {obstacle}", code="metric-obstacle")
    return [MEASURES[name] for name in wanted]


def _obstacle(measure: Measure, scored: ScoredItems) -> str:
    if measure.needs == "probability" and not scored.probable:
        return "scores in [0, 1], e.g. 1 / (1 + exp(-score)) of log odds"
    if measure.needs == "guess" and scored.guess is None:
        return "guesses: a column guess beside score, or scores in [0, 1] and a threshold"
    return ""

"""The measures of a scored rater, found by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError, UnknownNameError, suggest
from assay._util.validation import names_given
from assay.raters.scoring import decisions
from assay.raters.scoring.block import Block
from assay.raters.scoring.calibration import brier, calibration_error
from assay.raters.scoring.discrimination import auroc, average_precision
from assay.raters.scoring.scores import Scored

Values = NDArray[np.float64]
Needs = Literal["order", "probability", "guess"]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One number about a scored rater in every draw of the truth.

    Attributes
    ----------
    name, description : str
    function : callable
        From a Block to (draw,).
    needs : {"order", "probability", "guess"}
        What the scores have to be: anything that can be sorted, probabilities, or beside guesses.
    ranking : bool
        Whether it is computed per ranking, and cut at ``k``.
    """

    name: str
    description: str
    function: Callable[[Block], Values]
    needs: Needs = "order"
    ranking: bool = False


def _ece(block: Block) -> Values:
    setting = block.setting
    return calibration_error(*block.pooled, setting.pooled.score, setting.equal_width)


def _ece_equal_mass(block: Block) -> Values:
    setting = block.setting
    return calibration_error(*block.pooled, setting.pooled.score, setting.equal_mass)


def _brier(block: Block) -> Values:
    return brier(*block.pooled, block.setting.pooled.score)


_ALL = (
    Measure(
        name="accuracy",
        description="Share of the guesses that are right",
        function=lambda block: decisions.accuracy(*block.table),
        needs="guess",
    ),
    Measure(
        name="precision",
        description="Share of the positive guesses that are right",
        function=lambda block: decisions.precision(*block.table[:2]),
        needs="guess",
    ),
    Measure(
        name="recall",
        description="Share of the positive items that are guessed",
        function=lambda block: decisions.recall(block.table[0], block.table[2]),
        needs="guess",
    ),
    Measure(
        name="f1",
        description="Harmonic mean of precision and recall",
        function=lambda block: decisions.f1(*block.table[:3]),
        needs="guess",
    ),
    Measure(
        name="ece",
        description="Expected calibration error, bins of equal width",
        function=_ece,
        needs="probability",
    ),
    Measure(
        name="ece_equal_mass",
        description="Expected calibration error, bins of equally many items",
        function=_ece_equal_mass,
        needs="probability",
    ),
    Measure(
        name="brier",
        description="Mean squared distance of score and truth",
        function=_brier,
        needs="probability",
    ),
    Measure(
        name="auroc",
        description="Area under the ROC curve of the score",
        function=lambda block: auroc(*block.pooled),
    ),
    Measure(
        name="average_precision",
        description="Average precision of the score over all items, ties as one threshold",
        function=lambda block: average_precision(*block.pooled),
    ),
    Measure(
        name="confidence_auroc",
        description="Area under the ROC curve of the confidence, for guesses that are right",
        function=lambda block: auroc(*block.confident),
        needs="guess",
    ),
    Measure(
        name="kendall_tau",
        description="Kendall's tau-b of score and grade, mean over rankings",
        function=lambda block: block.over_rankings(block.kendall_tau),
        ranking=True,
    ),
    Measure(
        name="ndcg",
        description="nDCG, mean over rankings and over all orders of tied items",
        function=lambda block: block.over_rankings(block.ndcg.mean),
        ranking=True,
    ),
    Measure(
        name="ndcg_lowest",
        description="nDCG if tied items stand in the worst order",
        function=lambda block: block.over_rankings(block.ndcg.lowest),
        ranking=True,
    ),
    Measure(
        name="ndcg_highest",
        description="nDCG if tied items stand in the best order",
        function=lambda block: block.over_rankings(block.ndcg.highest),
        ranking=True,
    ),
    Measure(
        name="map",
        description="Average precision, mean over rankings and over all orders of tied items",
        function=lambda block: block.over_rankings(block.average_precisions.mean),
        ranking=True,
    ),
    Measure(
        name="map_lowest",
        description="Mean average precision if tied items stand in the worst order",
        function=lambda block: block.over_rankings(block.average_precisions.lowest),
        ranking=True,
    ),
    Measure(
        name="map_highest",
        description="Mean average precision if tied items stand in the best order",
        function=lambda block: block.over_rankings(block.average_precisions.highest),
        ranking=True,
    ),
)
MEASURES = {measure.name: measure for measure in _ALL}


def choose_measures(names: str | Sequence[str] | None, scored: Scored) -> list[Measure]:
    """Look measures up by name; without names, all that the scores allow.

    Raises
    ------
    UnknownNameError
        If there is no measure of a name.
    ModelError
        If the scores do not allow a measure that is named.
    """
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


def _obstacle(measure: Measure, scored: Scored) -> str:
    if measure.needs == "probability" and not scored.probable:
        return "scores in [0, 1], e.g. 1 / (1 + exp(-score)) of log odds"
    if measure.needs == "guess" and scored.guess is None:
        return "guesses: a column guess beside score, or scores in [0, 1] and a threshold"
    return ""

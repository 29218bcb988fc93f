"""Systematic disagreement: answers or scores opposite to those of other raters."""

import numpy as np
import pandas as pd

from assay._util.text import counted, does, some
from assay._util.typing import Bools, Floats
from assay.checks.findings import Part, findings_on
from assay.data.overlap import RaterPairs, opposite_pairs, rater_pairs
from assay.data.ratings import Ratings

_finding = findings_on("raters")


def check_opposites(ratings: Ratings) -> Part:
    """Report raters who agree so rarely that one may have reversed the classes."""
    names, labels = ratings.raters.index, ratings.task.label_names
    pairs = [
        f"{names[pair.one]} and {names[pair.other]} on {labels[pair.label]} (agree on {pair.same} "
        f"of {pair.items} items, {pair.chance:.0f} expected by chance)"
        for pair in opposite_pairs(ratings)
    ]
    if not pairs:
        return Part(findings=())
    text = (
        f"{counted(len(pairs), 'pair')} of raters {does(len(pairs), 'agree')} far less often than "
        "by chance. One rater of each pair may have reversed the classes, and a fit may trust the "
        f"wrong one. Check how they coded their answers: {some(pairs)}"
    )
    return Part(
        findings=(_finding("warning", text, code="opposite-raters", numbers={"pairs": len(pairs)}),)
    )


_score_directions_finding = findings_on("scores")
AGAINST = -0.2
"""Rank correlation below which scores are opposite."""
MIN_STANDARD_ERRORS_BELOW = 4.0
"""Standard errors below 0 from which a correlation is reported."""


def check_score_directions(ratings: Ratings) -> Part:
    """Report raters with opposite scores, which the scored family cannot reverse."""
    pairs: list[str] = []
    for n, label in enumerate(ratings.task.labels):
        if len(label.classes) > 2 and not label.ordered:
            continue
        value, scored = _values(ratings, n)
        told = np.isfinite(value)
        if not scored.any():
            continue
        compared = rater_pairs(ratings.rater[told], ratings.item[told], len(ratings.raters))
        if compared is None:
            continue
        names = ratings.raters.index
        pairs += [
            f"{names[one]} and {names[other]} on {label.name} (rank correlation {rho:.2f} on "
            f"{items} items)"
            for one, other, rho, items in _against(compared, value[told], scored)
        ]
    if not pairs:
        return Part()
    text = (
        f"scores of {counted(len(pairs), 'pair')} of raters are negatively correlated, so one "
        "rater of each pair may have a reversed scale. Scores must increase with the class; "
        "`raters='scored'` learns almost nothing from reversed scores. Replace reversed scores by "
        f"1 - score: {some(pairs)}"
    )
    numbers = {"pairs": len(pairs)}
    return Part(
        findings=(
            _score_directions_finding("warning", text, code="opposite-scores", numbers=numbers),
        )
    )


def _values(ratings: Ratings, label: int) -> tuple[Floats, Bools]:
    """Return first ratings' scores, or answers on the same scale, (rating,), and scorers."""
    first = ratings.replicate == 0
    score = np.where(first, ratings.scores[:, label], np.nan)
    answer = np.where(first, ratings.answers[:, label], np.nan)
    top = len(ratings.task.labels[label].classes) - 1
    value = np.where(np.isfinite(score), score, np.where(answer >= 0, answer / top, np.nan))
    scored = np.zeros(len(ratings.raters), bool)
    scored[ratings.rater[np.isfinite(score)]] = True
    return value, scored


def _against(pairs: RaterPairs, value: Floats, scored: Bools) -> list[tuple[int, int, float, int]]:
    """Return pairs with a scorer that are clearly opposite, with rank correlation and common items.

    Correlations on common items use the ranks among all values of a rater.
    """
    pairs = pairs.chosen(scored[pairs.one] | scored[pairs.other])
    by_rater = pd.Series(value).groupby(pairs.rater)
    ranks = (by_rater.rank() - (by_rater.transform("size") + 1) / 2).to_numpy()
    mean, mean_other = (total / pairs.items for total in pairs.totals(ranks))
    square, square_other = (total / pairs.items for total in pairs.totals(ranks**2))
    variance, variance_other = square - mean**2, square_other - mean_other**2
    covariance = pairs.products(ranks) / pairs.items - mean * mean_other
    scale = np.sqrt(np.maximum(variance * variance_other, 0))
    rho = np.divide(covariance, scale, out=np.zeros(len(scale)), where=scale > 1e-9)
    seen = (rho < AGAINST) & (rho < -MIN_STANDARD_ERRORS_BELOW / np.sqrt(pairs.items - 1))
    columns = (pairs.one, pairs.other, rho, pairs.items)
    return list(zip(*(column[seen].tolist() for column in columns), strict=True))

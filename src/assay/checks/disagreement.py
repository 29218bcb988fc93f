"""Systematic disagreement: answers or scores opposite to those of other raters."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from assay._util.text import counted, does, some
from assay._util.typing import Bools, Floats, Ints
from assay.checks.findings import Part, findings_on
from assay.data.majority_vote import count_of_others, single_winner
from assay.data.overlap import Opposites, RaterPairs, opposite_pairs, rater_pairs
from assay.data.ratings import Ratings

_finding = findings_on("raters")


def check_reversed_classes(ratings: Ratings) -> Part:
    """Report raters who may have used classes the wrong way round."""
    opposites = opposite_pairs(ratings)
    parts = _report_opposites(ratings, opposites), _report_exchanges(ratings, opposites)
    return Part(findings=tuple(finding for part in parts for finding in part.findings))


def _report_opposites(ratings: Ratings, opposites: list[Opposites]) -> Part:
    """Report raters who agree so rarely that one may have reversed the classes."""
    names, labels = ratings.raters.index, ratings.task.label_names
    pairs = [
        f"{names[pair.one]} and {names[pair.other]} on {labels[pair.label]} (agree on {pair.same} "
        f"of {pair.items} items, {pair.chance:.0f} expected by chance)"
        for pair in opposites
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


MIN_VOTED = 5
"""Least number of items with a majority for a class, for it to be compared."""
MIN_GAIN = 0.15
"""Least increase of agreement by other names, in the mean of the exchanged classes."""
MIN_GAIN_ERRORS = 3.0
"""Standard errors above 0 from which such an increase is reported."""


class _Exchange(NamedTuple):
    """Classes that a rater gives each other's names, and agreement on them with names put right."""

    rater: int
    said: Ints
    meant: Ints
    now: float
    renamed: float


def _report_exchanges(ratings: Ratings, opposites: list[Opposites]) -> Part:
    """Report raters who give each other's names to classes, beyond those of opposite pairs."""
    lines: list[str] = []
    found_on = {n: _exchanges(ratings, n) for n in range(len(ratings.task.labels))}
    if not any(found_on.values()):
        return Part()
    told = {(pair.label, rater) for pair in opposites for rater in (pair.one, pair.other)}
    for n, label in enumerate(ratings.task.labels):
        for found in found_on[n]:
            if (n, found.rater) in told:
                continue
            swapped = " and ".join(
                f"'{label.classes[said]}' where others say '{label.classes[meant]}'"
                for said, meant in zip(found.said, found.meant, strict=True)
            )
            lines.append(
                f"{ratings.raters.index[found.rater]} on {label.name} says {swapped} (agreement on "
                f"these classes {found.now:.0%}, exchanged {found.renamed:.0%})"
            )
    if not lines:
        return Part()
    text = (
        f"{counted(len(lines), 'rater')} may have used classes the wrong way round, such as a "
        "reversed scale. Of three classes or more, a fit takes such a rater for one who guesses. "
        f"Check how they coded their answers, and mend the file: {some(lines)}"
    )
    numbers = {"raters": len(lines)}
    return Part(findings=(_finding("warning", text, code="exchanged-classes", numbers=numbers),))


def _exchanges(ratings: Ratings, label: int) -> list[_Exchange]:
    """Return raters whose agreement with the majority of the others grows by renaming classes.

    Classes weigh alike, so that a preference for one class is no exchange.
    """
    tables = _against_others(ratings, label)
    found = []
    for rater in np.flatnonzero(tables.sum(axis=(1, 2)) >= 2 * MIN_VOTED):
        compared = np.flatnonzero(tables[rater].sum(axis=1) >= MIN_VOTED)
        if len(compared) < 2:
            continue
        table = tables[rater][np.ix_(compared, compared)] + 1 / len(compared)
        count = tables[rater][compared].sum(axis=1) + 1
        rate = table / count[:, None]
        names = linear_sum_assignment(rate, maximize=True)[1]
        moved = np.flatnonzero(names != np.arange(len(compared)))
        if not len(moved):
            continue
        right, renamed = rate[moved, moved], rate[moved, names[moved]]
        gain = renamed - right
        error = np.sqrt(((renamed + right - gain**2) / count[moved]).sum())
        if gain.mean() > MIN_GAIN and gain.sum() > MIN_GAIN_ERRORS * error:
            now, then = float(right.mean()), float(renamed.mean())
            found.append(_Exchange(int(rater), compared[names[moved]], compared[moved], now, then))
    return found


def _against_others(ratings: Ratings, label: int) -> Floats:
    """Count answers by what most others say of the item, (rater, majority, answer)."""
    classes, raters = len(ratings.task.labels[label].classes), len(ratings.raters)
    told = np.flatnonzero((ratings.replicate == 0) & (ratings.answers[:, label] >= 0))
    item, said = ratings.item[told], ratings.answers[told, label]
    most = single_winner(count_of_others(item, said, len(ratings.items), classes))
    cell = (ratings.rater[told] * classes + most) * classes + said
    counts = np.bincount(cell[most >= 0], minlength=raters * classes**2)
    return counts.reshape(raters, classes, classes).astype(float)


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

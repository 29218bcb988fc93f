"""Raters who seem to be known truth, or who decide where others differ."""

import numpy as np

from assay._util.text import some
from assay._util.typing import Bools, Ints
from assay.checks.findings import Part, findings_on
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.io.names import SUMMARIES, names_truth, squash

_finding = findings_on("raters")
BY_CHANCE = 0.001
"""Probability below which it is no chance that a rater answers only where others differ."""


def check_truth_raters(ratings: Ratings) -> Part:
    """Report raters whose names or answers suggest known truth, an adjudicator or a summary."""
    names = [str(name) for name in ratings.raters.index]
    rated = np.bincount(ratings.rater[~ratings.abstained], minlength=len(names)) > 0
    if rated.sum() < 2:
        return Part()
    summaries = [n for n, there in zip(names, rated, strict=True) if there and _sums(n)]
    named = [n for n, there in zip(names, rated, strict=True) if there and names_truth(n)]
    deciding = [names[n] for n in _deciding(ratings) if names[n] not in (*named, *summaries)]
    found = []
    for name in summaries:
        text = (
            f"rater {name} is called like a summary of the others' answers. As a rater, it would "
            "count their answers twice. Delete its rows or its column"
        )
        found.append(_finding("warning", text, code="truth-rater"))
    for group, why in ((named, "is called like known truth"), (deciding, "answers only items")):
        if not group:
            continue
        why = why if group is named else f"{why} on which the others differ, as an adjudicator does"
        text = (
            f"rater {some(group)} {why}. As a rater, it counts no more than the others. If its "
            f"answers are the truth, add `truth_rater={group[0]!r}`; if it is not independent of "
            "the others, delete its rows"
        )
        found.append(_finding("warning", text, code="truth-rater", numbers={"raters": len(group)}))
    return Part(findings=tuple(found))


def _sums(name: str) -> bool:
    return squash(name) in SUMMARIES


def _deciding(ratings: Ratings) -> list[int]:
    """Return the raters who answer only items on which at least two others differ."""
    answered = ~ratings.abstained
    rater, item = ratings.rater[answered], ratings.item[answered]
    answers = ratings.answers[answered].astype(np.int64)
    whole, _ = _differing(item, rater, answers, len(ratings.items))
    agreeing = np.bincount(rater[~whole[item]], minlength=len(ratings.raters)) > 0
    found = []
    for one in np.unique(rater[~agreeing[rater]]):  # few raters answer only such items
        own = rater == one
        differ, several = _differing(item[~own], rater[~own], answers[~own], len(ratings.items))
        rated = np.zeros(len(ratings.items), bool)
        rated[item[own]] = True
        share = float(differ[several].mean()) if several.any() else 1.0
        if (differ | ~rated).all() and share ** rated.sum() < BY_CHANCE:
            found.append(int(one))
    return found


def _differing(item: Ints, rater: Ints, answers: Ints, items: int) -> tuple[Bools, Bools]:
    """Return which items have answers that differ, and which have several raters, (item,)."""
    differ = np.zeros(items, bool)
    for codes in answers.T:
        low, high = np.full(items, np.iinfo(np.int64).max), np.full(items, -1)
        there = codes != MISSING
        np.minimum.at(low, item[there], codes[there])
        np.maximum.at(high, item[there], codes[there])
        differ |= (high >= 0) & (low < high)
    first, last = np.full(items, np.iinfo(np.int64).max), np.full(items, -1)
    np.minimum.at(first, item, rater)
    np.maximum.at(last, item, rater)
    return differ, (last >= 0) & (first < last)

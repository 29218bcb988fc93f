"""Raters who give scores a second time: bins rating by rating, and their chances bin by bin."""

import math
from collections.abc import Sequence

import numpy as np
from brute_confusions import Tilt
from brute_responses import MISSING, NOT_ASKED, Vector

from assay.data.ratings import Ratings
from assay.data.task import Task

PARTS = 4


def codes(ratings: Ratings) -> list[Vector]:
    """What each rating says of each label: a bin; a class behind the bins without a score."""
    columns = [_codes(ratings, n) for n in range(len(ratings.task.labels))]
    return list(zip(*columns, strict=True)) if len(ratings.answers) else []


def _codes(ratings: Ratings, label: int) -> list[int]:
    classes = len(ratings.task.labels[label].classes)
    rows = list(
        zip(
            ratings.scores[:, label].tolist(),
            ratings.answers[:, label].tolist(),
            ratings.rater.tolist(),
            strict=True,
        )
    )
    own: dict[tuple[int, int], list[float]] = {}
    for score, _, rater in rows:
        if not math.isnan(score):
            own.setdefault((rater, _region(score, classes)), []).append(score)
    bins = {
        (rater, score): region * PARTS + _bin(score, given, classes)
        for (rater, region), given in own.items()
        for score in set(given)
    }
    return [
        bins.get((rater, score), classes * PARTS + answer if answer >= 0 else MISSING)
        for score, answer, rater in rows
    ]


def _region(score: float, classes: int) -> int:
    return min(int(score * classes), classes - 1)


def _bin(score: float, own: Sequence[float], classes: int) -> int:
    """Bin of a score among the scores that its rater gave in the same region."""
    distinct = sorted(set(own))

    def even(s: float) -> int:
        return min(int((s * classes - _region(s, classes)) * PARTS), PARTS - 1)

    if len({even(s) for s in distinct}) == len(distinct):
        return even(score)
    if len(distinct) <= PARTS:
        return distinct.index(score) * PARTS // len(distinct)
    below = sum(s < score for s in own) + own.count(score) / 2
    return min(int(below / len(own) * PARTS), PARTS - 1)


class ScoreRater:
    """P(codes | state) of one rater: labels one by one, whatever the rules."""

    def __init__(self, task: Task, values: dict, rater: int, group: int, tilt: Tilt):
        self.task = task
        self.unasked = {
            n: list(values[f"unasked_{la.name}"]) for n, la in enumerate(task.labels) if la.asked_if
        }
        self.bins = []
        first_bin = first_step = 0
        for n, la in enumerate(task.labels):
            classes = len(la.classes)
            count, steps = classes * PARTS, (classes - 1) * (classes * PARTS - 1)
            base, rise = (
                values[f"{name}_mean"][group]
                + values[f"{name}_sd"][group] * values[f"{name}_offset"][rater]
                for name in ("score", "rise")
            )
            strength = (
                values["strength_sd"][group] * values["strength_offset"][rater][n] + tilt[n][0]
            )
            here = base[first_bin : first_bin + count]
            growth = np.exp(rise[first_step : first_step + steps] + strength)
            self.bins.append(_chances(here, growth.reshape(classes - 1, count - 1), classes))
            first_bin, first_step = first_bin + count, first_step + steps

    def factor(self, label: int, true: int, code: int) -> float:
        """Chance of a bin, or of the region of a class."""
        chances = self.unasked[label] if true == NOT_ASKED else self.bins[label][true]
        if code == MISSING:
            return 1.0
        if code < len(chances):
            return float(chances[code])
        first = (code - len(chances)) * PARTS
        return math.fsum(chances[first : first + PARTS])

    def probability(self, said: Vector, state: Vector) -> float:
        """P(codes of all labels | state)."""
        return math.prod(self.factor(n, state[n], code) for n, code in enumerate(said))


def _chances(base: np.ndarray, growth: np.ndarray, classes: int) -> list[list[float]]:
    """P(bin | true class): neighbours' log likelihood ratios grow from bin to bin."""
    found = []
    for true in range(classes):
        logs = []
        for b in range(len(base)):
            ratios = [math.fsum(growth[k][:b]) for k in range(classes - 1)]
            signs = [0.5 if k < true else -0.5 for k in range(classes - 1)]
            logs.append(base[b] + math.fsum(s * m for s, m in zip(signs, ratios, strict=True)))
        top = max(logs)
        odds = [math.exp(value - top) for value in logs]
        found.append([o / math.fsum(odds) for o in odds])
    return found

"""Judges whose errors go together: two worlds, in both of which six are worth about two."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

import assay
from assay.data.ratings import Ratings

Codes = NDArray[np.integer]

JUDGES, PEOPLE = 6, 3
WORTH = 1.9
"""How many independent judges the six are worth, by Kish's n / (1 + (n - 1) rho)."""
RHO = (JUDGES / WORTH - 1) / (JUDGES - 1)
PREVALENCE = 0.3
RIGHT, SPREAD = 2.4, 0.4
"""Log odds of a right answer of judges who see an item as it is: mean and SD over judges."""
LOOKS_POSITIVE = 0.7
"""Share of the misperceived items that look positive."""
FALSE_POSITIVE, FALSE_NEGATIVE = 0.2, 0.12
"""Chances of errors in the world of the copula."""
PEOPLE_RIGHT = 2.0
GOLD_SHARE, PEOPLE_SHARE = 0.1, 1 / 3
"""Share of the items that have gold, or that people rate too."""


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """One simulated set: truth, what items look like to the judges, and answers.

    Attributes
    ----------
    truth : ndarray of int (item,)
    looks : ndarray of int (item,) or None
        None where judges do not look at an item through one pair of eyes.
    judged : ndarray of int (item, judge)
    people : ndarray of int (item, person)
    chosen : ndarray of int
        Items in random order: the first have gold, or are rated by people.
    """

    truth: Codes
    looks: Codes | None
    judged: Codes
    people: Codes
    chosen: Codes

    def ratings(self, *, gold: bool = False, people: bool = False) -> Ratings:
        """Read the judges' answers, with gold or people's answers on a random share of items."""
        items = len(self.truth)
        tables = [long_table(self.judged, np.arange(items), "judge")]
        if people:
            rated = self.chosen[: round(PEOPLE_SHARE * items)]
            tables.append(long_table(self.people[rated], rated, "person"))
        table = pd.concat(tables, ignore_index=True)
        known = self.chosen[: round(GOLD_SHARE * items)]
        truth = pd.DataFrame({"item": known, "label": self.truth[known]}) if gold else None
        return assay.read_ratings(table, task="single", group="group", truth=truth)


def long_table(answers: Codes, items: Codes, group: str) -> pd.DataFrame:
    """Return a line per rating."""
    count = answers.shape[1]
    return pd.DataFrame(
        {
            "item": np.repeat(items, count),
            "rater": [f"{group}_{j + 1}" for j in range(count)] * len(items),
            "group": group,
            "label": answers.ravel(),
        }
    )


def shared_misperception(items: int, rng: np.random.Generator) -> World:
    """With some chance all judges see the same wrong picture; given the picture they are alone."""
    truth = true_classes(items, rng)
    looks = misperceived(truth, rng)
    return World(
        truth=truth,
        looks=looks,
        judged=answers_of(looks, chances_right(RIGHT, JUDGES, rng), rng),
        people=_people(truth, rng),
        chosen=rng.permutation(items),
    )


def copula_of_errors(items: int, rng: np.random.Generator) -> World:
    """Errors of the judges on an item are thresholds of correlated normals."""
    truth = true_classes(items, rng)
    return World(
        truth=truth,
        looks=None,
        judged=answers_by_copula(truth, JUDGES, rng),
        people=_people(truth, rng),
        chosen=rng.permutation(items),
    )


def true_classes(items: int, rng: np.random.Generator) -> Codes:
    """Classes (item,), positive with the prevalence."""
    return (rng.random(items) < PREVALENCE).astype(int)


def misperceived(truth: Codes, rng: np.random.Generator) -> Codes:
    """Return what items look like: now and then not what they are."""
    wrong = rng.random(len(truth)) < misperception_chance()
    afresh = (rng.random(len(truth)) < LOOKS_POSITIVE).astype(int)
    return np.where(wrong, afresh, truth)


def chances_right(mean: float, raters: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Chances (class, rater) of right answers, whose log odds have a mean."""
    return np.asarray(1 / (1 + np.exp(-(mean + SPREAD * rng.standard_normal((2, raters))))))


def answers_by_copula(truth: Codes, judges: int, rng: np.random.Generator) -> Codes:
    """Answers (item, judge) whose errors are thresholds of correlated normals."""
    shared = np.sqrt(copula_correlation())
    normal = shared * rng.standard_normal((len(truth), 1))
    normal = normal + np.sqrt(1 - shared**2) * rng.standard_normal((len(truth), judges))
    wrong = normal < norm.ppf(np.array([FALSE_POSITIVE, FALSE_NEGATIVE]))[truth][:, None]
    return np.where(wrong, 1 - truth[:, None], truth[:, None])


def _people(truth: Codes, rng: np.random.Generator) -> Codes:
    """People err independently of each other and of the judges."""
    return answers_of(truth, chances_right(PEOPLE_RIGHT, PEOPLE, rng), rng)


def answers_of(seen: Codes, right: NDArray[np.float64], rng: np.random.Generator) -> Codes:
    """Answers (item, rater) of raters who are right with the chances (class, rater)."""
    hit = rng.random((len(seen), right.shape[1])) < right[seen]
    return np.where(hit, seen[:, None], 1 - seen[:, None])


@cache
def misperception_chance() -> float:
    """Chance of a misperceived item that gives errors the mean correlation ``RHO``."""
    draws = np.random.default_rng(0).standard_normal(100_000)
    right = 1 / (1 + np.exp(-(RIGHT + SPREAD * draws)))
    mean, square = right.mean(), (right**2).mean()
    # Of two judges: the mean of products of their chances is that of independent draws.
    share = np.array([1 - PREVALENCE, PREVALENCE])
    other = np.array([LOOKS_POSITIVE, 1 - LOOKS_POSITIVE])

    def excess(chance: float) -> float:
        missed = chance * other
        covariance = missed * (1 - missed) * (2 * mean - 1) ** 2
        wrong = (1 - missed) * (1 - mean) + missed * mean
        # Judges differ: the mean of p (1 - p) over judges is below that of the mean judge.
        spread = (square - mean**2) * (1 - 2 * missed) ** 2
        return float(share @ covariance / (share @ (wrong * (1 - wrong) - spread)) - RHO)

    return float(brentq(excess, 1e-4, 0.9))


@cache
def copula_correlation() -> float:
    """Correlation of the normals that gives errors the mean correlation ``RHO``."""
    share = np.array([1 - PREVALENCE, PREVALENCE])
    wrong = np.array([FALSE_POSITIVE, FALSE_NEGATIVE])
    cuts = norm.ppf(wrong)

    def excess(r: float) -> float:
        both = [multivariate_normal.cdf([c, c], cov=[[1, r], [r, 1]]) for c in cuts]
        covariance = np.array(both) - wrong**2
        return float(share @ covariance / (share @ (wrong * (1 - wrong))) - RHO)

    return float(brentq(excess, 0.01, 0.99))


WORLDS: Mapping[str, Callable[[int, np.random.Generator], World]] = {
    "misperception": shared_misperception,
    "copula": copula_of_errors,
}


def kish_worth(world: World) -> float:
    """How many independent judges the judges of one set are worth, from their errors."""
    wrong = world.judged != world.truth[:, None]
    share = np.bincount(world.truth, minlength=2) / len(world.truth)
    covariance, variance = 0.0, 0.0
    for k in range(2):
        table = np.cov(wrong[world.truth == k].T.astype(float))
        variance += share[k] * float(np.trace(table)) / JUDGES
        covariance += share[k] * float(table.sum() - np.trace(table)) / (JUDGES * (JUDGES - 1))
    return JUDGES / (1 + (JUDGES - 1) * covariance / variance)

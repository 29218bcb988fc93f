"""Search for departures from raters who err independently, alike on all items of a class.

Tests compare with refitted replicates of the null model, or have a reference distribution. Holm's
rule bounds their familywise error rate.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from scipy.stats import pearson3

from assay._util.typing import Bools, Floats, Ints
from assay.checks.departures.agreement import third_of_three, with_unanimous
from assay.checks.departures.anchoring import anchoring_gain
from assay.checks.departures.by_system import system_gain
from assay.checks.departures.counterparts import carrying_over, misreading
from assay.checks.departures.duplicates import duplication, same_raters
from assay.checks.departures.graded import graded_gain
from assay.checks.departures.halo import halo
from assay.checks.departures.kinds import split_gains
from assay.checks.departures.null_model import TINY, LabelRows, NullFit, codes, fit_null, replicates
from assay.checks.departures.residuals import (
    from_others,
    mean_square,
    pair_dependence,
    pairs_in,
    residuals,
)
from assay.checks.departures.skipping import called_for, skipping
from assay.data.ratings import MOST_KINDS, Ratings, covariate_columns, system_of_items

Code = Literal[
    "duplicated-items", "carried-over", "rater-by-cluster", "rater-by-system",
    "all-raters-by-system", "rater-by-rank", "rater-by-kind", "dependent-raters",
    "graded-items", "anchored-on-rank", "skipping-by-answer", "halo",
]  # fmt: skip
FAMILYWISE = 0.01
"""Familywise error rate of all tests, by Holm's rule."""
SETS = (20, 80)
"""Numbers of replicates: at first, and further ones if a test is not clear."""
CLEAR = 0.15
"""P-value of a test above which no further replicates are drawn."""
SIZE: Mapping[Code, float] = {
    "duplicated-items": 0.005, "carried-over": 0.05, "rater-by-cluster": 0.05,
    "rater-by-system": 0.012, "all-raters-by-system": 0.02, "rater-by-rank": 0.01,
    "rater-by-kind": 0.005, "dependent-raters": 0.01, "graded-items": 0.006,
    "anchored-on-rank": 0.006, "skipping-by-answer": 0.05, "halo": 0.02,
}  # fmt: skip
"""Least reported size of a departure: a correlation, a share of items that agree more often, or a
log likelihood per item, or per pair of items with the same raters.
Large data would reveal smaller ones, which do not matter.
"""
WITH_DUPLICATES: Collection[Code] = frozenset({"carried-over", "rater-by-cluster"})
"""Departures that duplicates bring about."""
UNEVEN: Collection[Code] = frozenset(
    {"rater-by-cluster", "rater-by-system", "rater-by-rank", "rater-by-kind", "graded-items"}
)
"""Departures that make single raters agree with others too often, or too rarely."""
BY_SYSTEM: frozenset[Code] = frozenset({"rater-by-system", "all-raters-by-system"})
"""Departures that make a difference of systems depend on the raters."""
SLOW: Code = "all-raters-by-system"
"""The test that takes most of the time of its replicates."""
MANY_DUPLICATES = 0.05
"""Size of duplicates that no raters who carry answers over, or misread clusters, bring about."""
OF_ALL_LABELS: Collection[Code] = frozenset({"anchored-on-rank"})
"""Tests of the sum over the labels, since one cause acts on all of them."""
LEAST_ITEMS = 60
"""Least number of items with two answers for a label, and with three for ``graded``."""
LEAST_RANKED = 150
"""The same for ``anchored-on-rank``, which needs items of each class at each rank."""
MOST_CLASSES = 30
"""Most classes of a tested label: the tests take their square in time, and say little beyond."""
LEAST_PAIRS = 200
"""Least number of pairs of a rater's answers in one group of items."""
LEAST_COMMON = 20
LEAST_SAME = 30
"""Least number of pairs of items in one cluster with the same raters."""
MOST_ROWS = 6000
"""Most tested answers to a label, from randomly chosen clusters: bounds the time."""
CELLS = 4_000_000
"""Most numbers in an array of several sets: bounds the memory."""
SKEW = 0.1, 2.0
LAST_RANK = 8
SEED = 35


@dataclass(frozen=True, kw_only=True)
class Departure:
    """A departure from the null model.

    size : a correlation, or a share of the items
    labels : the affected labels; empty for all
    who : the raters, or the system, that stand out most
    pairs : all pairs of more than three raters that stand out, the clearest first
    """

    code: Code
    p: float
    size: float
    labels: tuple[str, ...] = ()
    who: tuple[str, ...] = ()
    pairs: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Search:
    """The tests (p-values) and the departures that they found; ``pairs`` of raters who err
    together, however little, the clearest first.
    """

    tests: Mapping[Code, float] = field(default_factory=dict)
    found: tuple[Departure, ...] = ()
    pairs: tuple[tuple[str, ...], ...] = ()


_SEARCHED: WeakKeyDictionary[Ratings, Search] = WeakKeyDictionary()


def search(ratings: Ratings) -> Search:
    """Return the tests that the ratings allow; results are cached."""
    if ratings not in _SEARCHED:
        _SEARCHED[ratings] = _search(ratings)
    return _SEARCHED[ratings]


def _search(ratings: Ratings) -> Search:
    rng = np.random.default_rng(SEED)
    rows = label_rows(ratings, rng)
    if not rows:
        return Search()
    several = {n: one.of_several() for n, one in rows.items()}
    fits = {n: fit_null(one) for n, one in several.items()}
    # Replicates keep the data's design, which is invalid if answers triggered further ones.
    fixed = {n: one for n, one in several.items() if not called_for(rows[n])}
    tests = _bootstrapped(ratings, fixed, fits, rng) if fixed else []
    skipped = [
        Departure(code="skipping-by-answer", p=found[1], size=found[0], labels=_names(ratings, n))
        for n, one in rows.items()
        if (found := skipping(one)) is not None
    ]
    halos = [
        Departure(code="halo", p=p, size=size, labels=_names(ratings, *pair))
        for pair, size, p in halo(ratings, rows, fits)
    ]
    tests += [_clearest(some) for some in (skipped, halos) if some]
    return Search(
        tests={test.code: test.p for test in tests},
        found=tuple(causes(list(holm(tests)))),
        pairs=tuple(pair for test in tests for pair in test.pairs),
    )


def answers_called_for(ratings: Ratings) -> bool:
    """Return whether items got more answers because raters disagreed on them."""
    rows = label_rows(ratings, np.random.default_rng(SEED))
    return any(called_for(one) for one in rows.values())


def holm(tests: list[Departure]) -> Iterator[Departure]:
    """Yield the tests that are significant by Holm's rule and large enough."""
    for n, test in enumerate(sorted(tests, key=lambda one: one.p)):
        if test.p > FAMILYWISE / (len(tests) - n):
            return
        if abs(test.size) >= SIZE[test.code]:
            yield test


def causes(found: list[Departure]) -> list[Departure]:
    """Leave out what follows from duplicates (equal errors on them), or few duplicates where
    carried answers or misread clusters explain them; likewise what uneven raters explain, and the
    mean shift of some raters who favour a system.
    """
    if any(one.code == "rater-by-system" for one in found):
        found = [one for one in found if one.code != "all-raters-by-system"]
    if any(one.code in UNEVEN for one in found):
        found = [one for one in found if one.code != "dependent-raters" or one.pairs]
    size = {one.code: one.size for one in found}
    if "duplicated-items" not in size or not size.keys() & WITH_DUPLICATES:
        return found
    many = size["duplicated-items"] >= MANY_DUPLICATES
    left_out = WITH_DUPLICATES if many else {"duplicated-items"}
    return [one for one in found if one.code not in left_out]


def _clearest(tests: list[Departure]) -> Departure:
    """Return the most significant test of a kind, with a Bonferroni-corrected p-value."""
    best = min(tests, key=lambda test: test.p)
    return replace(best, p=min(1.0, best.p * len(tests)))


def _names(ratings: Ratings, *labels: int) -> tuple[str, ...]:
    """Name labels; empty if the task has only one."""
    names = ratings.task.label_names
    return tuple(names[n] for n in labels) if len(names) > 1 else ()


def label_rows(ratings: Ratings, rng: np.random.Generator) -> dict[int, LabelRows]:
    """Return the rows of the labels that can be tested, by the position of the label."""
    panels = ratings.panels.drop_duplicates("item")
    place = panels["item"].to_numpy()
    system, rank = system_of_items(ratings), np.zeros(len(ratings.items), np.int64)
    rank[place] = np.minimum(panels["rank"].to_numpy(), LAST_RANK)
    rank, cluster = codes(rank), codes(ratings.items["cluster"])
    known = _some_clusters(ratings, cluster, rng)
    kinds = tuple(kinds_of_items(ratings).items())
    found = {}
    for n, label in enumerate(ratings.task.labels):
        told = (ratings.answers[:, n] >= 0) & (ratings.replicate == 0) & known[ratings.item]
        answers = np.bincount(ratings.item[told], minlength=len(ratings.items))
        raters = np.unique(ratings.rater[told])
        said = np.unique(ratings.answers[told, n])
        if (answers > 1).sum() < LEAST_ITEMS or len(raters) < 2 or len(said) < 2:
            continue
        if len(label.classes) > MOST_CLASSES:
            continue
        found[n] = LabelRows(
            place=np.flatnonzero(told), item=ratings.item[told], rater=ratings.rater[told],
            answer=ratings.answers[told, n].astype(np.int64)[:, None],
            truth=ratings.truth[:, n].astype(np.int64), classes=len(label.classes),
            n_raters=len(ratings.raters), system=system, rank=rank,
            stratum=codes((system + 1) * (LAST_RANK + 1) + rank), cluster=cluster,
            kinds=kinds,
        )  # fmt: skip
    return found


def kinds_of_items(ratings: Ratings) -> dict[str, Ints]:
    """Return covariates that divide the items into few kinds, (item,), -1 without a kind."""
    found = {}
    for name in covariate_columns(ratings.items):
        cells = ratings.items[name]
        kind, names = pd.factorize(cells.mask(cells.astype(str) == ""))
        if 2 <= len(names) <= MOST_KINDS:
            found[name] = kind.astype(np.int64)
    return found


def _some_clusters(ratings: Ratings, cluster: Ints, rng: np.random.Generator) -> Bools:
    """Return which items are in a random set of clusters of at most ``MOST_ROWS`` rows."""
    rows = np.bincount(cluster[ratings.item], minlength=int(cluster.max(initial=0)) + 1)
    order = rng.permutation(len(rows))
    kept = np.zeros(len(rows), bool)
    kept[order[np.cumsum(rows[order]) <= max(MOST_ROWS, rows[order[0]])]] = True
    return np.asarray(kept[cluster])


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistics:
    """Statistics of one test on a label: values (set, number), and the raters of each number."""

    values: Floats
    who: tuple[tuple[str, ...], ...]


Sets = dict[Code, Statistics]


def _bootstrapped(
    ratings: Ratings,
    rows: Mapping[int, LabelRows],
    fits: Mapping[int, NullFit],
    rng: np.random.Generator,
) -> list[Departure]:
    """Compare statistics with replicates: a few at first, more if a test is not clear."""
    observed = {n: statistics(rows[n], fits[n], ratings) for n in rows}
    wanted = list(dict.fromkeys(code for sets in observed.values() for code in sets))
    drawn: dict[int, list[Sets]] = {n: [] for n in rows}
    tests: dict[Code, Departure] = {}
    if SLOW in wanted:
        # Fast path: replicates only lower the size, so one too small to report needs none.
        size = max(float(sets[SLOW].values.max()) for sets in observed.values() if SLOW in sets)
        if size < SIZE[SLOW]:
            tests[SLOW] = Departure(code=SLOW, p=1.0, size=size)
            wanted.remove(SLOW)
    for count in SETS:
        for n, one in rows.items():
            size = max(1, CELLS // (len(one.item) * fits[n].own.shape[-1] * one.classes))
            for start in range(0, count, size):
                again = replicates(one, fits[n], min(size, count - start), rng)
                drawn[n].append(statistics(again, fits[n], ratings, wanted))
        tests |= {code: _test(ratings, code, observed, drawn) for code in wanted}
        wanted = [code for code in wanted if tests[code].p < CLEAR]
    return list(tests.values())


def statistics(
    rows: LabelRows, start: NullFit, ratings: Ratings, wanted: Collection[Code] = tuple(SIZE)
) -> Sets:
    """Return the statistics of the tests of one label, for each set, by fits from ``start``."""
    found: Sets = {}
    fit = fit_null(rows, start)
    others, expected = from_others(rows, fit)
    left = residuals(rows, others, expected)
    tests: dict[Code, Floats | None] = {
        "rater-by-cluster": misreading(rows, left, 2 * LEAST_PAIRS),
        "carried-over": carrying_over(rows, left, 2 * LEAST_PAIRS),
        "rater-by-system": within_groups(rows, left, rows.system),
        "rater-by-rank": within_groups(rows, left, rows.rank),
    }
    for code, values in tests.items():
        if values is not None and code in wanted:
            found[code] = Statistics(values=values, who=((),) * values.shape[1])
    if "duplicated-items" in wanted:
        pairs = same_raters(rows.item, rows.rater, rows.cluster)
        if len(pairs) >= LEAST_SAME:
            values = duplication(rows, fit, pairs)[:, None]
            found["duplicated-items"] = Statistics(values=values, who=((),))
    if "rater-by-kind" in wanted and rows.kinds:
        columns = tuple((name,) for name, _ in rows.kinds)
        found["rater-by-kind"] = Statistics(values=split_gains(rows, fit), who=columns)
    if "dependent-raters" in wanted:
        dependent = _dependence(rows, fit, expected, [str(name) for name in ratings.raters.index])
        if dependent.who:
            found["dependent-raters"] = dependent
    answers = np.bincount(rows.item)
    if "graded-items" in wanted and rows.classes == 2 and (answers >= 3).sum() >= LEAST_ITEMS:
        values = graded_gain(rows, fit)[:, None]
        found["graded-items"] = Statistics(values=values, who=((),))
    if "anchored-on-rank" in wanted and rows.classes == 2 and len(rows.truth) >= LEAST_RANKED:
        gain = anchoring_gain(rows, fit, start)
        if gain is not None:
            found["anchored-on-rank"] = Statistics(values=gain[:, None], who=((),))
    # The test compares the items of two systems, so it needs enough of each.
    of_systems = np.bincount(rows.system[(answers >= 3) & (rows.system >= 0)])
    if "all-raters-by-system" in wanted and (of_systems >= LEAST_ITEMS).sum() > 1:
        shifted = system_gain(rows, fit)
        if shifted is not None:
            gain, system = shifted
            who = ((str(ratings.systems[system]),),)
            found["all-raters-by-system"] = Statistics(values=gain[:, None], who=who)
    return found


def _dependence(rows: LabelRows, fit: NullFit, expected: Floats, names: list[str]) -> Statistics:
    """Return the statistics of raters who err together: pairs, and a rater who joins the others."""
    more, raters = pair_dependence(rows, fit, LEAST_COMMON)
    who: list[tuple[str, ...]] = [(names[a], names[b]) for a, b in raters]
    if len(np.unique(rows.rater)) == 3:
        # Answers of three raters to an item fit any dependence: only other items tell.
        beyond, three = third_of_three(rows, fit)
        who += [tuple(names[b] for b in three if b != a) for a in three[: beyond.shape[1]]]
    else:
        beyond, single = with_unanimous(rows, expected, LEAST_COMMON)
        who += [(names[a],) for a in single]
    return Statistics(values=np.concatenate([more, beyond], axis=1), who=tuple(who))


def within_groups(rows: LabelRows, values: Floats, group: Ints) -> Floats | None:
    """Return the correlation of a rater's residuals on items of a group, beyond two raters'."""
    pairs = pairs_in(rows, values, group)
    at = group[rows.item]
    if len(np.unique(at[at >= 0])) < 2 or pairs.n_within < 2 * LEAST_PAIRS:
        return None
    return pairs.beyond() / mean_square(rows, values, group)


def _test(
    ratings: Ratings, code: Code, observed: Mapping[int, Sets], drawn: Mapping[int, list[Sets]]
) -> Departure:
    """Compare the largest standardised statistic with the largest ones of replicates."""
    labels = [n for n, sets in observed.items() if code in sets]
    seen = np.concatenate([observed[n][code].values[0] for n in labels])
    each = [[sets[code].values for sets in drawn[n] if code in sets] for n in labels]
    null = np.concatenate([np.concatenate(some) for some in each], axis=1)
    about: list[tuple[Sequence[int], tuple[str, ...]]] = [
        ((n,), who) for n in labels for who in observed[n][code].who
    ]
    if code in OF_ALL_LABELS:
        seen, null = seen.sum(keepdims=True), null.sum(axis=1, keepdims=True)
        about = [(labels, ())]
    mean, sd = null.mean(axis=0), null.std(axis=0, ddof=1) + TINY
    top = ((null - mean) / sd).max(axis=1)
    scores = (seen - mean) / sd
    at = int(scores.argmax())
    p = upper_tail(scores, top)
    affected, who = about[at]
    clear = [about[n][1] for n in np.argsort(p, kind="stable") if p[n] < FAMILYWISE]
    return Departure(
        code=code,
        p=float(p[at]),
        pairs=tuple(p for p in dict.fromkeys(clear) if len(p) == 2 and len(ratings.raters) > 3),
        size=float(seen[at] - mean[at]),
        labels=_names(ratings, *affected),
        who=who,
    )


def upper_tail(values: Floats, replicated: Floats) -> Floats:
    """Return P(replicate >= value) of a Pearson type III distribution with their moments."""
    centre, spread = replicated.mean(), replicated.std(ddof=1) + TINY
    skew = np.clip((((replicated - centre) / spread) ** 3).mean(), *SKEW)
    return np.asarray(pearson3.sf(values, skew, centre, spread))

"""The function ``posterior_predictive_check``: answers compared with replicates from the model."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd

from assay._util.intervals import interval_ends, require_level
from assay._util.typing import Bools, Floats, Ints
from assay._util.validation import require_count
from assay.data.majority_vote import rater_votes
from assay.data.overlap import (
    FirstRatings,
    GroupPairs,
    RepeatedPairs,
    build_design,
    build_meetings,
    repeated_pairs,
)
from assay.data.ratings import Ratings
from assay.data.states import MISSING, Vectors, vector_name
from assay.fits.predict import predict_answers
from assay.fits.view import Fit, FitView
from assay.inference.class_drift import VOTES
from assay.raters.agreements.coefficients import WHOLE, column_names
from assay.raters.agreements.within_raters import replicated_statistics
from assay.validation.independence import MOST_REPLICATES, independence_lines

CHECKED = ("percent", "krippendorff_alpha")
WITHIN, ACROSS = "percent_within_groups", "percent_across_groups"
OTHER = "any other answer"
ALL_SAY = "all say"
REPEATS = "says the same again"
INDEPENDENCE = "independence"
ENOUGH_PAIRS = 10
"""Pairs of a rater's ratings of one item from which their agreement is checked."""

Line = tuple[str, str, str, str, Floats]
"""Check, group, label, quantity; the observed value, then that of each replicate."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Patterns:
    """The most common answer vectors of each rater group: ``rows`` with an answer and their
    ``group`` (rating,), ``vectors`` (pattern, label), and ``chosen``, which are common (group,
    pattern).
    """

    rows: Bools
    group: Ints
    groups: tuple[str, ...]
    vectors: Vectors
    chosen: Bools

    def shares(self, answers: Vectors) -> Floats:
        """Return the share of each pattern, and of all uncommon ones, in each group."""
        sizes = np.bincount(self.group[self.rows], minlength=len(self.groups))
        found = np.empty((len(self.groups), len(self.vectors) + 1), np.int64)
        for n, vector in enumerate(self.vectors):
            same = self.rows & (answers == vector).all(axis=1)
            found[:, n] = np.bincount(self.group[same], minlength=len(self.groups))
        found[:, -1] = sizes - (found[:, :-1] * self.chosen).sum(axis=1)
        return np.asarray(found / sizes[:, None])


def posterior_predictive_check(
    fit: Fit,
    *,
    patterns: int = 10,
    level: float = 0.95,
    draws: int = 200,
    rng: int | np.random.Generator = 1,
) -> pd.DataFrame:
    r"""Compare the answers with posterior predictive replicates of them.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    patterns : int
        Number of the most common answer vectors of each rater group to check.
    level : float
        Probability of the predictive intervals, between 0 and 1.
    draws : int
        Number of replicates.
    rng : int or numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        ``check``, ``group`` (of raters; ``""`` for all), ``label``, ``quantity``, ``observed``,
        ``expected``, ``lower``, ``upper`` (of the replicates), ``tail``. Within a check, lines are
        sorted by ``tail``, the worst misfit first. The quantities of each check are

        * ``"agreement"``: percent agreement of all raters, within rater groups or across them;
          Krippendorff's alpha;
        * ``"answers"``: the share of an answer vector;
        * ``"independence"``: the largest statistic of a test of :func:`assay.check`, in SDs of the
          replicates;
        * ``"unanimity"``: ``"all say <class>"``, the share of unanimous items among those with
          three answers or more;
        * ``"repeats"``: ``"<rater> says the same again"``, the share of the rater's pairs of
          ratings of one item (ten or more) that agree on all labels that both answer.

    Raises
    ------
    ModelError
        If ``patterns`` or ``draws`` is out of range.
    FitError
        If ``level`` is out of range, or ``fit`` is no fit.

    Notes
    -----
    With D replicates, ``tail`` is two-sided,

    .. math:: \min\left(1,\; 2\, \frac{1 + \min(\#\{T^{rep} \ge T\}, \#\{T^{rep} \le T\})}
              {1 + D}\right)

    Of ``"independence"`` there are at most 60 replicates. So it is the upper tail of a Pearson type
    III distribution with their moments, if :func:`assay.check` would report such a size.

    Tails are conservative, since the model was fitted to the same data, including the items'
    states. If the model is right, one line in a hundred has a tail of at most 0.2. Hardly any has
    one of at most 0.05 (benchmark ``claims``, study ``checks``). A small tail is a gross misfit; a
    large one is no proof of fit. If items differ in difficulty for all raters, average agreement
    and shares of answers still fit, and only unanimity shows the misfit, on large data. Compare
    models with difficulty by leaving clusters out. Raters of a group who agree more than the model
    expects err together; ``reference="groups"``, or known truth, shows how often.

    References
    ----------
    Gelman, A., Meng, X.-L. & Stern, H. (1996). Posterior predictive assessment of model fitness via
    realized discrepancies. Statistica Sinica 6, 733-807.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> posterior_predictive_check(tree, draws=20)["check"].unique().tolist()
    ['agreement', 'answers', 'unanimity']
    """
    require_level(level)
    require_count("patterns", patterns, least=0)
    view = FitView.of(fit)
    ratings = view.ratings
    design = build_design(ratings)
    common, meetings = _common(ratings, patterns), build_meetings(ratings, design)
    pairs = repeated_pairs(ratings, ratings.answers)
    several = np.flatnonzero(pairs.count >= ENOUGH_PAIRS)
    shares: list[Floats] = []
    again: list[Floats] = []
    alike: list[Floats] = []
    replicated: list[Vectors] = []
    unanimous: list[Floats] = []
    every: Iterable[Vectors] = chain([ratings.answers], predict_answers(view, draws=draws, rng=rng))
    every = _noted(every, common.shares, shares)
    every = _noted(every, lambda answers: unanimous_shares(ratings, answers), unanimous)
    every = _noted(every, lambda answers: _same_again(pairs, answers)[several], again)
    if meetings is not None:
        every = _noted(every, meetings.percent, alike)
    every = _first(every, 1 + MOST_REPLICATES, replicated)
    lines = _agreement(ratings, design, every)
    if meetings is not None:
        lines += _by_group(ratings, meetings, np.stack(alike))
    lines += _answers(ratings, common, np.stack(shares))
    lines += _unanimity(ratings, np.stack(unanimous))
    lines += [
        ("repeats", "", WHOLE, f"{rater} {REPEATS}", column)
        for rater, column in zip(ratings.raters.index[several], np.stack(again).T, strict=True)
    ]
    tests = independence_lines(ratings, replicated[1:])
    lines += [(INDEPENDENCE, "", label, asked, values) for label, asked, values, _ in tests]
    tails = {(label, asked): tail for label, asked, _, tail in tests if tail is not None}
    table = pd.DataFrame(
        [
            {"check": check, "group": group, "label": label, "quantity": quantity}
            | _compare(values[0], values[1:], level)
            | ({"tail": tails[label, quantity]} if (label, quantity) in tails else {})
            for check, group, label, quantity, values in lines
        ]
    )
    return table.sort_values(["check", "tail"], kind="stable", ignore_index=True)


def _first(every: Iterable[Vectors], count: int, kept: list[Vectors]) -> Iterator[Vectors]:
    """Pass replicates on, and keep the first ones."""
    for answers in every:
        if len(kept) < count:
            kept.append(answers)
        yield answers


def unanimous_shares(ratings: Ratings, answers: Vectors) -> Floats:
    """Return the share of unanimous items by class, for each label in turn; NaN without items.

    Only items with three raters or more count; a rater's repeated answers share one vote.
    """
    found = []
    for n, label in enumerate(ratings.task.labels):
        votes = rater_votes(ratings, answers[:, n], len(label.classes))
        asked = votes.sum(axis=1).round()
        enough = asked >= VOTES
        alike = (votes[enough] == asked[enough, None]).sum(axis=0)
        found.append(alike / enough.sum() if enough.any() else np.full(len(label.classes), np.nan))
    return np.concatenate(found)


def _same_again(pairs: RepeatedPairs, answers: Vectors) -> Floats:
    """Return the share of each rater's pairs that agree in all that both answer, (rater,)."""
    told, same = pairs.compare(answers)
    return np.asarray(np.divide(same, told, np.full(len(told), np.nan), where=told > 0))


def _noted(
    every: Iterable[Vectors], what: Callable[[Vectors], Floats], notes: list[Floats]
) -> Iterator[Vectors]:
    """Pass replicates on and record a statistic of each, so that only one is in memory."""
    for answers in every:
        notes.append(what(answers))
        yield answers


def _agreement(ratings: Ratings, design: FirstRatings, every: Iterable[Vectors]) -> list[Line]:
    """Return the agreement in the data, then in each replicate."""
    names = column_names(ratings.task, None)
    columns = replicated_statistics(ratings.task, design, every, names)
    return [
        ("agreement", "", label, statistic, column[statistic])
        for label, column in zip(names, columns, strict=True)
        for statistic in CHECKED
    ]


def _by_group(ratings: Ratings, meetings: GroupPairs, alike: Floats) -> list[Line]:
    """Return agreement within rater groups and across them, in the data and in each replicate."""
    names = [*((group, WITHIN) for group in meetings.groups), ("", WITHIN), ("", ACROSS)]
    return [
        ("agreement", group, label, quantity, alike[:, kind, n])
        for kind, (group, quantity) in enumerate(names)
        for n, label in enumerate(ratings.task.label_names)
    ]


def _answers(ratings: Ratings, common: Patterns, shares: Floats) -> list[Line]:
    """Return the share of each common answer vector in the data, then in each replicate."""
    words = [*(vector_name(ratings.task, v) for v in common.vectors), OTHER]
    return [
        ("answers", group, WHOLE, words[n], shares[:, g, n])
        for g, group in enumerate(common.groups)
        for n in [*np.flatnonzero(common.chosen[g]), len(common.vectors)]
        if shares[:, g, n].any()
    ]


def _unanimity(ratings: Ratings, shares: Floats) -> list[Line]:
    """Return the share of unanimous items in the data, then in each replicate."""
    names = [(la.name, cls) for la in ratings.task.labels for cls in la.classes]
    return [
        ("unanimity", "", label, f"{ALL_SAY} {name}", shares[:, n])
        for n, (label, name) in enumerate(names)
        if not np.isnan(shares[0, n])
    ]


def _common(ratings: Ratings, count: int) -> Patterns:
    rows = (ratings.answers != MISSING).any(axis=1)
    of_rater = ratings.raters["group"].to_numpy().astype(str)
    groups, group = np.unique(of_rater[ratings.rater[rows]], return_inverse=True)
    vectors, which = np.unique(ratings.answers[rows], axis=0, return_inverse=True)
    counts = np.zeros((len(groups), len(vectors)), np.int64)
    np.add.at(counts, (group.ravel(), which.ravel()), 1)
    place = (-counts).argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    chosen = (place < count) & (counts > 0)
    used = chosen.any(axis=0)
    everywhere = np.zeros(len(rows), np.int64)
    everywhere[rows] = group.ravel()
    return Patterns(
        rows=rows,
        group=everywhere,
        groups=tuple(groups.tolist()),
        vectors=vectors[used],
        chosen=chosen[:, used],
    )


def _compare(observed: float, replicated: Floats, level: float) -> dict[str, float]:
    """Return the observed value and its predictive distribution, without undefined replicates."""
    known = replicated[~np.isnan(replicated)]
    names = ("observed", "expected", "lower", "upper", "tail")
    if np.isnan(observed) or not len(known):
        return dict(zip(names, (observed, *[np.nan] * 4), strict=True))
    # Shares within rounding error are equal.
    slack = 1e-12
    beyond = min((known >= observed - slack).sum(), (known <= observed + slack).sum())
    tail = min(1.0, 2 * (1 + beyond) / (1 + len(known)))
    ends = interval_ends(known, level)
    return dict(zip(names, (float(observed), float(known.mean()), *ends, tail), strict=True))

"""The function ``check_claim``: the verdict on a claim, and the data that would decide it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import ndtri

from assay._util.errors import UnknownNameError, suggest
from assay._util.html import notebook_html
from assay._util.intervals import interval_ends, require_level, tails
from assay._util.typing import Bools, Floats
from assay.comparison.claims import Claim, parse_claim
from assay.comparison.decisions import Verdict, about, chance, left_out, verdict_on, with_interval
from assay.data.ratings import Ratings
from assay.evaluation import metrics
from assay.evaluation.estimands import Estimand, is_modelled
from assay.evaluation.panels import By, Incomplete, PanelLayout, panel_layout, weighable_metrics
from assay.evaluation.variance import effective_draws
from assay.fits.view import Fit, FitView
from assay.inference.data_doubts import differences_doubted
from assay.inference.label_doubts import both_doubts, doubt_about_difference

SMALLEST = 1e-3
"""Smallest share of the variance that counts: a thousand times the data."""
STEPS = 60
SHOWN = (
    "verdict", "probability", "mc_error", "metric", "estimand", "mean", "lower", "upper", "level",
    "undefined", "reference", "doubt",
)  # fmt: skip
"""Fields of a verdict that its table shows beside the claim."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The posterior of the number that a claim bounds, with the sources of its variance.

    clusters_share : part of the variance, in [0, 1], that is not due to labels and parameters
    ratings_per_item : mean over the items that have a rating
    """

    mean: float
    variance: float
    clusters_share: float
    n_clusters: int
    ratings_per_item: float


@dataclass(frozen=True, kw_only=True)
class Deciding:
    """The additional data that would decide a claim.

    verdict : the expected verdict
    clusters : additional clusters; None if they would not decide it
    ratings_per_item : additional ratings of each item; None if they would not decide it
    """

    verdict: str
    clusters: int | None
    ratings_per_item: int | None
    sentence: str


def what_would_decide(
    spread: Spread,
    region: tuple[float, float],
    level: float,
    *,
    population: bool,
    modelled: bool = False,
) -> Deciding:
    r"""Return how much more data would decide a claim that is true in ``region``. Other clusters
    count only for a ``population``, more ratings only if it is not ``modelled``.

    Bisection finds the largest :math:`v^* \le v` at which the interval of :math:`N(\mu, v)`
    decides. With :math:`C` clusters, :math:`r` ratings an item and :math:`v = v_l + v_c` (labels
    and parameters; clusters), :math:`k` more clusters leave :math:`v\, C / (C + k)`, and :math:`k`
    more ratings of each item :math:`v_l\, r / (r + k) + v_c`.
    """
    is_true = region[0] < spread.mean < region[1]
    verdict = "supported" if is_true else "contradicted"
    share = _needed_share(spread, region, level, verdict)
    clusters = _more_clusters(spread, share) if population else None
    ratings = None if modelled else _more_ratings(spread, share)
    parts = _sentences(spread, verdict, clusters, ratings, population=population, modelled=modelled)
    return Deciding(
        verdict=verdict, clusters=clusters, ratings_per_item=ratings, sentence=" ".join(parts)
    )


def _needed_share(
    spread: Spread, region: tuple[float, float], level: float, verdict: str
) -> float | None:
    """Return the largest share of the variance that decides the claim; None if negligible."""

    def is_decided(share: float) -> bool:
        reach = ndtri(tails(level)[1]) * np.sqrt(spread.variance * share)
        return verdict_on(spread.mean - reach, spread.mean + reach, region) == verdict

    if spread.variance == 0 or not is_decided(SMALLEST):
        return None
    low, high = SMALLEST, 1.0
    for _ in range(STEPS):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if is_decided(middle) else (low, middle)
    return low


def _more_clusters(spread: Spread, share: float | None) -> int | None:
    if share is None:
        return None
    return max(1, ceil(spread.n_clusters * (1 / share - 1) - 1e-6))


def _more_ratings(spread: Spread, share: float | None) -> int | None:
    room = -1.0 if share is None else share - spread.clusters_share
    labels = 1 - spread.clusters_share
    if room <= labels * SMALLEST:
        return None
    return max(1, ceil(spread.ratings_per_item * (labels / room - 1) - 1e-6))


def _sentences(
    spread: Spread,
    verdict: str,
    clusters: int | None,
    ratings: int | None,
    *,
    population: bool,
    modelled: bool,
) -> Iterator[str]:
    if clusters is None and ratings is None:
        yield "The estimate is too near the boundary of the claim for more data to decide it."
        return
    ways = []
    if clusters is not None:
        more = about_more(clusters, "cluster")
        ways.append(f"{more} rated as now (there are {spread.n_clusters:,})")
    if ratings is not None:
        now = f"{spread.ratings_per_item:.1f}".removesuffix(".0")
        ways.append(f"{about_more(ratings, 'rating')} of each item (there are {now})")
    yield f"If the estimate does not change, about {' or '.join(ways)} would make it {verdict}."
    if modelled:
        yield (
            "The effect of more ratings of the same items is unknown, because the population is "
            "modelled."
        )
    elif population and ratings is None:
        yield "More ratings of the same items would not, because there are too few clusters."


def about_more(count: int, word: str) -> str:
    """Write a count rounded up to two digits, since it is approximate."""
    unit = 10 ** max(len(str(count)) - 2, 0)
    return f"{ceil(count / unit) * unit:,} more {word}{'s' * (count != 1)}"


@dataclass(frozen=True, kw_only=True)
class ClaimResult:
    """The verdict on a claim; ``print`` it for the sentence.

    probability : of the claim, given model and data; NaN if undefined in all draws
    verdict : ``supported`` if the whole interval lies where the claim is true, ``contradicted`` if
        none of it does, else ``undecided``
    mean, lower, upper : of the number that the claim bounds (:attr:`Claim.subject`)
    undefined : share of the draws in which that is undefined, left out of everything else
    mc_error : Monte Carlo standard error of the probability
    near : whether Monte Carlo error could change the verdict
    would_decide : additional data that would decide an undecided claim
    doubt : why the claim is undecided whatever its interval: the labels of the metric may mislead
        (:func:`assay.label_doubts`); ``""`` if the interval decides
    """

    claim: Claim
    metric: str
    estimand: str
    reference: str
    probability: float
    verdict: Verdict
    level: float
    mean: float
    lower: float
    upper: float
    undefined: float
    mc_error: float
    near: bool
    would_decide: Deciding | None
    doubt: str = ""

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        """Return the verdict and the probability, on one line."""
        said = f"{self.verdict}, {self.claim.text}, P {chance(self.probability)}"
        return f"<assay.ClaimResult: {said}>"

    def to_frame(self) -> pd.DataFrame:
        """Return the verdict and its numbers in a table of one line."""
        line = {name: vars(self)[name] for name in SHOWN}
        return pd.DataFrame([{"claim": self.claim.text} | line])

    def _repr_html_(self) -> str:
        """Show the sentence in a notebook."""
        return notebook_html(self.sentence, {})

    @property
    def sentence(self) -> str:
        """The verdict, its numbers, and the data that would decide it."""
        head = f"{self.verdict.capitalize()}: {self.claim.text}."
        if np.isnan(self.probability):
            return f"{head} {about(vars(self))}: {self.claim.subject} is undefined in all draws."
        marks = (0.0, *self.claim.region)
        size = with_interval(self.mean, self.lower, self.upper, self.level, marks=marks)
        text = f"{head} P {chance(self.probability)}; {about(vars(self))}: "
        text += f"{self.claim.subject} is {size}{left_out(self.undefined)}."
        if self.doubt:
            return f"{text} No conclusion rests on it: {self.doubt}."
        if self.near:
            text += (
                " An end of the interval is within its Monte Carlo error of the claim's boundary; "
                "fit with more draws."
            )
        return text if self.would_decide is None else f"{text} {self.would_decide.sentence}"


def check_claim(
    fit: Fit,
    claim: Claim | str,
    *,
    estimand: Estimand = "population",
    level: float = 0.95,
    incomplete: Incomplete = "predict",
) -> ClaimResult:
    """Check a claim against the posterior.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    claim : Claim or str
        E.g. ``"B > A by 0.03 on ndcg_at_k"``; the forms: :func:`parse_claim`.
    estimand : {"population", "finite"}
        Whether the claim is about clusters like these, or about these items.
    level : float
        Probability of the interval that gives the verdict, above 0.5 and below 1.
    incomplete : {"predict", "drop"}
        Panels with unrated items, as for :func:`assay.metrics`.

    Returns
    -------
    ClaimResult
        With the verdict, the probability, and the sentence to print.

    Raises
    ------
    ModelError
        If the claim cannot be read, or an argument has another value.
    UnknownNameError
        If the task has no such metric, or the ratings no such system.
    FitError
        If ``level`` is out of range.

    Notes
    -----
    The probability is the share of the draws of :func:`assay.metrics` in which the claim is
    true. The verdict follows from the interval by the rule of
    :func:`assay.comparison.decisions.verdict_on`. A claim that one system is higher is supported
    exactly if the interval of the difference lies above 0. With 95 % intervals, this needs a
    probability of 0.975. ``undecided`` means that the data do not decide, not that the
    systems are equal; equality within a margin is a separate claim. If the metric uses a class
    that may not match its name (:func:`assay.label_doubts`), the claim is ``undecided``, whatever
    the interval.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("generation", n_items=60, n_systems=2, n_clusters=30, rng=1)
    >>> model = {"raters": "hierarchical", "method": "map"}
    >>> tree = assay.fit(ratings, **model, draws=50, chains=1, starts=1, rng=1)
    >>> check_claim(tree, "helpfulness_rate of system_1 < 1.1").verdict
    'supported'
    """
    require_level(level, above=0.5)
    parsed = claim if isinstance(claim, Claim) else parse_claim(claim)
    view = FitView.of(fit)
    ratings = view.ratings
    _check_systems(parsed, ratings)

    def draws(estimand: Estimand) -> xr.Dataset:
        by: By | None = None if parsed.system is None else "system"
        return metrics(view, estimand=estimand, by=by, incomplete=incomplete, metric=parsed.metric)

    data = draws(estimand)
    told = data[parsed.metric].attrs
    told["doubt"] = both_doubts(str(told.get("doubt", "")), _of_difference(view, ratings, parsed))
    result = _result(parsed, data, level)
    if result.doubt:
        return result
    if result.verdict != "undecided" or np.isnan(result.probability):
        return result
    spread = _spread(
        _subject(data, parsed),
        _subject(draws("finite"), parsed),
        ratings,
        _layout_of(parsed, ratings, incomplete),
    )
    population = estimand == "population"
    deciding = what_would_decide(
        spread,
        parsed.region,
        level,
        population=population,
        modelled=is_modelled(result.estimand),
    )
    return replace(result, would_decide=deciding)


def _of_difference(fit: Fit, ratings: Ratings, claim: Claim) -> str:
    """Return why the difference of a claim may mislead although its two values do not."""
    if claim.system is None or claim.other is None or not differences_doubted(fit):
        return ""
    (chosen,) = weighable_metrics(ratings, claim.metric)
    pair = (claim.system, claim.other)
    return doubt_about_difference(fit, chosen.labels, ratings.task, *pair)


def _result(claim: Claim, data: xr.Dataset, level: float) -> ClaimResult:
    """Return the verdict on draws, without the data that would decide it."""
    values = _subject(data, claim)
    defined = ~np.isnan(values)
    kept = values[defined]
    probability, mean, lower, upper = np.nan, np.nan, np.nan, np.nan
    if kept.size:
        probability, mean = claim.holds(kept).mean(), kept.mean()
        lower, upper = interval_ends(kept, level)
    doubt = str(data[claim.metric].attrs.get("doubt", ""))
    verdict = verdict_on(lower, upper, claim.region, closed=claim.closed)
    return ClaimResult(
        claim=claim,
        metric=claim.metric,
        estimand=str(data[claim.metric].attrs["estimand"]),
        reference=str(data.attrs["reference"]),
        probability=float(probability),
        verdict="undecided" if doubt else verdict,
        level=level,
        mean=float(mean),
        lower=float(lower),
        upper=float(upper),
        undefined=float(1 - defined.mean()),
        mc_error=_mc_error(np.where(defined, claim.holds(values), probability)),
        near=_is_near(values, defined, claim.region, level),
        would_decide=None,
        doubt=doubt,
    )


def _is_near(values: Floats, defined: Bools, region: tuple[float, float], level: float) -> bool:
    """Return whether Monte Carlo error could move an interval's end across a region's end."""
    for end in filter(np.isfinite, region):
        share = (values[defined] > end).mean() if defined.any() else np.nan
        error = _mc_error(np.where(defined, values > end, share))
        if min(abs(share - limit) for limit in tails(level)) < 2 * error:
            return True
    return False


def _check_systems(claim: Claim, ratings: Ratings) -> None:
    for name in (claim.system, claim.other):
        if name is not None and name not in ratings.systems:
            known = ratings.systems
            hint = suggest(name, known) if known else "the ratings name no system"
            if name == claim.other and re.fullmatch(r"[\d.,]+", name):
                bound = (
                    f"{claim.metric} of {claim.system} {claim.relation} {name.replace(',', '.')}"
                )
                hint = f"write a bound as {bound!r}"
            raise UnknownNameError(
                f"claim {claim.text!r}: {name!r} is no system; {hint}", code="unknown-system"
            )


def _subject(data: xr.Dataset, claim: Claim) -> Floats:
    """Return draws (chain, draw) of the number that the claim bounds."""
    draws = data[claim.metric]
    if claim.system is not None and "system" in draws.dims:
        first = draws.sel(system=claim.system)
        if claim.other is None:
            draws = first
        else:
            draws = first - claim.factor * draws.sel(system=claim.other)
    return np.asarray(draws.transpose("chain", "draw").to_numpy(), dtype=float)


def _layout_of(claim: Claim, ratings: Ratings, incomplete: Incomplete) -> PanelLayout:
    """Return the panels of the claim's systems."""
    if claim.system is None:
        return panel_layout(ratings, by=None, incomplete=incomplete)
    told = ratings.panels["system"].isin([claim.system, claim.other])
    return panel_layout(replace(ratings, panels=ratings.panels[told]), incomplete=incomplete)


def _spread(values: Floats, fixed: Floats, ratings: Ratings, layout: PanelLayout) -> Spread:
    """Split the variance: with the clusters held fixed, labels and parameters remain."""
    variance = float(np.nanvar(values))
    labels = float(np.nanvar(fixed)) if (~np.isnan(fixed)).any() else 0.0
    answered = ratings.item[ratings.answered]
    answered = answered[np.isin(answered, layout.item[layout.mask])]
    return Spread(
        mean=float(np.nanmean(values)),
        variance=variance,
        clusters_share=max(0.0, 1 - labels / variance) if variance > 0 else 0.0,
        n_clusters=len(layout.clusters),
        ratings_per_item=len(answered) / max(1, len(np.unique(answered))),
    )


def _mc_error(holds: Floats) -> float:
    """Return the standard error of the mean of correlated draws (chain, draw)."""
    return float(holds.std() / np.sqrt(effective_draws(holds)))

"""check_claim: a claim is supported, contradicted or undecided, with what that rests on."""

import re
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import UnknownNameError, suggest
from assay._util.intervals import interval_ends, require_level, tails
from assay.comparison.claims import Claim, parse_claim
from assay.comparison.deciding import Deciding, Spread, what_would_decide
from assay.comparison.settled import Verdict, settled
from assay.comparison.words import about, chance, left_out, with_interval
from assay.data.ratings import Ratings
from assay.evaluation import metrics
from assay.evaluation.effective import effective_draws
from assay.evaluation.estimands import Estimand, is_modelled
from assay.evaluation.panels import By, Incomplete, PanelLayout, panel_layout
from assay.fits.datatree import ratings_of

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ClaimResult:
    """What the draws say of a claim.

    Attributes
    ----------
    claim : Claim
    metric, estimand, reference : str
        What the probability is about.
    probability : float
        Of the claim, given model and data; NaN if its subject is undefined in all draws.
    verdict : {"supported", "contradicted", "undecided"}
        ``supported`` if the whole interval lies where the claim is true, ``contradicted`` if none
        of it does.
    level : float
    mean, lower, upper : float
        Of what the claim bounds (:attr:`Claim.subject`), with an interval of that level.
    undefined : float
        Share of the draws in which that is undefined, left out of everything else.
    mc_error : float
        Monte Carlo standard error of the probability.
    near : bool
        Whether an end of the interval is within its Monte Carlo error of where the verdict turns.
    would_decide : Deciding or None
        What more data would decide an undecided claim.
    doubt : str
        Why the claim is undecided whatever its interval says: the labels of the metric
        (:func:`assay.label_doubts`) may mislead; ``""`` if the interval decides.

    Notes
    -----
    ``print(result)`` writes the sentence.
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

    @property
    def sentence(self) -> str:
        """The verdict, what it rests on, and what would decide it."""
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
                " An end of the interval is within its Monte Carlo error of the claim's: draw more."
            )
        return text if self.would_decide is None else f"{text} {self.would_decide.sentence}"


def check_claim(
    fit: xr.DataTree,
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
        If the claim cannot be read, or a choice is none of those above.
    UnknownNameError
        If the task has no such metric, or the ratings no such system.
    FitError
        If ``level`` is out of range.

    Notes
    -----
    The probability is the share of the draws of :func:`assay.metrics` in which the claim is
    true. The verdict is that of the interval which stands beside it, by the rule of
    :func:`assay.comparison.settled.settled`: a claim that one system is higher is supported
    exactly where the interval of the difference lies above 0, that is from a probability of
    0.975 on with intervals of 95 %. ``undecided`` means that the data cannot tell, not that the
    systems are equal; equality within a margin is a claim of its own. Where the metric rests on
    a class that may not be what its name says (:func:`assay.label_doubts`), the claim is
    ``undecided``, whatever the interval.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("generation", n_items=60, n_systems=2, n_clusters=30, rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=50, chains=1, starts=1, rng=1)
    >>> check_claim(tree, "helpfulness_rate of system_1 < 1.1").verdict
    'supported'
    """
    require_level(level, above=0.5)
    parsed = claim if isinstance(claim, Claim) else parse_claim(claim)
    ratings = ratings_of(fit)
    _check_systems(parsed, ratings)

    def draws(estimand: Estimand) -> xr.Dataset:
        by: By | None = None if parsed.system is None else "system"
        return metrics(fit, estimand=estimand, by=by, incomplete=incomplete, metric=parsed.metric)

    data = draws(estimand)
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


def _result(claim: Claim, data: xr.Dataset, level: float) -> ClaimResult:
    """Give the verdict on draws; what would decide it is another question."""
    values = _subject(data, claim)
    defined = ~np.isnan(values)
    kept = values[defined]
    probability, mean, lower, upper = np.nan, np.nan, np.nan, np.nan
    if kept.size:
        probability, mean = claim.holds(kept).mean(), kept.mean()
        lower, upper = interval_ends(kept, level)
    doubt = str(data[claim.metric].attrs.get("doubt", ""))
    verdict = settled(lower, upper, claim.region, closed=claim.closed)
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


def _is_near(
    values: Values, defined: NDArray[np.bool_], region: tuple[float, float], level: float
) -> bool:
    """Whether more draws could move an end of the interval over an end of the region."""
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
                hint = f"a bound is written {bound!r}"
            raise UnknownNameError(
                f"claim {claim.text!r}: {name!r} is no system; {hint}", code="unknown-system"
            )


def _subject(data: xr.Dataset, claim: Claim) -> Values:
    """Draws (chain, draw) of what the claim bounds."""
    draws = data[claim.metric]
    if claim.system is not None and "system" in draws.dims:
        first = draws.sel(system=claim.system)
        if claim.other is None:
            draws = first
        else:
            draws = first - claim.factor * draws.sel(system=claim.other)
    return np.asarray(draws.transpose("chain", "draw").to_numpy(), dtype=float)


def _layout_of(claim: Claim, ratings: Ratings, incomplete: Incomplete) -> PanelLayout:
    """Lay out the panels of the systems that a claim is about."""
    if claim.system is None:
        return panel_layout(ratings, by=None, incomplete=incomplete)
    told = ratings.panels["system"].isin([claim.system, claim.other])
    return panel_layout(replace(ratings, panels=ratings.panels[told]), incomplete=incomplete)


def _spread(values: Values, fixed: Values, ratings: Ratings, layout: PanelLayout) -> Spread:
    """Split the variance: what is left with the clusters held fixed is labels and parameters."""
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


def _mc_error(holds: Values) -> float:
    """Return the standard error of the mean of correlated draws (chain, draw)."""
    return float(holds.std() / np.sqrt(effective_draws(holds)))

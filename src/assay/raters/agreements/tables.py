"""The function ``agreement``: the coefficients of every label in one table, and as text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from assay._util.html import notebook_html
from assay._util.intervals import interval_ends, require_level
from assay._util.random import generator_of
from assay._util.text import counted, intervals, percent
from assay._util.typing import Floats
from assay._util.validation import require_draws
from assay.data.overlap import FirstRatings, build_design
from assay.data.ratings import Ratings, require_ratings
from assay.fits.predict import predict_answers
from assay.fits.view import Fit, FitView
from assay.raters.agreements.coefficients import (
    Tally,
    bootstrap,
    build_columns,
    build_tally,
    column_names,
    pair_agreement,
    statistics,
)
from assay.raters.agreements.within_raters import (
    intra_rater_table,
    replicated_statistics,
    require_same_ratings,
)

EXPECTED = ["expected", "expected_lower", "expected_upper"]


def agreement_text(table: pd.DataFrame, level: float) -> str:
    """Write the coefficients of :class:`assay.raters.agreements.Agreement` and their notes."""
    told = _told(table)
    head = f"Agreement between raters ({percent(level)} interval, cluster bootstrap)"
    notes = dict.fromkeys(text for text in table["note"] if text)
    return "\n".join([head, told.to_string(index=False), *notes])


def _told(table: pd.DataFrame) -> pd.DataFrame:
    """Return the coefficients with their intervals as text."""
    told = table[["label", "statistic"]].assign(
        observed=intervals(table, ["value", "lower", "upper"])
    )
    if table["expected"].notna().any():
        told["expected"] = intervals(table, EXPECTED)
    return told.assign(items=table["n_items"])


NONE: Floats = np.zeros(0)
ROUNDING = 1e-9
"""Largest difference between coefficients of equal samples."""
REPLICATES = 200
"""Largest number of sets of answers that are drawn from a fitted model."""
FEW_SHARED = 30
"""Items that a pair of raters should share: with fewer, Cohen's kappa is biased towards 0."""


MOSTLY_ONE = 0.9
"""Share of one class above which coefficients beyond chance are low: chance alone then explains
four of five agreements (Feinstein & Cicchetti 1990).
"""
UNAFFECTED = ("percent", "gwet_ac1")
"""Coefficients that such a share does not lower."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Agreement:
    """Agreement between raters; ``print`` it to see the table with its intervals.

    table : a line per label and statistic: ``label`` (``"all labels"`` for whole answer vectors),
        ``statistic``, ``value``, ``lower``, ``upper`` (cluster bootstrap), ``n_items`` (with two
        answers or more), ``n_ratings`` (answers to them), ``expected``, ``expected_lower``,
        ``expected_upper`` (of the fitted model; NaN without one), ``note`` (why a number is
        missing or unreliable)
    pairwise : a line per label and pair of raters who share an item: ``rater_a``, ``rater_b``,
        ``label``, ``shared`` (items that both answered), ``percent``, ``kappa`` (Cohen's)
    intra_rater : a line per label and rater who rated an item more than once: ``rater``,
        ``label``, ``n`` (such items), ``percent`` (mean share of agreeing pairs of own answers)
    level : probability of the intervals
    draws : number of bootstrap samples
    """

    table: pd.DataFrame
    pairwise: pd.DataFrame
    intra_rater: pd.DataFrame
    level: float
    draws: int

    def __str__(self) -> str:
        return agreement_text(self.table, self.level)

    def __repr__(self) -> str:
        """Return the numbers of coefficients and labels, on one line."""
        labels = self.table["label"].nunique()
        return (
            f"<assay.Agreement: {counted(len(self.table), 'coefficient')} of "
            f"{counted(labels, 'label')}; print it, or see .table and .pairwise>"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the table of coefficients."""
        return self.table

    def _repr_html_(self) -> str:
        """Show the coefficients, and their expectation if a fit was given."""
        notes = [text for text in dict.fromkeys(self.table["note"]) if text]
        head = f"Agreement between raters ({percent(self.level)} interval, cluster bootstrap)"
        return notebook_html(head, {"Coefficients": _told(self.table)}, notes)


def agreement(
    ratings: Ratings,
    *,
    fit: Fit | None = None,
    labels: Sequence[str] | str | None = None,
    level: float = 0.95,
    draws: int = 1000,
    rng: int | np.random.Generator = 1,
) -> Agreement:
    r"""Measure how far raters agree, label by label and on whole answer vectors.

    Parameters
    ----------
    ratings : Ratings
    fit : xarray.DataTree, optional
        A fit of these ratings. The table then shows the agreement that the model expects, from at
        most 200 posterior predictive sets of answers of the same raters to the same items.
    labels : str or sequence of str, optional
        Labels, and ``"all labels"`` for whole vectors; both by default.
    level : float
        Probability of the percentile intervals, between 0 and 1. The interval of Cohen's kappa is
        shifted so that the samples' mean is the estimate: few shared items bias a pair's kappa.
    draws : int
        Bootstrap samples of the clusters (of the items where there are no clusters).
    rng : int or numpy.random.Generator

    Returns
    -------
    Agreement
        Tables ``table``, ``pairwise`` and ``intra_rater``. An undefined statistic is NaN, and its
        ``note`` gives the reason, as it does for a missing interval. The bootstrap is degenerate
        if its interval excludes the estimate, has no width despite disagreement, or if too many
        samples have a single class.

    Raises
    ------
    ModelError
        If ``ratings`` are not Ratings, or ``draws`` is not a whole number above 0.
    UnknownNameError
        If a label is not one of the task's.
    FitError
        If ``fit`` is not a fit of these ratings, or ``level`` is out of range.

    Notes
    -----
    With :math:`n_{ik}` of the :math:`r_i` answers to item :math:`i` in class :math:`k`,

    .. math:: \bar P = \frac1m \sum_{i: r_i \ge 2} \sum_k \frac{n_{ik}(n_{ik}-1)}{r_i(r_i-1)}

    is ``percent``. Fleiss' kappa and Gwet's AC1 are :math:`(\bar P - P_e) / (1 - P_e)`. Kappa has
    :math:`P_e = \sum_k p_k^2`, where :math:`p_k` is the share of class k among all answers to items
    with two or more. AC1 has :math:`P_e = \sum_k \pi_k (1 - \pi_k) / (K - 1)`, where :math:`\pi_k`
    is the mean of :math:`n_{ik} / r_i` over all items with an answer. ``cohen_kappa`` is the mean
    over pairs of raters, weighted by the items that they share.

    Only a rater's first rating of an item counts. Agreement on a gated label is that of the raters
    who were asked; in whole vectors, "not asked" is an answer. Missing answers do not count.

    References
    ----------
    Cohen, J. (1960). Educational and Psychological Measurement 20, 37-46.
    Feinstein, A. R. & Cicchetti, D. V. (1990). Journal of Clinical Epidemiology 43, 543-549.
    Fleiss, J. L. (1971). Psychological Bulletin 76, 378-382.
    Gwet, K. L. (2008). British Journal of Mathematical and Statistical Psychology 61, 29-48.
    Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania.

    Examples
    --------
    >>> from assay.fits.simulate import simulate
    >>> ratings = simulate("retrieval", n_items=40, n_raters=4, ratings_per_item=3, rng=1)
    >>> result = agreement(ratings, labels="misleading", draws=100)
    >>> result.table["statistic"].tolist()
    ['percent', 'cohen_kappa', 'fleiss_kappa', 'krippendorff_alpha', 'gwet_ac1']
    """
    require_ratings(
        "agreement", ratings,
        instead="give a fit together with its ratings: "
        "`assay.agreement(ratings, fit=fit)`",
    )  # fmt: skip
    require_level(level)
    require_draws("draws", draws)
    generator = generator_of(rng)
    names = column_names(ratings.task, labels)
    design = build_design(ratings)
    columns = build_columns(ratings.task, ratings.answers[design.first], names)
    tallies = [build_tally(column, design) for column in columns]
    samples = bootstrap(tallies, design, draws, generator)
    replicates: list[dict[str, Floats]] = [{} for _ in names]
    if fit is not None:
        view = FitView.of(fit)
        require_same_ratings(view, ratings)
        # The same seed again, so that posterior_predictive_check with it has the same numbers.
        answers = predict_answers(view, draws=min(draws, REPLICATES), rng=rng)
        replicates = replicated_statistics(ratings.task, design, answers, names)
    lines = [
        line
        for tally, sample, replicate in zip(tallies, samples, replicates, strict=True)
        for line in _lines(tally, sample, replicate, len(design.stratum), level)
    ]
    return Agreement(
        table=pd.DataFrame(lines),
        pairwise=_pairwise(tallies, design, ratings),
        intra_rater=intra_rater_table(ratings, names),
        level=level,
        draws=draws,
    )


def _lines(
    tally: Tally,
    sample: dict[str, Floats],
    replicate: dict[str, Floats],
    clusters: int,
    level: float,
) -> list[dict[str, object]]:
    """Return the lines of the table about one column."""
    point = statistics(tally, {name: block.total() for name, block in tally.blocks.items()})
    lines = []
    for name, (value,) in point.items():
        drawn, expected = sample[name][: None if clusters > 1 else 0], replicate.get(name, NONE)
        ends = _interval(name, value, drawn, level)
        degenerate = len(drawn) > 0 and _is_degenerate(name, value, drawn, ends, level)
        lines.append(
            {
                "label": tally.column.name,
                "statistic": name,
                "value": value,
                **(dict.fromkeys(ends, np.nan) if degenerate else ends),
                "n_items": tally.n_items,
                "n_ratings": tally.n_ratings,
                "expected": _mean(expected),
                **_ends(expected, level, "expected_"),
                "note": _note(tally, name, value, clusters, degenerate=degenerate),
            }
        )
    return lines


def _is_degenerate(
    name: str, value: float, draws: Floats, ends: Mapping[str, float], level: float
) -> bool:
    """Return whether bootstrap samples cannot measure the uncertainty of a coefficient."""
    if np.isnan(value):
        return False
    lower, upper = ends["lower"], ends["upper"]
    if np.isnan(draws).mean() > 1 - level or not lower - ROUNDING <= value <= upper + ROUNDING:
        return True
    return name not in UNAFFECTED and upper - lower < ROUNDING and value < 1 - ROUNDING


def _interval(name: str, value: float, draws: Floats, level: float) -> dict[str, float]:
    """Return the bootstrap interval of a statistic."""
    if name == "cohen_kappa":
        # With few shared items, resampling biases the kappa of a pair; this removes the bias.
        draws = np.minimum(draws - (_mean(draws) - value), 1)
    return _ends(draws, level, "")


def _ends(draws: Floats, level: float, prefix: str) -> dict[str, float]:
    """Return the percentile interval, without undefined draws."""
    lower, upper = interval_ends(draws, level)
    return {f"{prefix}lower": float(lower), f"{prefix}upper": float(upper)}


def _mean(draws: Floats) -> float:
    known = draws[~np.isnan(draws)]
    return float(known.mean()) if len(known) else np.nan


def _note(tally: Tally, name: str, value: float, clusters: int, *, degenerate: bool) -> str:
    """Return why a number is missing or unreliable; empty if neither."""
    if not tally.n_items:
        return "no item has answers of two raters"
    if np.isnan(value):
        if name == "cohen_kappa":
            return "no pair of raters used two classes on shared items, so kappa is undefined"
        return "all answers are of one class, so agreement beyond chance is undefined"
    if clusters < 2:
        return "no interval, since all items are in one cluster"
    marginal = tally.blocks["marginal"].total()[:, 0]
    share = float(marginal.max() / marginal.sum())
    alone = f"{share:.0%} of the answers are of one class"
    if name not in UNAFFECTED and share >= MOSTLY_ONE:
        low = "kappas and alphas are low even if raters rarely disagree; use gwet_ac1"
        if degenerate:
            return f"no interval, since {alone} and the bootstrap is degenerate; {low}"
        return f"{alone}, so {low}"
    if degenerate:
        return "no interval: raters disagree on too few items, so the bootstrap is degenerate"
    shared = tally.blocks["shared"].total()
    mean = float(shared.sum() / (shared > 0).sum())
    if name == "cohen_kappa" and mean < FEW_SHARED:
        return (
            f"pairs of raters share fewer than {FEW_SHARED} items on average, so kappas "
            "and their intervals are biased towards 0; use fleiss_kappa or krippendorff_alpha"
        )
    return ""


def _pairwise(tallies: Sequence[Tally], design: FirstRatings, ratings: Ratings) -> pd.DataFrame:
    names = ratings.raters.index.to_numpy(object)
    columns = ["rater_a", "rater_b", "label", "shared", "percent", "kappa"]
    parts = []
    for tally in tallies:
        sums = {name: block.total() for name, block in tally.blocks.items()}
        shared, percent, kappa = (values[:, 0] for values in pair_agreement(tally, sums))
        part = pd.DataFrame(
            {
                "rater_a": names[design.raters[:, 0]],
                "rater_b": names[design.raters[:, 1]],
                "label": tally.column.name,
                "shared": shared.astype(np.int64),
                "percent": percent,
                "kappa": kappa,
            }
        )
        parts.append(part[part["shared"] > 0])
    return pd.concat(parts, ignore_index=True)[columns]

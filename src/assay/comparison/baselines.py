"""The function ``compare_baselines``: majority vote, model and human ratings compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.arrays import divided
from assay._util.html import notebook_html
from assay._util.intervals import require_level
from assay._util.random import generator_of
from assay._util.text import counted, intervals, lines_of
from assay._util.typing import Floats
from assay._util.validation import names_given, require_choice
from assay.comparison.contrasts import difference_draws, pairs_of
from assay.comparison.decisions import Line, conclusion, with_interval
from assay.comparison.refit import rated_by, refit
from assay.data.majority_vote import majority_votes
from assay.data.ratings import Ratings
from assay.evaluation import metrics
from assay.evaluation.estimands import ESTIMANDS, Estimand
from assay.evaluation.known_labels import VOTE, resampled, vote_totals
from assay.evaluation.panels import Incomplete, panel_layout, weighable_metrics
from assay.fits.summary import summarize
from assay.fits.view import Fit, FitView
from assay.inference.settings import SamplerSettings

SAMPLES = 2000


def vote_metrics(
    ratings: Ratings, metric: Sequence[str] | str | None, rng: np.random.Generator
) -> tuple[xr.Dataset, xr.Dataset]:
    """Return metrics (chain, draw, system) of the majority vote: the values, and bootstrap samples
    of clusters shared by the systems. Items without an answer are left out.
    """
    chosen = weighable_metrics(ratings, metric)
    layout = panel_layout(ratings)
    totals = vote_totals(ratings, chosen, layout)
    samples = resampled(totals, layout, SAMPLES, rng)

    def dataset(draws: Floats) -> xr.Dataset:
        variables = {
            m.name: (("chain", "draw", "system"), draws[None, :, n]) for n, m in enumerate(chosen)
        }
        attributes = {"estimand": "population", "reference": VOTE}
        return xr.Dataset(variables, {"system": list(layout.systems)}, attributes)

    return dataset(divided(*totals.sum(axis=2))[None]), dataset(samples)


HumanBy = Literal["model", "vote"]
HUMAN_BY = ("model", "vote")
NAIVE, CORRECTED, HUMAN_ONLY = "naive", "corrected", "human-only"
CHANGED = "The conclusion changes"
"""Start of the sentence about a changed conclusion; the report selects sentences by it."""
UNCHANGED = "The conclusion is unchanged"
SIGN = "although the estimate changes sign"
COLUMNS = (
    "metric", "quantity", "a", "b", "approach", "mean", "lower", "upper", "level", "undefined",
    "estimand", "reference", "doubt", "basis",
)  # fmt: skip
"""Columns of the table; ``quantity`` is the system, or the contrast ``a - b``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SideBySide:
    """The same numbers by up to three approaches; ``print`` it for sentences or the table.

    table : a line per metric, quantity (a system, or the contrast ``a - b``) and approach:
        ``metric``, ``quantity``, ``a``, ``b`` (``""`` on a system's own line), ``approach``
        (``naive``, ``corrected``, ``human-only``), ``mean``, ``lower``, ``upper``, ``level``,
        ``undefined``, ``estimand``, ``reference``, ``basis`` (data and method of the numbers)
    warnings : warnings of the fit of the human ratings alone
    """

    table: pd.DataFrame
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the approaches, on one line."""
        approaches = ", ".join(dict.fromkeys(self.table["approach"]))
        return f"<assay.SideBySide: {approaches}; print it, or see .table>"

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table

    def _repr_html_(self) -> str:
        """Show each number by each approach."""
        told = self.table.assign(value=intervals(self.table))
        cells = told.pivot_table(
            index=["metric", "quantity"], columns="approach", values="value", aggfunc="first",
            sort=False,
        ).reset_index()  # fmt: skip
        return notebook_html("The same numbers by several approaches", {"": cells}, self.warnings)

    def __str__(self) -> str:
        return "\n".join(self.sentences()) or self.table.to_string(index=False)

    def sentences(self) -> list[str]:
        """State for each contrast whether the conclusion changes with the approach."""
        contrasts = self.table[self.table["b"] != ""]
        said = []
        for _, lines in contrasts.groupby(["metric", "quantity"], sort=False):
            by = {line["approach"]: line for line in lines_of(lines)}
            said += [_changes(by[CORRECTED], by[o]) for o in (NAIVE, HUMAN_ONLY) if o in by]
        return said


def compare_baselines(
    fit: Fit,
    *,
    human: str | Sequence[str] | None = None,
    human_by: HumanBy = "model",
    metric: Sequence[str] | str | None = None,
    estimand: Estimand = "population",
    level: float = 0.95,
    incomplete: Incomplete = "predict",
    baseline: str | None = None,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    rng: int | np.random.Generator = 1,
) -> SideBySide:
    """Compare the majority vote, the model, and human ratings alone.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`. With fewer than two systems there are metrics and no contrasts.
    human : str or sequence of str, optional
        The human raters, or groups of them. Without names there is no human-only approach.
    human_by : {"model", "vote"}
        The human-only approach: the model fitted to the human ratings alone, or their majority
        vote. The model predicts the labels of items without human ratings; the vote leaves them
        out.
    metric, estimand, level, incomplete, baseline
        As for :func:`assay.compare`. The estimand is that of the model's numbers; intervals of
        votes always come from a cluster bootstrap.
    draws, tune, chains : int
        Effort of the fit to the human ratings, lower than the default of :func:`assay.fit`.
    rng : int or numpy.random.Generator
        Of the bootstrap.

    Returns
    -------
    SideBySide

    Raises
    ------
    ModelError
        If an argument has another value.
    UnknownNameError
        If a metric, system, rater or rater group does not exist.

    Notes
    -----
    ``naive`` is what most tools report: the majority vote of all raters, treated as the truth,
    with a percentile interval over resampled clusters. Its interval includes the sampling error of
    clusters and omits labelling error.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("generation", n_items=60, n_systems=2, n_clusters=30, rng=1)
    >>> model = {"raters": "hierarchical", "method": "map"}
    >>> tree = assay.fit(ratings, **model, draws=50, chains=1, starts=1, rng=1)
    >>> compare_baselines(tree, metric="helpfulness_rate").table["approach"].unique().tolist()
    ['naive', 'corrected']
    """
    require_choice("human_by", human_by, HUMAN_BY)
    require_choice("estimand", estimand, ESTIMANDS)
    require_level(level)
    names = [] if human is None else names_given("human", human, what="rater or rater group")
    view = FitView.of(fit)
    ratings = view.ratings
    pairs = pairs_of(ratings.systems, baseline)
    generator = generator_of(rng)

    def vote(of: Ratings, approach: str, who: str) -> pd.DataFrame:
        values, samples = vote_metrics(of, metric, generator)
        lines = _lines(samples, pairs, level)
        ties = int(majority_votes(of).tied.sum())
        split = f", {counted(ties, 'tie')} in equal shares" * bool(ties)
        basis = f"majority vote of {who}{split}, cluster bootstrap"
        return lines.assign(
            mean=_lines(values, pairs, level)["mean"], approach=approach, basis=basis
        )

    def model(tree: Fit, approach: str, who: str) -> pd.DataFrame:
        draws = metrics(tree, estimand=estimand, incomplete=incomplete, metric=metric)
        return _lines(draws, pairs, level).assign(approach=approach, basis=f"the model, on {who}")

    parts = [vote(ratings, NAIVE, "all raters"), model(view, CORRECTED, "all ratings")]
    warned: list[str] = []
    if names:
        people, who = rated_by(ratings, names), ", ".join(names)
        if human_by == "vote":
            parts.append(vote(people, HUMAN_ONLY, who))
        else:
            tree, warned = refit(
                view, people, SamplerSettings(draws=draws, tune=tune, chains=chains)
            )
            parts.append(model(tree, HUMAN_ONLY, f"ratings of {who}"))
    # Lines of one quantity are adjacent, in the order of the first part.
    table = pd.concat(parts).sort_index(kind="stable")
    return SideBySide(
        table=table.reset_index(drop=True)[list(COLUMNS)],
        warnings=tuple(warned),
    )


def _lines(data: xr.Dataset, pairs: Sequence[tuple[str, str]], level: float) -> pd.DataFrame:
    """Return lines of systems and contrasts by metric, indexed alike for all approaches."""
    names = [str(name) for name in data.data_vars]
    systems = summarize(data, level=level)
    systems = systems.assign(a=systems["system"], b="", quantity=systems["system"])
    if not pairs:
        return systems
    contrasts = summarize(difference_draws(data, names, pairs), level=level)
    a, b = zip(*(pairs[n] for n in contrasts["pair"]), strict=True)
    contrasts = contrasts.assign(a=a, b=b)
    contrasts["quantity"] = contrasts["a"] + " - " + contrasts["b"]
    parts = [t[t["metric"] == name] for name in names for t in (systems, contrasts)]
    return pd.concat(parts, ignore_index=True)


def _changes(corrected: Line, other: Line) -> str:
    """State whether another approach leads to the conclusion of the model."""
    head = f"{corrected['metric']}, {corrected['quantity']}"
    if np.isnan([corrected["mean"], other["mean"]]).any():
        return f"{head}: undefined in the {other['approach']} or the corrected numbers."
    sizes = [
        with_interval(line["mean"], line["lower"], line["upper"], line["level"])
        for line in (other, corrected)
    ]
    verdict = _verdict(corrected, other)
    if corrected["doubt"]:
        verdict += f" No conclusion rests on the corrected numbers: {corrected['doubt']}."
    return (
        f"{head}: {other['approach']} {sizes[0]} ({other['basis']}); corrected {sizes[1]} "
        f"(estimand {corrected['estimand']}; reference: {corrected['reference']}). "
        f"{verdict}"
    )


def _verdict(corrected: Line, other: Line) -> str:
    before, after = (
        conclusion(line["a"], line["b"], line["lower"], line["upper"])
        for line in (other, corrected)
    )
    turns = np.sign(other["mean"]) * np.sign(corrected["mean"]) < 0
    if before == after:
        if turns:
            return f"{UNCHANGED} ({after}), {SIGN}."
        return f"{UNCHANGED}: {after}."
    sign = ", and the estimate changes sign" if turns else ""
    return f"{CHANGED}{sign}: {other['approach']}, {before}; corrected, {after}."

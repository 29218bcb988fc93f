"""side_by_side: what a majority vote says, what the model says, and what people alone say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.arrays import divided
from assay._util.html import notebook_html
from assay._util.intervals import require_level
from assay._util.random import generator_of
from assay._util.text import intervals, lines_of
from assay._util.validation import names_given, require_choice
from assay.comparison.contrasts import difference_draws, pairs_of
from assay.comparison.decisions import Line, conclusion, with_interval
from assay.comparison.refit import rated_by, refit
from assay.data.ratings import Ratings
from assay.evaluation import metrics
from assay.evaluation.estimands import ESTIMANDS, Estimand
from assay.evaluation.known_labels import VOTE, resampled, vote_totals
from assay.evaluation.panels import Incomplete, panel_layout, weighable_metrics
from assay.fits.datatree import ratings_of
from assay.fits.summary import summarize
from assay.inference.settings import Effort

SAMPLES = 2000


def vote_metrics(
    ratings: Ratings, metric: Sequence[str] | str | None, rng: np.random.Generator
) -> tuple[xr.Dataset, xr.Dataset]:
    """Metrics of the majority vote of each system, as they are and resampled.

    Systems share the resampled clusters, so that their difference can be taken sample by sample.

    Parameters
    ----------
    ratings : Ratings
        With systems. Items without an answer are left out.
    metric : str or sequence of str or None
        Metrics; None for those that the task reports.
    rng : numpy.random.Generator

    Returns
    -------
    values, samples : xarray.Dataset
        A variable per metric, (chain, draw, system): one draw, and ``SAMPLES`` of them.
    """
    chosen = weighable_metrics(ratings, metric)
    layout = panel_layout(ratings)
    totals = vote_totals(ratings, chosen, layout)
    samples = resampled(totals, layout, SAMPLES, rng)

    def dataset(draws: NDArray[np.float64]) -> xr.Dataset:
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
"""With this a sentence says so; the report shows those that do."""
COLUMNS = (
    "metric", "quantity", "a", "b", "approach", "mean", "lower", "upper", "level", "undefined",
    "estimand", "reference", "doubt", "basis",
)  # fmt: skip
"""``quantity`` is the system, or the contrast ``a - b``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SideBySide:
    """The same numbers by up to three approaches.

    Attributes
    ----------
    table : pandas.DataFrame
        A line per metric, quantity (a system, or the contrast ``a - b``) and approach:
        ``metric``, ``quantity``, ``a``, ``b`` (``""`` of a system's own line), ``approach``
        (``naive``, ``corrected``, ``human-only``), ``mean``, ``lower``, ``upper``, ``level``,
        ``undefined``, ``estimand``, ``reference``, ``basis`` (what the numbers rest on).
    warnings : tuple of str
        What the fit of the people's ratings alone warns of.

    Notes
    -----
    ``print(sides)`` writes the sentences, or the table where no systems are compared.
    """

    table: pd.DataFrame
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """One line: which approaches stand side by side."""
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
        """Say of each contrast whether the conclusion changes with the approach."""
        contrasts = self.table[self.table["b"] != ""]
        said = []
        for _, lines in contrasts.groupby(["metric", "quantity"], sort=False):
            by = {line["approach"]: line for line in lines_of(lines)}
            said += [_changes(by[CORRECTED], by[o]) for o in (NAIVE, HUMAN_ONLY) if o in by]
        return said


def side_by_side(
    fit: xr.DataTree,
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
    """Set a majority vote, the model and the people's ratings alone side by side.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`. Of fewer than two systems there are no contrasts, but the metrics.
    human : str or sequence of str, optional
        The raters, or rater groups, that are people. Nothing is guessed: without names there is
        no human-only approach.
    human_by : {"model", "vote"}
        What human-only is: the model of the fit, fitted to the people's ratings alone (labels of
        items that they did not rate are predicted), or their majority vote (such items are left
        out).
    metric, estimand, level, incomplete, baseline
        As for :func:`assay.compare`. The estimand is that of the model's numbers; the intervals
        of votes are always those of a cluster bootstrap.
    draws, tune, chains : int
        Effort of the fit of the people's ratings: less than a fit of its own takes by default.
    rng : int or numpy.random.Generator
        Of the bootstrap.

    Returns
    -------
    SideBySide

    Raises
    ------
    ModelError
        If a choice is none of those above.
    UnknownNameError
        If a name is that of no metric, system, rater or rater group.

    Notes
    -----
    ``naive`` is what most tools report: the majority vote of all raters, taken for the truth,
    with a percentile interval over resampled clusters. Its interval holds the error of sampling
    clusters only, not that of the raters.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("generation", n_items=60, n_systems=2, n_clusters=30, rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=50, chains=1, starts=1, rng=1)
    >>> side_by_side(tree, metric="helpfulness_rate").table["approach"].unique().tolist()
    ['naive', 'corrected']
    """
    require_choice("human_by", human_by, HUMAN_BY)
    require_choice("estimand", estimand, ESTIMANDS)
    require_level(level)
    names = [] if human is None else names_given("human", human, what="rater or rater group")
    ratings = ratings_of(fit)
    pairs = pairs_of(ratings.systems, baseline)
    generator = generator_of(rng)

    def vote(of: Ratings, approach: str, who: str) -> pd.DataFrame:
        values, samples = vote_metrics(of, metric, generator)
        lines = _lines(samples, pairs, level)
        basis = f"majority vote of {who}, cluster bootstrap"
        return lines.assign(
            mean=_lines(values, pairs, level)["mean"], approach=approach, basis=basis
        )

    def model(tree: xr.DataTree, approach: str, who: str) -> pd.DataFrame:
        draws = metrics(tree, estimand=estimand, incomplete=incomplete, metric=metric)
        return _lines(draws, pairs, level).assign(approach=approach, basis=f"the model, on {who}")

    parts = [vote(ratings, NAIVE, "all raters"), model(fit, CORRECTED, "all ratings")]
    warned: list[str] = []
    if names:
        people, who = rated_by(ratings, names), ", ".join(names)
        if human_by == "vote":
            parts.append(vote(people, HUMAN_ONLY, who))
        else:
            tree, warned = refit(fit, people, Effort(draws=draws, tune=tune, chains=chains))
            parts.append(model(tree, HUMAN_ONLY, f"ratings of {who}"))
    # The lines of one quantity stand together, in the order of the first part.
    table = pd.concat(parts).sort_index(kind="stable")
    return SideBySide(
        table=table.reset_index(drop=True)[list(COLUMNS)],
        warnings=tuple(warned),
    )


def _lines(data: xr.Dataset, pairs: Sequence[tuple[str, str]], level: float) -> pd.DataFrame:
    """Lines of systems and contrasts, metric by metric; the same index for every approach."""
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


def _conclusion(line: Line) -> str:
    """Say what an interval tells of a contrast."""
    return conclusion(line["a"], line["b"], line["lower"], line["upper"])


def _changes(corrected: Line, other: Line) -> str:
    """Say whether another approach leads to the conclusion of the model."""
    head = f"{corrected['metric']}, {corrected['quantity']}"
    if np.isnan([corrected["mean"], other["mean"]]).any():
        return f"{head}: undefined by the {other['approach']} or the corrected numbers."
    sizes = [
        with_interval(line["mean"], line["lower"], line["upper"], line["level"])
        for line in (other, corrected)
    ]
    verdict = _verdict(corrected, other)
    if corrected["doubt"]:
        verdict = f"No conclusion rests on the corrected numbers: {corrected['doubt']}."
    return (
        f"{head}: {other['approach']} {sizes[0]} ({other['basis']}); corrected {sizes[1]} "
        f"(estimand {corrected['estimand']}; reference: {corrected['reference']}). "
        f"{verdict}"
    )


def _verdict(corrected: Line, other: Line) -> str:
    before, after = _conclusion(other), _conclusion(corrected)
    turns = np.sign(other["mean"]) * np.sign(corrected["mean"]) < 0
    if before == after:
        if turns:
            return f"The conclusion stays ({after}), though the estimate changes its sign."
        return f"The conclusion stays: {after}."
    sign = " and the sign of the estimate turns" if turns else ""
    return f"{CHANGED}{sign}: {other['approach']}, {before}; corrected, {after}."

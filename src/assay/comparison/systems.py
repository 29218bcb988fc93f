"""The function ``compare``: systems compared draw by draw on the metrics of one fit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.html import notebook_html
from assay._util.intervals import require_level
from assay._util.text import chance_cells, counted, intervals, lines_of, percent
from assay._util.validation import require_choice, require_number
from assay.comparison.contrasts import (
    SIGNS,
    Rope,
    pair_table,
    pairs_of,
    rank_table,
    require_two,
    rope_ends,
)
from assay.comparison.decisions import best_sentence, pair_sentence
from assay.comparison.multiplicity import by_chance
from assay.data.ratings import Ratings
from assay.evaluation import metrics
from assay.evaluation.estimands import Estimand
from assay.evaluation.panels import Incomplete, weighable_metrics
from assay.evaluation.registry import Metric, check_direction
from assay.evaluation.titles import metric_titles
from assay.fits.summary import summarize
from assay.fits.view import Fit, FitView
from assay.inference.label_doubts import both_doubts, doubt_about_difference


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Systems compared on draws of metrics; ``print`` it for sentences.

    pairs : a line per metric and pair: ``metric``, ``estimand``, ``better`` (which values are:
        ``higher``, ``lower`` or ``neither``), ``a``, ``b``; the difference a - b:
        ``difference`` (posterior mean), ``difference_sd``, ``difference_lower``,
        ``difference_upper``; the ratio a / b: ``ratio`` (median), ``ratio_lower``,
        ``ratio_upper``, ``ratio_undefined`` (number of draws without one);
        ``p_greater`` = P(a > b), ``p_equal``, ``p_rope`` (of a difference from ``rope_lower``
        to ``rope_upper``; NaN without), ``undefined`` (share of the draws in which a or b is
        undefined; all else leaves them out), ``level``, ``reference``, ``doubt`` (why the metric
        may mislead, or ``""``), and from a fit ``shared_clusters``
    systems : a line per metric and system: ``metric``, ``estimand``, ``better``, ``system``,
        ``mean``, ``sd``, ``lower``, ``upper``, ``p_best``, ``expected_loss``, ``p_rank_1``, ...,
        ``undefined``, ``unranked`` (share of the draws in which some system is undefined, left
        out of the ranks), ``level``, ``reference``, ``doubt``; without a direction, ranks and
        expected loss are NaN
    draws : draws (chain, draw, system) of every metric
    """

    pairs: pd.DataFrame
    systems: pd.DataFrame
    draws: xr.Dataset

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        """Return the numbers of systems and metrics, on one line."""
        metrics, systems = self.systems["metric"].nunique(), self.systems["system"].nunique()
        return (
            f"<assay.Comparison: {counted(systems, 'system')} on {counted(metrics, 'metric')}; "
            "print it, or see .pairs and .systems>"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the pairs."""
        return self.pairs

    def _repr_html_(self) -> str:
        """Show the difference of each pair, and which system is best."""
        level = percent(self.pairs["level"].iloc[0])
        titles = metric_titles(self.draws)
        pairs = pd.DataFrame(
            {
                "metric": self.pairs["metric"].map(titles),
                "difference": self.pairs["a"] + " - " + self.pairs["b"],
                "value": intervals(
                    self.pairs, ("difference", "difference_lower", "difference_upper"), marks=[0.0]
                ),
                "P(first > second)": chance_cells(self.pairs["p_greater"]),
                "better is": self.pairs["better"],
            }
        )
        ranked = self.systems[self.systems["p_best"].notna()]
        best = ranked.assign(metric=ranked["metric"].map(titles))
        tables = {f"Differences: posterior mean ({level} interval)": pairs}
        if self.systems["system"].nunique() > 2:
            tables["Which system is best"] = best[["metric", "system", "p_best", "expected_loss"]]
        doubts = [text for text in dict.fromkeys(self.pairs["doubt"]) if text]
        said = [f"No conclusion rests on some metrics: {text}." for text in doubts]
        return notebook_html(repr(self)[1:-1].partition(";")[0], tables, said)

    def sentences(self) -> list[str]:
        """State each pair in a sentence; with more than two systems, also which to choose.

        A metric without a direction has no best system. The last sentence counts the comparisons
        that would seem clear by chance.
        """
        said = []
        for metric, lines in self.systems.groupby("metric", sort=False):
            if len(lines) > 2 and lines["expected_loss"].notna().all():
                said.append(best_sentence(lines))
            mine = self.pairs[self.pairs["metric"] == metric]
            said += [pair_sentence(line) for line in lines_of(mine)]
        return [*said, *filter(None, [by_chance(self.pairs).strip()])]

    def clearly_worse(self, p: float = 0.99) -> pd.DataFrame:
        """Mark the systems that are worse than the apparent best one with probability above ``p``.

        Columns: ``metric``, ``system``, ``best`` (best mean), ``p_worse``, ``clearly_worse``,
        ``comparisons`` (number of pairs) and ``expected_false`` (upper bound on those beyond ``p``
        by chance if no systems differ). Metrics without a direction are left out.
        """
        require_number(
            "p", p, lambda x: 0.5 <= x < 1,
            allowed="a probability from 0.5 to below 1, such as 0.99",
        )  # fmt: skip
        parts = [self._behind(metric) for metric in self.draws.data_vars]
        table = pd.concat([pd.DataFrame(columns=list(BEHIND)), *parts], ignore_index=True)
        table = table.astype({"p_worse": float, "comparisons": int})
        doubted = set(self.systems.loc[self.systems["doubt"] != "", "metric"])
        worse = (table["p_worse"] > p) & ~table["metric"].isin(doubted)
        expected = 2 * (1 - p) * table["comparisons"]
        return table.assign(clearly_worse=worse, expected_false=expected)

    def _behind(self, metric: object) -> pd.DataFrame:
        lines = self.systems[self.systems["metric"] == metric]
        better = lines["better"].iloc[0]
        if better not in SIGNS or lines["mean"].isna().all():
            return pd.DataFrame(columns=list(BEHIND))
        sign = SIGNS[better]
        best = lines["system"].iloc[int(np.nanargmax(sign * lines["mean"]))]
        draws = self.draws[metric] * sign
        gaps = draws.sel(system=best) - draws.sel(system=lines["system"].to_numpy())
        behind = (gaps > 0).where(gaps.notnull()).mean(dim=("chain", "draw"))
        columns = [metric, lines["system"].to_numpy(), best, behind.to_numpy(), comb(len(lines), 2)]
        return pd.DataFrame(dict(zip(BEHIND, columns, strict=True)))


BEHIND = ("metric", "system", "best", "p_worse", "comparisons")


def compare_draws(
    draws: xr.Dataset,
    better: Mapping[str, str],
    *,
    level: float = 0.95,
    rope: Rope = None,
    baseline: str | None = None,
) -> Comparison:
    """Compare systems on draws (chain, draw, system) of their metrics, draw by draw. ``better``
    maps each metric to ``higher``, ``lower`` or ``neither``.
    """
    for name, direction in better.items():
        check_direction(name, direction)
    systems = _systems(draws)
    pairs = pairs_of(systems, baseline)
    table = pair_table(draws, better, pairs, level=level, rope=rope_ends(rope))
    return Comparison(pairs=table, systems=_system_table(draws, better, level), draws=draws)


def _systems(draws: xr.Dataset) -> list[str]:
    names = [str(s) for s in draws["system"].to_numpy()] if "system" in draws.dims else []
    require_two(names)
    return names


def _system_table(draws: xr.Dataset, better: Mapping[str, str], level: float) -> pd.DataFrame:
    lines = summarize(draws, level=level)
    lines["better"] = lines["metric"].map(dict(better))
    values = [draws[name].transpose("chain", "draw", "system").to_numpy() for name in better]
    ranks = [
        rank_table(array.reshape(-1, array.shape[-1]), direction)
        for array, direction in zip(values, better.values(), strict=True)
    ]
    lines = pd.concat([lines, pd.concat(ranks, ignore_index=True)], axis=1)
    places = [c for c in lines.columns if str(c).startswith("p_rank_")]
    front = ["metric", "estimand", "better", "system", "mean", "sd", "lower", "upper"]
    back = ["undefined", "unranked", "level", "reference", "doubt"]
    return lines[[*front, "p_best", "expected_loss", *places, *back]]


def compare(
    fit: Fit,
    *,
    by: str = "system",
    metric: Sequence[str] | str | None = None,
    estimand: Estimand = "population",
    level: float = 0.95,
    rope: Rope = None,
    incomplete: Incomplete = "predict",
    baseline: str | None = None,
) -> Comparison:
    r"""Compare systems on the metrics of a fit.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`, of ratings with at least two systems.
    by : {"system"}
        Systems. To compare them within groups of clusters (strata), use
        :func:`assay.compare_groups`.
    metric : str or sequence of str, optional
        Metrics; those that the task reports if not given.
    estimand : {"population", "finite"}
        Whether the numbers are about clusters like these, or about these items.
    level : float
        Probability of the intervals, between 0 and 1.
    rope : float or (float, float), optional
        Differences that do not matter (region of practical equivalence), in units of the metric;
        one number means both directions.
    incomplete : {"predict", "drop"}
        Panels with unrated items, as for :func:`assay.metrics`.
    baseline : str, optional
        Compare each system only with this one; by default, compare all pairs.

    Returns
    -------
    Comparison
        Tables of pairs and of systems, the draws, and :meth:`Comparison.sentences`.

    Raises
    ------
    ModelError
        If there are fewer than two systems, or an argument has another value.
    UnknownNameError
        If the task has no metric, or the ratings no system, of a name.
    FitError
        If ``level`` is out of range, or the tree is not a fit.

    Notes
    -----
    All numbers come from the draws of :func:`assay.metrics`. The mean of a difference is the
    difference of the means, except for draws in which either is undefined. Label draws are joint,
    and the weights of a cluster are the same for all systems. So systems on the same clusters are
    compared within clusters; the column ``shared_clusters`` counts these.

    :math:`P(a > b)` is a posterior probability, not one minus a p-value. The expected loss of
    choosing :math:`s` is :math:`\mathrm E[\max_r m_r - m_s]` where higher is better. Ranks and
    losses need a direction, so they are NaN for the share of a class. A metric registered with
    :func:`assay.metric` can have a direction.

    References
    ----------
    Kruschke, J. K. (2018). Rejecting or accepting parameter values in Bayesian estimation.
    Advances in Methods and Practices in Psychological Science 1(2), 270-280.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("generation", n_items=60, n_systems=2, n_clusters=30, rng=1)
    >>> model = {"raters": "hierarchical", "method": "map"}
    >>> tree = assay.fit(ratings, **model, draws=50, chains=1, starts=1, rng=1)
    >>> compare(tree, metric="helpfulness_rate").pairs[["metric", "estimand", "a", "b"]]
                 metric    estimand         a         b
    0  helpfulness_rate  population  system_1  system_2
    """
    require_choice(
        "by", by, ("system",),
        otherwise="assay.compare_groups(fit) for systems within each stratum",
    )  # fmt: skip
    require_level(level)
    rope_ends(rope)
    view = FitView.of(fit)
    ratings = view.ratings
    require_two(ratings.systems)
    pairs_of(ratings.systems, baseline)
    draws = metrics(view, estimand=estimand, by="system", incomplete=incomplete, metric=metric)
    better = {m.name: m.better for m in weighable_metrics(ratings, metric)}
    found = compare_draws(draws, better, level=level, rope=rope, baseline=baseline)
    found = _doubted(view, ratings, found, weighable_metrics(ratings, metric))
    return replace(found, pairs=found.pairs.assign(shared_clusters=_shared(ratings, found)))


def _doubted(fit: Fit, ratings: Ratings, found: Comparison, chosen: Sequence[Metric]) -> Comparison:
    """Add why differences may mislead although the values do not; then no system is the best."""
    labels = {one.name: one.labels for one in chosen}

    def doubts(table: pd.DataFrame, pairs: Iterable[tuple[str, ...]]) -> pd.DataFrame:
        lines = zip(table["metric"], table["doubt"], pairs, strict=True)
        told = [
            both_doubts(doubt, doubt_about_difference(fit, labels[name], ratings.task, *systems))
            for name, doubt, systems in lines
        ]
        return table.assign(doubt=told)

    whole = [tuple(ratings.systems)] * len(found.systems)
    pairs = zip(found.pairs["a"], found.pairs["b"], strict=True)
    return replace(found, pairs=doubts(found.pairs, pairs), systems=doubts(found.systems, whole))


def _shared(ratings: Ratings, found: Comparison) -> list[int]:
    """Return the number of clusters that the systems of each pair share."""
    clusters = ratings.panels.groupby("system")["cluster"].agg(set)
    pairs = zip(found.pairs["a"], found.pairs["b"], strict=True)
    return [len(clusters[a] & clusters[b]) for a, b in pairs]

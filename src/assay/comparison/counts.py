"""The function ``compare_counts``: systems compared on published counts."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.errors import Problem, RatingsError
from assay._util.random import generator_of
from assay._util.validation import require_draws
from assay.comparison.contrasts import Rope
from assay.comparison.systems import Comparison, compare_draws
from assay.evaluation.registry import BETTER

NEEDED = ("system", "successes", "total")
METRIC, DIRECTION = "rate", "higher"
"""Defaults where a table does not name the metric or its direction."""


def compare_counts(
    table: pd.DataFrame,
    *,
    level: float = 0.95,
    rope: Rope = None,
    baseline: str | None = None,
    draws: int = 20_000,
    rng: int | np.random.Generator = 1,
) -> Comparison:
    r"""Compare systems on counts, such as published percentages of n outputs.

    Parameters
    ----------
    table : pandas.DataFrame
        A line per metric and system: ``system``, ``successes``, ``total``; optionally ``metric``
        (default ``rate``) and ``better`` (``higher``, the default, ``lower`` or ``neither``; one
        line of a metric is enough). Every metric has the same systems.
    level : float
        Probability of the intervals.
    rope, baseline
        As for :func:`assay.compare`.
    draws : int
        Number of draws from the posterior.
    rng : int or numpy.random.Generator

    Returns
    -------
    Comparison
        Its estimand is ``population``: outputs like these. The counts are treated as the truth,
        so all numbers omit labelling error.

    Raises
    ------
    RatingsError
        If a column is missing, or a count is not a whole number from 0 to its total. Also if the
        lines of a metric differ in ``better``, or the metrics do not have the same systems. The
        error lists all problems.
    ModelError, FitError, UnknownNameError
        As :func:`assay.compare`; ModelError also if ``draws`` is not a whole number above 0.

    Notes
    -----
    Each rate has a Beta(1, 1) prior, hence the posterior
    :math:`\mathrm{Beta}(1 + x, 1 + n - x)`, independent of the others, since counts do not show
    which outputs two systems share. If systems ran on the same inputs and succeed on the same
    ones, intervals of differences are too wide.

    Examples
    --------
    >>> counts = pd.DataFrame({"system": ["A", "B"], "successes": [98, 75], "total": [100, 100]})
    >>> compare_counts(counts).clearly_worse(0.99)[["system", "best", "clearly_worse"]]
      system best  clearly_worse
    0      A    A          False
    1      B    A           True
    """
    counts = _checked(table)
    require_draws("draws", draws)
    generator = generator_of(rng)
    metrics = list(dict.fromkeys(counts["metric"]))
    systems = sorted(set(counts["system"]))
    lines = counts.set_index(["metric", "system"])
    better = {m: str(lines.loc[(m, systems[0]), "better"]) for m in metrics}
    variables = {}
    for metric in metrics:
        own = lines.loc[metric].loc[systems]
        x, n = own["successes"].to_numpy(float), own["total"].to_numpy(float)
        sample = generator.beta(1 + x, 1 + n - x, size=(1, draws, len(systems)))
        variables[metric] = (("chain", "draw", "system"), sample, {"estimand": "population"})
    data = xr.Dataset(
        variables,
        coords={"chain": [0], "draw": np.arange(draws), "system": systems},
        attrs={"estimand": "population", "reference": "the counts"},
    )
    return compare_draws(data, better, level=level, rope=rope, baseline=baseline)


def _checked(table: pd.DataFrame) -> pd.DataFrame:
    """Complete the table, or refuse it with all its problems."""
    if not isinstance(table, pd.DataFrame):
        raise RatingsError(
            f"they must be a DataFrame with the columns {', '.join(NEEDED)}, not "
            f"{type(table).__name__}",
            "the counts",
            code="counts-table",
        )
    missing = [name for name in NEEDED if name not in table]
    if missing:
        raise RatingsError(
            [
                Problem(what=f"no column {name!r}", allowed=", ".join(NEEDED), code="counts-table")
                for name in missing
            ],
            "the counts",
        )
    counts = table.assign(metric=_column(table, "metric").fillna(METRIC))
    said = _column(table, "better")
    of_metric = said.groupby(counts["metric"]).transform("first").fillna(DIRECTION)
    counts["better"] = said.fillna(of_metric)
    problems = [*_bad_numbers(counts), *_bad_directions(counts), *_bad_names(counts)]
    if problems:
        raise RatingsError(problems, "the counts")
    return counts.astype({"metric": str, "system": str})


def _bad_numbers(counts: pd.DataFrame) -> list[Problem]:
    x = pd.to_numeric(counts["successes"], errors="coerce").to_numpy(float)
    n = pd.to_numeric(counts["total"], errors="coerce").to_numpy(float)
    is_count = (x >= 0) & (x <= n) & (x == np.round(x)) & (n == np.round(n)) & (n > 0)
    return [
        Problem(
            what=f"successes={counts['successes'].iloc[row]}, total={counts['total'].iloc[row]}",
            where=f"line {row + 1}, system {counts['system'].iloc[row]}",
            allowed="whole numbers, successes from 0 to total, total at least 1",
            mend="turn a percentage into a count: round(percentage / 100 * total)",
            code="counts-numbers",
        )
        for row in np.flatnonzero(~is_count)
    ]


def _column(table: pd.DataFrame, name: str) -> "pd.Series[Any]":
    """Return a column, empty if the table does not have it."""
    return table.get(name, pd.Series(None, table.index, dtype=object)).astype(object)


def _bad_directions(counts: pd.DataFrame) -> list[Problem]:
    """Return problems of unknown directions, and of metrics with several directions."""
    known = counts["better"].isin(BETTER)
    problems = [
        Problem(
            what=f"`better={counts['better'].iloc[row]!r}`",
            where=f"line {row + 1}",
            allowed=", ".join(BETTER),
            code="counts-table",
        )
        for row in np.flatnonzero(~known)
    ]
    for metric, said in counts[known].groupby("metric")["better"].unique().items():
        if len(said) > 1:
            what = f"better is {' and '.join(said)}"
            allowed = "one direction per metric"
            problems.append(
                Problem(what=what, where=f"metric {metric!r}", allowed=allowed, code="counts-table")
            )
    return problems


def _bad_names(counts: pd.DataFrame) -> list[Problem]:
    problems = []
    seen = counts.groupby(["metric", "system"]).size().unstack(fill_value=0)
    for metric, system in zip(*np.nonzero(seen.to_numpy() != 1), strict=True):
        problems.append(
            Problem(
                what=f"{seen.iloc[metric, system]} lines for {seen.columns[system]!r}",
                where=f"metric {seen.index[metric]!r}",
                allowed="one line per metric and system",
                code="counts-table",
            )
        )
    return problems

"""The function ``run``: check, fit and report in one call."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.errors import FitWarning, Note
from assay._util.files import write_table
from assay._util.html import summary_html
from assay._util.intervals import require_level
from assay._util.progress import waiting
from assay._util.text import counted, interval
from assay.checks import Check, check
from assay.comparison import Comparison, compare
from assay.comparison.contrasts import pairs_of
from assay.data.ratings import Ratings
from assay.data.task import Task
from assay.display.frames import (
    accuracy_frame,
    labels_frame,
    least_certain,
    reliability_frame,
)
from assay.display.notes import convergence_words, doubts, draws_worth
from assay.display.rater_tables import rater_tables
from assay.display.result_tables import comparison_tables, labels_table, metrics_table
from assay.display.table import Table
from assay.evaluation import metrics
from assay.evaluation.select import choose_metrics
from assay.evaluation.titles import titles_with_names
from assay.fits.schema import Method
from assay.fits.summary import summarize
from assay.fits.view import FitView
from assay.inference.fit import fit
from assay.inference.settings import MODES_ALONE
from assay.io import read_ratings
from assay.reporting.reliance import mark_of_draws, with_mark
from assay.reporting.resolved import still_true

LABEL_DRAWS = 50_000_000
"""Most label draws, over all items, of a mode: each takes two bytes."""
DRAWS = 1000
FEWEST_DRAWS = 100
SHOWN_METRICS = 12
SHOWN_LABELS, SHOWN_ROWS = 10, 20
"""Lines of the tables in a notebook."""
TABLES = ("labels", "raters", "metrics", "comparison")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Run:
    """The results of :func:`assay.run`; tables are computed when they are first read.

    Attributes
    ----------
    check : Check
        The check of the ratings.
    fit : xarray.DataTree
        The fit, for all other functions of the package.
    level : float
        Probability of the intervals.
    baseline : str or None
        Each system is compared only with this one; None for all pairs.
    """

    check: Check
    fit: xr.DataTree
    level: float = 0.95
    baseline: str | None = None

    @cached_property
    def view(self) -> FitView:
        """The fit, of which all tables take the same view."""
        return FitView.of(self.fit)

    @property
    def ratings(self) -> Ratings:
        """The ratings of the fit."""
        return self.view.ratings

    @cached_property
    def labels(self) -> pd.DataFrame:
        """A line per item and label: the most likely class, and the probability of each."""
        return labels_frame(self.view)

    @cached_property
    def raters(self) -> pd.DataFrame:
        """A line per rater and label: accuracy, and the most frequent error."""
        return accuracy_frame(self.view, level=self.level)

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """A line per metric and system, for the population, with title and direction."""
        lines = summarize(self._draws, level=self.level)
        said = {name: self._draws[name].attrs for name in self._draws.data_vars}
        each = {key: [said[m].get(key, "") for m in lines["metric"]] for key in ABOUT}
        return lines.assign(**each)

    @property
    def comparison(self) -> pd.DataFrame:
        """A line per metric and pair of systems: the difference; empty with fewer than two."""
        return pd.DataFrame() if self.compared is None else self.compared.pairs

    @property
    def compared(self) -> Comparison | None:
        """The comparison of systems, if there are two or more."""
        return self._numbers[1]

    @property
    def _draws(self) -> xr.Dataset:
        return self._numbers[0]

    @cached_property
    def _numbers(self) -> tuple[xr.Dataset, Comparison | None]:
        draws, found = metrics(self.view), None
        if draws.sizes.get("system", 1) > 1:
            found = compare(self.view, level=self.level, baseline=self.baseline)
        return draws, found

    @property
    def warnings(self) -> list[Note]:
        """Warnings about the data and the fit, each a text with a code."""
        kept = {f.code for f in still_true(self.check, self.view)}
        serious = (f for f in self.check.at_least("warning") if f.code in kept)
        found = [Note(f.text, code=f.code) for f in serious]
        alone = convergence_words(self.fit)[:1] if self.fit.attrs["method"] in MODES_ALONE else []
        of_fit = [*(Note(text, code="mode-alone") for text in alone), *doubts(self.fit)]
        # A fit may repeat findings of the check.
        again = {note.code for note in of_fit}
        return [*(note for note in found if note.code not in again), *of_fit]

    def write_tables(self, folder: Path) -> list[Path]:
        """Write the tables that have lines, a CSV file each, and return the paths.

        As in the report, metrics and differences of a doubtful fit have their mark.
        """
        written, mark = [], mark_of_draws(self.view)
        for name in TABLES:
            table: pd.DataFrame = getattr(self, name)
            if len(table):
                written.append(folder / f"{name}.csv")
                is_marked = name in ("metrics", "comparison")
                write_table(with_mark(table, mark) if is_marked else table, written[-1])
        return written

    def __repr__(self) -> str:
        """Return the sizes, and the metrics with their intervals."""
        ratings = self.ratings
        sizes = [
            counted(len(ratings.answers), "rating"), counted(len(ratings.items), "item"),
            counted(len(ratings.raters), "rater"),
        ]  # fmt: skip
        lines = [f"<assay.Run of task {ratings.task.name}: {', '.join(sizes)}>"]
        for line in self.metrics.head(SHOWN_METRICS).to_dict("records"):
            whose = f", {line['system']}" if line["system"] else ""
            told = interval(line["mean"], line["lower"], line["upper"])
            lines.append(f"  {line['title']}{whose}: {told}")
        if len(self.metrics) > SHOWN_METRICS:
            lines.append(f"  {len(self.metrics) - SHOWN_METRICS} more in .metrics")
        lines.append("  also: .labels, .raters, .comparison, .check, .fit")
        if self.warnings:
            lines.append(f"  {counted(len(self.warnings), 'warning')}: .warnings")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Show the tables in a notebook."""
        task, draws = self.ratings.task, draws_worth(self.view)
        tables = self.tables()
        tables += rater_tables(
            reliability_frame(self.view, level=self.level), self.raters, task, draws
        )
        least = least_certain(self.labels, SHOWN_LABELS)
        tables.append(labels_table(least, len(self.labels), export=self.labels))
        parts = [table.to_html(SHOWN_ROWS) for table in tables]
        return summary_html(self.check.summary, self.warnings, parts)

    def tables(self) -> list[Table]:
        """Return the metrics and the comparison of systems, as they are shown."""
        titles, draws = titles_with_names(self._draws), draws_worth(self.view)
        parts = [metrics_table({"population": self.metrics}, titles, draws=draws)]
        found = self.compared
        return parts + ([] if found is None else comparison_tables(found, draws))


ABOUT = ("title", "unit", "better")


def run(
    source: str | Path | pd.DataFrame | Sequence[str | Path] | Ratings,
    *,
    task: str | Path | Task | None = None,
    method: Method = "nuts",
    raters: str | Mapping[str, str] | None = None,
    metric: Sequence[str] | str | None = None,
    baseline: str | None = None,
    level: float = 0.95,
    rng: int | np.random.Generator = 1,
    progress: bool = True,
    **more: Any,
) -> Run:
    """Check ratings, fit a model to them and compute the results, in one call.

    Parameters
    ----------
    source : str, path, DataFrame, list of paths or Ratings
        As for :func:`assay.read_ratings`.
    task : str, path or Task, optional
        As for :func:`assay.read_ratings`.
    method : {"nuts", "laplace", "map", "em"}
        As for :func:`assay.fit`. ``em`` is for millions of ratings. By default it fits the model
        of Dawid and Skene, whose mode takes seconds. Its intervals omit the uncertainty of the
        raters.
    raters : str or mapping of str to str, optional
        As for :func:`assay.fit`.
    metric : str or sequence of str, optional
        Metrics, such as ``"recall_at_k[relevant]"``; those that the task reports if not given.
    baseline : str, optional
        Compare each system only with this one; by default, compare all pairs.
    level : float
        Probability of the intervals.
    rng : int or numpy.random.Generator
        Seed of everything random.
    progress : bool
        Whether to show progress on standard error.
    **more
        Further arguments of :func:`assay.read_ratings` and :func:`assay.fit`, such as
        ``item="doc"`` and ``draws=2000``.

    Returns
    -------
    Run
        ``labels``, ``raters``, ``metrics`` and ``comparison`` as data frames, the ``check`` and
        the ``fit``.

    Raises
    ------
    RatingsError, ModelError, FitError
        As the functions above.

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     [(n, r, "yes" if n % 3 else "no") for n in range(30) for r in "abc"],
    ...     columns=["item", "rater", "label"],
    ... )
    >>> found = run(table, method="em", progress=False)
    >>> found.labels.loc[0, ["item", "class"]].tolist()
    ['0', 'no']
    """
    require_level(level)
    fitting = {name: more.pop(name) for name in set(more) & set(signature(fit).parameters)}
    if isinstance(source, Ratings):
        ratings = source
    else:
        name = source.name if isinstance(source, Path) else "the ratings"
        with waiting(f"reading {name}", show=progress):
            ratings = read_ratings(source, task=task, **more)
    ratings = _reporting(ratings, metric, baseline)
    with waiting("checking", show=progress, stage=True):
        checked = check(ratings)
    with warnings.catch_warnings():
        # The fit stores its warnings, and the result reports them.
        warnings.simplefilter("ignore", FitWarning)
        effort = _effort(ratings, method, raters) | fitting
        tree = fit(ratings, method=method, rng=rng, progress=progress, **effort)
    return Run(check=checked, fit=tree, level=level, baseline=baseline)


def _reporting(
    ratings: Ratings, metric: Sequence[str] | str | None, baseline: str | None
) -> Ratings:
    """Set the metrics that the task reports; refuse unknown names before the fit."""
    task = ratings.task
    chosen = choose_metrics(task, metric)
    if baseline is not None:
        pairs_of(ratings.systems, baseline)
    if metric is None:
        return ratings
    return replace(ratings, task=replace(task, metrics=tuple(one.name for one in chosen)))


def _effort(
    ratings: Ratings, method: str, raters: str | Mapping[str, str] | None
) -> dict[str, Any]:
    """Return the effort and the model of a method; the model of ``em`` has closed-form steps."""
    effort: dict[str, Any] = {"raters": raters}
    if method in MODES_ALONE:
        most = LABEL_DRAWS // max(1, len(ratings.items))
        effort |= {"draws": int(np.clip(most, FEWEST_DRAWS, DRAWS)), "chains": 1}
    if method == "em" and raters is None:
        effort |= {"raters": "dawid_skene", "prevalence": "dirichlet"}
    return effort

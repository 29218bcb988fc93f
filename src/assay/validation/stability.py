"""The function ``sensitivity_to_assumptions``: conclusions under other assumptions, by refits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from assay._util.errors import AssayError
from assay._util.intervals import require_level
from assay._util.text import lines_of
from assay._util.validation import require_choice, require_flag
from assay.comparison.decisions import Line, pair_conclusion
from assay.comparison.refit import SHORT, refit
from assay.comparison.systems import compare
from assay.evaluation import metrics
from assay.evaluation.estimands import Estimand
from assay.evaluation.panels import Incomplete
from assay.fits.summary import summarize
from assay.fits.view import Fit, FitView
from assay.inference.settings import SamplerSettings
from assay.validation.variants import Variant, variants_of

Of = Literal["contrasts", "systems"]
OF = ("contrasts", "systems")
CHANGES = "changes"
"""Start of the description of a line that a refit changes."""
MOVED = 1.0
"""Posterior SDs of the fit from which a moved estimate is reported."""


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """A table of a fit, and its comparison with that of a refit.

    key, numbers : columns that identify a line, and that a refit replaces
    table : from a fit to its lines, in the same order for every fit
    changes : from a line of the fit and of a refit to a description of the change
    """

    key: tuple[str, ...]
    numbers: tuple[str, ...]
    table: Callable[[Fit], pd.DataFrame]
    changes: Callable[[Line, Line], str]


def contrasts_view(table: Callable[[Fit], pd.DataFrame]) -> View:
    """Return the view of contrasts: lines of :attr:`assay.comparison.Comparison.pairs`."""
    return View(
        key=("metric", "a", "b"),
        numbers=(
            "estimand",
            "difference",
            "difference_lower",
            "difference_upper",
            "p_greater",
            "doubt",
        ),
        table=table,
        changes=contrast_changes,
    )


def systems_view(table: Callable[[Fit], pd.DataFrame]) -> View:
    """Return the view of the metrics of each system: lines of :func:`assay.summarize`."""
    return View(
        key=("metric", "system"),
        numbers=("estimand", "mean", "lower", "upper", "doubt"),
        table=table,
        changes=system_changes,
    )


def contrast_changes(before: Line, after: Line) -> str:
    """Describe the change of a contrast under a variant."""
    if np.isnan(after["difference"]):
        return "undefined"
    old, new = pair_conclusion(before), pair_conclusion(after)
    if old != new:
        return f"{CHANGES}: {new} (was: {old})"
    return _moved(after["difference"] - before["difference"], before["difference_sd"])


def system_changes(before: Line, after: Line) -> str:
    """Describe the change of a metric: it changes if the estimate leaves the fit's interval."""
    if np.isnan(after["mean"]):
        return "undefined"
    shift = after["mean"] - before["mean"]
    if not before["lower"] <= after["mean"] <= before["upper"] and before["sd"] > 0:
        return f"{CHANGES}: the estimate leaves the interval ({shift / before['sd']:+.1f} SD)"
    return _moved(shift, before["sd"])


def _moved(shift: float, sd: float) -> str:
    if sd > 0 and abs(shift / sd) >= MOVED:
        return f"none, though the estimate moves by {shift / sd:+.1f} SD"
    return "none"


KINDS = ("rater", "prior", "rule", "kernel", "dependence")
FIRST, LAST = ("kind", "variant"), ("level", "changes", "basis", "warnings")
FAILED = "could not run"
"""Start of the description of a variant that failed."""
TEXTS = ("estimand", "changes", "basis", "warnings")


def sensitivity_to_assumptions(
    fit: Fit,
    *,
    of: Of | None = None,
    metric: Sequence[str] | str | None = None,
    raters: bool = True,
    priors: bool = True,
    rules: bool = True,
    kernel: bool = True,
    dependence: bool = True,
    estimand: Estimand = "population",
    level: float = 0.95,
    incomplete: Incomplete = "predict",
    baseline: str | None = None,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    progress: bool = True,
) -> pd.DataFrame:
    """Refit under other assumptions, and report the changes.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    of : {"contrasts", "systems"}, optional
        Differences between systems, or the metrics of each system. By default differences, if
        there are two systems or more.
    metric, estimand, level, incomplete, baseline
        As for :func:`assay.compare`.
    raters : bool
        Leave out each rater in turn.
    priors : bool
        Double and halve the scale of the raters' priors, and of the prevalence's.
    rules : bool
        Let the truth break each hard rule with a learned probability; and assume that the interface
        did not enforce each rule.
    kernel : bool
        Resolve blocked answers the other way (``retry`` or ``repair``), where a rule blocks.
    dependence : bool
        Add a latent class of hard items, on which raters err together; if the model has a
        difficulty, remove it.
    draws, tune, chains : int
        Effort of each refit, lower than the default of :func:`assay.fit`.
    progress : bool
        Whether to show a progress bar, with the time left, on standard error.

    Returns
    -------
    pandas.DataFrame
        A line per variant and contrast, or per variant, metric and system. The fit itself is the
        first variant. The columns:

        - ``kind``, ``variant``, ``metric``, ``estimand``, ``level``
        - of contrasts: ``a``, ``b``, ``difference``, ``difference_lower``, ``difference_upper``,
          ``p_greater``
        - of systems: ``system``, ``mean``, ``lower``, ``upper``
        - ``doubt``: why the metric may mislead
        - ``changes``: as text; the reason if a variant could not run
        - ``basis``: number of draws
        - ``warnings``: those of the refit

    Raises
    ------
    ModelError, UnknownNameError, FitError
        As :func:`assay.compare` and :func:`assay.metrics`, for the fit itself.

    Notes
    -----
    A contrast changes if its interval excludes 0 only before or only after the refit, or excludes
    it on the other side (:func:`assay.comparison.decisions.verdict_on`). A metric of a system
    changes if its posterior mean leaves the interval as fitted. Refits use the fit's seed and its
    clusters' weights, so most changes are due to the variant. The rest is Monte Carlo error of the
    few draws.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("retrieval", n_items=60, n_systems=2, n_clusters=15, rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=50, chains=1, starts=1, rng=1)
    >>> which = {"raters": False, "priors": False, "rules": False, "kernel": False}
    >>> quick = {"metric": "ndcg_at_k", "draws": 20, "progress": False}
    >>> table = sensitivity_to_assumptions(tree, **quick, **which)
    >>> table["variant"].tolist()
    ['as fitted', 'all items are equally hard']
    """
    if of is not None:
        require_choice("of", of, OF)
    require_level(level)
    require_flag("progress", progress)
    kinds = {
        "rater": require_flag("raters", raters),
        "prior": require_flag("priors", priors),
        "rule": require_flag("rules", rules),
        "kernel": require_flag("kernel", kernel),
        "dependence": require_flag("dependence", dependence),
    }
    effort = SamplerSettings(draws=draws, tune=tune, chains=chains)
    view = FitView.of(fit)
    chosen = of or ("contrasts" if _has_contrasts(view) else "systems")
    views = _views(
        metric=metric, estimand=estimand, level=level, incomplete=incomplete, baseline=baseline
    )
    return _refitted(view, {chosen: views[chosen]}, kinds, effort, progress=progress)[chosen]


def stability_tables(fit: Fit, *, level: float, progress: bool) -> dict[Of, pd.DataFrame]:
    """Return ``systems`` and, with several systems, ``contrasts`` from the same refits."""
    views = _views(level=level)
    view = FitView.of(fit)
    if not _has_contrasts(view):
        del views["contrasts"]
    return _refitted(view, views, dict.fromkeys(KINDS, True), SHORT, progress=progress)


def _has_contrasts(view: FitView) -> bool:
    return len(view.ratings.systems) > 1


def _views(
    *,
    level: float,
    metric: Sequence[str] | str | None = None,
    estimand: Estimand = "population",
    incomplete: Incomplete = "predict",
    baseline: str | None = None,
) -> dict[Of, View]:
    """Return the views of a fit and its refits; see :func:`sensitivity_to_assumptions`."""

    def contrasts(tree: Fit) -> pd.DataFrame:
        return compare(
            tree, metric=metric, estimand=estimand, level=level, incomplete=incomplete,
            baseline=baseline,
        ).pairs  # fmt: skip

    def systems(tree: Fit) -> pd.DataFrame:
        found = metrics(tree, estimand=estimand, incomplete=incomplete, metric=metric)
        return summarize(found, level=level)

    return {"contrasts": contrasts_view(contrasts), "systems": systems_view(systems)}


def _refitted(
    fit: FitView,
    views: Mapping[Of, View],
    kinds: Mapping[str, bool],
    effort: SamplerSettings,
    *,
    progress: bool,
) -> dict[Of, pd.DataFrame]:
    """Refit once under each variant, and return the table of each view."""
    before = {name: view.table(fit) for name, view in views.items()}
    parts = {
        name: [table.assign(kind="none", variant="as fitted", changes="", basis=_basis(fit))]
        for name, table in before.items()
    }
    for variant in _shown(variants_of(fit, kinds), progress):
        said = {"kind": variant.kind, "variant": variant.name}
        try:
            tree, warned = refit(fit, variant.ratings, effort, variant.changes)
            about = {**said, "basis": _basis(tree), "warnings": " ".join(warned)}
            found = {n: _under(view, before[n], tree).assign(**about) for n, view in views.items()}
        except AssayError as error:
            why = {**said, "changes": f"{FAILED}: {error}"}
            found = {n: before[n][[*v.key, "level"]].assign(**why) for n, v in views.items()}
        for name, part in found.items():
            parts[name].append(part)
    return {name: _joined(parts[name], view) for name, view in views.items()}


def _under(view: View, before: pd.DataFrame, tree: Fit) -> pd.DataFrame:
    """Return the lines of a refit, with the changes from the lines before."""
    after = view.table(tree)
    changes = list(map(view.changes, lines_of(before), lines_of(after)))
    return after.assign(changes=changes)


def _joined(parts: Sequence[pd.DataFrame], view: View) -> pd.DataFrame:
    columns = [*FIRST, *view.key, *view.numbers, *LAST]
    table = pd.concat([part.reindex(columns=columns) for part in parts], ignore_index=True)
    return table.assign(**{c: table[c].astype(object).where(table[c].notna(), "") for c in TEXTS})


def _basis(fit: Fit) -> str:
    sizes = fit["posterior"].sizes
    return f"{sizes['chain']} chains of {sizes['draw']} draws"


def _shown(variants: list[Variant], progress: bool) -> Iterator[Variant]:
    """Yield the variants, with a progress bar and the time left on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeLeft())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not progress) as bar:
        row = bar.add_task("refitting", total=len(variants))
        for variant in variants:
            bar.update(row, description=variant.name)
            yield variant
            bar.advance(row)

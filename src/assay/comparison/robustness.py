"""stability: whether a comparison survives other raters, priors, rules, kernels and dependence."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from assay.comparison.comparing import compare
from assay.comparison.refitting import Effort, refit
from assay.comparison.settled import pair_conclusion
from assay.comparison.variants import Variant, variants_of
from assay.comparison.words import Line
from assay.errors import AssayError
from assay.evaluation.fitted import Estimand
from assay.evaluation.panels import Incomplete
from assay.words import lines_of

KEY = ("metric", "a", "b")
NUMBERS = ("estimand", "difference", "difference_lower", "difference_upper", "p_greater")
COLUMNS = ("kind", "variant", *KEY, *NUMBERS, "level", "changes", "basis", "warnings")
MOVED = 1.0
"""From how many posterior SDs of the fit on a moved estimate is worth a word."""


def stability(
    fit: xr.DataTree,
    *,
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
    """Refit under other assumptions, and say what that changes in the comparison of systems.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`, of at least two systems.
    metric, estimand, level, incomplete, baseline
        As for :func:`assay.compare`.
    raters : bool
        Leave out each rater in turn.
    priors : bool
        Double and halve the scale of the raters' priors, and of the prevalence's.
    rules : bool
        Let the truth break each hard rule at a price that is learned; and take each rule for one
        that the interface did not enforce.
    kernel : bool
        Resolve blocked answers the other way (``retry`` or ``repair``), where a rule blocks.
    dependence : bool
        Add a latent class of hard items, on which raters err together, where there is none.
    draws, tune, chains : int
        Effort of each refit: less than a fit of its own takes by default.
    progress : bool
        Whether to show a progress bar, with the time left, on standard error.

    Returns
    -------
    pandas.DataFrame
        A line per variant and contrast, the fit itself first: ``kind``, ``variant``, ``metric``,
        ``a``, ``b``, ``estimand``, ``difference``, ``difference_lower``, ``difference_upper``,
        ``p_greater``, ``level``, ``changes`` (in words; why, if a variant could not run),
        ``basis`` (how many draws), ``warnings`` (of the refit).

    Raises
    ------
    ModelError, UnknownNameError, FitError
        As :func:`assay.compare`, for the fit itself.

    Notes
    -----
    A contrast changes if its interval comes to exclude 0, or to hold it, or excludes it on the
    other side (:func:`assay.comparison.settled.settled`). Refits take the fit's seed and its
    clusters' weights, so that most of what moves is due to the variant; what is left is Monte
    Carlo error of the few draws.
    """

    def contrasts(tree: xr.DataTree) -> pd.DataFrame:
        return compare(
            tree, metric=metric, estimand=estimand, level=level, incomplete=incomplete,
            baseline=baseline,
        ).pairs  # fmt: skip

    kinds = {
        "rater": raters, "prior": priors, "rule": rules, "kernel": kernel, "dependence": dependence,
    }  # fmt: skip
    effort = Effort(draws=draws, tune=tune, chains=chains)
    before = contrasts(fit)
    parts = [before.assign(kind="none", variant="as fitted", changes="", basis=_basis(fit))]
    for variant in _shown(variants_of(fit, kinds), progress):
        try:
            part = _under(variant, fit, effort, before, contrasts)
        except AssayError as error:
            part = before[[*KEY, "level"]].assign(changes=f"could not run: {error}")
        parts.append(part.assign(kind=variant.kind, variant=variant.name))
    table = pd.concat([part.reindex(columns=list(COLUMNS)) for part in parts], ignore_index=True)
    words = ["estimand", "changes", "basis", "warnings"]
    return table.assign(**{c: table[c].astype(object).where(table[c].notna(), "") for c in words})


def _under(
    variant: Variant,
    fit: xr.DataTree,
    effort: Effort,
    before: pd.DataFrame,
    contrasts: Callable[[xr.DataTree], pd.DataFrame],
) -> pd.DataFrame:
    """Return the contrasts of a refit, and what it changes in those before."""
    tree, warned = refit(fit, variant.ratings, effort, variant.changes)
    after = contrasts(tree)
    changes = list(map(_changes, lines_of(before), lines_of(after)))
    return after.assign(changes=changes, basis=_basis(tree), warnings=" ".join(warned))


def _basis(fit: xr.DataTree) -> str:
    sizes = fit["posterior"].sizes
    return f"{sizes['chain']} chains of {sizes['draw']} draws"


def _changes(before: Line, after: Line) -> str:
    """Say what a variant does to a contrast."""
    if np.isnan(after["difference"]):
        return "undefined"
    old, new = pair_conclusion(before), pair_conclusion(after)
    if old != new:
        return f"changes: {new} (was: {old})"
    shift = (after["difference"] - before["difference"]) / before["difference_sd"]
    if abs(shift) >= MOVED:
        return f"none, though the estimate moves by {shift:+.1f} SD"
    return "none"


def _shown(variants: list[Variant], progress: bool) -> Iterator[Variant]:
    """Give the variants one by one, with a progress bar and the time left on standard error."""
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

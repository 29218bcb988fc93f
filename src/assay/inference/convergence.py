"""Convergence of chains: R-hat, effective sample sizes, divergences, and their warnings."""

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import Note
from assay._util.text import counted
from assay._util.typing import Floats

R_HAT_LIMIT = 1.01
"""R-hat above which chains disagree, unless chance explains it among so many parameters."""
R_HAT_FAR = 1.05
"""R-hat above which chains disagree in any case."""
CHANCE = 0.01
"""Probability that the largest R-hat of converged chains exceeds the chance limit."""
ESS_LIMIT = 400
"""Effective sample size below which the ends of intervals are rough."""
SOURCE = "Vehtari et al. 2021"
"""Source of the limits of R-hat and of the effective sample size."""
FEW_DRAWS = 100
"""Effective sample size below which R-hat itself is unreliable: 400 shared by four chains."""
LOW_ESS = "The effective sample size is as low as"
RESULTS = "the class shares and the accuracies of raters"
FEW_DIVERGED = 1e-3
"""Share of divergent transitions up to which they are a note, not a warning."""
SAFETY_FACTOR = 1.25
"""Safety factor on the proposed number of draws, since efficiency differs between runs."""
STEP = 500
"""Proposed numbers of draws are multiples of this."""
SMALLER = 0.95
"""Target acceptance to propose: chains then often cross between modes that 0.85 misses."""
FAR = 10
"""Largest proposed number of draws, in multiples of the present one."""


def convergence_table(posterior: xr.Dataset) -> pd.DataFrame:
    r"""R-hat and effective sample sizes of every parameter entry, a row each.

    R-hat is the larger of two, of ranks and of distances from the median; ESS the smaller (Vehtari
    et al. 2021, Bayesian Analysis 16(2), 667-718). ``r_hat_limit`` is the quantile of

    .. math:: \hat R^2 - 1 \approx \frac{2}{n} \left( \frac{m n}{\mathrm{ESS}}
              \frac{\chi^2_{2 m - 1}}{2 m - 1} - 1 \right).

    for m chains of n draws that agree, which the largest of all exceeds in 1 of 100 runs, within
    [1.01, 1.05].
    """
    from arviz_stats.base.array import BaseArray

    names, columns = [], []
    for name, variable in posterior.data_vars.items():
        names += entry_names(str(name), variable)
        columns.append(variable.values.reshape(*variable.shape[:2], -1))
    draws = np.moveaxis(np.concatenate(columns, axis=2), 2, 0)
    table = pd.DataFrame({"parameter": names})
    statistics: Any = BaseArray()
    with np.errstate(all="ignore"):
        table["r_hat"] = statistics.rhat(draws, chain_axis=1, draw_axis=2)
        table["ess_bulk"] = statistics.ess(draws, chain_axis=1, draw_axis=2, method="bulk")
        table["ess_tail"] = statistics.ess(
            draws, chain_axis=1, draw_axis=2, method="tail", prob=(0.05, 0.95)
        )
        high = np.flatnonzero(table["r_hat"] > R_HAT_LIMIT)
        folded = statistics.ess(draws[high], chain_axis=1, draw_axis=2, method="folded")
    limits = np.full(len(table), R_HAT_LIMIT)
    ess = np.fmin(folded, table["ess_bulk"].to_numpy()[high])
    limits[high] = _r_hat_by_chance(ess, len(table), *draws.shape[1:])
    table["r_hat_limit"] = limits
    return table


def _r_hat_by_chance(ess: Floats, parameters: int, chains: int, draws: int) -> Floats:
    """Return the R-hat limit for each effective sample size, see :func:`convergence_table`."""
    from scipy.stats import chi2

    halves = 2 * chains - 1
    spread = chi2.ppf(1 - CHANCE / parameters, halves) / halves
    excess = 2 / draws * (chains * draws / ess * spread - 1)
    return np.asarray(np.clip(np.sqrt(1 + np.maximum(excess, 0)), R_HAT_LIMIT, R_HAT_FAR))


def entry_names(name: str, variable: xr.DataArray) -> list[str]:
    """Name the entries of a parameter (chain, draw, ...) by their coordinates, in order.

    >>> dims, cells = ("chain", "draw", "group", "cell"), ["spam: no -> no", "spam: yes -> yes"]
    >>> draws = xr.DataArray(
    ...     np.zeros((1, 1, 1, 2)), dims=dims, coords={"group": ["person"], "cell": cells}
    ... )
    >>> entry_names("logit_mean", draws)[1]
    'logit_mean[group person, cell spam: yes -> yes]'
    """
    dims = variable.dims[2:]
    if not dims:
        return [name]
    words = [[f"{dim} {value}" for value in variable[dim].to_numpy()] for dim in dims]
    return [f"{name}[{', '.join(entry)}]" for entry in product(*words)]


def smallest_ess(table: pd.DataFrame) -> "pd.Series[float]":
    """Return the smaller of the bulk and tail effective sample sizes of each row."""
    return table[["ess_bulk", "ess_tail"]].min(axis=1)


def worst_first(table: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by the larger of R-hat and effective sample size, each relative to its limit."""
    apart = (table["r_hat"] - 1) / (R_HAT_LIMIT - 1)
    rough = ESS_LIMIT / smallest_ess(table)
    worse = pd.concat([apart, rough], axis=1).max(axis=1)
    return table.loc[worse.sort_values(ascending=False, kind="stable").index]


def nuts_warnings(
    table: pd.DataFrame,
    stats: Mapping[str, NDArray[Any]],
    *,
    draws: int,
    target_accept: float,
    results: pd.DataFrame | None = None,
) -> list[Note]:
    """Return the warnings of a NUTS run with ``draws`` of each chain.

    table, results : from :func:`convergence_table`, of parameters and of reported results; if
        results converged, a parameter that did not is only a note, unless it is far off
    target_accept : a larger one is proposed if it was below ``SMALLER``
    """
    told = table if results is None else results
    smaller = target_accept < SMALLER
    more, step = "Take more draws", f", `target_accept={SMALLER}`" * smaller
    more += ", in smaller steps" * smaller
    found = _chains_apart(table, told, f"{more} (`draws=`, `tune=`{step})")
    ess, ess_told = smallest_ess(table), smallest_ess(told)
    if ess_told.min() < ESS_LIMIT or ess.min() < FEW_DRAWS:
        lines, sizes = (told, ess_told) if ess_told.min() < ESS_LIMIT else (table, ess)
        name, least = lines["parameter"].iloc[int(sizes.argmin())], sizes.min()
        text = (
            f"{LOW_ESS} {least:.0f} ({name}). Below {ESS_LIMIT} ({SOURCE}), the ends of intervals "
            f"are imprecise. {more} (`draws={_enough(draws, least)}`{step})."
        )
        found.append(Note(text, code="low-ess", numbers={"ess": least, "limit": ESS_LIMIT}))
    elif ess.min() < ESS_LIMIT:
        name = table["parameter"].iloc[int(ess.argmin())]
        found.append(
            Note(
                f"The parameter {name}, which no result reports, has an effective sample size of "
                f"{ess.min():.0f}, below {ESS_LIMIT} ({SOURCE}). The smallest of {RESULTS} is "
                f"{ess_told.min():.0f}.",
                code="low-ess",
                level="note",
                numbers={"ess": ess.min(), "ess_results": ess_told.min(), "limit": ESS_LIMIT},
            )
        )
    return found + _divergences(stats)


def _chains_apart(table: pd.DataFrame, told: pd.DataFrame, more: str) -> list[Note]:
    """Warn if chains disagree: a note where no result is affected, else a warning."""
    worst = table.iloc[int(table["r_hat"].fillna(0).argmax())]
    if not worst["r_hat"] > R_HAT_LIMIT:
        return []
    many = int((table["r_hat"] > R_HAT_LIMIT).sum())
    seen = (
        f"R-hat is above {R_HAT_LIMIT} ({SOURCE}) for {many} of {len(table)} parameters (largest "
        f"{worst['r_hat']:.4f}, {worst['parameter']})"
    )
    numbers = {"r_hat": worst["r_hat"], "parameters": many, "of": len(table)}
    aside = partial(Note, code="chains-disagree", level="note", numbers=numbers)
    if not (table["r_hat"] > table["r_hat_limit"]).any():
        chance = "Among so many parameters, chance alone explains this"
        if smallest_ess(table).min() < ESS_LIMIT:
            chance = "With so small an effective sample size, chance alone can explain this"
        return [aside(f"{seen}. {chance}.")]
    touched = (told["r_hat"] > told["r_hat_limit"]).any()
    if not touched and worst["r_hat"] <= R_HAT_FAR:
        return [aside(f"{seen}. No result reports these parameters. Chains agree on {RESULTS}.")]
    text = (
        f"The chains disagree: {seen}. {more}, or check whether the data identify these "
        "parameters (assay.check)."
    )
    return [Note(text, code="chains-disagree", numbers=numbers)]


def _divergences(stats: Mapping[str, NDArray[Any]]) -> list[Note]:
    flags = np.asarray(stats.get("diverging", 0))
    if not flags.any():
        return []
    said = f"{flags.sum()} of {counted(flags.size, 'transition')} diverged"
    numbers = {"divergences": flags.sum(), "transitions": flags.size}
    if flags.mean() <= FEW_DIVERGED:
        text = (
            f"{said}. So few divergences seldom matter. To see whether results depend on them, "
            "run again with smaller steps (`target_accept=0.98`)."
        )
        return [Note(text, code="divergences", level="note", numbers=numbers)]
    text = (
        f"{said}, so the sampler may have missed a part of the posterior. Take smaller steps "
        "(`target_accept=0.98`), or use tighter priors."
    )
    return [Note(text, code="divergences", numbers=numbers)]


def _enough(draws: int, ess: float) -> str:
    """Return the draws per chain that reach ``ESS_LIMIT``, ``""`` if these are too many."""
    wanted = SAFETY_FACTOR * draws * ESS_LIMIT / ess if ess > 0 else np.inf
    return str(int(np.ceil(wanted / STEP)) * STEP) if wanted <= FAR * draws else ""

"""How well a method did: numbers for the attribute ``diagnostics`` of a fit, and warnings."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay.convergence import convergence_table, nuts_warnings
from assay.diagnostics import check_importance, laplace_warnings
from assay.peaks import Mode

Floats = NDArray[np.float64]
Diagnosis = tuple[dict[str, Any], list[str]]
"""Numbers by name, and what is to be said of them."""


def diagnose_nuts(
    posterior: xr.Dataset, stats: Mapping[str, NDArray[Any]], *, target_accept: float
) -> Diagnosis:
    """Diagnose chains by their parameters and the sampler's statistics."""
    table = convergence_table(posterior.drop_vars("prevalence"))
    numbers = {
        "r_hat_max": _number(table["r_hat"].max()),
        "ess_min": _number(table[["ess_bulk", "ess_tail"]].min().min()),
        "divergences": int(np.sum(stats.get("diverging", 0))),
    }
    return numbers, nuts_warnings(
        table, stats, draws=posterior.sizes["draw"], target_accept=target_accept
    )


def diagnose_laplace(mode: Mode, x: Floats, lp: Floats) -> Diagnosis:
    """Diagnose the normal approximation at a mode by its draws and their log density."""
    found = check_importance(mode, x, lp)
    numbers = {"k_hat": _number(found.k_hat), "draws_worth": _number(found.worth)}
    return numbers, laplace_warnings(found)


def diagnose_interruption(x: Floats, *, chains: int, draws: int) -> list[str]:
    """Say how many of the draws that were asked for are there."""
    if x.shape[:2] == (chains, draws):
        return []
    return [
        f"The run was interrupted: {x.shape[0]} chains of {x.shape[1]} draws are kept, of "
        f"{chains} chains of {draws} draws asked for."
    ]


def _number(value: float) -> float | None:
    """Return a number for JSON; None if it is infinite or undefined, as R-hat of one chain is."""
    return float(value) if np.isfinite(value) else None

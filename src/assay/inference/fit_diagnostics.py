"""How well a method did: numbers for the attribute ``diagnostics`` of a fit, and warnings."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import Note
from assay.inference.convergence import convergence_table, nuts_warnings, smallest_ess
from assay.inference.diagnostics import check_importance, laplace_warnings
from assay.inference.peaks import Mode
from assay.modelling.model import Structure

Floats = NDArray[np.float64]
AT_ONCE = 100
"""Draws whose confusions are computed at a time: bounds the memory."""
Diagnosis = tuple[dict[str, Any], list[Note]]
"""Numbers by name, and what is to be said of them."""


def diagnose_nuts(
    posterior: xr.Dataset,
    stats: Mapping[str, NDArray[Any]],
    results: xr.Dataset,
    *,
    target_accept: float,
) -> Diagnosis:
    """Diagnose chains by their parameters, what results rest on, and the sampler's statistics.

    ``results`` are from :func:`result_draws`.
    """
    table, told = convergence_table(posterior.drop_vars("prevalence")), convergence_table(results)
    numbers = {
        "r_hat_max": _number(table["r_hat"].max()),
        "ess_min": _number(smallest_ess(table).min()),
        "r_hat_results": _number(told["r_hat"].max()),
        "ess_results": _number(smallest_ess(told).min()),
        "divergences": int(np.sum(stats.get("diverging", 0))),
    }
    return numbers, nuts_warnings(
        table, stats, draws=posterior.sizes["draw"], target_accept=target_accept, results=told
    )


def result_draws(
    structure: Structure,
    prevalence: xr.DataArray,
    values: Mapping[str, Floats],
    states: NDArray[np.int16],
) -> xr.Dataset:
    """Draws of what results rest on: shares of the classes, and how often raters are right.

    Parameters
    ----------
    structure : Structure
    prevalence : xarray.DataArray (chain, draw, [system,] state)
    values : mapping of str to ndarray (draw of all chains, ...)
        The parameters.
    states : ndarray of int16 (draw of all chains, item)

    Returns
    -------
    xarray.Dataset
        ``share`` of each class among the items, its ``prevalence``, and the ``accuracy`` of each
        rater on each label. Of two classes the upper one stands for both.
    """
    space, labels = structure.prevalence.space, structure.ratings.task.labels
    classes = [
        (f"{label.name}={name}", space.states[:, n] == k)
        for n, label in enumerate(labels)
        for k, name in enumerate(label.classes)
        if k or len(label.classes) > 2
    ]
    names, member = [name for name, _ in classes], np.stack([m for _, m in classes], axis=1)
    shares = np.stack([column[states].mean(axis=1) for column in member.T], axis=-1)
    chains, draws = prevalence.sizes["chain"], prevalence.sizes["draw"]
    raters = [structure.ratings.raters.index[part.members] for part in structure.parts]
    dims, front = ("chain", "draw"), (chains, draws)
    accuracy = _accuracies(structure, values)
    return xr.Dataset(
        {
            "share": ((*dims, "class"), shares.reshape(*front, -1)),
            "prevalence": prevalence.dot(
                xr.DataArray(member.astype(float), dims=("state", "class"))
            ),
            "accuracy": ((*dims, "rater", "label"), accuracy.reshape(*front, *accuracy.shape[1:])),
        },
        coords={
            "class": names,
            "rater": np.concatenate(raters),
            "label": list(structure.ratings.task.label_names),
        },
    )


def _accuracies(structure: Structure, values: Mapping[str, Floats]) -> Floats:
    """How often each rater of each part is right on each label: (draw, rater, label)."""
    count = len(next(iter(values.values())))
    found = []
    for start in range(0, count, AT_ONCE):
        some = {name: value[start : start + AT_ONCE] for name, value in values.items()}
        by_part = [
            np.einsum("ru,dul->drl", part.shares, part.accuracy(some)) for part in structure.parts
        ]
        found.append(np.concatenate(by_part, axis=1))
    return np.concatenate(found)


def diagnose_laplace(mode: Mode, x: Floats, lp: Floats) -> Diagnosis:
    """Diagnose the normal approximation at a mode by its draws and their log density."""
    found = check_importance(mode, x, lp)
    numbers = {"k_hat": _number(found.k_hat), "draws_worth": _number(found.worth)}
    return numbers, laplace_warnings(found)


def diagnose_interruption(x: Floats, *, chains: int, draws: int) -> list[Note]:
    """Say how many of the draws that were asked for are there."""
    if x.shape[:2] == (chains, draws):
        return []
    text = (
        f"The run was interrupted: {x.shape[0]} chains of {x.shape[1]} draws are kept, of "
        f"{chains} chains of {draws} draws asked for."
    )
    numbers = {"chains": x.shape[0], "draws": x.shape[1]}
    numbers |= {"chains_asked": chains, "draws_asked": draws}
    return [Note(text, code="interrupted-run", numbers=numbers)]


def _number(value: float) -> float | None:
    """Return a number for JSON; None if it is infinite or undefined, as R-hat of one chain is."""
    return float(value) if np.isfinite(value) else None

"""How reliable each rater is: confusions as recorded, or as parameters of the response process."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay.arrays import merge_axes
from assay.errors import FitError
from assay.fit_data import group, parameter_draws, structure_of
from assay.labels import NOT_ASKED_NAME, class_names
from assay.model import Structure
from assay.responses import build_menu, menu_log_probability

Floats = NDArray[np.float64]
KINDS = ("recorded", "raw")
CHUNK_NUMBERS = 8_000_000


def rater_reliability(
    fit: xr.DataTree, *, kind: Literal["recorded", "raw"] = "recorded"
) -> xr.DataArray:
    r"""Confusion of each rater on each label: P(reported class | true class).

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    kind : {"recorded", "raw"}
        ``recorded`` is the chance of what ends up in the data, among the ratings that answer the
        label, averaged over the states by their prevalence; ``raw`` is the parameter, which hangs
        on the response process that is assumed. They differ only where rules are blocked or
        warned about.

    Returns
    -------
    xarray.DataArray
        (chain, draw, rater, label, true_class, reported_class), in [0, 1]; NaN where a label does
        not have the class. Of a binary label, the entry (yes, yes) is the sensitivity and
        (no, no) the specificity.

    Raises
    ------
    FitError
        If ``kind`` is none of the two.

    Notes
    -----
    .. math:: P(y_l = k' \mid s_l = k) =
              \frac{\sum_{s: s_l = k} \pi(s) \sum_{y: y_l = k'} p(y \mid s)}
                   {\sum_{s: s_l = k} \pi(s) \sum_{y: y_l \ne \emptyset} p(y \mid s)}
    """
    if kind not in KINDS:
        raise FitError(f"kind={kind!r}; allowed: {', '.join(KINDS)}")
    structure = structure_of(fit)
    values = parameter_draws(fit)
    active = structure.responses.space.blocked.any() or structure.responses.space.warned.shape[1]
    table = (
        _recorded(structure, values) if kind == "recorded" and active else _raw(structure, values)
    )
    posterior = group(fit, "posterior")
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
    names = [n for n in class_names(structure.ratings.task) if n != NOT_ASKED_NAME]
    raters = len(structure.ratings.raters)
    shape = (chains, draws, raters, *table.shape[2:])
    return xr.DataArray(
        np.broadcast_to(table, (chains * draws, raters, *table.shape[2:])).reshape(shape),
        dims=("chain", "draw", "rater", "label", "true_class", "reported_class"),
        coords={
            "chain": posterior["chain"].values,
            "draw": posterior["draw"].values,
            "rater": structure.ratings.raters.index.to_numpy(object),
            "label": list(structure.ratings.task.label_names),
            "true_class": names,
            "reported_class": names,
        },
        name="reliability",
        attrs={"kind": kind, "reference": fit.attrs["reference"]},
    )


def _empty(structure: Structure, draws: int, raters: int) -> tuple[Floats, list[list[int]]]:
    """Make a table of NaN (draw, rater, label, true, reported); find each label's classes."""
    task = structure.ratings.task
    names = [n for n in class_names(task) if n != NOT_ASKED_NAME]
    places = [[names.index(c) for c in label.classes] for label in task.labels]
    return np.full((draws, raters, len(places), len(names), len(names)), np.nan), places


def _raw(structure: Structure, values: Mapping[str, Floats]) -> Floats:
    layout = structure.family.layout
    rows = np.exp(np.asarray(structure.family.log_confusion(values, np)))
    table, places = _empty(structure, *rows.shape[:2])
    for row, (label, true) in enumerate(zip(layout.labels, layout.true_classes, strict=True)):
        here = places[label]
        for k, reported in enumerate(here):
            table[:, :, label, here[true], reported] = rows[:, :, row, k]
    return table


def _recorded(structure: Structure, values: Mapping[str, Floats]) -> Floats:
    """Sum the response probabilities over answers and states that share a label's classes."""
    responses, layout = structure.responses, structure.family.layout
    space = responses.space
    menu = build_menu(layout, space, np.ones(len(layout.classes), bool))
    draws = len(next(iter(values.values())))
    share = _average_prevalence(structure, values)
    raters = 1 if structure.family.shared else len(structure.ratings.raters)
    table, places = _empty(structure, draws, raters)
    chunk = max(1, CHUNK_NUMBERS // (raters * menu.entries.size))
    for first in range(0, draws, chunk):
        piece = {k: v[first : first + chunk] for k, v in values.items()}
        confusion = structure.family.log_confusion(piece, np)
        flat = merge_axes(responses.full_confusion(confusion, piece, np), 2)
        chance = np.exp(menu_log_probability(menu, flat, piece, responses.resolve, np))
        weighted = chance * share[first : first + chunk, None, :, None]
        for label, here in enumerate(places):
            for true, place in enumerate(here):
                by_option = weighted[:, :, space.states[:, label] == true].sum(axis=2)
                counts = np.stack(
                    [by_option[..., menu.options[:, label] == k].sum(-1) for k in range(len(here))],
                    axis=-1,
                )
                shares = counts / counts.sum(axis=-1, keepdims=True)
                for k, reported in enumerate(here):
                    table[first : first + chunk, :, label, place, reported] = shares[..., k]
    return table


def _average_prevalence(structure: Structure, values: Mapping[str, Floats]) -> Floats:
    """Prevalence over all places of items: (draw, state)."""
    prevalence = structure.prevalence
    marginal = np.asarray(prevalence.marginal(prevalence.table(values, np), np))
    if not prevalence.design.systems:
        return marginal
    places = structure.ratings.panels["system"].value_counts()
    weight = np.array([places[name] for name in prevalence.design.systems], float)
    return np.asarray(np.einsum("dgs,g->ds", marginal, weight / weight.sum()))

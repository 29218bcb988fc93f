"""Cells whose evidence is too small for a product: the kernel against sums of logarithms."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.special import logsumexp
from small import draw_values, task_named

import assay
from assay.data.ratings import Ratings
from assay.likelihood import cells
from assay.likelihood import cells as rows
from assay.likelihood.marginal import value_and_gradient
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

CROWD = 900
RECIPES = {
    "plain": {},
    "easy and hard": {"raters": "hierarchical + item_difficulty"},
    "by system": {"raters": "hierarchical + item_difficulty"},
    "looks by system": {"raters": "hierarchical + item_difficulty", "reference": "person"},
    "looks": {"reference": "person"},
    "looks and difficulty": {"raters": "hierarchical + item_difficulty", "reference": "person"},
}


def divided(systems: int) -> Ratings:
    """Items on which a crowd is of two minds, and one that few rated."""
    rng = np.random.default_rng(1)
    groups = {"person": CROWD // 2, "model": CROWD - CROWD // 2}
    ratings = assay.simulate(
        task_named("retrieval"),
        n_items=3,
        groups=groups,
        ratings_per_item=CROWD,
        rng=1,
        n_systems=systems,
    )
    few = (ratings.item < 2) | (rng.random(len(ratings.item)) < 5 / CROWD)
    return assay.data.ratings.take_ratings(ratings, few)


def structure_of(recipe: str) -> Structure:
    ratings = divided(2 if "by system" in recipe else 1)
    return build_structure(ratings, make_spec(**RECIPES[recipe]))


def tables_of(structure: Structure) -> list[np.ndarray]:
    values = draw_values(structure, 3)
    return [np.ascontiguousarray(t) for t in structure.tables(values, np).by_state()]


def log_likelihoods(structure: Structure, tables: list[np.ndarray]) -> Iterator[float]:
    """Log-likelihood of each cell, by logarithms throughout, times how often it stands there."""
    prevalence, response, difficulty, layer, hard_truth, *_ = tables
    data = structure.pattern.data
    classes = difficulty.shape[1]
    for cell in range(len(data.cell_context)):
        own = difficulty[data.cell_context[cell] if len(difficulty) > 1 else 0]
        parts = own[:, None] + data.masks[data.cell_mask[cell]]
        for view in range(data.view_start[cell], data.view_start[cell + 1]):
            rows = data.rows[data.row_start[view] : data.row_start[view + 1]]
            looks, kind = response[:, rows].sum(axis=1), data.view_layer[view]
            if kind < 0:
                parts = parts + looks
                continue
            with np.errstate(divide="ignore"):
                blur, afresh = layer[kind, :classes], np.log(layer[kind, classes:])
            seen = logsumexp(afresh[None] + looks[:, None, :], axis=-1)
            parts = parts + np.logaddexp(np.log1p(-blur) + looks, np.log(blur) + seen)
        before = np.tile(prevalence[data.cell_context[cell], :, 0], (classes, 1))
        if hard_truth.size:
            before[1:] = before[0] @ hard_truth
        weight = data.bundle_counts[data.bundle_cells == cell].sum()
        yield float(weight * logsumexp(parts + np.log(before)))


@pytest.mark.parametrize("recipe", list(RECIPES))
def test_the_value_is_that_by_logarithms(recipe: str):
    structure = structure_of(recipe)
    tables, data = tables_of(structure), structure.pattern.data
    found = value_and_gradient(*tables, structure.prevalence.log_weight, data)[0]
    assert found == pytest.approx(sum(log_likelihoods(structure, tables)), rel=1e-11)
    *_, vanished = cells.cell_evidence(rows.row_chances(tables[1]), *tables[2:5], data)
    assert sorted(vanished) == [False, True, True]


@pytest.mark.parametrize("recipe", list(RECIPES))
def test_the_gradient_is_that_of_the_value(recipe: str):
    structure = structure_of(recipe)
    tables, data = tables_of(structure), structure.pattern.data
    weight = structure.prevalence.log_weight
    gradients = value_and_gradient(*tables, weight, data)[1:]
    rng = np.random.default_rng(2)
    for n, gradient in enumerate(gradients):
        if not gradient.size or not np.abs(gradient).any():
            continue
        step, moved = 1e-5 * rng.standard_normal(gradient.shape) * tables[n], []
        for sign in (-1, 1):
            there = [t + sign * step if m == n else t for m, t in enumerate(tables)]
            moved.append(value_and_gradient(*there, weight, data)[0])
        assert (gradient * step).sum() == pytest.approx((moved[1] - moved[0]) / 2, rel=1e-5)

"""A difficulty of any size that turns many items round is told from one that makes some hard."""

import numpy as np
import pytest
from scipy.special import logit

import assay
from assay.diagnostics import turned_warnings
from assay.model import Structure, build_structure
from assay.spec import make_spec
from assay.turned_items import TENTHS, turned_shares

Values = dict[str, np.ndarray]


def model_at(layer: str, accuracy: float, loading: float) -> tuple[Structure, Values]:
    """Three raters of one accuracy on an average item, and two draws that are alike."""
    ratings = assay.simulate("single", classes=("no", "yes"), n_items=20, n_raters=3, rng=1)
    structure = build_structure(ratings, make_spec(f"one_coin + {layer}", "dirichlet"))
    values = {p.name: np.stack([p.centre, p.centre]) for p in structure.parameters()}
    values["accuracy"] = np.full_like(values["accuracy"], accuracy)
    values["difficulty_loading"] = np.full_like(values["difficulty_loading"], loading)
    return structure, values


CONTINUOUS = [f"item_difficulty_{by}" for by in ("continuous", "by_rater", "by_class")]


@pytest.mark.parametrize("layer", CONTINUOUS)
@pytest.mark.parametrize(("accuracy", "loading"), [(0.9, 1.0), (0.8, 2.0), (0.6, 5.0), (0.3, 0.5)])
def test_items_are_turned_from_where_difficulty_outweighs_accuracy(layer, accuracy, loading):
    structure, values = model_at(layer, accuracy, loading)
    expected = (logit(accuracy) / loading < TENTHS).mean()
    assert turned_shares(structure, values) == pytest.approx([expected])
    assert bool(turned_warnings(structure, values)) == (expected > 0.3)


def test_it_is_said_on_how_many_items():
    (said,) = turned_warnings(*model_at("item_difficulty_continuous", 0.6, 5.0))
    assert "more often wrong than right on 50% of the items (label)" in said
    assert "truth=" in said


@pytest.mark.parametrize("layer", ["item_difficulty", "item_difficulty_guessing"])
def test_classes_of_difficulty_are_looked_at_elsewhere(layer):
    assert turned_shares(*model_at(layer, 0.6, 5.0)).tolist() == [0]

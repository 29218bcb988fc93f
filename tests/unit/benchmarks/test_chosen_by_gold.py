"""The benchmark's choice among fits by the gold that is given."""

import importlib
from typing import Any

import numpy as np
import pytest

chosen_by_gold: Any = importlib.import_module("benchmarks.real_data.chosen_by_gold")
Found: Any = importlib.import_module("benchmarks.real_data.family_fits").Found


def found(chance: float, gold: list[float], bad_k: float = 0.0) -> Any:
    """A fit that gives the first class this chance everywhere."""
    return Found(
        probability=np.full((5, 2), [chance, 1 - chance]),
        line={"method": "nuts", "r_hat": 1.0, "seconds": 1.0, "gold_bad_k": bad_k},
        gold_elpd=np.log(gold),
    )


def first_chances(fits: dict[str, Any]) -> list[float]:
    """What the chosen fit and the mixture give the first class."""
    choice = chosen_by_gold.by_gold(fits)
    return [choice[name].probability[0, 0] for name in ("chosen by gold", "stacked by gold")]


def test_the_higher_score_is_chosen_if_it_is_to_be_believed() -> None:
    fits = {"one": found(0.8, [0.6, 0.6, 0.7]), "other": found(0.3, [0.9, 0.8, 0.9])}
    assert first_chances(fits) == pytest.approx([0.3, 0.3], abs=1e-6)
    fits["other"].line["gold_bad_k"] = 0.2
    assert first_chances(fits) == pytest.approx([0.8, 0.8])
    fits["one"].line["gold_bad_k"] = 0.2  # nothing else is left
    assert first_chances(fits) == pytest.approx([0.3, 0.3], abs=1e-6)


def test_a_mixture_of_fits_that_are_right_of_different_items() -> None:
    fits = {"one": found(0.8, [0.9, 0.3, 0.9]), "other": found(0.3, [0.2, 0.9, 0.2])}
    chosen, stacked = first_chances(fits)
    grid = np.linspace(0, 1, 1001)
    likelihood = (0.9 * grid + 0.2 * (1 - grid)) ** 2 * (0.3 * grid + 0.9 * (1 - grid))
    weight = grid[likelihood.argmax()]
    assert 0.1 < weight < 0.95
    assert chosen == 0.8
    assert stacked == pytest.approx(0.8 * weight + 0.3 * (1 - weight), abs=2e-3)

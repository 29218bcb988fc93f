"""The benchmark's choice among fits by the gold that is given."""

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
chosen_by_gold: Any = importlib.import_module("chosen_by_gold")
Found: Any = importlib.import_module("family_fits").Found


def found(chance: float, gold: list[float], bad_k: float = 0.0) -> Any:
    """A fit that gives the first class this chance everywhere."""
    return Found(
        probability=np.full((5, 2), [chance, 1 - chance]),
        line={"method": "nuts", "r_hat": 1.0, "seconds": 1.0, "gold_bad_k": bad_k},
        gold_elpd=np.log(gold),
    )


def test_weights_make_the_gold_likeliest() -> None:
    elpd = np.log([[0.9, 0.8, 0.3, 0.7], [0.5, 0.4, 0.9, 0.8], [0.4, 0.3, 0.2, 0.1]])
    weight = chosen_by_gold.stacking_weights(elpd)
    grid = np.linspace(0, 1, 1001)
    score = np.log(grid[:, None] * np.exp(elpd[0]) + (1 - grid[:, None]) * np.exp(elpd[1]))
    assert weight == pytest.approx([grid[score.sum(axis=1).argmax()], 1 - weight[0], 0], abs=2e-3)


def test_the_higher_score_is_chosen_if_it_is_to_be_believed() -> None:
    fits = {"one": found(0.8, [0.6, 0.6, 0.7]), "other": found(0.3, [0.9, 0.8, 0.9])}
    assert chosen_by_gold.by_gold(fits)["chosen by gold"].line["chosen"] == "other"
    fits["other"].line["gold_bad_k"] = 0.2
    choice = chosen_by_gold.by_gold(fits)
    assert choice["chosen by gold"].line["chosen"] == "one"
    assert choice["stacked by gold"].probability[0, 0] == pytest.approx(0.8)
    fits["one"].line["gold_bad_k"] = 0.2  # nothing else is left
    assert chosen_by_gold.by_gold(fits)["chosen by gold"].line["chosen"] == "other"

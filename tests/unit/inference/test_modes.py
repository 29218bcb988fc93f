"""What a mode says of its raters is what their mean accuracy says."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.task_files import load_task
from assay.fits.latent_states import sample_states
from assay.inference.density import make_density
from assay.inference.mode_search import find_modes
from assay.inference.modes import Mode, draws_per_mode, labels_at, seen_weight
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

RIGHT = "raters are mostly right: "
WRONG = "raters are mostly wrong (a mirror image): "
OTHERWISE = "most answers to a class, or to its hard items, name another class: "


@pytest.mark.parametrize(
    ("accuracy", "classes", "misnamed", "said"),
    [
        (0.9, 2, False, RIGHT),
        (0.58, 2, False, RIGHT),
        (0.5, 2, False, "raters are right, on average, about as often as by guessing (0.50): "),
        (0.47, 2, False, "raters are right, on average, about as often as by guessing (0.50): "),
        (0.3, 2, False, WRONG),
        (0.55, 4, False, RIGHT),
        (0.45, 4, False, "raters are right more often than by guessing (0.25): "),
        (0.3, 4, False, "raters are right, on average, about as often as by guessing (0.25): "),
        (0.1, 4, False, WRONG),
        (0.6, 2, True, OTHERWISE),
        (0.5, 2, True, OTHERWISE),
        (0.2, 2, True, WRONG),
    ],
)
def test_how_raters_stand_is_said_against_guessing(
    accuracy: float, classes: int, misnamed: bool, said: str
) -> None:
    mode = Mode(
        x=np.zeros(1), height=0.0, precision=None, evidence=np.nan,
        accuracy=accuracy, chance=1 / classes, misnamed=misnamed,
    )  # fmt: skip
    assert str(mode).startswith(f"{said}mean accuracy {accuracy:.2f}, weight")


@pytest.mark.parametrize("turned", [0, 2])
def test_two_camps_of_one_size_are_not_mostly_right(turned: int) -> None:
    """Of four raters who are right on nine items in ten, some have the classes turned round."""
    rng = np.random.default_rng(3)
    truth = rng.random(60) < 0.4
    lines = []
    for j in range(4):
        said = truth ^ (rng.random(60) < 0.1) ^ (j < turned)
        lines += [(i, f"rater {j}", "yes" if yes else "no") for i, yes in enumerate(said)]
    table = pd.DataFrame(lines, columns=["item", "rater", "label"])
    task = load_task("single").with_classes({"label": ("no", "yes")})
    structure = build_structure(
        assay.read_ratings(table, task=task), make_spec("hierarchical", "dirichlet")
    )
    best = find_modes(structure, make_density(structure), np.random.default_rng(1))[0]
    guess = "raters are right, on average, about as often as by guessing (0.50): mean accuracy 0.5"
    assert str(best).startswith(guess if turned else RIGHT)


def test_draws_are_of_the_mode_whose_labels_they_have() -> None:
    """However many parameters of a draw are nearer to those of another."""
    ratings = assay.simulate("single", n_items=60, n_raters=6, ratings_per_item=5, rng=2)
    structure = build_structure(ratings, make_spec("hierarchical", "dirichlet"))
    density = make_density(structure)
    rng = np.random.default_rng(1)
    modes = find_modes(structure, density, rng, starts=12)
    assert len(modes) > 1
    states = []
    for mode, draws in zip(modes[:2], (30, 10), strict=True):
        points = mode.x + 0.1 * rng.standard_normal((draws, len(mode.x)))
        states.append(sample_states(structure, density.constrain(points), rng).states)
    labels = [labels_at(structure, density, mode.x[None]) for mode in modes]
    found = draws_per_mode(modes, labels, np.concatenate(states))
    assert [mode.visited for mode in found] == [0.75, 0.25, *[0.0] * (len(modes) - 2)]


@pytest.mark.parametrize(
    ("others", "seen"),
    [
        ([], 1.0),
        ([{"weight": 0.4}], 0.6),
        ([{"weight": 0.4, "visited": 0.3}], 1.0),
        ([{"weight": 0.2}, {"weight": 0.2, "visited": 0.1}], 0.8),
        # By its names it is no result, whatever its weight.
        ([{"weight": 0.4, "misnamed": True}], 1.0),
    ],
)
def test_the_weight_that_is_seen_is_that_of_modes_with_draws(
    others: list[dict[str, Any]], seen: float
) -> None:
    one = Mode(
        x=np.zeros(1), height=0.0, precision=None, evidence=-1.0, accuracy=0.8, chance=0.5,
        visited=1.0,
    )  # fmt: skip
    first = replace(one, weight=1 - sum(other["weight"] for other in others))
    modes = [first, *(replace(one, **{"visited": 0.0, **other}) for other in others)]
    assert seen_weight(modes) == pytest.approx(seen)

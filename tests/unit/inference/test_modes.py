"""What a mode says of its raters, and classes that trade places between modes."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.rules import NOT_ASKED
from assay.data.task_files import load_task
from assay.fits.latent_states import sample_states
from assay.inference.density import make_density
from assay.inference.diagnostics import mode_warnings
from assay.inference.mode_search import find_modes
from assay.inference.modes import Mode, draws_per_mode, labels_at, name_trades, seen_weight
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

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


QUICK = {"draws": 200, "tune": 300, "chains": 2, "rng": 1, "progress": False}


def structure_of(task: str) -> Structure:
    ratings = assay.simulate(task, n_items=40, n_raters=4, rng=1)
    return build_structure(ratings, make_spec("pooled"))


def trades(structure: Structure, here: np.ndarray, there: np.ndarray) -> str:
    mode = Mode(x=np.zeros(1), height=0.0, precision=None, evidence=0.0, accuracy=0.8, chance=0.5)
    first, other = name_trades(structure, [mode, mode], [here, there])
    assert first.trades == ""
    return other.trades


def test_two_of_three_classes_trade_places() -> None:
    structure = structure_of("single")
    here = np.eye(3)[[0] * 20 + [1] * 15 + [2] * 5]
    told = trades(structure, here, here[:, [0, 2, 1]])
    names = structure.ratings.task.labels[0]
    b, c = names.classes[1:]
    assert told == f"{b} and {c} of {names.name} are exchanged (shares there: {b} 0.12, {c} 0.38)"


def test_modes_that_differ_on_few_items_have_the_same_names() -> None:
    structure = structure_of("single")
    here = np.eye(3)[[0] * 20 + [1] * 15 + [2] * 5]
    there = here.copy()
    there[20:23], there[35:38] = here[35:38], here[20:23]  # a few of b are c, and the reverse
    assert trades(structure, here, there) == ""


def test_one_label_of_several_is_turned() -> None:
    structure = structure_of("retrieval")
    space, labels = structure.prevalence.space, structure.ratings.task.labels
    certain = np.eye(len(space.states))
    no, yes = space.states[:, 0] == 0, space.states[:, 0] == 1
    turned = np.flatnonzero(no)[0], np.flatnonzero(yes)[0]
    here = np.vstack([certain[[turned[0]] * 25], certain[[turned[1]] * 15]])
    there = np.vstack([certain[[turned[1]] * 25], certain[[turned[0]] * 15]])
    told = trades(structure, here, there)
    assert told.startswith(f"no and yes of {labels[0].name} are exchanged")


def against_each_other(seed: int) -> assay.Ratings:
    """Two raters who are right, and two who are wrong as often."""
    rng = np.random.default_rng(seed)
    truth = rng.random(120) < 0.3
    rows = [
        (f"i{i}", f"r{j}", "yes" if t == (rng.random() < right) else "no")
        for i, t in enumerate(truth)
        for j, right in enumerate([0.85, 0.85, 0.15, 0.15])
    ]
    return assay.read_ratings(pd.DataFrame(rows, columns=["item", "rater", "label"]), task="single")


@pytest.mark.parametrize("closed", [0, 10, 18])
def test_shares_of_a_label_are_of_the_items_that_its_gate_leaves_in_that_mode(closed: int) -> None:
    """The reported mode has some outputs flagged, which the other one asks about."""
    structure = structure_of("ais")
    space, labels = structure.prevalence.space, structure.ratings.task.label_names
    place = labels.index("interpretable")

    def state(flagged: int, code: int) -> int:
        told = (space.states[:, labels.index("flagged")] == flagged) & (
            space.states[:, place] == code
        )
        return int(np.flatnonzero(told)[0])

    certain = np.eye(len(space.states))
    shut = state(1, NOT_ASKED)
    here = certain[[shut] * closed + [state(0, 0)] * (20 - closed) + [state(0, 1)] * 10]
    there = certain[[state(0, 1)] * 20 + [state(0, 0)] * 10]
    told = trades(structure, here, there)
    assert told.endswith("are exchanged (shares there: no 0.33, yes 0.67)")


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
def test_nobody_is_surely_adversarial_where_another_mode_has_the_others_so() -> None:
    fit = assay.fit(against_each_other(1), **QUICK)
    assert "no and yes of label are exchanged" in fit.attrs["warnings"]
    weight = json.loads(fit.attrs["diagnostics"])["mode_weight"]
    assert 0.5 <= weight < 0.95
    kinds = assay.rater_spammers(fit)
    assert (kinds["mode_weight"] == weight).all()
    assert (kinds["given_mode"] == "adversarial").sum() == 2
    assert (kinds["behaviour"] == "").all()


@pytest.mark.parametrize(("visited", "said"), [(0.31, True), (0.0, False), (0.005, False)])
def test_draws_with_two_readings_are_not_averaged_without_a_word(
    visited: float, said: bool
) -> None:
    mode = Mode(x=np.zeros(1), height=0.0, precision=None, evidence=0.0, accuracy=0.8, chance=0.5)
    first = replace(mode, weight=0.95, visited=1 - visited)
    other = replace(mode, weight=0.05, visited=visited, trades="b and c of label are exchanged")
    told = [note for note in mode_warnings([first, other]) if note.code == "mixed-modes"]
    assert bool(told) == said
    if said:
        assert told[0].numbers == {"weight": 0.05, "visited": 0.31}
        assert other.trades in told[0]
    # Where classes have their places, draws of both modes are one posterior.
    same = mode_warnings([first, replace(other, trades="")])
    assert "mixed-modes" not in [note.code for note in same]

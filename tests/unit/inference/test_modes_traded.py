"""Classes that trade places between modes: said of the modes, and of fits whose draws have both."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.rules import NOT_ASKED
from assay.inference.diagnostics import mode_warnings
from assay.inference.modes import Mode, name_trades
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

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

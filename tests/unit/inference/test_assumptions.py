"""A fit that denies what all raters of an item say tells so; one that does not is silent."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.task import Label
from assay.inference.class_drift import DriftedClass, denied_labels, label_sums
from assay.inference.diagnostics import fit_warnings
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

GRADE = assay.Task(
    name="grade", labels=(Label(name="grade", classes=("a", "b", "c", "d"), ordered=True),)
)


def structure_of(raters: list[str], **columns: list[str | None]) -> Structure:
    """Twelve items that all raters call b, and twelve that they call a."""
    items = np.tile(np.arange(24), len(raters))
    table = pd.DataFrame({"item": items, "rater": np.repeat(raters, 24)})
    table["grade"] = np.where(items < 12, "b", "a")
    table["copy"] = np.repeat(np.arange(len(raters)), 24)
    for name, values in columns.items():
        table[name] = np.tile(values, len(raters))
    truth = {"grade": "known"} if "known" in columns else None
    ratings = assay.read_ratings(table, task=GRADE, replicate="copy", truth=truth)
    return build_structure(ratings, make_spec("pooled", "dirichlet"))


def taken_for_a(structure: Structure) -> np.ndarray:
    probabilities = np.zeros((len(structure.ratings.items), 4))
    probabilities[:, 0] = 1
    return probabilities


def denied(structure: Structure, probabilities: np.ndarray) -> list[DriftedClass]:
    return list(denied_labels(structure, label_sums(structure, probabilities)))


def test_items_that_all_raters_call_otherwise_are_told() -> None:
    structure = structure_of(["x", "y", "z"])
    probabilities = taken_for_a(structure)
    ((_, _, said),) = denied(structure, probabilities)
    assert (said.code, said.numbers) == ("class-drift", {"items": 12, "share": 0})
    assert "say 'b' (grade)" in said
    probabilities[:12] = [0.45, 0.55, 0, 0]
    assert denied(structure, probabilities) == []


def test_two_raters_or_one_who_repeats_itself_are_no_such_evidence() -> None:
    for raters in (["x", "y"], ["x", "y", "x"]):
        structure = structure_of(raters)
        assert denied(structure, taken_for_a(structure)) == []


def test_known_truth_stands_above_what_raters_say() -> None:
    structure = structure_of(["x", "y", "z"], known=["a"] * 6 + [None] * 18)
    assert denied(structure, taken_for_a(structure)) == []


def wild_answers(seed: int) -> assay.Ratings:
    """Ordered classes; a fifth of the answers is wrong, and a quarter of these skip a class."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, 150, p=[0.25, 0.35, 0.25, 0.15])
    item = np.repeat(np.arange(150), 3)
    rater = np.concatenate([rng.permutation(4)[:3] for _ in range(150)])
    away = np.abs(np.arange(4)[:, None] - np.arange(4))
    chance = np.where(away == 0, 0.0, 3.0**-away)
    chance = 0.18 * chance / chance.sum(axis=1, keepdims=True) + 0.82 * np.eye(4)
    answer = [rng.choice(4, p=chance[truth[i]]) for i in item]
    table = pd.DataFrame({"item": item, "rater": rater.astype(str)})
    table["grade"] = np.array(list("abcd"))[answer]
    return assay.read_ratings(table, task=GRADE)


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
def test_hard_items_are_no_other_classes() -> None:
    """Logistic tails have no place for wild answers: hard items, which are guessed, do."""
    ratings = wild_answers(3)
    ordinal = {"raters": "ordinal + item_difficulty"}
    recipes = {
        "without lapses": ordinal | {"priors": {"lapse": "Beta(1, 100000)"}},
        "ordinal": ordinal,
        "default": {},
    }
    said = {}
    for name, recipe in recipes.items():
        fit = assay.fit(ratings, method="map", draws=50, chains=1, rng=1, **recipe)
        said[name] = [note for note in fit_warnings(fit) if note.code == "class-drift"]
    assert not any(said.values())

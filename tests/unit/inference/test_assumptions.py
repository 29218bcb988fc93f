"""A fit that denies what all raters of an item say tells so; one that does not is silent."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import assay
from assay._util.errors import FitWarning
from assay.data.ratings import AUDITED_RIGHT, Ratings
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


@pytest.mark.parametrize("known", ["nothing", "truth", "audit"])
def test_the_consensus_is_not_all_where_something_is_known(known: str):
    ratings = assay.simulate("single", n_items=20, n_raters=3, rng=1)
    if known == "truth":
        ratings = replace(ratings, truth=np.where(np.arange(20)[:, None] == 0, 0, ratings.truth))
    if known == "audit":
        audit = ratings.audit.copy()
        audit[0] = AUDITED_RIGHT
        ratings = replace(ratings, audit=audit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(ratings, method="map", draws=1, chains=1, starts=1)
    said = any(
        "do not identify how often all raters" in t for t in json.loads(fit.attrs["assumptions"])
    )
    assert said == (known == "nothing")


def test_independent_replicates_are_stated_and_warned_of():
    ratings = assay.simulate("single", n_items=20, n_raters=3, replicates=2, rng=1)
    with pytest.warns(FitWarning, match=r"\[independent-replicates\]$"):
        fit = assay.fit(
            ratings, method="map", draws=1, chains=1, starts=1, replicates="independent"
        )
    (told,) = (note for note in fit_warnings(fit) if note.code == "independent-replicates")
    assert (told.level, told.numbers) == ("note", {"ratings": 60})
    assert str(told) in json.loads(fit.attrs["assumptions"])


def test_replicates_that_no_urn_joins_are_stated():
    """Of other sessions where raters drift, or of other labels; the urn joins the rest."""
    ratings = assay.simulate(
        "retrieval", n_items=20, n_raters=3, ratings_per_item=2, replicates=2, rng=1
    )
    fitted = {"method": "map", "draws": 1, "chains": 1, "starts": 1}

    def said(ratings: Ratings, **options: str) -> list[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            fit = assay.fit(ratings, **fitted, **options)
        return [t for t in json.loads(fit.attrs["assumptions"]) if "in another session" in t]

    session = np.array(["May", "June"], object)[ratings.replicate]
    again = replace(ratings, session=session, sessions=("May", "June"))
    answers = ratings.answers.copy()
    answers[ratings.replicate == 1, 2] = -1
    answers[:4] = ratings.answers[:4]  # of two raters, whole
    assert said(ratings) == said(again) == []
    assert said(again, raters="pooled + drift")[0].startswith("40 ratings ")
    assert said(replace(ratings, answers=answers))[0].startswith("38 ratings ")

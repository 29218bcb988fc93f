"""What score_rater reads: truths, scores, classes; and what it says when it cannot."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import AssayError, ModelError, RatingsError, UnknownNameError
from assay.data.ratings import Ratings
from assay.raters.scoring import score_rater
from assay.raters.scoring.scores import read_scores
from assay.raters.scoring.truths import class_gains, positive_classes, read_truth

GRADES = pd.CategoricalDtype(["no", "partially", "yes"], ordered=True)
TRUTH = pd.Series(["no", "yes", "partially", "no"], index=list("abcd"), dtype=GRADES)
SCORE = {"a": 0.1, "b": 0.9, "c": 0.6, "d": 0.2}
TWO = np.array([False, True])


def rated(**changes: Any) -> Ratings:
    """Three items, two raters; the second has scores, on two items."""
    table = pd.DataFrame(
        {
            "item": list("abc") * 2,
            "rater": ["r"] * 3 + ["s"] * 3,
            "relevance": ["no", "yes", "partially", "no", "yes", "no"],
        }
    )
    ratings = assay.read_ratings(table, task="relevance")
    scores = np.full((6, 1), np.nan)
    scores[3:5, 0] = [0.2, 0.7]
    truth = np.array([[0], [2], [-1]], np.int16)
    return replace(ratings, scores=scores, truth=truth, **changes)


@pytest.mark.parametrize(
    ("values", "classes", "ordered"),
    [
        ([True, False], ("False", "True"), True),
        ([0, 3], ("0", "3"), True),
        (["b", "a"], ("a", "b"), False),
    ],
)
def test_a_table_of_classes(values: list[Any], classes: tuple[str, ...], ordered: bool) -> None:
    truth = read_truth({"x": values[0], "y": values[1]})
    assert (truth.classes, truth.ordered) == (classes, ordered)
    assert [truth.classes[k] for k in truth.codes[0]] == [str(v) for v in values]


def test_missing_classes_are_not_known() -> None:
    truth = read_truth(pd.Series(["no", None, "yes"], index=list("abc"), dtype=GRADES))
    assert truth.codes.tolist() == [[0, -1, 2]]


def test_draws_may_have_a_label_dim_and_no_chains() -> None:
    codes = np.array([[[0, 1], [1, 1]], [[1, 0], [1, 0]], [[1, 0], [0, 0]]])
    coords = {"item": ["a", "b"], "label": ["l", "m"]}
    draws = xr.DataArray(codes, dims=("draw", "item", "label"), coords=coords)
    truth = read_truth(draws, label="m")
    assert truth.shape == (1, 3)
    assert truth.codes.tolist() == [[1, 1], [0, 0], [0, 0]]
    with pytest.raises(ModelError, match="l, m", check=refusal("which-label")):
        read_truth(draws)
    with pytest.raises(UnknownNameError, match="no label 'n'", check=refusal("unknown-label")):
        read_truth(draws, label="n")


def test_ratings_with_known_truth_and_a_rater_who_has_scores() -> None:
    found = score_rater(rated(), "s", positive="partially", metric=["accuracy", "auroc"])
    assert found.attrs["reference"] == "known truth"
    assert (found.attrs["n_items"], found.attrs["n_items_without_score"]) == (2, 1)
    assert (found["accuracy"].item(), found["auroc"].item()) == (1.0, 1.0)


def test_a_raters_answers_are_the_guesses() -> None:
    ratings = rated()
    scores = ratings.scores.copy()
    scores[3, 0] = 0.6
    found = read_scores(
        "s", read_truth(replace(ratings, scores=scores)), np.array([False, True, True]), 0.5
    )
    assert found.guess is not None
    assert found.guess.tolist() == [False, True]
    assert found.confidence is not None
    assert found.confidence == pytest.approx([0.4, 0.7])


def test_scores_without_answers_are_cut_at_the_threshold() -> None:
    ratings = rated()
    answers = ratings.answers.copy()
    answers[3:5] = -1
    truth = read_truth(replace(ratings, answers=answers))
    found = read_scores("s", truth, np.array([False, True, True]), 0.7)
    assert found.guess is not None
    assert found.guess.tolist() == [False, True]


@pytest.mark.parametrize(
    "guess", [[0, 1, 1, 0], [False, True, True, False], ["no", "yes", "partially", "no"]]
)
def test_guesses_are_flags_or_classes(guess: list[Any]) -> None:
    table = pd.DataFrame({"item": list("abcd"), "score": SCORE.values(), "guess": guess})
    found = score_rater(TRUTH, table, positive="partially", metric="accuracy")
    assert found["accuracy"].item() == 1.0


def test_a_given_confidence_is_used_as_it_is() -> None:
    table = pd.DataFrame(
        {"score": pd.Series(SCORE), "guess": [0, 1, 0, 1], "confidence": [0.9, 0.8, 0.1, 0.2]}
    )
    found = score_rater(TRUTH, table, positive="partially", metric="confidence_auroc")
    assert found["confidence_auroc"].item() == 1.0


def test_scores_that_are_no_probabilities_have_the_measures_of_order() -> None:
    logits = {item: 10 * score - 5 for item, score in SCORE.items()}
    found = score_rater(TRUTH, logits, positive="partially")
    assert {"auroc", "ndcg", "map", "kendall_tau"} <= set(found)
    assert not {"brier", "ece", "f1", "confidence_auroc"} & set(found)
    guessed = pd.DataFrame({"score": pd.Series(logits), "guess": [0, 1, 1, 0]})
    assert score_rater(TRUTH, guessed, positive="partially")["f1"].item() == 1.0


def test_one_class_of_an_ordered_label_stands_for_those_above() -> None:
    truth = read_truth(TRUTH)
    assert positive_classes(truth, "partially").tolist() == [False, True, True]
    assert positive_classes(truth, ["partially"]).tolist() == [False, True, False]
    nominal = read_truth({"a": "x", "b": "y", "c": "z"})
    assert positive_classes(nominal, "y").tolist() == [False, True, False]


def test_gains_default_to_the_order_of_the_classes() -> None:
    truth = read_truth(TRUTH)
    positive = positive_classes(truth, "partially")
    assert class_gains(truth, positive, None).tolist() == [0, 1, 2]
    assert class_gains(truth, positive, {"yes": 3.5}).tolist() == [0, 0, 3.5]
    nominal = read_truth({"a": "x", "b": "y", "c": "z"})
    assert class_gains(nominal, positive_classes(nominal, "y"), None).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("error", "words", "scores", "choices"),
    [
        (UnknownNameError, "unknown-class", SCORE, {"positive": "maybe"}),
        (ModelError, "positive-classes", SCORE, {"positive": None}),
        (ModelError, "positive-classes", SCORE, {"positive": "no"}),
        (UnknownNameError, "unknown-metric", SCORE, {"metric": "brierr"}),
        (ModelError, "metric-obstacle", {"a": 3, "b": 1}, {"metric": "brier"}),
        (ModelError, "metric-obstacle", {"a": 3, "b": 1}, {"metric": "f1"}),
        (ModelError, "argument-count", SCORE, {"k": 0}),
        (ModelError, "argument-count", SCORE, {"bins": 0}),
        (ModelError, "argument-choice", SCORE, {"by": "query"}),
        (ModelError, "argument-choice", SCORE, {"estimand": "finit"}),
        (ModelError, "argument-number", SCORE, {"gains": {"yes": -1}}),
        (UnknownNameError, "unknown-class", SCORE, {"gains": {"maybe": 1}}),
        (
            RatingsError,
            "items-without-cluster",
            SCORE,
            {"clusters": dict.fromkeys("abc", "q")},
        ),
        (RatingsError, "scores-other-items", {"z": 0.1}, {}),
        (RatingsError, "scores-table", {"a": None}, {}),
        (RatingsError, "scores-no-number", {"a": "high"}, {}),
        (RatingsError, "scores-no-number", {"a": np.inf}, {}),
        (RatingsError, "repeated-items", pd.Series([0.1, 0.2], index=["a", "a"]), {}),
        (RatingsError, "scores-table", pd.DataFrame({"guess": [1]}, index=["a"]), {}),
        (RatingsError, "scores-table", pd.DataFrame({"p": [1]}, index=["a"]), {}),
        (
            RatingsError,
            "guess-words",
            pd.DataFrame({"score": [0.1], "guess": ["often"]}, index=["a"]),
            {},
        ),
        (RatingsError, "unknown-rater", "gpt4", {}),
    ],
)
def test_what_is_wrong_is_said(
    error: type[AssayError], words: str, scores: Any, choices: dict[str, Any]
) -> None:
    with pytest.raises(error, check=refusal(words)):
        score_rater(TRUTH, scores, **{"positive": "partially", **choices})


@pytest.mark.parametrize(
    ("error", "words", "truth"),
    [
        (ModelError, "argument-type", [1, 0]),
        (RatingsError, "empty-truth", {}),
        (RatingsError, "repeated-items", pd.Series([1, 0], index=["a", "a"])),
        (ModelError, "draws-dims", xr.DataArray([[1]], dims=("draw", "thing"))),
    ],
)
def test_a_truth_that_cannot_be_read(error: type[AssayError], words: str, truth: Any) -> None:
    with pytest.raises(error, check=refusal(words)):
        score_rater(truth, SCORE)


def test_raters_and_truths_that_ratings_do_not_have() -> None:
    ratings = rated()
    with pytest.raises(UnknownNameError, match="no rater 't'", check=refusal("unknown-rater")):
        score_rater(ratings, "t", positive="yes")
    with pytest.raises(RatingsError, match="'r' has no", check=refusal("no-scores")):
        score_rater(ratings, "r", positive="yes")
    with pytest.raises(RatingsError, match="read them with", check=refusal("no-known-truth")):
        score_rater(replace(ratings, truth=np.full((3, 1), -1, np.int16)), "s", positive="yes")
    with pytest.raises(
        UnknownNameError, match="did you mean relevance", check=refusal("unknown-label")
    ):
        score_rater(ratings, "s", label="relevanse", positive="yes")

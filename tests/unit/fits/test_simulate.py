from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import AssayError, ModelError
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, state_space


def test_sizes_are_those_asked_for():
    ratings = assay.simulate(
        "retrieval", n_items=40, n_raters=5, ratings_per_item=2, n_systems=2, n_clusters=4, rng=1
    )
    assert len(ratings.answers) == 80
    assert (np.bincount(ratings.item) == 2).all()
    assert not ratings.items.index.has_duplicates
    pairs = set(zip(ratings.item.tolist(), ratings.rater.tolist(), strict=True))
    assert len(pairs) == 80
    assert ratings.systems == ["system_1", "system_2"]
    assert ratings.items["cluster"].nunique() == 4
    sizes = ratings.panels.groupby("panel")["rank"].agg(["count", "max"])
    assert (sizes == 5).all(axis=None)


def test_ratings_per_item_may_differ():
    ratings = assay.simulate("ais", n_items=4, n_raters=3, ratings_per_item=[0, 1, 2, 3], rng=1)
    assert np.bincount(ratings.item, minlength=4).tolist() == [0, 1, 2, 3]


def test_the_same_seed_gives_the_same_ratings():
    first, again, other = (assay.simulate("grounding", n_items=30, rng=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.answers, again.answers)
    np.testing.assert_array_equal(first.simulated.truth, again.simulated.truth)
    assert (first.answers != other.answers).any()


def test_the_truth_is_kept_apart_from_the_ratings():
    ratings = assay.simulate("retrieval", n_items=30, rng=1)
    assert (ratings.truth == MISSING).all()
    states = {tuple(s) for s in state_space(ratings.task).states}
    assert {tuple(t) for t in ratings.simulated.truth} <= states


def test_blocked_answers_do_not_occur_and_warned_ones_do():
    blocked = assay.simulate("retrieval", n_items=300, rng=1)
    rules = [blocked.task.expression(r.expression) for r in blocked.task.rules]

    def broken(ratings: assay.Ratings) -> int:
        codes = dict(zip(ratings.task.label_names, ratings.answers.T, strict=True))
        return int(sum((~rule(codes)).sum() for rule in rules))

    warned = assay.simulate(
        "retrieval",
        n_items=300,
        response={"sufficient_is_relevant": "warn"},
        values={"warn_omega": np.array([0.9])},
        rng=1,
    )
    assert broken(blocked) == 0
    assert broken(warned) > 0


def test_given_values_are_used():
    values = {"accuracy": np.array([0.999, 0.999, 0.001])}
    ratings = assay.simulate(
        "single",
        raters="one_coin",
        classes=("a", "b"),
        n_items=300,
        n_raters=3,
        values=values,
        rng=1,
    )
    right = ratings.answers[:, 0] == ratings.simulated.truth[ratings.item, 0]
    share = [right[ratings.rater == j].mean() for j in range(3)]
    assert share == pytest.approx([1, 1, 0], abs=0.03)
    assert ratings.simulated.values["accuracy"].tolist() == values["accuracy"].tolist()


def test_lost_and_draft_leave_different_gaps():
    lost = assay.simulate("generation", n_items=200, missing=0.3, rng=1).answers == MISSING
    draft = assay.simulate("generation", n_items=200, missing=0.3, partial="draft", rng=1).answers
    assert lost.mean() == pytest.approx(0.3, abs=0.03)
    gone = draft == MISSING
    assert (gone[:, 1:] >= gone[:, :-1]).all()
    assert (lost[:, 1:] < lost[:, :-1]).any()


def test_gates_close_questions():
    answers = assay.simulate("ais", n_items=200, rng=1).answers
    assert ((answers[:, 1] == NOT_ASKED) == (answers[:, 0] == 1)).all()
    assert ((answers[:, 2] == NOT_ASKED) == (answers[:, 1] != 1)).all()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"n_items": 0}, "argument-count"),
        ({"n_items": 2.5}, "argument-count"),
        ({"n_items": "4"}, "argument-count"),
        ({"n_systems": 0}, "argument-count"),
        ({"n_systems": 1.5}, "argument-count"),
        ({"n_items": 3, "n_clusters": 4}, "simulated-design"),
        ({"n_items": 3, "n_systems": 4}, "simulated-design"),
        ({"n_clusters": 2.5}, "argument-count"),
        ({"n_clusters": True}, "argument-count"),
        ({"groups": {"a": -1, "b": 5}}, "argument-count"),
        ({"replicates": 2.5}, "argument-count"),
        ({"sessions": 0}, "argument-count"),
        ({"ratings_per_item": 2.5}, "simulated-design"),
        ({"n_raters": 2, "ratings_per_item": 3}, "simulated-design"),
        ({"ratings_per_item": -1}, "simulated-design"),
        ({"n_items": 3, "n_clusters": 4, "n_systems": 2}, "simulated-design"),
        ({"values": {"nonsense": np.zeros(1)}}, "simulated-values"),
    ],
)
def test_sizes_that_do_not_fit_are_said_in_words(options: dict[str, object], code: str):
    with pytest.raises(ModelError, check=refusal(code)):
        assay.simulate("retrieval", **options)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("spamming", [0.1], r"spamming has shape \(1,\); the model's has \(3,\)"),
        ("spamming", ["a", "b", "c"], "spamming .* array of numbers"),
        ("spamming", [0.5, 1.5, 0.5], r"lie in \[0, 1\]"),
        ("spamming", [0.5, np.nan, 0.5], r"lie in \[0, 1\]"),
        ("strategy_relevance", np.full((3, 3), 0.5), "along class_of_relevance .* add up to 1"),
        ("drift_sd", [[-0.1]], "0 or more"),
        ("main", [np.inf, 0.0], "finite"),
    ],
)
def test_values_that_a_parameter_cannot_have_are_refused(name: str, value: Any, words: str):
    sizes = {"n_items": 5, "n_raters": 3, "sessions": 2, "rng": 1}
    with pytest.raises(ModelError, match=f"values: .*{words}", check=refusal("simulated-values")):
        assay.simulate("relevance", raters="mace + drift", values={name: value}, **sizes)
    assay.simulate("relevance", raters="mace + drift", values={"drift_sd": [[0.0]]}, **sizes)


@pytest.mark.parametrize(
    "options",
    [
        {"missing": 1.5},
        {"missing": -0.1},
        {"partial": "gone"},
        {"resolve": "ignore"},
        {"raters": "nobody"},
        {"values": {"main": np.zeros(7)}},
        {"ratings_per_item": [1, 2]},
    ],
)
def test_arguments_out_of_range_are_errors_of_the_package(options: dict[str, object]):
    with pytest.raises(AssayError):
        assay.simulate("retrieval", n_items=10, **options)


@pytest.mark.parametrize("classes", [("a",), ("a", "a"), ()])
def test_classes_are_at_least_two_and_differ(classes: tuple[str, ...]):
    with pytest.raises(ModelError, check=refusal("simulated-classes")):
        assay.simulate("single", n_items=10, classes=classes)


def test_gold_is_the_truth_of_a_share_of_the_items():
    ratings = assay.simulate("retrieval", n_items=50, gold=0.3, rng=1)
    known = (ratings.truth != MISSING).any(axis=1)
    assert known.sum() == 15
    np.testing.assert_array_equal(ratings.truth[known], ratings.simulated.truth[known])


def consistent(share: float) -> dict[str, np.ndarray]:
    """Parameters of raters who all copy their earlier ratings as often."""
    odds = np.log(max(share, 1e-12)) - np.log(1 - share)
    return {"consistency_mean": np.array([odds]), "consistency_sd": np.zeros(1)}


def test_replicates_are_further_ratings_of_the_same_items():
    ratings = assay.simulate("ais", n_items=20, ratings_per_item=2, replicates=3, rng=1)
    assert len(ratings.answers) == 120
    keys = pd.DataFrame({"item": ratings.item, "rater": ratings.rater, "n": ratings.replicate})
    assert not keys.duplicated().any()
    assert keys.groupby(["item", "rater"])["n"].max().eq(2).all()


@pytest.mark.parametrize("raters", ["hierarchical", "pooled", "scored", "mace + item_difficulty"])
def test_who_is_consistent_repeats_what_it_said(raters: str):
    def repeats(consistency: float) -> float:
        ratings = assay.simulate(
            "relevance",
            raters=raters,
            n_items=200,
            n_raters=3,
            replicates=2,
            values=consistent(consistency),
            rng=2,
        )
        pairs = ratings.answers[:, 0].reshape(-1, 2)
        return float((pairs[:, 0] == pairs[:, 1]).mean())

    assert repeats(1 - 1e-12) == 1
    assert repeats(0.0) < 0.95


def test_people_who_share_a_confusion_do_not_copy_each_other():
    ratings = assay.simulate(
        "relevance",
        raters="pooled",
        n_items=400,
        n_raters=2,
        ratings_per_item=2,
        replicates=2,
        values=consistent(1 - 1e-12),
        rng=2,
    )
    by_rater = ratings.answers[:, 0].reshape(-1, 2)[:, 0].reshape(-1, 2)
    assert (by_rater[:, 0] != by_rater[:, 1]).mean() > 0.05


@pytest.mark.parametrize("partial", ["lost", "draft"])
def test_copies_answer_what_the_rating_itself_answers(partial: str):
    """Each rating loses its own answers; a copy does not take over the gaps of its model."""
    ratings = assay.simulate(
        "generation",
        n_items=400,
        n_raters=2,
        ratings_per_item=2,
        replicates=2,
        missing=0.4,
        partial=partial,
        values=consistent(1 - 1e-12),
        rng=3,
    )
    first, second = np.moveaxis((ratings.answers != MISSING).reshape(-1, 2, 5), 1, 0)
    alike = (first == second).all(axis=1)
    assert alike.mean() < 0.5
    answers = ratings.answers.reshape(-1, 2, 5)[alike]
    np.testing.assert_array_equal(answers[:, 0], answers[:, 1])


def test_sessions_are_in_order_and_reliability_walks():
    def right(last: bool) -> float:
        ratings = assay.simulate(
            "single",
            raters="one_coin + drift",
            classes=("a", "b"),
            n_items=600,
            sessions=4,
            values={
                "accuracy": np.full(5, 0.9),
                "drift_sd": np.ones((1, 1)),
                "drift_lean_sd": np.zeros((1, 1)),
                "drift_step": np.full((5, 1, 3), -1.5),
            },
            rng=1,
        )
        assert ratings.sessions == ("session_1", "session_2", "session_3", "session_4")
        here = ratings.session == ratings.sessions[-1 if last else 0]
        truth = ratings.simulated.truth[ratings.item[here], 0]
        return float((ratings.answers[here, 0] == truth).mean())

    assert right(last=False) == pytest.approx(0.9, abs=0.05)
    assert right(last=True) == pytest.approx(1 / (1 + 1 / 9 * np.exp(4.5)), abs=0.05)


def test_scores_lie_in_the_region_of_the_answer_and_follow_the_truth():
    ratings = assay.simulate("relevance", raters="scored", n_items=400, rng=1)
    assert ((ratings.scores >= 0) & (ratings.scores <= 1)).all()
    np.testing.assert_array_equal(np.floor(ratings.scores * 3), ratings.answers)
    truth = ratings.simulated.truth[ratings.item, 0]
    means = [ratings.scores[truth == k, 0].mean() for k in range(3)]
    assert means == sorted(means)
    assert means[2] - means[0] > 0.2


def test_raters_of_a_group_misperceive_the_same_items():
    ratings = assay.simulate(
        "relevance",
        reference="human",
        n_items=400,
        groups={"human": 2, "model": 3},
        ratings_per_item=5,
        values={"misperceived": np.array([0.4]), "logit_sd": np.full((2, 9), 0.01)},
        priors={"mean_correct": "Normal(5, 0.1)"},
        rng=1,
    )
    wrong = ratings.answers[:, 0] != ratings.simulated.truth[ratings.item, 0]
    by_rater = np.zeros((400, 5), bool)
    by_rater[ratings.item, ratings.rater] = wrong
    together = np.corrcoef(by_rater.T)
    assert together[2:, 2:].min() > 0.8
    assert np.abs(together[:2, 2:]).max() < 0.2


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"gold": 1.2}, "argument-number"),
        ({"replicates": 0}, "argument-count"),
        ({"sessions": 0}, "argument-count"),
        ({"reference": "human"}, "unknown-group"),
        ({"raters": "perception"}, "perception-without-reference"),
        ({"raters": {"somebody": "pooled"}}, "unknown-group"),
    ],
)
def test_options_of_layers_out_of_range_are_said_in_words(options: dict[str, object], code: str):
    with pytest.raises(ModelError, check=refusal(code)):
        assay.simulate("retrieval", n_items=10, **options)

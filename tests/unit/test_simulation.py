import numpy as np
import pytest

import assay
from assay.errors import AssayError, ModelError
from assay.states import MISSING, NOT_ASKED, state_space


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
    "options",
    [
        {"n_items": 0},
        {"n_raters": 2, "ratings_per_item": 3},
        {"ratings_per_item": -1},
        {"n_items": 3, "n_clusters": 4, "n_systems": 2},
        {"values": {"nonsense": np.zeros(1)}},
    ],
)
def test_sizes_that_do_not_fit_are_said_in_words(options: dict[str, object]):
    with pytest.raises(ModelError, match=r"cannot be|too few|values has"):
        assay.simulate("retrieval", **options)


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

"""Majority vote, and its metrics."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import FitError, ModelError
from assay.data.majority_vote import majority_labels
from assay.data.ratings import Ratings
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING
from assay.data.task_files import load_task
from assay.evaluation import majority_metrics, metrics_of_labels


def ratings_of(task_name, item, answers, *, clusters=None, systems="", weight=1.0, stratum=""):
    """One item a panel; ``clusters`` and ``systems`` have an entry per item."""
    task = load_task(task_name)
    item, answers = np.asarray(item), np.asarray(answers, np.int16)
    count = int(item.max()) + 1 if clusters is None else len(clusters)
    names = [f"i{n}" for n in range(count)]
    cluster = names if clusters is None else clusters
    items = pd.DataFrame({"cluster": cluster, "stratum": stratum, "weight": weight}, index=names)
    panels = pd.DataFrame({"panel": names, "system": systems, "cluster": cluster})
    return Ratings(
        task=task,
        answers=answers,
        item=item,
        rater=np.arange(len(item)),
        replicate=np.zeros(len(item), np.int64),
        abstained=(answers == MISSING).all(axis=1),
        items=items,
        raters=pd.DataFrame({"group": "r"}, index=[f"r{n}" for n in range(len(item))]),
        truth=np.full((count, answers.shape[1]), MISSING, np.int16),
        panels=panels.assign(rank=1, item=np.arange(count)),
    )


def slow_majority(ratings):
    """Counter.most_common keeps the order of first sight among ties; gates of ``ais`` by hand."""
    winners = np.full((len(ratings.items), 3), MISSING)
    for i in range(len(winners)):
        for k, opening in enumerate((None, 0, 1)):
            votes = [int(a) for a in ratings.answers[ratings.item == i, k] if a >= 0]
            if votes:
                winners[i, k] = Counter(votes).most_common(1)[0][0]
            if k and winners[i, k - 1] != opening:
                unknown = winners[i, k - 1] == MISSING
                winners[i, k] = MISSING if unknown else NOT_ASKED
    return winners


def test_vote_is_that_of_a_slow_count():
    rng = np.random.default_rng(1)
    answers = rng.choice([NOT_ASKED, MISSING, 0, 1], size=(400, 3))
    ratings = ratings_of("ais", rng.integers(90, size=400), answers, clusters=["c"] * 90)
    winners = majority_labels(ratings)
    assert winners.dtype == np.int16
    np.testing.assert_array_equal(winners, slow_majority(ratings))
    assert (winners == MISSING).any()


def test_tie_goes_to_the_tied_class_given_first():
    answers = [[2], [1], [0], [0], [1]]
    assert majority_labels(ratings_of("relevance", [0] * 5, answers)).tolist() == [[1]]


FLAG = [1, NOT_ASKED, NOT_ASKED]
UNCLEAR = [0, 0, NOT_ASKED]
YES, NO = [0, 1, 1], [0, 1, 0]


@pytest.mark.parametrize(
    ("answers", "vote"),
    [
        # Three of five find it interpretable, and two of these attributable.
        ([UNCLEAR, UNCLEAR, YES, YES, NO], [0, 1, 1]),
        ([UNCLEAR, UNCLEAR, NO, NO, YES], [0, 1, 0]),
        # Two flag it; of three who judge it two do not understand it.
        ([FLAG, FLAG, UNCLEAR, UNCLEAR, YES], [0, 0, NOT_ASKED]),
        # Of three who judge it two understand it, and one votes on attribution against one.
        ([FLAG, FLAG, UNCLEAR, NO, YES], [0, 1, 0]),
        # Most flag it: what the others say of it is of no account.
        ([FLAG, FLAG, FLAG, YES, YES], FLAG),
        ([YES, YES, YES, YES, NO], [0, 1, 1]),
    ],
)
def test_those_vote_on_a_question_who_were_asked(answers, vote):
    assert majority_labels(ratings_of("ais", [0] * 5, answers)).tolist() == [vote]


def test_rates_of_a_study_by_hand():
    """Six outputs: one flagged, one unclear, of the other four three attributable."""
    outputs = [
        [FLAG, FLAG, FLAG, YES, YES],
        [UNCLEAR, UNCLEAR, UNCLEAR, YES, YES],
        [UNCLEAR, UNCLEAR, YES, YES, NO],
        [YES, YES, YES, YES, NO],
        [FLAG, UNCLEAR, YES, YES, NO],
        [UNCLEAR, UNCLEAR, NO, NO, YES],
    ]
    answers = [answer for output in outputs for answer in output]
    table = majority_metrics(ratings_of("ais", np.repeat(np.arange(6), 5), answers), draws=5)
    found = table.set_index("metric")["value"]
    assert found["flag_rate"] == pytest.approx(1 / 6)
    assert found["interpretable_rate"] == pytest.approx(4 / 5)
    assert found["attributable_rate"] == pytest.approx(3 / 4)


def test_a_gate_without_a_vote_is_not_known():
    answers = [[MISSING, MISSING, MISSING], [MISSING, 1, 1]]
    ratings = ratings_of("ais", [0, 1], answers)
    assert majority_labels(ratings).tolist() == [[MISSING] * 3, [MISSING] * 3]


def test_no_answer_is_no_vote():
    ratings = ratings_of("relevance", [0, 1], [[MISSING], [2]], clusters=["a", "b", "c"])
    assert majority_labels(ratings).tolist() == [[MISSING], [2], [MISSING]]
    nothing = ratings_of("relevance", [0], [[MISSING]])
    assert majority_labels(nothing).tolist() == [[MISSING]]


def paired(size=200, seed=5, **columns):
    """Two systems on the same clusters with the same labels."""
    rng = np.random.default_rng(seed)
    answers = np.tile((rng.random((size, 5)) < 0.3).astype(int), (2, 1))
    clusters = [f"q{n}" for n in range(size)] * 2
    systems = ["A"] * size + ["B"] * size
    item = np.arange(2 * size)
    return ratings_of("generation", item, answers, clusters=clusters, systems=systems, **columns)


def test_values_are_the_metrics_of_the_vote():
    ratings = paired()
    table = majority_metrics(ratings, draws=10)
    columns = ["metric", "system", "value"]
    known = metrics_of_labels(majority_labels(ratings), ratings)
    pd.testing.assert_frame_equal(table[columns], known[columns])


def test_interval_is_that_of_the_mean_of_clusters():
    """With one item a cluster, the bootstrap's SD is sqrt(p (1 - p) / n)."""
    row = majority_metrics(paired(), metric="helpfulness_rate", draws=4000).loc[0]
    spread = np.sqrt(row["value"] * (1 - row["value"]) / 200)
    assert row["upper"] - row["lower"] == pytest.approx(2 * 1.96 * spread, rel=0.06)
    assert row["lower"] < row["value"] < row["upper"]


def test_systems_are_resampled_together():
    """The same labels under the same clusters: the same interval, to the last bit."""
    table = majority_metrics(paired(), draws=200).set_index("system")
    ends = table[["lower", "upper"]]
    np.testing.assert_array_equal(ends.loc["A"], ends.loc["B"])


def test_design_weights_and_strata_count():
    """Two strata without variance within: the bootstrap has none, the value is weighted."""
    answers = np.repeat([[1], [0]], [10, 30], axis=0) * np.ones((1, 5), int)
    stratum = ["x"] * 10 + ["y"] * 30
    ratings = ratings_of(
        "generation", np.arange(40), answers, stratum=stratum, weight=np.where(answers[:, 0], 9, 1)
    )
    row = majority_metrics(ratings, metric="helpfulness_rate", draws=50).loc[0]
    assert row[["value", "lower", "upper"]].tolist() == pytest.approx([0.75] * 3)


def test_undefined_ratio_is_told():
    answers = np.zeros((30, 5), int)
    answers[0, 3] = 1
    table = majority_metrics(ratings_of("grounding", np.arange(30), answers), draws=500)
    row = table.set_index("metric").loc["conditional_fabrication_rate"]
    assert row["value"] == 0
    assert row["undefined"] == pytest.approx((29 / 30) ** 30, abs=0.1)
    nothing = majority_metrics(ratings_of("grounding", np.arange(30), 0 * answers), draws=5)
    row = nothing.set_index("metric").loc["conditional_fabrication_rate"]
    assert np.isnan(row[["value", "lower", "upper"]].astype(float)).all()
    assert row["undefined"] == 1


def test_same_generator_gives_the_same_table():
    first, second = (majority_metrics(paired(), draws=50, rng=7) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_level_and_draws_are_checked():
    with pytest.raises(FitError, match="level=95", check=refusal("argument-number")):
        majority_metrics(paired(), level=95)
    with pytest.raises(
        ModelError, match="draws=0", check=refusal("argument-count", least=1, most=1000000)
    ):
        majority_metrics(paired(), draws=0)

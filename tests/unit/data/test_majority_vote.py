"""Majority vote, and its metrics."""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import FitError, ModelError
from assay.data.majority_vote import (
    count_of_others,
    majority_labels,
    majority_votes,
    rater_votes,
    single_winner,
)
from assay.data.ratings import Ratings
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING
from assay.data.task import Label
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


def slow_votes(ratings):
    """Follow every tie of ``ais`` by recursion: the share of each label vector of each item."""

    def follow(item, vector, share):
        k = len(vector)
        if k == 3:
            return {(item, *vector): share}
        if k and vector[-1] == MISSING:
            return follow(item, (*vector, MISSING), share)
        if k and vector[-1] != (0, 1)[k - 1]:
            return follow(item, (*vector, NOT_ASKED), share)
        counts = Counter(int(a) for a in ratings.answers[ratings.item == item, k] if a >= 0)
        best = [c for c, n in counts.items() if n == max(counts.values())] or [MISSING]
        found = {}
        for code in best:
            found |= follow(item, (*vector, code), share / len(best))
        return found

    return {k: v for i in range(len(ratings.items)) for k, v in follow(i, (), 1.0).items()}


def test_vote_is_that_of_a_slow_count():
    rng = np.random.default_rng(1)
    answers = rng.choice([NOT_ASKED, MISSING, 0, 1], size=(400, 3))
    ratings = ratings_of("ais", rng.integers(90, size=400), answers, clusters=["c"] * 90)
    votes, expected = majority_votes(ratings), slow_votes(ratings)
    assert votes.labels.dtype == np.int16
    found = zip(votes.item, *votes.labels.T, strict=True)
    assert dict(zip(found, votes.share, strict=True)) == expected
    several = Counter(item for item, *_ in expected)
    assert votes.tied.tolist() == [several[n] > 1 for n in range(90)]
    assert 5 < votes.tied.sum() < 85
    # A hard label is one on which all lines of the item agree.
    for n, winners in enumerate(majority_labels(ratings).tolist()):
        lines = np.array([vector for item, *vector in expected if item == n])
        same = (lines == lines[0]).all(axis=0)
        assert winners == np.where(same, lines[0], MISSING).tolist()


def test_tied_classes_have_equal_shares():
    answers = [[2], [1], [0], [0], [1]]
    votes = majority_votes(ratings_of("relevance", [0] * 5, answers))
    assert votes.labels.ravel().tolist() == [0, 1]
    assert votes.share.tolist() == [0.5, 0.5]
    assert majority_labels(ratings_of("relevance", [0] * 5, answers)).tolist() == [[MISSING]]


def replicated(said, classes):
    """Ratings of one label from (item, rater, answer); raters may answer an item again."""
    frame = pd.DataFrame(said, columns=["item", "rater", "label"])
    frame["replicate"] = frame.groupby(["item", "rater"]).cumcount()
    task = replace(load_task("single"), labels=(Label(name="label", classes=tuple(classes)),))
    return assay.read_ratings(frame, task=task)


def test_a_rater_has_one_vote_however_often_they_rate_an_item():
    # Two raters say a; the third says b three times, which is one vote.
    said = [(1, "r1", "a"), (1, "r2", "a"), *[(1, "r3", "b")] * 3]
    # One of two raters wavers: 4/3 votes for a, 2/3 for b.
    said += [(2, "r1", "a"), *((2, "r2", c) for c in "abb")]
    # Their shares tie: 1 + 1/6 + 5/6 votes against as many.
    said += [(3, "r1", "a"), (3, "r2", "b"), *((3, "r3", c) for c in "abbbbb")]
    said += [(3, "r4", c) for c in "aaaaab"]
    ratings = replicated(said, "ab")
    votes = rater_votes(ratings, ratings.answers[:, 0], 2)
    np.testing.assert_allclose(votes, [[2, 1], [4 / 3, 2 / 3], [2, 2]], atol=1e-9)
    assert majority_labels(ratings)[:, 0].tolist() == [0, 0, MISSING]
    lines = majority_votes(ratings)
    assert lines.share.tolist() == [1, 1, 0.5, 0.5]


@pytest.mark.parametrize("seed", range(3))
def test_votes_of_replicates_are_those_of_exact_fractions(seed):
    rng = np.random.default_rng(seed)
    said = [
        (int(item), f"r{rater}", "abc"[rng.integers(3)])
        for item in range(40) for rater in range(4) for _ in range(rng.integers(1, 8))
    ]  # fmt: skip
    ratings = replicated(said, "abc")
    exact = [[Fraction(0)] * 3 for _ in range(40)]
    often = Counter((item, rater) for item, rater, _ in said)
    for item, rater, answer in said:
        exact[item]["abc".index(answer)] += Fraction(1, often[item, rater])
    order = [int(name) for name in ratings.items.index]
    votes = rater_votes(ratings, ratings.answers[:, 0], 3)
    np.testing.assert_allclose(votes, np.array(exact, float)[order], atol=1e-9)
    winners = [exact[n].index(max(exact[n])) for n in order]
    single = [exact[n].count(max(exact[n])) == 1 for n in order]
    expected = np.where(single, winners, MISSING).tolist()
    assert majority_labels(ratings)[:, 0].tolist() == expected
    mixed = replicated([said[n] for n in rng.permutation(len(said))], "abc")
    place = mixed.items.index.get_indexer(ratings.items.index)
    again = rater_votes(mixed, mixed.answers[:, 0], 3)[place]
    np.testing.assert_array_equal(again, votes)


def test_the_others_of_an_answer_leave_it_out():
    item, answers = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([1, 1, 0, 0, MISSING, 2, 1])
    others = count_of_others(item, answers, 4, 3)
    assert others.tolist() == [
        [1, 1, 0], [1, 1, 0], [0, 2, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]
    ]  # fmt: skip
    assert single_winner(others).tolist() == [MISSING, MISSING, 1, MISSING, 0, 1, 2]


def test_a_tie_counts_in_equal_parts_whatever_the_order_of_the_rows():
    """Six items: two are yes, one is no, three are tied between two raters."""
    pairs = [(1, 1), (1, 1), (0, 0), (0, 1), (0, 1), (1, 0)]
    answers = np.repeat(np.ravel(pairs)[:, None], 5, axis=1)
    ratings = ratings_of("generation", np.repeat(np.arange(6), 2), answers)
    turned = replace(ratings, answers=ratings.answers[::-1], item=ratings.item[::-1])
    first, second = (majority_metrics(one, draws=200) for one in (ratings, turned))
    pd.testing.assert_frame_equal(first, second)
    assert first.set_index("metric")["value"]["helpfulness_rate"] == pytest.approx(3.5 / 6)


def lists(seed, queries, chunks, raters=2):
    """Ranked lists of two systems with many ties; all metrics of the task ``retrieval``."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame([
        {"query": f"q{q}", "system": s, "chunk": f"{q}{s}{k}", "rank": k + 1, "rater": f"r{r}",
         "topically_relevant": yes, "evidence_sufficient": yes and bool(rng.random() < 0.6),
         "misleading": False}
        for q in range(queries) for s in "AB" for k in range(chunks) for r in range(raters)
        for yes in [bool(rng.random() < 0.5)]
    ])  # fmt: skip
    return frame, {"task": "retrieval", "item": "chunk", "cluster": "query"}


def test_metrics_of_lists_are_the_mean_over_all_choices():
    frame, roles = lists(30, queries=3, chunks=2)
    ratings = assay.read_ratings(frame, **roles)
    votes = majority_votes(ratings)
    cluster = pd.Series(votes.count).groupby(ratings.items["cluster"].to_numpy()).prod()
    assert 1 < cluster.min() <= cluster.max() <= 64  # all choices, and no sample of them
    lines = [np.flatnonzero(votes.item == n) for n in range(len(ratings.items))]
    values, chances = [], []
    for choice in itertools.product(*lines):
        values.append(metrics_of_labels(votes.labels[list(choice)], ratings)["value"])
        chances.append(votes.share[list(choice)].prod())
    expected = np.average(values, axis=0, weights=chances)
    assert sum(chances) == pytest.approx(1)
    found = majority_metrics(ratings, draws=5)
    np.testing.assert_allclose(found["value"], expected, atol=1e-12)
    assert {"ndcg_at_k", "sufficiency_hit_at_k"} <= set(found["metric"])


def test_the_order_of_rows_does_not_matter_in_long_lists(monkeypatch):
    frame, roles = lists(3, queries=25, chunks=8)
    mixed = frame.sample(frac=1, random_state=1)
    first, second = (
        majority_metrics(assay.read_ratings(f, **roles), draws=50) for f in (frame, mixed)
    )
    numbers = ["value", "lower", "upper"]
    np.testing.assert_allclose(first[numbers], second[numbers], atol=1e-12)
    # The sampled choices are near the mean over many more of them.
    monkeypatch.setattr("assay.evaluation.known_labels.CHOICES", 2000)
    more = majority_metrics(assay.read_ratings(frame, **roles), draws=50)
    np.testing.assert_allclose(first["value"], more["value"], atol=0.01)


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
        ([FLAG, FLAG, UNCLEAR, NO, YES], [0, 1, MISSING]),
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

"""Metrics of known labels are those of established implementations, to 1e-12."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from assay.data.ratings import Ratings
from assay.data.states import MISSING, state_space
from assay.data.task_files import load_task
from assay.evaluation import metrics_of_labels
from assay.evaluation.known_labels import known_totals
from assay.evaluation.panels import panel_layout
from assay.evaluation.registry import registered

ir_measures = pytest.importorskip("ir_measures")
sklearn_metrics = pytest.importorskip("sklearn.metrics")

SEEDS = (1, 2, 3)
QUERIES = 40


def known(task_name, sizes, seed):
    """Ratings without a rating, one panel a query, and random admissible labels of its items."""
    task, rng = load_task(task_name), np.random.default_rng(seed)
    states, count = state_space(task).states, int(sum(sizes))
    query = np.repeat([f"q{n}" for n in range(len(sizes))], sizes)
    rank = np.concatenate([np.arange(size) + 1 for size in sizes])
    ratings = Ratings(
        task=task,
        answers=np.full((0, len(task.labels)), MISSING, np.int16),
        item=np.zeros(0, np.int64),
        rater=np.zeros(0, np.int64),
        replicate=np.zeros(0, np.int64),
        abstained=np.zeros(0, bool),
        items=pd.DataFrame(
            {"cluster": query, "stratum": "", "weight": 1.0},
            index=pd.Index([f"i{n:04d}" for n in range(count)], name="item"),
        ),
        raters=pd.DataFrame({"group": []}),
        truth=np.full((count, len(task.labels)), MISSING, np.int16),
        panels=pd.DataFrame(
            {"panel": query, "system": "", "cluster": query, "rank": rank, "item": range(count)}
        ),
    )
    # Many items without any yes, so that some lists have nothing relevant.
    labels = np.where(
        rng.random(count)[:, None] < 0.5, states[0], states[rng.integers(len(states), size=count)]
    )
    return ratings, labels


def values_of(ratings, labels):
    return metrics_of_labels(labels, ratings).set_index("metric")["value"]


def oracle(ratings, gain, measure):
    """Mean over queries of an ir_measures measure of one gain per item."""
    panels = ratings.panels.assign(gain=gain)
    qrels = [ir_measures.Qrel(p.cluster, str(p.item), int(p.gain)) for p in panels.itertuples()]
    run = [
        ir_measures.ScoredDoc(p.cluster, str(p.item), -float(p.rank)) for p in panels.itertuples()
    ]
    return ir_measures.calc_aggregate([measure], qrels, run)[measure]


def ragged(seed):
    return np.random.default_rng(seed).integers(1, 9, size=QUERIES)


@pytest.mark.parametrize("seed", SEEDS)
def test_ranked_lists_of_any_length(seed):
    ratings, labels = known("retrieval", ragged(seed), seed)
    relevant, sufficient = labels[:, 0], labels[:, 1]
    found = values_of(ratings, labels)
    gain = np.where(sufficient == 1, 3, relevant)  # 2^2 - 1, 2^1 - 1, 0
    expected = {
        "mean_reciprocal_rank_at_k": oracle(ratings, relevant, ir_measures.RR),
        "sufficiency_hit_at_k": oracle(ratings, sufficient, ir_measures.Success @ 8),
        "ndcg_at_k": oracle(ratings, gain, ir_measures.nDCG),
    }
    assert 0 < expected["sufficiency_hit_at_k"] < 1
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [1, 5])
def test_shares_of_lists_of_one_length(k, seed):
    ratings, labels = known("retrieval", np.full(QUERIES, k), seed)
    found = values_of(ratings, labels)
    for column, name in enumerate(
        ("topical_precision_at_k", "sufficiency_rate_at_k", "misleading_context_rate_at_k")
    ):
        value = oracle(ratings, labels[:, column], ir_measures.P @ k)
        assert found[name] == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("seed", SEEDS)
def test_ndcg_is_that_of_scikit_learn(seed):
    """One list at a time, since lists differ in length; scores are ranks, so that none is tied."""
    ratings, labels = known("retrieval", ragged(seed) + 1, seed)
    gain = 2.0 ** np.where(labels[:, 1] == 1, 2, labels[:, 0]) - 1
    rank = ratings.panels["rank"].to_numpy()
    lists = ratings.panels.groupby("panel").indices.values()
    values = [sklearn_metrics.ndcg_score([gain[i]], [-rank[i]]) for i in lists]
    assert values_of(ratings, labels)["ndcg_at_k"] == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_conditional_rates_are_precisions(seed):
    """The share of B among A is the precision of A as a classifier of B."""
    one = np.ones(QUERIES, int)
    ratings, labels = known("grounding", one, seed)
    cited, fabricated = labels[:, 3], labels[:, 4]
    found = values_of(ratings, labels)["conditional_fabrication_rate"]
    assert found == pytest.approx(sklearn_metrics.precision_score(fabricated, cited), abs=1e-12)
    ratings, labels = known("ais", one, seed)
    passed, interpretable, attributable = labels[:, 0] == 0, labels[:, 1] == 1, labels[:, 2] == 1
    found = values_of(ratings, labels)
    for name, truth, chosen in (
        ("interpretable_rate", interpretable, passed),
        ("attributable_rate", attributable, interpretable),
    ):
        value = sklearn_metrics.precision_score(truth, chosen)
        assert found[name] == pytest.approx(value, abs=1e-12), name


RATES = {
    "grounding": {
        "grounding_presence_rate": 0,
        "unsupported_claim_rate": 1,
        "contradiction_rate": 2,
        "citation_presence_rate": 3,
    },
    "generation": {
        "proper_action_rate": 0,
        "on_topic_rate": 1,
        "helpfulness_rate": 2,
        "incompleteness_rate": 3,
        "unsafe_content_rate": 4,
    },
    "ais": {"flag_rate": 0},
}


@pytest.mark.parametrize("task_name", RATES)
def test_rates_are_accuracies_of_always_saying_yes(task_name):
    ratings, labels = known(task_name, np.ones(QUERIES, int), 1)
    found = values_of(ratings, labels)
    for name, column in RATES[task_name].items():
        value = sklearn_metrics.accuracy_score(labels[:, column] == 1, np.ones(QUERIES, bool))
        assert found[name] == pytest.approx(value, abs=1e-12), name


def test_weighted_rates_are_weighted_accuracies():
    """Design weights of the items, as the majority vote's value counts them."""
    ratings, labels = known("generation", np.ones(QUERIES, int), 4)
    weight = np.random.default_rng(4).uniform(0.2, 3, QUERIES)
    ratings = replace(ratings, items=ratings.items.assign(weight=weight))
    for name, column in RATES["generation"].items():
        layout = panel_layout(ratings)
        totals = known_totals(registered(name), ratings.task, labels, layout, weighted=True)
        numerator, denominator = totals.sum(axis=(1, 2))
        value = sklearn_metrics.accuracy_score(
            labels[:, column] == 1, np.ones(QUERIES, bool), sample_weight=weight
        )
        assert numerator / denominator == pytest.approx(value, abs=1e-12), name

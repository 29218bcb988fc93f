"""Every shipped metric against its definition, written out slowly; the registry of metrics."""

import math
from dataclasses import replace

import numpy as np
import pytest
from refusals import refusal

from assay._util.errors import ModelError, UnknownNameError
from assay.data.states import state_space
from assay.data.task import Label, Rule, Task
from assay.data.task_files import load_task
from assay.evaluation import Metric, metric, metrics_for
from assay.evaluation.draws import panel_totals
from assay.evaluation.registry import registered
from assay.evaluation.select import choose_metrics


def panels_of(task_name, seed, panels=40, places=6):
    """Random admissible labels on ragged panels with gaps, none of them empty."""
    rng = np.random.default_rng(seed)
    states = state_space(load_task(task_name)).states
    mask = rng.random((panels, places)) < 0.7
    mask[np.arange(panels), rng.integers(places, size=panels)] = True
    y = states[rng.integers(len(states), size=(panels, places))]
    return np.where(mask[..., None], y, 0).astype(np.int16), mask


def slow(name, rows):
    """One panel's value, or (numerator, denominator): ``rows`` is a list of (rank, labels)."""
    count = len(rows)
    if name in SHARES:
        return sum(labels[SHARES[name]] == 1 for _, labels in rows) / count
    if name == "sufficiency_hit_at_k":
        return float(any(labels["evidence_sufficient"] == 1 for _, labels in rows))
    if name == "mean_reciprocal_rank_at_k":
        ranks = [rank for rank, labels in rows if labels["topically_relevant"] == 1]
        return 1 / min(ranks) if ranks else 0.0
    if name == "ndcg_at_k":
        return slow_ndcg(rows)
    numerator, denominator = RATIOS[name]
    return (
        sum(numerator(labels) for _, labels in rows),
        sum(denominator(labels) for _, labels in rows),
    )


def slow_ndcg(rows):
    def grade(labels):
        return 2 if labels["evidence_sufficient"] == 1 else int(labels["topically_relevant"] == 1)

    def gain(grades, ranks):
        return sum((2**w - 1) / math.log2(rank + 1) for w, rank in zip(grades, ranks, strict=True))

    ranks = sorted(rank for rank, _ in rows)
    grades = [grade(labels) for _, labels in sorted(rows, key=lambda row: row[0])]
    best = gain(sorted(grades, reverse=True), ranks)
    return gain(grades, ranks) / best if best else 0.0


SHARES = {
    "topical_precision_at_k": "topically_relevant",
    "sufficiency_rate_at_k": "evidence_sufficient",
    "misleading_context_rate_at_k": "misleading",
    "grounding_presence_rate": "support_present",
    "unsupported_claim_rate": "unsupported_claim_present",
    "contradiction_rate": "contradicted_claim_present",
    "citation_presence_rate": "source_cited",
    "proper_action_rate": "proper_action",
    "on_topic_rate": "response_on_topic",
    "helpfulness_rate": "helpful",
    "incompleteness_rate": "incomplete",
    "unsafe_content_rate": "unsafe_content",
    "flag_rate": "flagged",
}
RATIOS = {
    "conditional_fabrication_rate": (
        lambda v: v["fabricated_source"] == 1,
        lambda v: v["source_cited"] == 1,
    ),
    "interpretable_rate": (lambda v: v["interpretable"] == 1, lambda v: v["flagged"] == 0),
    "attributable_rate": (lambda v: v["attributable"] == 1, lambda v: v["interpretable"] == 1),
}
SHIPPED = [
    (task, name)
    for task in ("retrieval", "grounding", "generation", "ais")
    for name in load_task(task).metrics
]


@pytest.mark.parametrize(("task_name", "name"), SHIPPED)
def test_shipped_metric_is_its_definition(task_name, name):
    task, found = load_task(task_name), registered(name)
    y, mask = panels_of(task_name, seed=len(name))
    numerator, denominator = panel_totals(found, y[..., found.columns(task)], mask)
    for panel in range(len(mask)):
        rows = [
            (place + 1, dict(zip(task.label_names, y[panel, place], strict=True)))
            for place in np.flatnonzero(mask[panel])
        ]
        expected = slow(name, rows)
        if found.kind == "ratio":
            assert (numerator[panel], denominator[panel]) == expected
        else:
            assert numerator[panel] == pytest.approx(expected, abs=1e-12)
            assert denominator[panel] == 1


@pytest.mark.parametrize(("task_name", "name"), SHIPPED)
def test_metric_of_many_draws_is_that_of_each(task_name, name):
    task, found = load_task(task_name), registered(name)
    pairs = [panels_of(task_name, seed=seed) for seed in (1, 2)]
    mask = pairs[0][1]
    y = np.stack([np.where(mask[..., None], y, 0) for y, _ in pairs])[..., found.columns(task)]
    joint = panel_totals(found, y, mask)
    single = [panel_totals(found, part, mask) for part in y]
    for part in (0, 1):
        np.testing.assert_array_equal(joint[part], [pair[part] for pair in single])


def test_retrieval_by_hand():
    """Ranks 1 to 3: relevant, sufficient, neither but misleading."""
    y = np.array([[[1, 0, 0], [1, 1, 0], [0, 0, 1]]])
    mask = np.ones((1, 3), bool)
    task = load_task("retrieval")
    values = {
        m.name: panel_totals(m, y[..., m.columns(task)], mask)[0][0] for m in metrics_for(task)
    }
    assert values == pytest.approx(
        {
            "topical_precision_at_k": 2 / 3,
            "sufficiency_hit_at_k": 1,
            "sufficiency_rate_at_k": 1 / 3,
            "misleading_context_rate_at_k": 1 / 3,
            "mean_reciprocal_rank_at_k": 1,
            "ndcg_at_k": (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)),
        }
    )


def test_rank_counts_where_the_list_has_gaps():
    """Only ranks 2 and 4 are there, in the best order: MRR sees rank 2, NDCG the best order."""
    y = np.zeros((1, 4, 2), np.int16)
    y[0, 1], y[0, 3] = (1, 1), (1, 0)
    mask = np.array([[False, True, False, True]])
    assert registered("mean_reciprocal_rank_at_k").function(y[..., :1], mask) == [0.5]
    assert registered("ndcg_at_k").function(y, mask) == pytest.approx([1.0])


def test_prevalence_counts_only_where_the_label_applies():
    task = load_task("ais")
    (found,) = choose_metrics(task, "prevalence[attributable=no]")
    y = np.array([[[0, 1, 0], [0, 1, 1], [0, 0, -2], [1, -2, -2]]])
    numerator, denominator = panel_totals(found, y[..., found.columns(task)], np.ones((1, 4), bool))
    assert (numerator.tolist(), denominator.tolist()) == ([1], [2])


def test_prevalence_of_all_classes_but_one():
    task = load_task("relevance")
    (found,) = choose_metrics(task, "prevalence[relevance!=no]")
    numerator, denominator = panel_totals(found, np.array([[[0], [1], [2]]]), np.ones((1, 3), bool))
    assert (numerator.tolist(), denominator.tolist()) == ([2], [3])


LOWER = {
    "misleading_context_rate_at_k", "unsupported_claim_rate", "contradiction_rate",
    "conditional_fabrication_rate", "incompleteness_rate", "unsafe_content_rate", "flag_rate",
}  # fmt: skip


@pytest.mark.parametrize(("task_name", "name"), SHIPPED)
def test_error_rates_are_better_when_lower(task_name, name):
    assert registered(name).better == ("lower" if name in LOWER else "higher")


def test_of_the_share_of_a_class_nobody_has_said_that_more_is_better():
    task = load_task("relevance")
    names = ["prevalence[relevance=no]", "prevalence[relevance!=no]"]
    chosen = [*metrics_for(task), *choose_metrics(task, names)]
    assert {m.better for m in chosen} == {"neither"}


def test_a_metric_of_ones_own_may_have_no_direction(monkeypatch):
    monkeypatch.setattr("assay.evaluation.registry._METRICS", {})
    metric("words", better="neither")(lambda y, mask: mask.sum(axis=-1))
    assert registered("words").better == "neither"


def test_task_without_metrics_reports_the_prevalence_of_every_class():
    names = [m.name for m in metrics_for(load_task("relevance"))]
    assert names == [f"prevalence[relevance={c}]" for c in ("no", "partially", "yes")]


def test_a_plain_no_is_not_reported_beside_yes_but_can_be_named():
    labels = (Label(name="a"), Label(name="mail", classes=("ham", "spam")))
    task = Task(name="mine", labels=labels)
    names = [m.name for m in metrics_for(task)]
    assert names == ["prevalence[a=yes]", "prevalence[mail=ham]"]
    (named,) = choose_metrics(task, "prevalence[a=no]")
    assert named.name == "prevalence[a=no]"


def test_no_is_not_reported_in_any_spelling():
    pairs = {"coded": ("0", "1"), "deutsch": ("nein", "ja"), "scale": ("1", "2")}
    task = Task(name="mine", labels=tuple(Label(name=n, classes=c) for n, c in pairs.items()))
    names = [m.name for m in metrics_for(task)]
    assert names == [f"prevalence[{one}]" for one in ("coded=1", "deutsch=ja", "scale=1")]


def test_registered_metric_is_reported_beside_the_shipped_ones(monkeypatch):
    monkeypatch.setattr("assay.evaluation.registry._METRICS", {})

    @metric("mine", task="mine")
    def mine(y, mask):
        """Say nothing."""
        return np.zeros(y.shape[:-2])

    task = Task(name="mine", labels=(Label(name="a"),))
    assert [m.name for m in metrics_for(task)] == ["prevalence[a=yes]", "mine"]
    assert registered("mine").description == "Say nothing."


def test_registering_again_replaces_but_a_taken_name_is_refused(monkeypatch):
    monkeypatch.setattr("assay.evaluation.registry._METRICS", {})

    def define(value):
        @metric("same")
        def same(y, mask):
            return np.full(y.shape[:-2], value)

    define(0.0)
    define(1.0)
    assert registered("same").function(np.zeros((2, 1, 1)), None).tolist() == [1.0, 1.0]
    with pytest.raises(ModelError, match="exists already", check=refusal("metric-registration")):
        metric("same")(lambda y, mask: y)


def test_function_sees_its_labels_in_the_order_it_names():
    task = Task(name="t", labels=(Label(name="a"), Label(name="b"), Label(name="c")))
    chosen = Metric(name="x", function=lambda y, mask: y, labels=("c", "a"))
    assert chosen.columns(task) == [2, 0]
    assert replace(chosen, labels=None).columns(task) == [0, 1, 2]


def test_unknown_names_show_the_nearest():
    with pytest.raises(
        UnknownNameError, match="did you mean ndcg_at_k", check=refusal("unknown-metric")
    ):
        choose_metrics(load_task("retrieval"), ["ndcg_at_5"])
    with pytest.raises(UnknownNameError, match="flag_rate", check=refusal("unknown-metric")):
        metrics_for(Task(name="t", labels=(Label(name="a"),), metrics=("flag_rates",)))
    with pytest.raises(ModelError, match="kind='mean'", check=refusal("argument-choice")):
        metric("x", kind="mean")
    with pytest.raises(ModelError, match="did you mean lower", check=refusal("argument-choice")):
        metric("x", better="lowe")


def test_metric_that_needs_other_labels_is_refused():
    task = Task(name="t", labels=(Label(name="a"),), metrics=("ndcg_at_k",))
    with pytest.raises(ModelError, match="needs the labels", check=refusal("metric-unavailable")):
        metrics_for(task)


def test_task_of_ones_own_may_use_shipped_metrics():
    labels = (Label(name="misleading"), Label(name="topically_relevant"))
    rules = (Rule(name="r", expression="misleading -> topically_relevant"),)
    names = ("topical_precision_at_k",)
    task = Task(name="mine", labels=labels, rules=rules, metrics=names)
    assert [m.columns(task) for m in metrics_for(task)] == [[1]]


@pytest.mark.parametrize(
    ("kind", "result", "words"),
    [
        ("per_panel", np.zeros((3, 2)), "Expected is \\(3,\\)"),
        ("per_panel", 0.5, "shape \\(\\)"),
        ("ratio", np.zeros(3), "tuple of two"),
        ("ratio", (np.zeros(3),) * 3, "tuple of two"),
        ("ratio", (np.zeros(3), np.zeros(2)), "shape \\(2,\\)"),
    ],
)
def test_function_that_returns_another_shape_is_told(kind, result, words):
    bad = Metric(name="bad", kind=kind, function=lambda y, mask: result)
    with pytest.raises(ModelError, match=words, check=refusal("metric-function")):
        panel_totals(bad, np.zeros((3, 2, 1), np.int16), np.ones((3, 2), bool))

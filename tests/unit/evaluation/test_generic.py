"""Generic metrics against their definitions, written out slowly; their names, and what suits."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import ModelError, TaskError, UnknownNameError
from assay.data.default_metrics import with_default_metrics
from assay.data.generic_metrics import generic_names, parse_generic
from assay.data.metric_names import unknown_metrics
from assay.data.task import Label, Task
from assay.evaluation.draws import metric_draws, panel_totals
from assay.evaluation.generic import generic_metric
from assay.evaluation.known_labels import metrics_of_labels
from assay.evaluation.panels import panel_layout
from assay.evaluation.registry import registered
from assay.evaluation.retrieval import mean_reciprocal_rank_at_k, topical_precision_at_k
from assay.evaluation.select import choose_metrics, metrics_for

GRADES = ("bad", "fair", "good", "best")
TASK = Task(
    name="t",
    labels=(
        Label(name="relevant"),
        Label(name="grade", classes=GRADES, ordered=True),
        Label(name="tone", classes=("rude", "plain", "kind")),
        Label(name="stars", classes=("1", "2", "5")),
    ),
)


def panels(seed, panels=30, places=5):
    """Random answers on ragged panels with gaps, none of them empty."""
    rng = np.random.default_rng(seed)
    mask = rng.random((panels, places)) < 0.75
    mask[np.arange(panels), rng.integers(places, size=panels)] = True
    y = np.stack([rng.integers(len(la.classes), size=mask.shape) for la in TASK.labels], axis=-1)
    return np.where(mask[..., None], y, 0).astype(np.int16), mask


def slow(name, rows):
    """One panel's value: ``rows`` is a list of (rank, class)."""
    cut = {"at_2": 2, "at_3": 3}.get(name.partition("[")[0][-4:], 99)
    read = [(rank, word) for rank, word in rows if rank <= cut]
    counts = [word in EVENT[name] for _, word in read] if name in EVENT else []
    if name.startswith("precision"):
        return sum(counts) / len(counts) if counts else math.nan
    if name.startswith("hit"):
        return float(any(counts))
    if name.startswith("mrr"):
        found = [rank for (rank, _), count in zip(read, counts, strict=True) if count]
        return 1 / min(found) if found else 0.0
    gains = {rank: 2 ** GRADES.index(word) - 1 for rank, word in rows}

    def dcg(values):
        places = zip(sorted(gains), values, strict=True)
        return sum(gain / math.log2(rank + 1) for rank, gain in places if rank <= cut)

    best = dcg(sorted(gains.values(), reverse=True))
    return dcg([gains[rank] for rank in sorted(gains)]) / best if best else 0.0


EVENT = {
    "precision_at_k[relevant]": {"yes"},
    "precision_at_2[grade>=good]": {"good", "best"},
    "precision_at_k[tone!=rude]": {"plain", "kind"},
    "hit_at_2[grade=best]": {"best"},
    "hit_at_k[relevant=no]": {"no"},
    "mrr[relevant]": {"yes"},
    "mrr_at_2[grade<=fair]": {"bad", "fair"},
}
LISTS = [*EVENT, "ndcg[grade]", "ndcg_at_3[grade]"]


@pytest.mark.parametrize("name", LISTS)
def test_metric_of_lists_is_its_definition(name):
    y, mask = panels(1)
    metric = generic_metric(name, TASK)
    column = metric.columns(TASK)
    top, bottom = panel_totals(metric, y[..., column], mask)
    words = TASK.labels[column[0]].classes
    for n, there in enumerate(mask):
        rows = [(p + 1, words[y[n, p, column[0]]]) for p in np.flatnonzero(there)]
        expected = slow(name, rows)
        if math.isnan(expected):
            assert bottom[n] == 0
        else:
            assert top[n] / bottom[n] == pytest.approx(expected, abs=1e-12)


def test_a_description_names_the_ranks_that_count():
    whole, first = (
        generic_metric(n, TASK).description for n in ("ndcg[grade]", "ndcg_at_3[grade]")
    )
    assert "gain of the list over" in whole
    assert "gain of the first 3 ranks over" in first


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rate[relevant]", {"yes": 1}),
        ("rate[tone=kind]", {"kind": 1}),
        ("rate[grade>=good]", {"good": 1, "best": 1}),
        ("prevalence[tone!=kind]", {"rude": 1, "plain": 1}),
        ("mean[stars]", {"1": 1, "2": 2, "5": 5}),
    ],
)
def test_metric_of_items_counts_those_to_which_the_label_applies(name, values):
    y, mask = panels(2)
    metric = generic_metric(name, TASK)
    column = metric.columns(TASK)
    y[3:9, 1, column[0]] = -2
    top, bottom = panel_totals(metric, y[..., column], mask)
    words = TASK.labels[column[0]].classes
    for n, there in enumerate(mask):
        codes = [y[n, p, column[0]] for p in np.flatnonzero(there)]
        applies = [words[code] for code in codes if code >= 0]
        assert (top[n], bottom[n]) == (sum(values.get(w, 0) for w in applies), len(applies))


def test_shipped_metrics_are_generic_ones_bit_for_bit():
    y, mask = panels(3)
    for name, function in (
        ("precision_at_k[relevant]", topical_precision_at_k),
        ("mrr[relevant]", mean_reciprocal_rank_at_k),
    ):
        found = generic_metric(name, TASK).function(y[..., :1], mask)
        assert np.array_equal(found, function(y[..., :1], mask))


POOLED = pd.DataFrame(
    [
        ("q1", "A", 1, "a", "yes"), ("q1", "A", 2, "b", "no"), ("q1", "B", 1, "a", "yes"),
        ("q1", "B", 2, "c", "yes"), ("q1", "B", 3, "d", "yes"), ("q2", "A", 1, "e", "no"),
        ("q2", "B", 1, "f", "no"), ("q3", "A", 1, "g", "yes"), ("q3", "B", 1, "h", "no"),
    ],
    columns=["query", "system", "rank", "item", "label"],
)  # fmt: skip


@pytest.fixture(scope="module")
def pooled():
    return assay.read_ratings(POOLED.assign(rater="r"), task="single")


def test_recall_is_over_what_any_list_of_the_cluster_holds(pooled):
    truth = np.where(np.isin(pooled.items.index, list("acdg")), 1, 0)[:, None]
    names = ["recall_at_k[label=yes]", "recall_at_2[label=yes]"]
    found = metrics_of_labels(truth, pooled, metric=names).set_index(["metric", "system"])["value"]
    # q1 has a, c and d: A lists one of them, B all three, two of them on the first two ranks.
    # q2 has none, and counts for no system; q3 has g, which A lists and B does not.
    assert found[names[0], "A"] == pytest.approx((1 / 3 + 1) / 2)
    assert found[names[0], "B"] == pytest.approx((1 + 0) / 2)
    assert found[names[1], "B"] == pytest.approx((2 / 3 + 0) / 2)


def test_recall_of_draws_is_that_of_each_draw_beside_other_metrics(pooled):
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=(6, len(pooled.items), 1)).astype(np.int16)
    names = ["precision_at_k[label=yes]", "recall_at_k[label=yes]", "mrr[label=yes]"]
    chosen = choose_metrics(pooled.task, names)
    layout = panel_layout(pooled)
    found = metric_draws(chosen, pooled.task, y, layout)
    for n, draw in enumerate(y):
        lines = metrics_of_labels(draw, pooled, metric=names).set_index(["metric", "system"])
        for m, name in enumerate(names):
            expected = [lines.loc[(name, system), "value"] for system in layout.systems]
            assert found[m, n] == pytest.approx(expected, nan_ok=True)
    alone = metric_draws(chosen[:1], pooled.task, y, layout)
    assert np.array_equal(alone[0], found[0])


def test_recall_counts_the_items_of_lists_that_are_left_out(pooled):
    whole = panel_layout(pooled)
    silent = replace(pooled, answers=np.where(pooled.item == 3, -1, pooled.answers.T).T)
    part = panel_layout(silent, incomplete="drop")
    assert part.dropped
    assert sorted(part.pool[1]) == sorted(whole.pool[1])


def test_names_say_kind_cut_off_and_event():
    read = parse_generic("hit_at_10[a = b>=c]", ["a = b"])
    assert (read.kind, read.cut, read.label, read.sign, read.word) == (
        "hit",
        10,
        "a = b",
        ">=",
        "c",
    )
    assert parse_generic("hit_at_0[a]", ["a"]) is None
    assert parse_generic("ndcg_at_k", ["a"]) is None
    assert all(generic_metric(name, TASK).name == name for name in generic_names(TASK))
    assert generic_metric("mrr[relevant]", TASK) == generic_metric("mrr[relevant]", TASK)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("precision_at_k[grade]", "precision_at_k[grade>=best]"),
        ("rate[tone]", "rate[tone=kind]"),
        ("rate[tone=kin]", "did you mean kind"),
        ("ndcg[tone]", "needs ordered classes"),
        ("mean[grade]", "needs numbers as classes"),
        ("mean[stars=5]", "mean[stars]"),
        ("rate[tone>=kind]", "needs ordered classes"),
        ("mrr[colour]", "needs the label colour"),
    ],
)
def test_label_that_does_not_suit_is_refused_with_what_would_do(name, told):
    code = refusal("metric-unavailable")
    with pytest.raises(ModelError, match=re.escape(told), check=code):
        choose_metrics(TASK, name)


def test_unknown_name_is_refused_with_the_generic_one_that_is_near():
    code, told = refusal("unknown-metric"), re.escape("precision_at_k[relevant]")
    with pytest.raises(UnknownNameError, match=told, check=code):
        choose_metrics(TASK, "precision@k[relevant]")


def test_task_file_names_generic_metrics(tmp_path):
    path = tmp_path / "mine.toml"
    text = (
        'metrics = ["recall_at_k[ok]", "rate[ok]", "prevalence[ok=no]"]\n'
        '[[labels]]\nname = "ok"\nbetter = "lower"\n'
    )
    path.write_text(text)
    task = assay.load_task(path)
    assert [m.name for m in metrics_for(task)] == list(task.metrics)
    assert [m.better for m in metrics_for(task)] == ["lower", "lower", "higher"]
    assert not unknown_metrics(task)
    path.write_text(text.replace("rate[ok]", "rate[okay]").replace('"lower"', '"less"'))
    with pytest.raises(TaskError, check=refusal("task-file", problems=2)):
        assay.load_task(path)


@pytest.mark.parametrize(
    ("name", "better", "direction"),
    [
        ("rate[tone=kind]", "", "neither"),
        ("rate[tone=kind]", "higher", "neither"),  # classes without an order have no ends
        ("rate[tone=rude]", "lower", "neither"),
        ("rate[tone=plain]", "plain", "higher"),
        ("rate[tone!=plain]", "plain", "lower"),
        ("rate[tone=kind]", "plain", "neither"),
        ("rate[tone!=kind]", "plain", "neither"),
        ("precision_at_k[tone=kind]", "", "higher"),
        ("precision_at_k[tone=kind]", "plain", "neither"),
        ("rate[grade=best]", "higher", "higher"),
        ("rate[grade=best]", "best", "higher"),
        ("rate[grade=bad]", "best", "lower"),
        ("rate[grade>=good]", "best", "higher"),
        ("rate[grade=good]", "good", "higher"),
        ("rate[grade=best]", "good", "neither"),
        ("ndcg[grade]", "bad", "lower"),
        ("rate[relevant]", "no", "lower"),
        ("mean[stars]", "1", "lower"),
        ("mean[stars]", "2", "neither"),
        ("prevalence[tone=kind]", "", "neither"),
        ("prevalence[tone=kind]", "kind", "higher"),
        ("prevalence[grade=bad]", "higher", "lower"),
        ("prevalence[grade=fair]", "higher", "neither"),
        ("mean[stars]", "", "neither"),
        ("mean[stars]", "lower", "lower"),
        ("mrr[relevant]", "", "higher"),
        ("mrr[relevant]", "lower", "lower"),
        ("ndcg[grade]", "", "higher"),
    ],
)
def test_direction_is_what_the_task_says_of_the_label(name, better, direction):
    task = replace(TASK, labels=tuple(replace(la, better=better) for la in TASK.labels))
    assert generic_metric(name, task).better == direction


def test_metrics_have_titles_and_units():
    titles = {name: generic_metric(name, TASK) for name in LISTS}
    assert titles["precision_at_k[relevant]"].shown_title == "Precision@k of relevant"
    assert titles["hit_at_2[grade=best]"].shown_title == "Hit@2 of grade = best"
    assert generic_metric("mean[stars]", TASK).shown_unit == "points from 1 to 5"
    assert registered("topical_precision_at_k").shown_title == "Topical precision@k"
    assert registered("flag_rate").shown_unit == "share"


def test_single_reports_what_ranked_lists_are_for(pooled):
    assert pooled.task.metrics == ("precision_at_k[label]", "mrr[label]", "ndcg[label]")
    stars = POOLED.assign(rater="r", label=[1, 2, 3, 2, 1, 3, 1, 2, 3], item=range(9))
    assert assay.read_ratings(stars, task="single").task.metrics == ("mean[label]", "ndcg[label]")
    words = POOLED.assign(rater="r", label=["good", "bad", "ugly"] * 3, item=range(9))
    assert assay.read_ratings(words, task="single").task.metrics == ()
    alone = POOLED[["item", "label"]].assign(rater="r")
    ratings = assay.read_ratings(alone, task="single")
    assert ratings.task.metrics == ()
    assert with_default_metrics(ratings) is ratings

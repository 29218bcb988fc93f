"""What holds of every metric, whatever the labels and the panels."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.data.ratings import Ratings
from assay.data.states import MISSING, state_space
from assay.data.task_files import load_task
from assay.evaluation import draws as draws_module
from assay.evaluation.draws import LabelDraws, metric_draws
from assay.evaluation.estimands import cluster_weights
from assay.evaluation.known_labels import metrics_of_labels
from assay.evaluation.panels import panel_layout, weighable_metrics
from assay.evaluation.prevalence import prevalence_metrics
from assay.evaluation.select import metrics_for

TASKS = ("retrieval", "grounding", "generation", "ais", "relevance")
DRAWS = 4
quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def cases(draw, tasks=TASKS):
    """Ratings with ragged panels of up to two systems, and draws of their labels.

    Design weights differ between panels, or between items, which orders cannot count.
    """
    task = load_task(draw(st.sampled_from(tasks)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    panel = np.repeat(np.arange(len(sizes)), sizes)
    systems = rng.choice(draw(st.sampled_from([[""], ["A", "B"]])), size=len(sizes))
    cluster = rng.integers(3, size=len(sizes))
    rank = np.concatenate([rng.permutation(size + 2)[:size] + 1 for size in sizes])
    count = len(panel)
    names = pd.Index([f"i{n}" for n in range(count)], name="item")
    clusters = np.array([f"q{c}" for c in cluster])[panel]
    states = state_space(task).states
    weight = rng.uniform(0.5, 2, count)
    weight = weight[np.searchsorted(panel, panel)] if draw(st.booleans()) else weight
    ratings = Ratings(
        task=task,
        answers=np.full((0, len(task.labels)), MISSING, np.int16),
        item=np.zeros(0, np.int64),
        rater=np.zeros(0, np.int64),
        replicate=np.zeros(0, np.int64),
        abstained=np.zeros(0, bool),
        items=pd.DataFrame({"cluster": clusters, "stratum": "", "weight": weight}, index=names),
        raters=pd.DataFrame({"group": []}),
        truth=np.full((count, len(task.labels)), MISSING, np.int16),
        panels=pd.DataFrame(
            {
                "panel": np.array([f"p{n}" for n in range(len(sizes))])[panel],
                "system": systems[panel],
                "cluster": clusters,
                "rank": rank,
                "item": np.arange(count),
            }
        ),
    )
    y = states[rng.integers(len(states), size=(DRAWS, count))]
    return ratings, y


def values_of(ratings, y, *, weighted, chosen=None):
    layout = panel_layout(ratings)
    weights = cluster_weights(layout) if weighted else None
    chosen = weighable_metrics(ratings) if chosen is None else chosen
    return metric_draws(chosen, ratings.task, y, layout, weights)


@pytest.mark.parametrize("weighted", [False, True])
@quick
@given(case=cases())
def test_values_are_in_their_limits(weighted, case):
    ratings, y = case
    values = values_of(ratings, y, weighted=weighted)
    for metric, drawn in zip(weighable_metrics(ratings), values, strict=True):
        defined = drawn[~np.isnan(drawn)]
        assert (defined >= metric.limits[0] - 1e-12).all()
        assert (defined <= metric.limits[1] + 1e-12).all()
        assert metric.kind == "ratio" or defined.size == drawn.size


@pytest.mark.parametrize("weighted", [False, True])
@quick
@given(case=cases(), seed=st.integers(0, 1000))
def test_names_of_panels_and_order_of_rows_change_nothing(weighted, case, seed):
    ratings, y = case
    before = values_of(ratings, y, weighted=weighted)
    rng = np.random.default_rng(seed)
    names = ratings.panels["panel"].unique()
    renamed = dict(zip(names, rng.permutation(len(names)).astype(str), strict=True))
    panels = ratings.panels.assign(panel=ratings.panels["panel"].map(renamed))
    panels = panels.sample(frac=1, random_state=seed)
    after = values_of(replace(ratings, panels=panels), y, weighted=weighted)
    np.testing.assert_allclose(after, before, atol=1e-12)


@quick
@given(case=cases(), seed=st.integers(0, 1000))
def test_order_of_items_changes_nothing(case, seed):
    ratings, y = case
    order = np.random.default_rng(seed).permutation(len(ratings.items))
    moved = replace(
        ratings,
        items=ratings.items.iloc[order],
        panels=ratings.panels.assign(item=np.argsort(order)[ratings.panels["item"]]),
    )
    before = values_of(ratings, y, weighted=True)
    np.testing.assert_allclose(values_of(moved, y[:, order], weighted=True), before, atol=1e-12)


@quick
@given(case=cases())
def test_order_of_draws_changes_nothing_but_their_order(case):
    ratings, y = case
    forth, back = values_of(ratings, y, weighted=False), values_of(ratings, y[::-1], weighted=False)
    np.testing.assert_array_equal(forth, back[:, ::-1])


@pytest.mark.parametrize("weighted", [False, True])
@quick
@given(case=cases())
def test_states_decoded_by_the_run_give_the_values_of_the_labels(weighted, case):
    ratings, y = case
    codes, states = np.unique(y.reshape(-1, y.shape[2]), axis=0, return_inverse=True)
    decoded = LabelDraws(states=states.reshape(y.shape[:2]).astype(np.int16), codes=codes)
    whole = values_of(ratings, y, weighted=weighted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draws_module, "CELLS", 1)
        by_run = values_of(ratings, decoded, weighted=weighted)
    np.testing.assert_allclose(by_run, whole, rtol=1e-12)


@quick
@given(case=cases())
def test_known_labels_give_the_values_of_a_draw(case):
    ratings, y = case
    table = metrics_of_labels(y[0], ratings)
    values = values_of(ratings, y[:1], weighted=False)[:, 0].ravel()
    np.testing.assert_allclose(table["value"], values, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@quick
@given(case=cases())
def test_prevalences_of_a_label_sum_to_one(weighted, case):
    ratings, y = case
    chosen = prevalence_metrics(ratings.task)
    values = values_of(ratings, y, weighted=weighted, chosen=chosen)
    for label in ratings.task.label_names:
        mine = [v for m, v in zip(chosen, values, strict=True) if m.labels == (label,)]
        total = np.sum(mine, axis=0)
        assert np.allclose(total[~np.isnan(total)], 1)
        applies = (y[..., ratings.task.label_names.index(label)] >= 0).all()
        assert not (applies and np.isnan(total).any())


@quick
@given(case=cases(tasks=("retrieval",)))
def test_better_order_never_lowers_ndcg(case):
    ratings, y = case
    best = y[:1].copy()
    ranked = ratings.panels.sort_values(["panel", "rank"])
    for _, places in ranked.groupby("panel"):
        items = places["item"].to_numpy()
        grade = best[0, items, 0] + best[0, items, 1]
        best[0, items] = best[0, items[np.argsort(-grade)]]
    (ndcg,) = [m for m in metrics_for(ratings.task) if m.name == "ndcg_at_k"]
    before = values_of(ratings, y[:1], weighted=False, chosen=[ndcg])
    after = values_of(ratings, best, weighted=False, chosen=[ndcg])
    assert (after >= before - 1e-12).all()

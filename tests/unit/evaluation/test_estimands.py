"""Weights of clusters: their law in closed form, and that fits share them."""

from dataclasses import replace

import numpy as np
import pytest

from assay.data.task_files import load_task
from assay.evaluation.draws import metric_draws
from assay.evaluation.estimands import (
    cluster_weights,
    gamma_shapes,
    is_modelled,
    modelled,
    share_of_model,
)
from assay.evaluation.panels import PanelLayout
from assay.evaluation.registry import registered


def one_item_panels(clusters, *, stratum=None, weight=None):
    """A layout of one panel with one item per cluster."""
    size = len(clusters)
    return PanelLayout(
        item=np.arange(size)[:, None],
        mask=np.ones((size, 1), bool),
        bounds=np.array([0, size]),
        cluster=np.arange(size),
        weight=np.ones(size) if weight is None else np.asarray(weight, float),
        systems=("",),
        clusters=tuple(clusters),
        stratum=np.zeros(size, np.int64) if stratum is None else np.asarray(stratum),
    )


NAMES = [f"q{n}" for n in range(40)]


def test_weights_are_dirichlet():
    """Moments of Dirichlet(1, ..., 1): mean 1/n, variance (n - 1) / (n^2 (n + 1))."""
    n, draws = 40, 20_000
    weights = cluster_weights(one_item_panels(NAMES))[0:draws]
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    variance = (n - 1) / (n**2 * (n + 1))
    error = np.sqrt(variance / draws)
    np.testing.assert_allclose(weights.mean(axis=0), 1 / n, atol=4.5 * error)
    np.testing.assert_allclose(weights.var(axis=0).mean(), variance, rtol=0.03)
    correlation = np.corrcoef(weights.T)[np.triu_indices(n, 1)]
    assert abs(correlation.mean() + 1 / (n - 1)) < 0.002
    assert abs(correlation + 1 / (n - 1)).max() < 4.5 / np.sqrt(draws)


def test_variance_of_a_mean_is_that_of_the_bayesian_bootstrap():
    """Var = sum (v - mean)^2 / (n (n + 1)) for a fixed truth."""
    n, draws = 40, 20_000
    y = (np.random.default_rng(3).random(n) < 0.3).astype(np.int16)
    labels = np.broadcast_to(y[None, :, None], (draws, n, 5))
    layout, task = one_item_panels(NAMES), load_task("generation")
    weights = cluster_weights(layout)
    values = metric_draws([registered("helpfulness_rate")], task, labels, layout, weights)
    expected = ((y - y.mean()) ** 2).sum() / (n * (n + 1))
    assert values.var() == pytest.approx(expected, rel=0.05)
    assert values.mean() == pytest.approx(y.mean(), abs=4.5 * np.sqrt(expected / draws))


def test_draws_of_one_cluster_are_independent():
    exponentials = -np.log1p(-cluster_weights(one_item_panels(NAMES))[0:20_000][:, 0])
    lagged = np.corrcoef(exponentials[1:], exponentials[:-1])[0, 1]
    assert abs(lagged) < 4.5 / np.sqrt(20_000)


def test_runs_of_draws_join():
    weights = cluster_weights(one_item_panels(NAMES))
    joined = np.concatenate([weights[0:7], weights[7:30]])
    np.testing.assert_allclose(joined, weights[0:30], rtol=1e-12)


def test_fits_that_share_clusters_share_their_weights():
    """Another order and another set of clusters: relative weights of the shared ones agree."""
    first = cluster_weights(one_item_panels(NAMES[:30]))[0:50]
    second = cluster_weights(one_item_panels(NAMES[39:9:-1]))[0:50]
    shared = second[:, [NAMES[39:9:-1].index(name) for name in NAMES[10:30]]]
    np.testing.assert_allclose(first[:, 11:30] / first[:, [10]], shared[:, 1:] / shared[:, [0]])


def test_another_seed_gives_other_weights():
    layout = one_item_panels(NAMES)
    assert not np.allclose(cluster_weights(layout, 1)[0:5], cluster_weights(layout, 2)[0:5])


def test_strata_keep_their_share_of_the_design_weight():
    stratum = np.repeat([0, 1], [10, 30])
    weight = np.where(stratum == 0, 6.0, 1.0) * np.linspace(0.5, 1.5, 40)
    weights = cluster_weights(one_item_panels(NAMES, stratum=stratum, weight=weight))[0:20]
    share = weight[:10].sum() / weight.sum()
    np.testing.assert_allclose((weights * weight)[:, :10].sum(axis=1), share)
    np.testing.assert_allclose((weights * weight).sum(axis=1), 1)
    assert weights[:, :10].std() > 0


def test_design_weight_of_a_cluster_is_the_mean_of_its_panels():
    layout = replace(
        one_item_panels(["a", "b", "c"], weight=[1, 3, 5]),
        cluster=np.array([0, 0, 1]),
        clusters=("a", "b"),
        stratum=np.zeros(2, np.int64),
    )
    assert cluster_weights(layout).design.tolist() == [2, 5]


@pytest.mark.parametrize("sizes", [(2,) * 20, (4,) * 10, (2, 3, 8, 30)])
def test_small_strata_lose_no_variance(sizes):
    """Of a stratified mean: sum_h (n_h / n)^2 s_h^2 / n_h, as sampling has it."""
    stratum, draws = np.repeat(np.arange(len(sizes)), sizes), 20_000
    n = len(stratum)
    names = [f"c{k}" for k in range(n)]
    values = np.random.default_rng(5).normal(size=n)
    found = cluster_weights(one_item_panels(names, stratum=stratum))[0:draws] @ values
    inside = [values[stratum == h] for h in range(len(sizes))]
    expected = sum(len(v) * v.var(ddof=1) / n**2 for v in inside)
    # At the smallest shape, a pair of clusters keeps 1 / 1.1 of its variance; 30 clusters are
    # enough, and keep 29 / 31.
    assert 0.85 * expected < found.var() < 1.03 * expected
    assert found.mean() == pytest.approx(values.mean(), abs=4.5 * np.sqrt(expected / draws))


def test_one_large_cluster_leaves_few_in_effect():
    weight = np.r_[29.0, np.ones(29)]
    shape = cluster_weights(one_item_panels([f"c{k}" for k in range(30)], weight=weight)).shape
    effective = 58**2 / (29**2 + 29)
    np.testing.assert_allclose(shape, 1 - 2 / effective)


def test_thirty_equal_clusters_and_more_are_dirichlet():
    for size in (30, 31, 300):
        layout = one_item_panels([f"c{k}" for k in range(size)], weight=np.full(size, 0.1))
        assert (cluster_weights(layout).shape == 1).all()


def test_the_model_predicts_a_share_of_the_draws_of_few_clusters():
    assert [share_of_model(n) for n in (5, 10, 15, 19, 20, 200)] == [1, 1, 0.5, 0.1, 0, 0]
    assert modelled("14 clusters", 0.6) == "population (60% model-based: 14 clusters)"
    assert is_modelled(modelled("3 clusters"))
    assert not is_modelled("population")


def test_gamma_shapes_widen_the_weights_of_few_clusters():
    assert gamma_shapes(np.zeros(4, int), np.ones(4)).tolist() == [0.5] * 4
    shapes = [float(gamma_shapes(np.zeros(n, int), np.ones(n))[0]) for n in (20, 30)]
    assert shapes == pytest.approx([0.95, 1.0])

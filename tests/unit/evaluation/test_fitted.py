"""Metrics of a fit, on fits made up of known label draws."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

from assay._util.errors import ModelError, UnknownNameError
from assay.data.ratings import Ratings
from assay.data.states import MISSING, state_space
from assay.data.task_files import load_task
from assay.display.notes import panels_said
from assay.evaluation import draws as draws_module
from assay.evaluation import fitted, metric, metrics, metrics_of_labels, registry
from assay.evaluation.draws import LabelDraws, metric_draws, metric_totals, posterior_labels
from assay.evaluation.estimands import cluster_weights, draws_of_model, mass_of_clusters
from assay.evaluation.fitted import metrics_if
from assay.evaluation.panels import panel_layout
from assay.evaluation.select import choose_metrics
from assay.fits import view
from assay.fits.view import FitView


def paired_ratings(task_name="retrieval", clusters=30, places=3, seed=1):
    """Two systems on the same clusters, each item rated once at random."""
    task, rng = load_task(task_name), np.random.default_rng(seed)
    panels = pd.DataFrame(
        [
            (f"{system}{c}", system, f"q{c}", rank + 1)
            for system in "AB"
            for c in range(clusters)
            for rank in range(places)
        ],
        columns=["panel", "system", "cluster", "rank"],
    )
    count = len(panels)
    items = pd.DataFrame(
        {"cluster": panels["cluster"], "stratum": "", "weight": 1.0},
    ).set_index(pd.Index([f"i{n}" for n in range(count)], name="item"))
    states = state_space(task).states
    return Ratings(
        task=task,
        answers=states[rng.integers(len(states), size=count)],
        item=np.arange(count),
        rater=np.zeros(count, np.int64),
        replicate=np.zeros(count, np.int64),
        abstained=np.zeros(count, bool),
        items=items,
        raters=pd.DataFrame({"group": ["raters"]}, index=pd.Index(["r"], name="rater")),
        truth=np.full((count, len(task.labels)), MISSING, np.int16),
        panels=panels.assign(item=np.arange(count)),
    )


@pytest.fixture
def fake(monkeypatch):
    """Make a fit of ratings: random admissible labels, 2 chains of 20 draws."""

    def make(ratings, labels=None, new=None):
        rng, states = np.random.default_rng(2), state_space(ratings.task).states
        count, width = len(ratings.items), states.shape[1]
        if labels is None:
            labels = states[rng.integers(len(states), size=(2, 20, count))]
        codes, drawn = np.unique(labels.reshape(-1, width), axis=0, return_inverse=True)

        def predicted(fit, replicates):
            rng = np.random.default_rng(3)
            kinds = states if new is None else new[None]
            for _ in range(replicates):
                yield LabelDraws(states=rng.integers(len(kinds), size=(40, count)), codes=kinds)

        def again(fit, draws):
            rng = np.random.default_rng(4)
            kinds = states if new is None else new[None]
            while True:
                yield LabelDraws(states=rng.integers(len(kinds), size=(draws, count)), codes=kinds)

        monkeypatch.setattr(view, "ratings_of", lambda tree: ratings)
        monkeypatch.setattr(fitted, "predicted_labels", predicted)
        monkeypatch.setattr(fitted, "predicted_again", again)
        tree = xr.DataTree(
            xr.Dataset(
                attrs={
                    "reference": "consensus of all raters",
                    "seed": 1,
                    "task": "",
                    "spec": "",
                    "label_doubts": "[]",
                    "data_doubts": "[]",
                }
            )
        )
        tree["labels"] = xr.Dataset(
            {"state": (("chain", "draw", "item"), drawn.reshape(2, 20, count))},
            coords={"chain": [0, 1], "draw": np.arange(20)},
        )
        tree["constant_data"] = xr.Dataset({"states": (("state", "label"), codes)})
        tree["posterior"] = tree["observed_data"] = xr.Dataset()
        return tree

    return make


def labels_of(fit):
    """Label draws of a fit, chains merged."""
    return posterior_labels(FitView.of(fit))[0:40]


def new_labels():
    """Return the labels of 32 sets of new clusters: (replicate, chain, draw, item, label)."""
    parts = [part[0:40] for part in fitted.predicted_labels(None, 32)]
    return np.stack([part.reshape(2, 20, *part.shape[1:]) for part in parts])


def test_finite_is_the_metric_of_each_draw(fake):
    ratings = paired_ratings()
    fit = fake(ratings)
    data = metrics(fit, estimand="finite")
    assert set(data.data_vars) == set(ratings.task.metrics)
    assert data["ndcg_at_k"].dims == ("chain", "draw", "system")
    assert data["system"].to_numpy().tolist() == ["A", "B"]
    for n in (0, 25):
        table = metrics_of_labels(labels_of(fit)[n], ratings).set_index(["metric", "system"])
        for name in ratings.task.metrics:
            drawn = data[name].to_numpy().reshape(40, 2)[n]
            np.testing.assert_allclose(drawn, table.loc[name, "value"])


def test_population_weights_the_panels_of_each_draw(fake):
    ratings = paired_ratings()
    fit = fake(ratings)
    data = metrics(fit, metric="topical_precision_at_k")
    layout, chosen = panel_layout(ratings), choose_metrics(ratings.task, "topical_precision_at_k")
    weights = cluster_weights(layout)[0:40]
    relevant = labels_of(fit)[..., 0].reshape(40, 2, 30, 3).mean(axis=-1)
    order = [sorted(f"q{c}" for c in range(30)).index(f"q{c}") for c in range(30)]
    observed = np.einsum("dsc,dc->ds", relevant, weights[:, order])
    prior = fitted.discordant_clusters(FitView.of(fit), ratings, chosen, layout, 40).totals(1)[:, 0]
    top, bottom = prior / mass_of_clusters(layout, 40, 1)[:, None]
    expected = (observed + top) / (1 + bottom)
    drawn = data["topical_precision_at_k"].to_numpy().reshape(40, 2)
    np.testing.assert_allclose(drawn, expected)
    assert data["topical_precision_at_k"].attrs["estimand"] == "population"


def test_attributes_say_what_the_numbers_are_about(fake):
    data = metrics(fake(paired_ratings()))
    assert data.attrs == {
        "estimand": "population",
        "reference": "consensus of all raters",
        "incomplete": "predict",
        "n_panels": 60,
        "n_panels_dropped": 0,
        "n_items_unrated": 0,
        "n_clusters": 30,
        "n_strata": 1,
        "weights_seed": 1,
    }
    assert data["ndcg_at_k"].attrs["description"].startswith("Normalised discounted")
    assert data["ndcg_at_k"].attrs["better"] == "higher"
    assert data["misleading_context_rate_at_k"].attrs["better"] == "lower"


@pytest.mark.parametrize(
    ("clusters", "words"),
    [
        (10, "population (model-based: 10 clusters)"),
        (14, "population (60% model-based: 14 clusters)"),
        (20, "population"),
    ],
)
def test_few_clusters_take_the_predictive_of_the_model(fake, clusters, words):
    """In a share of the draws that falls from all at ten clusters to none at twenty."""
    ratings = paired_ratings(clusters=clusters)
    data = metrics(fake(ratings), metric="topical_precision_at_k")
    variable = data["topical_precision_at_k"]
    assert variable.attrs["estimand"] == words
    expected = new_labels()[..., 0]
    expected = expected.reshape(32, 2, 20, 2, 3 * clusters).mean(axis=(0, 4)).reshape(40, 2)
    own = np.isclose(variable.to_numpy().reshape(40, 2), expected).all(axis=1)
    share = min(1.0, (20 - clusters) / 10)
    np.testing.assert_array_equal(own, draws_of_model(share, 40))
    assert own.sum() == pytest.approx(40 * share, abs=1)


def test_predictive_ratio_is_a_ratio_of_totals_over_replicates(fake):
    ratings = paired_ratings("grounding", clusters=5, places=1)
    data = metrics(fake(ratings), metric="conditional_fabrication_rate", by=None)
    new = new_labels()
    expected = new[..., 4].sum(axis=(0, 3)) / new[..., 3].sum(axis=(0, 3))
    np.testing.assert_allclose(data["conditional_fabrication_rate"].to_numpy(), expected)
    assert data["conditional_fabrication_rate"].dims == ("chain", "draw")


def test_changed_states_give_other_draws_than_those_kept(fake):
    """Five clusters: all draws are of new clusters. The first state has no label that is yes."""
    tree = FitView.of(fake(paired_ratings("generation", clusters=5, places=1)))
    before = metrics(tree, metric="helpfulness_rate")["helpfulness_rate"]
    same = metrics_if(tree, np.copy, metric="helpfulness_rate")["helpfulness_rate"]
    np.testing.assert_array_equal(same, before)
    changed = metrics_if(tree, np.zeros_like, metric="helpfulness_rate")["helpfulness_rate"]
    assert (before > 0).all()
    assert (changed == 0).all()
    after = metrics(tree, metric="helpfulness_rate")["helpfulness_rate"]
    np.testing.assert_array_equal(after, before)


def test_the_system_with_fewest_clusters_decides(fake):
    ratings = paired_ratings()
    few = ratings.panels["cluster"].isin([f"q{c}" for c in range(19)])
    kept = few | (ratings.panels["system"] == "B")
    data = metrics(fake(replace(ratings, panels=ratings.panels[kept])))
    assert data["ndcg_at_k"].attrs["estimand"] == "population (10% model-based: 19 clusters of A)"


def test_strata_count_against_the_clusters(fake):
    """24 clusters in 6 strata have as little to say of their variance as 19 in one."""
    ratings = paired_ratings(clusters=24)
    strata = ratings.items["cluster"].str[1:].astype(int) % 6
    ratings = replace(ratings, items=ratings.items.assign(stratum=strata.astype(str)))
    data = metrics(fake(ratings))
    assert data.attrs["n_strata"] == 6
    words = "population (10% model-based: 24 clusters in 6 strata)"
    assert data["ndcg_at_k"].attrs["estimand"] == words


@pytest.mark.parametrize("events", [0, 1])
def test_a_rate_without_an_event_is_above_zero(fake, events):
    """None or one of thirty: the interval goes on where it stood, and is not empty."""
    ratings = paired_ratings("generation", places=1)
    labels = np.zeros((2, 20, 60, 5), np.int16)
    labels[:, :, :events] = 1
    data = metrics(fake(ratings, labels), metric="helpfulness_rate")
    variable = data["helpfulness_rate"]
    assert variable.attrs["estimand"] == "population"
    assert (variable.to_numpy() > 0).all()
    means = variable.mean(dim=("chain", "draw")).to_numpy()
    np.testing.assert_allclose(means, [(events + 1) / 32, 1 / 32], rtol=0.5)


def test_scores_count_as_rated(fake):
    ratings = paired_ratings()
    scored = replace(
        ratings,
        answers=np.full_like(ratings.answers, MISSING),
        scores=np.zeros(ratings.answers.shape),
    )
    assert metrics(fake(scored)).attrs["n_items_unrated"] == 0


def test_undefined_draws_are_nan_and_their_share_is_told(fake):
    ratings = paired_ratings("grounding", places=1)
    labels = np.zeros((2, 20, 60, 5), np.int16)
    labels[0, :, :, 3] = 1
    data = metrics(fake(ratings, labels), estimand="finite")
    variable = data["conditional_fabrication_rate"]
    assert variable.attrs["undefined"] == 0.5
    assert np.isnan(variable.to_numpy()[1]).all()
    assert (variable.to_numpy()[0] == 0).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_panels_without_a_value_count_in_no_mean(fake, monkeypatch, value):
    """A metric of one's own that is undefined on every other panel, and in all of one draw."""

    @metric("doctest_of_some", task="generation", labels=["helpful"])
    def of_some(y, mask):
        return np.where(y[..., 0, 0] == 1, 0.25, value)

    monkeypatch.setattr(fitted, "SOME_DRAWS", 40)
    try:
        ratings = paired_ratings("generation", places=1)
        labels = np.zeros((2, 20, 60, 5), np.int16)
        labels[:, 1:, ::2, 2] = 1
        for estimand in ("finite", "population"):
            found = metrics(fake(ratings, labels), metric="doctest_of_some", estimand=estimand)
            variable = found["doctest_of_some"]
            assert np.isnan(variable.to_numpy()[:, 0]).all()
            assert variable.to_numpy()[:, 1:] == pytest.approx(0.25)
            assert variable.attrs["undefined"] == pytest.approx(1 / 20)
            assert variable.attrs["undefined_panels"] == pytest.approx(1 - 0.5 * 19 / 20)
            said = " doctest_of_some is undefined on 52.5% of the panels, which are left out."
            assert panels_said(found) == said
    finally:
        registry._METRICS.pop("doctest_of_some")


def test_incomplete_panels_can_be_dropped(fake):
    ratings = paired_ratings()
    ratings.answers[0] = MISSING
    predicted = metrics(fake(ratings))
    assert predicted.attrs["n_items_unrated"] == 1
    assert panels_said(predicted) == " 1 item has no rating: the model predicts its labels."
    fit = fake(ratings)
    data = metrics(fit, estimand="finite", incomplete="drop")
    assert (data.attrs["n_panels"], data.attrs["n_panels_dropped"]) == (59, 1)
    relevant = labels_of(fit)[..., 0].reshape(40, 60, 3).mean(axis=-1)
    drawn = data["topical_precision_at_k"].to_numpy().reshape(40, 2)
    np.testing.assert_allclose(drawn[:, 0], relevant[:, 1:30].mean(axis=1))


def test_choices_and_names_are_checked(fake):
    fit = fake(paired_ratings())
    with pytest.raises(ModelError, match="did you mean finite", check=refusal("argument-choice")):
        metrics(fit, estimand="finit")
    with pytest.raises(UnknownNameError, check=refusal("unknown-metric")):
        metrics(fit, metric=["topical_precision"])
    with pytest.raises(ModelError, match="None for those", check=refusal("argument-names")):
        metrics(fit, metric=[])


def test_size_of_the_runs_changes_nothing(fake, monkeypatch):
    fit = fake(paired_ratings())
    whole = metrics(fit)
    monkeypatch.setattr(draws_module, "CELLS", 2_000)
    xr.testing.assert_allclose(whole, metrics(fit), rtol=1e-12)


def test_totals_count_panels_or_weights():
    ratings = paired_ratings(clusters=4)
    layout, chosen = panel_layout(ratings), choose_metrics(ratings.task)
    y = np.zeros((3, len(ratings.items), 3), np.int16)
    assert (metric_totals(chosen, ratings.task, y, layout)[1] == 4).all()
    weighted = metric_totals(chosen, ratings.task, y, layout, cluster_weights(layout))
    np.testing.assert_allclose(weighted[1], 1)


def test_memory_stays_bounded():
    """20 million label cells are 8 MB of states; a float of each would be 160 MB."""
    ratings = paired_ratings("generation", clusters=10_000, places=1)
    codes = state_space(ratings.task).states
    states = np.random.default_rng(1).integers(len(codes), size=(200, 20_000), dtype=np.int16)
    layout, chosen = panel_layout(ratings), choose_metrics(ratings.task)
    draws = LabelDraws(states=states, codes=codes)
    tracemalloc.start()
    try:
        metric_draws(chosen, ratings.task, draws, layout, cluster_weights(layout))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6

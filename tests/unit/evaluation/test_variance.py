"""Where the variance of a metric comes from, and what more data would make of it."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from quick_fits import without_departures
from refusals import refusal

import assay
from assay._util.errors import FitError, UnknownNameError
from assay.evaluation import expected_width, metric, registry, variance_budget
from assay.evaluation.draws import posterior_labels, second_labels
from assay.evaluation.variance import Components, effective_draws
from assay.evaluation.widths import (
    _next_replicates,
    _variance_left,
    evidence_share,
    planned_ratings,
)
from assay.fits.datatree import ratings_of
from assay.fits.view import FitView

PARTS = ["parameters", "labels", "clusters"]


def fitted(n_clusters, draws):
    ratings = assay.simulate(
        "retrieval",
        n_items=6 * n_clusters,
        n_clusters=n_clusters,
        n_systems=2,
        ratings_per_item=2,
        rng=4,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return assay.fit(ratings, method="laplace", draws=draws, chains=2, rng=1, progress=False)


@pytest.fixture(scope="module")
def fit():
    with without_departures():
        return fitted(30, 2000)


@pytest.fixture(scope="module")
def few():
    return fitted(8, 50)


@pytest.fixture
def quick(monkeypatch):
    """Simulate fewer sets of new ratings."""
    monkeypatch.setattr("assay.evaluation.widths.SETS", 4)
    monkeypatch.setattr("assay.evaluation.widths.DRAWS", 30)


@pytest.mark.parametrize("sets", [1, 2, 4])
def test_components_are_the_variances_that_made_the_values(sets):
    """Parameters 4, labels 1, clusters 9 (none without weights), of independent normals."""
    rng, draws = np.random.default_rng(1), 40_000
    shared = rng.normal(0, 2, draws)
    own = [rng.normal(0, 1, draws) for _ in range(2)]
    noise = rng.normal(0, 3 if sets > 1 else 0, (2, sets, draws))
    first, second = (shared + own[n] + noise[n] for n in range(2))
    found = Components.of_pairs(first[:, None, :, None], second[:, None, :, None]).means()
    expected = [4, 1, 9 if sets > 1 else 0]
    assert np.ravel(found) == pytest.approx(expected, abs=0.25)


def test_undefined_draws_are_left_out_of_both():
    values = np.array([1.0, 2.0, np.nan, 4.0])
    parts = Components.of_pairs(values[None, None, :, None], values[None, None, :, None])
    parameters, labels, clusters = np.ravel(parts.means())
    assert parameters == pytest.approx(np.var([1, 2, 4]))
    assert (labels, clusters) == pytest.approx((0, 0))
    assert np.isnan(parts.labels[0, 2, 0])
    # What one draw of the labels lacks, the other still tells of.
    other = np.array([1.0, np.nan, 2.0, 4.0])
    mixed = Components.of_pairs(values[None, None, :, None], other[None, None, :, None])
    total = np.sum(mixed.means())
    squares = [(v - np.nanmean(v)) ** 2 for v in (values, other)]
    assert total == pytest.approx(np.nanmean(np.nanmean(squares, axis=0)))
    assert mixed.sums().mean() == pytest.approx(total)
    nothing = Components.of_pairs(np.full((1, 1, 3, 1), np.nan), np.zeros((1, 1, 3, 1)))
    assert np.isnan(nothing.means()).all()


@pytest.mark.slow
def test_second_labels_have_the_law_of_the_first(fit):
    """Same share of each state of each item, but other draws."""
    first, second = posterior_labels(FitView.of(fit)), second_labels(FitView.of(fit))
    assert (first.states != second.states).any()
    np.testing.assert_array_equal(second.states, second_labels(FitView.of(fit)).states)
    for state in range(len(first.codes)):
        shares = [(draws.states == state).mean(axis=0) for draws in (first, second)]
        error = np.sqrt(shares[0] * (1 - shares[0]) * 2 / len(first.states)) + 1 / 300
        assert (abs(shares[0] - shares[1]) < 5 * error).all()


@pytest.mark.parametrize("estimand", ["population", "finite"])
@pytest.mark.parametrize("contrast", [None, ("system_2", "system_1")])
def test_components_sum_to_the_posterior_variance(fit, estimand, contrast):
    table = variance_budget(fit, estimand=estimand, contrast=contrast)
    draws = assay.metrics(fit, estimand=estimand)["ndcg_at_k"]
    if contrast is None:
        assert len(table) == 12
        reported = draws.sel(system="system_1").to_numpy().var()
    else:
        assert set(table["system"]) == {"system_2 - system_1"}
        reported = (draws.sel(system="system_2") - draws.sel(system="system_1")).to_numpy().var()
    line = table[table["metric"] == "ndcg_at_k"].iloc[0]
    assert line["variance"] == pytest.approx(reported)
    gap = (table["variance"] - table[PARTS].sum(axis=1)).abs()
    assert (gap <= 3 * table["mcse"]).all()
    assert (table["monte_carlo"] < 0.05 * table["variance"]).all()
    assert (table["clusters"] == 0).all() == (estimand == "finite")
    assert set(table["estimand"]) == {estimand}
    assert set(table["reference"]) == {fit.attrs["reference"]}


def test_what_only_the_second_labels_hold_is_within_the_error(fit):
    """No draw that is reported misleads, and some of their twins do."""
    still = fit.copy(deep=True)
    states = fit["constant_data"]["states"].to_numpy()
    calm = np.flatnonzero(states[:, 2] == 0)[0]
    labels = fit["labels"].to_dataset()
    still["labels"] = labels.assign(state=xr.full_like(labels["state"], calm))
    table = variance_budget(still, metric="misleading_context_rate_at_k", estimand="finite")
    assert (table["variance"] == 0).all()
    assert (table["mcse"] > 0).all()


def test_labels_are_the_variance_given_the_parameters(fit):
    """With the parameters and the raters' lean at one point, nothing is left to these."""
    fixed = fit.copy(deep=True)
    posterior = fit["posterior"].to_dataset()
    still = posterior.map(lambda v: v.isel(chain=0, draw=0) + 0 * v)
    fixed["posterior"] = still.transpose("chain", "draw", ...)
    labels = fit["labels"].to_dataset()
    lean = labels["pool_lean"]
    labels = labels.assign(pool_lean=(lean.isel(chain=0, draw=0) + 0 * lean).transpose(*lean.dims))
    fixed["labels"] = labels
    again = second_labels(FitView.of(fixed)).states.reshape(2, 2000, -1)
    fixed["labels"] = labels.assign(state=(("chain", "draw", "item"), again))
    fixed.attrs["seed"] = 77
    table = variance_budget(fixed, estimand="finite")
    assert (table["parameters"].abs() <= 4 * table["mcse"]).all()
    assert (table["labels"] > 0).all()


def test_population_of_few_clusters_hangs_on_the_parameters(few):
    table = variance_budget(few, metric="topical_precision_at_k")
    assert set(table["estimand"]) == {"population (model-based: 8 clusters)"}
    np.testing.assert_allclose(table["parameters"], table["variance"])
    assert (table[["labels", "clusters"]] == 0).all(axis=None)


def test_systems_of_a_contrast_have_to_exist(fit):
    with pytest.raises(
        UnknownNameError, match="did you mean system_1", check=refusal("unknown-system")
    ):
        variance_budget(fit, contrast=("system_2", "sistem_1"))


def test_more_data_narrows(fit, quick):
    table = expected_width(fit, metric=["ndcg_at_k", "topical_precision_at_k"], rng=1)
    summary = assay.summarize(assay.metrics(fit, metric=["ndcg_at_k", "topical_precision_at_k"]))
    np.testing.assert_allclose(table["width"], summary["upper"] - summary["lower"])
    np.testing.assert_allclose(table["ten_more_clusters"], table["width"] * np.sqrt(30 / 40))
    assert (table["one_more_rating"] < table["width"]).all()
    assert (table["one_more_rater"] <= table["width"]).all()
    options = table[["one_more_rating", "ten_more_clusters", "one_more_rater"]].to_numpy()
    names = np.array(["ratings", "clusters", "raters"])[options.argmin(axis=1)]
    assert table["binds"].tolist() == names.tolist()


@pytest.mark.parametrize("n_raters", [1, 4])
def test_clusters_do_not_tell_errors_from_truth(n_raters):
    """Without two raters of an item, what is not known of the raters stays as it is."""
    ratings = assay.simulate(
        "generation", n_items=60, n_clusters=30, n_raters=n_raters, ratings_per_item=1, rng=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        once = assay.fit(
            ratings, raters="hierarchical", method="laplace", draws=1000, chains=2, starts=1, rng=1
        )
    table = expected_width(once, metric="helpfulness_rate", by=None)
    parts = variance_budget(once, metric="helpfulness_rate", by=None).iloc[0]
    left = parts["parameters"] + (parts["labels"] + parts["clusters"]) * 30 / 40
    share = left / parts[PARTS].sum()
    assert parts["estimand"] == "population"  # the event was seen in nearly all draws
    assert table["binds"].tolist() == ["overlap"]
    assert table[["one_more_rating", "one_more_rater"]].isna().all(axis=None)
    line = table.iloc[0]
    assert line["ten_more_clusters"] == pytest.approx(line["width"] * np.sqrt(share))


@pytest.mark.slow
@pytest.mark.usefixtures("departures_unsought")
def test_events_that_nobody_saw_wait_in_other_clusters(quick):
    """More ratings of items on which nobody saw an event narrow little what it is elsewhere.

    A little: an item may be hard on this label alone, and two answers leave that open. It is about
    as much as ten more clusters tell (seeds 1 to 3: 0.87, 0.90 and 0.83, for 0.87).
    """
    ratings = assay.simulate("generation", n_items=60, n_clusters=30, ratings_per_item=2, rng=1)
    safe = ratings.answers.copy()
    safe[:, ratings.task.label_names.index("unsafe_content")] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unseen = assay.fit(
            replace(ratings, answers=safe), method="laplace", draws=100, chains=2, starts=1, rng=1
        )
    line = expected_width(unseen, metric="unsafe_content_rate", by=None).iloc[0]
    assert line["estimand"] == "population"
    assert line["ten_more_clusters"] == pytest.approx(line["width"] * np.sqrt(30 / 40))
    assert 0.8 * line["width"] < line["one_more_rating"] <= line["width"]


def test_expected_width_repeats_with_its_seed(few, quick):
    chosen = {"metric": "ndcg_at_k", "estimand": "finite", "contrast": ("system_2", "system_1")}
    first, again = (expected_width(few, rng=3, **chosen) for _ in range(2))
    assert first.equals(again)
    assert first["system"].tolist() == ["system_2 - system_1"]


def test_metric_that_is_never_defined_has_no_variance(few, quick):
    """Nobody of the labelled items has the class that the denominator counts."""

    @metric("never_defined", task="retrieval", kind="ratio")
    def never(y, mask):
        return np.zeros(y.shape[:-2]), np.zeros(y.shape[:-2])

    try:
        chosen = {"metric": "never_defined", "estimand": "finite"}
        assert variance_budget(few, **chosen)[["variance", *PARTS, "mcse"]].isna().all(axis=None)
        table = expected_width(few, **chosen)
        assert table["width"].isna().all()
        assert set(table["binds"]) == {""}
    finally:
        registry._METRICS.pop("never_defined")


def test_level_is_checked(few):
    with pytest.raises(FitError, match="level=95", check=refusal("argument-number")):
        expected_width(few, level=95)


def test_planned_ratings_are_by_other_raters(few):
    ratings = ratings_of(few)
    plan = planned_ratings(ratings, 1.0, np.random.default_rng(1))
    count = len(ratings.items)
    assert len(plan.answers) == len(ratings.answers) + count
    assert sorted(plan.item[-count:]) == list(range(count))
    pairs = set(zip(plan.item.tolist(), plan.rater.tolist(), strict=True))
    # Eight tries miss all three raters that are left of five with probability 0.4^8.
    assert len(pairs) >= len(plan.answers) - 1
    assert len(planned_ratings(ratings, 0.25, np.random.default_rng(1)).answers) == round(
        len(ratings.answers) + count / 4
    )


def test_rater_who_rates_again_gets_the_next_replicate():
    ratings = assay.simulate("single", n_items=5, n_raters=1, ratings_per_item=1, rng=1)
    plan = planned_ratings(ratings, 1.0, np.random.default_rng(1))
    assert plan.replicate.tolist() == [0] * 5 + [1] * 5
    item, rater = np.array([4, 4, 0]), np.array([0, 7, 0])
    pool = assay.simulate("single", n_items=5, n_raters=8, ratings_per_item=1, rng=1)
    once = replace(pool, rater=np.zeros_like(pool.rater))
    # The pair of the last item and the last rater comes after all pairs that are there.
    assert _next_replicates(once, item, rater).tolist() == [1, 0, 1]


def test_ratings_of_scores_only_can_be_planned():
    ratings = assay.simulate("generation", n_items=6, n_raters=3, ratings_per_item=1, rng=1)
    scored = replace(
        ratings,
        answers=np.full_like(ratings.answers, -1),
        scores=np.full(ratings.answers.shape, 0.5),
    )
    plan = planned_ratings(scored, 1.0, np.random.default_rng(1))
    assert plan.scores.shape == (12, 5)


def test_evidence_counts_pairs_and_known_truth():
    once = assay.simulate("single", n_items=10, n_raters=4, ratings_per_item=1, rng=1)
    assert np.isnan(evidence_share(once, 1.0))
    again = assay.simulate("single", n_items=10, ratings_per_item=1, replicates=3, rng=1)
    assert np.isnan(evidence_share(again, 1.0))
    known = assay.simulate("single", n_items=10, ratings_per_item=1, gold=1.0, rng=1)
    assert evidence_share(known, 1.0) == pytest.approx(10 / 30)
    thrice = assay.simulate("single", n_items=10, n_raters=4, ratings_per_item=3, rng=1)
    assert evidence_share(thrice, 0.5) == pytest.approx(30 / 45)


def test_undefined_draws_make_fewer_effective_draws():
    values = np.ones((3, 2, 100))
    values[0, :, ::4] = np.nan
    values[2] = np.nan
    np.testing.assert_array_equal(effective_draws(values), [150, 200, np.nan])
    rng = np.random.default_rng(1)
    drawn = np.where(rng.random((2, 1000)) < 0.5, np.nan, rng.normal(size=(2, 1000)))
    assert effective_draws(drawn) == pytest.approx(1000, rel=0.2)


def test_what_is_left_of_the_variance_in_closed_form():
    """Parameters 4, labels 1, clusters 2; a rating more leaves half of 4, 0.5 of labels, and 2."""
    ratings = assay.simulate("single", n_items=10, n_raters=4, ratings_per_item=3, rng=1)
    now = tuple(np.array([[part]]) for part in (4.0, 1.0, 2.0))
    asked = []

    def rated_more(share):
        asked.append(share)
        return now[0], np.array([[0.5]])

    left = _variance_left(ratings, np.array([10]), now, rated_more)
    assert left["ten_more_clusters"] == pytest.approx(10 / 20)
    assert left["one_more_rating"] == pytest.approx((4 * 30 / 60 + 0.5 + 2) / 7)
    assert left["one_more_rater"] == pytest.approx((4 * 30 / 52.5 + 0.5 + 2) / 7)
    assert asked == [1.0, 0.75]
    # A rating more cannot raise the expected variance, so half of 4 parameters is left here too.
    left = _variance_left(ratings, np.array([10]), now, lambda _: (now[0] * 2, now[1] * 2))
    assert left["one_more_rating"] == pytest.approx((4 * 30 / 60 + 1 + 2) / 7)
    once = assay.simulate("single", n_items=10, n_raters=4, ratings_per_item=1, rng=1)
    left = _variance_left(once, np.array([10]), now, rated_more)
    assert left["ten_more_clusters"] == pytest.approx((4 + 3 * 10 / 20) / 7)
    assert np.isnan(left["one_more_rating"]).all()


def test_numbers_hold_up_in_json(few):
    table = variance_budget(few, metric="ndcg_at_k", by=None)
    line = json.loads(table.to_json(orient="records"))[0]
    assert (line["system"], line["reference"]) == ("", few.attrs["reference"])


def test_more_ratings_by_raters_who_rated_all_items_are_planned() -> None:
    """Then raters rate items again, though the fit has learned no consistency."""
    ratings = assay.simulate("single", n_items=12, n_raters=3, ratings_per_item=3, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(ratings, raters="one_coin", method="laplace", draws=50, progress=False)
    assert np.isfinite(assay.expected_width(fit)["width"]).all()

"""score_rater and its fellows: draws, estimands, undefined values, what the result says."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitWarning, ModelError
from assay.raters.scoring import MEASURES, score_rater, score_table, threshold_sweep
from assay.raters.scoring.informed import item_weights
from assay.raters.scoring.truths import read_truth

RANKED = [name for name, measure in MEASURES.items() if measure.ranking]
ITEMS = [f"i{n}" for n in range(40)]


def draws(size: int = 30, *, classes: int = 2, seed: int = 1) -> xr.DataArray:
    """Truth draws that follow the scores, so that no measure is undefined."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, (2, size, len(ITEMS)))
    codes = np.where(rng.random(codes.shape) < 0.6, (np.arange(len(ITEMS)) % 4 == 0) * 1, codes)
    return xr.DataArray(codes, dims=("chain", "draw", "item"), coords={"item": ITEMS})


def scores(seed: int = 2) -> pd.Series:
    rng = np.random.default_rng(seed)
    high = np.arange(len(ITEMS)) % 4 == 0
    return pd.Series(np.round(0.3 * high + 0.7 * rng.random(len(ITEMS)), 1), index=ITEMS)


CLUSTERS = {item: f"q{n % 5}" for n, item in enumerate(ITEMS)}


@pytest.mark.parametrize("name", list(MEASURES))
def test_a_draw_is_scored_as_the_same_truth_alone(name: str) -> None:
    truth = draws(classes=3)
    choices = {"positive": "1", "clusters": CLUSTERS, "metric": name, "k": 4}
    together = score_rater(truth, scores(), **choices)
    for chain, draw in ((0, 0), (1, 17)):
        one = truth.isel(chain=chain, draw=[draw]).expand_dims("chain")
        alone = score_rater(one, scores(), **choices)
        for variable in together:
            here = together[variable].isel(chain=chain, draw=draw).item()
            assert here == pytest.approx(alone[variable].item(), abs=1e-12)


def test_blocks_of_draws_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = score_rater(draws(), scores(), clusters=CLUSTERS)
    monkeypatch.setattr("assay.raters.scoring.rater_scores.BLOCK_CELLS", 7 * len(ITEMS))
    parts = score_rater(draws(), scores(), clusters=CLUSTERS)
    xr.testing.assert_allclose(parts, whole, rtol=1e-12)
    assert parts.attrs == whole.attrs


def test_the_result_says_what_it_is() -> None:
    partly = scores().iloc[:-3]
    found = score_rater(draws(), partly, clusters=CLUSTERS, k=10, metric=["ndcg", "auroc"])
    assert set(found) == {"ndcg_at_10", "auroc"}
    assert found["auroc"].attrs["estimand"] == "finite"
    assert "first 10 ranks" in found["ndcg_at_10"].attrs["description"]
    assert found.attrs["positive"] == ["1"]
    assert found.attrs["n_items"] == 37
    assert found.attrs["n_items_without_score"] == 3
    assert found.attrs["n_rankings"] == 5
    table = assay.summarize(found)
    assert set(table["estimand"]) == {"finite"}


def test_ties_are_counted_within_rankings() -> None:
    score = {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.1}
    truth = {"a": 1, "b": 0, "c": 1, "d": 0}
    apart = {"a": "x", "b": "x", "c": "y", "d": "y"}
    assert score_rater(truth, score, clusters=apart).attrs["n_items_tied"] == 2
    assert score_rater(truth, score, by=None).attrs["n_items_tied"] == 3


def test_items_whose_label_does_not_apply_are_left_out_of_that_draw() -> None:
    truth = draws(classes=3)
    codes = truth.to_numpy().copy()
    codes[0, 0, :7] = -2
    codes[0, 0, 7] = -1
    masked = truth.copy(data=codes)
    whole = score_rater(masked, scores(), positive="1", clusters=CLUSTERS)
    kept = score_rater(
        masked.isel(chain=[0], draw=[0], item=slice(8, None)),
        scores().iloc[8:],
        positive="1",
        clusters=CLUSTERS,
        # The bins are those of the items that are scored, hence not alike.
        metric=[name for name in MEASURES if name != "ece_equal_mass"],
    )
    for name, value in kept.items():
        assert whole[name].isel(chain=0, draw=0).item() == pytest.approx(value.item(), abs=1e-12)
    assert whole.attrs["share_not_known"] == pytest.approx(8 / truth.size)


def test_undefined_values_are_nan_and_counted() -> None:
    truth = draws()
    truth[0, :] = 0
    found = score_rater(truth, scores(), clusters=CLUSTERS)
    for name in ("auroc", "average_precision", "recall", "kendall_tau"):
        assert np.isnan(found[name].isel(chain=0)).all()
        assert found[name].attrs["undefined"] == 0.5
    # A ranking without anything to find has found nothing.
    assert (found["ndcg"].isel(chain=0) == 0).all()
    assert (found["map"].isel(chain=0) == 0).all()


def test_the_range_over_ties_holds_the_mean() -> None:
    found = score_rater(draws(classes=3), scores(), positive="1", clusters=CLUSTERS, k=3)
    for name in ("ndcg", "map"):
        low, mean, high = (found[f"{name}{end}_at_3"] for end in ("_lowest", "", "_highest"))
        assert (low <= mean + 1e-12).all()
        assert (mean <= high + 1e-12).all()
        assert (low < high).any()


def test_population_weights_clusters_and_is_wider() -> None:
    clusters = {item: f"q{n % 20}" for n, item in enumerate(ITEMS)}
    truth = draws(400)
    here = score_rater(truth, scores(), clusters=clusters)
    there = score_rater(truth, scores(), clusters=clusters, estimand="population")
    assert there["auroc"].attrs["estimand"] == "population"
    for name in ("auroc", "brier", "f1", "map"):
        assert float(there[name].std()) > float(here[name].std())
        assert float(there[name].mean()) == pytest.approx(float(here[name].mean()), abs=0.05)


def test_population_weights_are_those_of_the_draw_and_the_clusters_name() -> None:
    # All items of a cluster are right or all are wrong, so that accuracy is a sum of weights.
    from assay.evaluation.estimands import (
        CLUSTERS_ENOUGH,
        WEIGHTS_SEED,
        ClusterWeights,
        cluster_keys,
    )

    names = tuple(f"q{n:02d}" for n in range(CLUSTERS_ENOUGH))
    items = [f"{name}-{n}" for name in names for n in range(2)]
    right = [name < "q05" for name in names for _ in range(2)]
    truth = xr.DataArray(
        np.ones((1, 6, len(items)), int), dims=("chain", "draw", "item"), coords={"item": items}
    )
    found = score_rater(
        truth,
        dict(zip(items, np.where(right, 0.9, 0.1), strict=True)),
        clusters={item: item[:3] for item in items},
        metric="accuracy",
        estimand="population",
    )
    weights = ClusterWeights(
        keys=cluster_keys(names, WEIGHTS_SEED),
        stratum=np.zeros(len(names), int),
        design=np.ones(len(names)),
        shape=np.ones(len(names)),
    )[0:6]
    assert found["accuracy"].values[0] == pytest.approx(weights[:, :5].sum(axis=1), abs=1e-12)


@pytest.mark.parametrize("stratified", [False, True])
def test_rankings_count_the_design_weight_of_their_cluster(stratified: bool) -> None:
    """Scores are in order in ten queries that stand for nine each, reversed in thirty others."""
    rows = [(f"q{q:02d}", f"q{q:02d}-{n}", q % 4 == 0, n == 1) for q in range(40) for n in range(2)]
    table = pd.DataFrame(rows, columns=["query_id", "item", "heavy", "event"])
    table = table.assign(rater="r", weight=np.where(table["heavy"], 9.0, 1.0), truth=table["event"])
    ratings = assay.read_ratings(
        table,
        task="single",
        labels=["event"],
        cluster="query_id",
        truth="truth",
        **({"stratum": "heavy"} if stratified else {"stratum": ""}),
    )
    known = read_truth(ratings)
    weights = item_weights(
        "population", known.cluster, known.weight, known.stratum, by_cluster=True
    )
    assert weights is not None
    item, ranking = weights[0:500]
    heavy = np.arange(40) % 4 == 0
    share = ranking[:, heavy].sum(axis=1) / ranking.sum(axis=1)
    assert share.mean() == pytest.approx(90 / 120, abs=0.02)
    np.testing.assert_allclose(share, item[:, np.repeat(heavy, 2)].sum(axis=1) / item.sum(axis=1))
    assert (share.std() < 1e-12) == stratified
    scores = pd.Series(np.where(table["heavy"] == table["event"], 0.9, 0.1), index=table["item"])
    tau = score_rater(ratings, scores, metric="kendall_tau", estimand="population")
    # One draw of a known truth: tau is 1 in the heavy queries, -1 in the others.
    assert tau["kendall_tau"].item() == pytest.approx(2 * share[0] - 1)


def sampled_by_rank(clusters: int) -> tuple[assay.Ratings, pd.Series, float]:
    """Of each query all of the two highest scores, and two of the 38 others; the recall of all."""
    rng = np.random.default_rng(5)
    score = np.sort(rng.random((clusters, 40)))[:, ::-1]
    event = rng.random(score.shape) < np.where(np.arange(40) < 2, 0.9, 0.1)
    recall = float(event[score >= 0.9].sum() / event.sum())
    rows = [
        {
            "query_id": f"q{q:02d}",
            "item": f"q{q:02d}-{place}",
            "weight": 1.0 if place < 2 else 19.0,
            "score": score[q, place],
            "event": event[q, place],
            "known": event[q, place],
            "rater": "r",
        }
        for q in range(clusters)
        for place in (0, 1, *rng.choice(np.arange(2, 40), 2, replace=False))
    ]
    table = pd.DataFrame(rows)
    ratings = assay.read_ratings(
        table.drop(columns="score"), task="single", labels=["event"], cluster="query_id",
        truth="known",
    )  # fmt: skip
    return ratings, table.set_index("item")["score"], recall


def test_measures_count_weights_within_rankings_or_are_left_out_or_refused() -> None:
    ratings, score, recall = sampled_by_rank(60)
    asked = {"threshold": 0.9, "estimand": "population"}
    found = score_rater(ratings, score, **asked)
    assert found["recall"].item() == pytest.approx(recall, abs=0.15)
    assert found.attrs["left_out"] == RANKED
    assert "(from 1 to 19)" in found.attrs["left_out_because"]
    assert not set(RANKED) & set(found)
    table = score_table(ratings, {"one": score}, **asked).set_index("metric")
    assert table.loc["ndcg", "note"] == found.attrs["left_out_because"]
    assert np.isnan(table.loc["ndcg", "mean"])
    assert table.loc["recall", "note"] == ""
    for name in RANKED:
        with pytest.raises(ModelError, match=name, check=refusal("uneven-design-weights")):
            score_rater(ratings, score, metric=["auroc", name], **asked)


@pytest.mark.parametrize("metric", [None, "recall", "ndcg"])
def test_these_items_alone_are_no_sample_of_unequal_weights(metric: str | None) -> None:
    ratings, score, _ = sampled_by_rank(30)
    for by in ("cluster", None):
        with pytest.raises(
            ModelError,
            match="`estimand='population'` uses them",
            check=refusal("uneven-design-weights"),
        ):
            score_rater(ratings, score, metric=metric, by=by)
    with pytest.raises(ModelError, check=refusal("uneven-design-weights", lowest=1, highest=19)):
        threshold_sweep(ratings, score)
    few, score, _ = sampled_by_rank(10)
    with pytest.raises(ModelError, check=refusal("few-clusters", clusters=10, needed=20)):
        score_rater(few, score, metric=metric, estimand="population")


def test_weights_that_differ_between_rankings_alone_are_no_obstacle() -> None:
    ratings, score, _ = sampled_by_rank(30)
    even = ratings.items.assign(weight=np.repeat(np.arange(1.0, 31), 4))
    ratings = replace(ratings, items=even)
    for estimand in ("finite", "population"):
        assert "ndcg" in score_rater(ratings, score, estimand=estimand)
    assert "recall" in threshold_sweep(ratings, score)


@pytest.mark.parametrize("by", ["cluster", None])
def test_population_refuses_few_clusters(by: str | None) -> None:
    with pytest.raises(ModelError, check=refusal("few-clusters", clusters=5, needed=20)):
        score_rater(draws(), scores(), clusters=CLUSTERS, by=by, estimand="population")


def test_a_table_has_a_line_per_measure_and_rater() -> None:
    raters = {"one": scores(2), "two": scores(3).iloc[:30]}
    table = score_table(draws(), raters, clusters=CLUSTERS, metric=["brier", "auroc"])
    assert list(table["metric"]) == ["brier", "brier", "auroc", "auroc"]
    assert list(table["rater"]) == ["one", "two"] * 2
    assert list(table["n_items"]) == [40, 30] * 2
    alone = score_rater(draws(), scores(3).iloc[:30], metric="auroc")["auroc"]
    assert table["mean"].iloc[3] == pytest.approx(float(alone.mean()))
    assert (table["lower"] < table["mean"]).all()


def test_a_table_of_nobody_is_refused() -> None:
    with pytest.raises(ModelError, match="at least one", check=refusal("scores-table")):
        score_table(draws(), {})


def test_a_sweep_has_a_posterior_at_every_threshold() -> None:
    found = threshold_sweep(draws(), scores(), thresholds=[0.5, 0.05, 2.0])
    assert dict(found.sizes) == {"chain": 2, "draw": 30, "threshold": 3}
    assert list(found["threshold"].values) == [0.05, 0.5, 2.0]
    at = score_rater(draws(), scores(), metric=["precision", "recall", "f1", "accuracy"])
    for name in at:
        xr.testing.assert_allclose(
            found[name].sel(threshold=0.5, drop=True).drop_vars(["chain", "draw"]),
            at[name].drop_vars(["chain", "draw"]),
        )
    assert np.isnan(found["precision"].sel(threshold=2.0)).all()


def test_a_sweep_over_many_scores_takes_quantiles() -> None:
    items = [f"i{n}" for n in range(1000)]
    truth = {item: n % 2 for n, item in enumerate(items)}
    found = threshold_sweep(truth, dict(zip(items, np.arange(1000) / 1000, strict=True)))
    assert found.sizes["threshold"] == 200
    assert found["threshold"].values[[0, -1]] == pytest.approx([0.0, 0.999])


def test_a_fit_is_scored_on_its_label_draws() -> None:
    ratings = assay.simulate("relevance", n_items=60, n_raters=4, ratings_per_item=3, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(ratings, method="map", draws=20, chains=2, rng=1, progress=False, starts=1)
    assert ratings.simulated is not None
    score = pd.Series(ratings.simulated.truth[:, 0] / 2, index=ratings.items.index)
    found = score_rater(fit, score, positive="partially")
    labels = assay.label_draws(fit).isel(label=0)
    right = ((labels >= 1) == (score.to_numpy() >= 0.5)).mean("item")
    assert found["accuracy"].values == pytest.approx(right.values, abs=1e-12)
    assert found.attrs["positive"] == ["partially", "yes"]
    assert found.attrs["reference"] == fit.attrs["reference"]


def test_order_of_items_and_names_of_clusters_do_not_matter() -> None:
    truth, score = draws(classes=3), scores()
    turned = np.random.default_rng(5).permutation(len(ITEMS))
    there = score_rater(
        truth.isel(item=turned),
        score.sample(frac=1, random_state=3),
        positive="1",
        clusters={item: f"other {name}" for item, name in CLUSTERS.items()},
    )
    here = score_rater(truth, score, positive="1", clusters=CLUSTERS)
    xr.testing.assert_allclose(here, there, rtol=1e-12)


def test_measures_of_order_see_only_the_order() -> None:
    truth, score = draws(classes=3), scores()
    here = score_rater(truth, score, positive="1", clusters=CLUSTERS)
    there = score_rater(truth, np.exp(5 * score), positive="1", clusters=CLUSTERS)
    assert len(there) == sum(measure.needs == "order" for measure in MEASURES.values())
    xr.testing.assert_identical(here[list(there)].drop_attrs(), there.drop_attrs())


def test_order_within_clusters_of_one_item_is_undefined_and_left_out():
    truth, score = {"a": 1, "b": 0, "c": 1}, {"a": 0.1, "b": 0.9, "c": 0.5}
    alone = score_rater(truth, score, clusters={"a": "1", "b": "2", "c": "3"})
    for name in ("ndcg", "ndcg_lowest", "ndcg_highest", "map", "map_lowest", "kendall_tau"):
        assert np.isnan(alone[name]).all()
        assert alone[name].attrs["note"].startswith("3 of 3 rankings hold one scored item")
    assert alone["auroc"].item() == 0.0
    assert alone["auroc"].attrs["note"] == ""
    mixed = score_rater(truth, score, clusters={"a": "1", "b": "1", "c": "3"}, metric="map")
    assert mixed["map"].item() == 0.5
    assert mixed.attrs["n_rankings_of_one"] == 1
    together = score_rater(truth, score, by=None, metric="map")
    assert together["map"].attrs["note"] == ""
    table = score_table(truth, {"r": score}, clusters={"a": "1", "b": "2", "c": "3"}, metric="map")
    assert table["mean"].isna().all()
    assert "by=None" in table["note"].item()

"""What a fitted model expects: replicates of the answers, and checks against them."""

import warnings
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitError, FitWarning, ModelError
from assay.data.ratings import Ratings, take_ratings
from assay.data.states import MISSING, state_space
from assay.data.task import Label, Task
from assay.fits import predict
from assay.fits.datatree import ratings_of
from assay.fits.predict import predict_answers
from assay.fits.view import FitView
from assay.raters.agreements import WHOLE, agreement
from assay.validation.posterior_predictive import (
    ACROSS,
    ALL_SAY,
    CHECKED,
    OTHER,
    WITHIN,
    posterior_predictive_check,
)
from benchmarks.worlds.departure_worlds import FAULTS


def quick(ratings: Ratings, draws: int = 40, **options: str) -> xr.DataTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return assay.fit(ratings, method="map", draws=draws, chains=1, starts=1, **options)


@pytest.fixture(scope="module")
def gated() -> xr.DataTree:
    ratings = assay.simulate(
        "ais", n_items=80, n_raters=5, ratings_per_item=4, missing=0.2, groups={"a": 3, "b": 2}
    )
    return quick(ratings)


def test_replicates_answer_what_was_answered(gated: xr.DataTree):
    ratings = ratings_of(gated)
    missing = ratings.answers == MISSING
    assert missing.any()
    paths = {tuple(v) for v in state_space(ratings.task).paths.tolist()}
    replicates = list(predict_answers(gated, draws=50, rng=3))
    assert len(replicates) == 50
    for answers in replicates:
        assert answers.shape == ratings.answers.shape
        assert (answers[missing] == MISSING).all()
        assert {tuple(v) for v in answers[~missing.any(axis=1)].tolist()} <= paths
    assert not np.array_equal(replicates[0], replicates[1])
    again = list(predict_answers(gated, draws=50, rng=3))
    np.testing.assert_array_equal(replicates, again)


def test_expected_agreement_is_that_of_the_parameters():
    """With one label, two raters agree with chance sum_s p(s) sum_k theta_a[s,k] theta_b[s,k].

    The items are equally hard, so that raters are independent given the class.
    """
    ratings = assay.simulate("single", n_items=150, n_raters=4, ratings_per_item=4, rng=2)
    fit = quick(ratings, draws=400, raters="ability_bias")
    theta = assay.rater_reliability(fit).to_numpy()[0, 0, :, 0]
    states = assay.state_probabilities(fit).to_numpy()
    pairs = [(a, b) for a in range(4) for b in range(a)]
    same = np.mean([(theta[a] * theta[b]).sum(axis=-1) for a, b in pairs], axis=0)
    expected = (states @ same).mean()
    lines = agreement(ratings, fit=fit, draws=400).table.set_index("statistic")
    line = lines.loc["percent"]
    spread = (line["expected_upper"] - line["expected_lower"]) / (2 * 1.96)
    assert abs(line["expected"] - expected) < 4 * spread / np.sqrt(200)
    assert line["expected_lower"] < line["value"] < line["expected_upper"]


def test_checks_of_the_same_seed_expect_the_same(gated: xr.DataTree):
    columns = ["expected", "lower", "upper"]
    checks = posterior_predictive_check(gated)
    checks = checks[(checks["check"] == "agreement") & checks["quantity"].isin(CHECKED)]
    checks = checks.set_index(["label", "quantity"])[columns].sort_index()
    table = agreement(ratings_of(gated), fit=gated).table.set_index(["label", "statistic"])
    same = table[["expected", "expected_lower", "expected_upper"]].loc[checks.index]
    np.testing.assert_allclose(same, checks, rtol=1e-12)


def test_expectations_stand_beside_every_statistic(gated: xr.DataTree):
    table = agreement(ratings_of(gated), fit=gated, draws=40).table
    numbers = table[["expected_lower", "expected", "expected_upper"]].to_numpy()
    assert (np.diff(numbers, axis=1) > 0).all()
    without = agreement(ratings_of(gated), draws=40).table
    assert without[["expected", "expected_lower", "expected_upper"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(table[["value", "lower"]], without[["value", "lower"]])


def test_a_fit_of_other_ratings_is_refused(gated: xr.DataTree):
    fewer = take_ratings(ratings_of(gated), np.arange(10))
    with pytest.raises(FitError, check=refusal("other-ratings")):
        agreement(fewer, fit=gated)


def test_a_model_that_made_the_answers_passes(gated: xr.DataTree):
    table = posterior_predictive_check(gated, draws=100)
    assert table["tail"].min() > 0.01
    patterns = table[(table["check"] == "answers") & (table["quantity"] != OTHER)]
    assert set(patterns["group"]) == {"a", "b"}
    assert table[table["check"] == "agreement"]["label"].nunique() == 4


def test_common_patterns_and_the_rest_add_up_to_one(gated: xr.DataTree):
    table = posterior_predictive_check(gated, patterns=3, draws=20)
    shares = table[table["check"] == "answers"].groupby("group")[["observed", "expected"]]
    np.testing.assert_allclose(shares.sum(), 1, atol=1e-12)
    assert shares.size().tolist() == [4, 4]


def test_agreement_within_groups_and_across_them_is_that_of_all_pairs(gated: xr.DataTree):
    ratings = ratings_of(gated)
    group = ratings.raters["group"].to_numpy()[ratings.rater]
    rows = [
        (label, group[i], group[j], float(ratings.answers[i, n] == ratings.answers[j, n]))
        for n, label in enumerate(ratings.task.label_names)
        for i, j in combinations(range(len(ratings.item)), 2)
        if ratings.item[i] == ratings.item[j]
        and min(ratings.answers[i, n], ratings.answers[j, n]) > MISSING
    ]
    pairs = pd.DataFrame(rows, columns=["label", "one", "other", "alike"])
    same = pairs["one"] == pairs["other"]
    expected = {
        ("a", WITHIN): pairs[same & (pairs["one"] == "a")],
        ("b", WITHIN): pairs[same & (pairs["one"] == "b")],
        ("", WITHIN): pairs[same],
        ("", ACROSS): pairs[~same],
    }
    checks = posterior_predictive_check(gated, draws=2).set_index(["group", "quantity", "label"])
    found = checks["observed"].sort_index()
    for key, part in expected.items():
        shares = part.groupby("label")["alike"].mean()
        assert len(shares) == 3
        np.testing.assert_allclose(found.loc[key].loc[shares.index], shares, rtol=1e-12)


def test_one_group_has_no_agreement_across_groups():
    fit = quick(assay.simulate("single", n_items=20, n_raters=3, rng=1), draws=5)
    table = posterior_predictive_check(fit, draws=5)
    assert set(table[table["check"] == "agreement"]["quantity"]) == set(CHECKED)


def test_unanimous_items_are_those_with_three_answers_or_more_that_are_alike(gated: xr.DataTree):
    ratings = ratings_of(gated)
    lines = posterior_predictive_check(gated, draws=2).set_index(["label", "quantity"])
    for n, label in enumerate(ratings.task.labels):
        told = ratings.answers[:, n] > MISSING
        said = pd.Series(ratings.answers[told, n]).groupby(ratings.item[told])
        asked = said.agg(["size", "nunique", "first"]).query("size >= 3")
        for k, name in enumerate(label.classes):
            share = ((asked["nunique"] == 1) & (asked["first"] == k)).mean()
            assert lines.loc[(label.name, f"{ALL_SAY} {name}"), "observed"] == pytest.approx(share)


def test_two_answers_an_item_say_nothing_of_unanimity():
    ratings = assay.simulate("single", n_items=20, n_raters=3, ratings_per_item=2, rng=1)
    assert "unanimity" not in set(
        posterior_predictive_check(quick(ratings, draws=5), draws=5)["check"]
    )


@pytest.mark.slow
@pytest.mark.usefixtures("departures_unsought")
def test_items_that_are_harder_for_all_show_where_they_are_many():
    """As in Espeland & Handelman (1989), where five dentists read X-rays of 3,869 teeth."""
    rng = np.random.default_rng(1)
    ill, hard = rng.random(3000) < 0.2, rng.normal(size=3000) * 1.5
    odds = np.where(ill, 0.5, -2.5) + hard
    said = rng.random((3000, 5)) < 1 / (1 + np.exp(-odds[:, None]))
    item, rater = np.divmod(np.arange(15000), 5)
    frame = pd.DataFrame({"item": item, "rater": rater, "label": said.ravel().astype(int)})
    ratings = assay.read_ratings(frame, task="single")
    tails = []
    for raters in ("hierarchical", "hierarchical + item_difficulty_continuous"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a mirror image without weight
            fit = assay.fit(ratings, raters=raters, method="laplace", draws=50, chains=1, rng=1)
        table = posterior_predictive_check(fit, draws=200).set_index("check")
        tails.append(table.loc["unanimity", "tail"].min())
    assert tails[0] < 0.01 < 0.05 < tails[1]


@pytest.mark.parametrize("copiers", [0, 2])
def test_each_rater_has_a_consistency_of_its_own(copiers: int) -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(80) < 0.4
    first = truth[:, None, None] == (rng.random((80, 5, 3)) < 0.8)
    first[:, :copiers] = first[:, :copiers, :1]
    item, rater, again = (axis.ravel() for axis in np.indices(first.shape))
    columns = {"item": item, "rater": [f"r{j}" for j in rater], "replicate": again}
    frame = pd.DataFrame(columns | {"label": first.ravel().astype(int)})
    ratings = assay.read_ratings(frame, task="single")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the approximation
        fit = assay.fit(ratings, raters="hierarchical", method="laplace", draws=100, rng=1)
    table = posterior_predictive_check(fit).set_index("quantity").query("check == 'repeats'")
    assert len(table) == 5
    same = (first[..., [0, 0, 1]] == first[..., [1, 2, 2]]).mean(axis=(0, 2))
    for name, share in zip(sorted(table.index), same, strict=True):
        assert table.loc[name, "observed"] == pytest.approx(share)
    assert table["tail"].min() > 0.01
    own = assay.rater_consistency(fit).set_index("rater")
    copying = [f"r{j}" for j in range(copiers)]
    assert (own.loc[copying, "lower"] > 0.8).all()
    assert (own.drop(copying)["upper"] < 0.5).all()


def test_errors_on_all_labels_at_once_are_found():
    """Raters who err on both labels together: pairs that differ in one label never occur."""
    task = Task(name="two", labels=(Label(name="x"), Label(name="y")))
    ratings = assay.simulate(task, n_items=150, n_raters=4, ratings_per_item=4, rng=1)
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=(150, 2))[ratings.item]
    wrong = rng.random(len(ratings.answers)) < 0.25
    halo = Ratings(**{**vars(ratings), "answers": (truth ^ wrong[:, None]).astype(np.int16)})
    table = posterior_predictive_check(quick(halo), draws=100).set_index(["label", "quantity"])
    assert table.loc[(WHOLE, "percent"), "tail"] < 0.05
    assert table.loc[(WHOLE, "percent"), "observed"] > table.loc[(WHOLE, "percent"), "upper"]


@pytest.mark.parametrize("layer", ["", " + system_bias"])
def test_raters_who_favour_a_system_show_until_a_layer_has_it(layer: str) -> None:
    ratings = FAULTS["favourites"][1](np.random.default_rng(5))
    fit = quick(ratings, raters=f"hierarchical{layer}", draws=60)
    table = posterior_predictive_check(fit, draws=60).query("check == 'independence'")
    tails = table.set_index("quantity")["tail"]
    assert (tails["whether raters favour a system"] < 0.01) == (not layer)
    assert tails["whether raters misread whole clusters"] > 0.05


def test_numbers_out_of_range_are_refused(gated: xr.DataTree):
    with pytest.raises(
        ModelError, match="draws=0", check=refusal("argument-count", least=1, most=1000000)
    ):
        predict_answers(gated, draws=0)
    with pytest.raises(FitError, match="level=95", check=refusal("argument-number")):
        posterior_predictive_check(gated, level=95)
    with pytest.raises(FitError, check=refusal("not-a-fit")):
        posterior_predictive_check(xr.DataTree())


def test_steps_of_one_view_share_the_replicates(
    gated: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    view = FitView.of(gated)
    whole = predict.replicates

    def counted(*given: Any) -> Iterator[Any]:
        made.append(given[3])
        return whole(*given)

    monkeypatch.setattr(predict, "replicates", counted)
    table = agreement(view.ratings, fit=view).table
    found = posterior_predictive_check(view)
    assert made == [200]
    assert found[["check", "observed", "expected"]].equals(
        posterior_predictive_check(gated)[["check", "observed", "expected"]]
    )
    assert table["expected"].equals(agreement(view.ratings, fit=gated).table["expected"])
    made.clear()
    monkeypatch.setattr(predict, "MOST_KEPT", 0)  # large data: no copy of all replicates is kept
    view = FitView.of(gated)
    posterior_predictive_check(view)
    assert made == [200]
    assert not view.results

"""What a report asks for again and again."""

import numpy as np
import pytest
import xarray as xr

import assay
from assay.comparison import compare
from assay.evaluation import expected_width, fitted, metrics, variance, variance_budget
from assay.evaluation.draws import LabelDraws, second_labels
from assay.fits.cache import computed_once
from assay.raters import reliability
from assay.raters.reliability import rater_reliability, reliability_table
from assay.validation.sensitivity import consensus_sensitivity


def fit_of(seed: int) -> xr.DataTree:
    """Fit two systems on fewer than 20 clusters: their population is the model's."""
    ratings = assay.simulate(
        "retrieval", n_items=48, n_systems=2, n_clusters=8, n_raters=4, rng=seed
    )
    return assay.fit(ratings, method="map", draws=30, chains=1, starts=1, rng=seed)


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    return fit_of(1)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each time that new clusters are drawn, and each time that metrics of labels are."""
    noted: list[str] = []
    for name in ("predicted_labels", "metric_draws"):

        def spy(*given: object, of: object = getattr(fitted, name), name: str = name) -> object:
            noted.append(name)
            return of(*given)  # type: ignore[operator]

        monkeypatch.setattr(fitted, name, spy)
    return noted


def test_numbers_are_those_without_it(fit: xr.DataTree) -> None:
    alone = {e: metrics(fit, estimand=e) for e in ("finite", "population")}
    pairs, wrong = compare(fit).pairs, consensus_sensitivity(fit)
    with computed_once(fit):
        for _ in range(2):
            for estimand, draws in alone.items():
                xr.testing.assert_identical(metrics(fit, estimand=estimand), draws)
            assert compare(fit).pairs.equals(pairs)
            assert consensus_sensitivity(fit).equals(wrong)


def test_new_clusters_are_drawn_once_and_forgotten_at_the_end(
    fit: xr.DataTree, asked: list[str]
) -> None:
    with computed_once(fit):
        metrics(fit)
        compare(fit)
        consensus_sensitivity(fit, wrong=(0.0,))
        assert asked == ["predicted_labels"]
        metrics(fit, estimand="finite")
        metrics(fit, estimand="finite")
        assert asked == ["predicted_labels", "metric_draws"]
        metrics(fit, by=None)
        assert asked[2:] == ["predicted_labels"]  # other panels
    metrics(fit)
    metrics(fit)
    assert asked[3:] == ["predicted_labels"] * 2


def test_what_is_asked_later_is_added(fit: xr.DataTree, asked: list[str]) -> None:
    whole = metrics(fit)
    asked.clear()
    with computed_once(fit):
        metrics(fit, metric="ndcg_at_k")
        found = metrics(fit)
        metrics(fit)
    assert asked == ["predicted_labels"] * 2
    xr.testing.assert_identical(found, whole)


def test_the_caller_may_change_what_it_got(fit: xr.DataTree) -> None:
    with computed_once(fit):
        first = metrics(fit)
        kept = first.copy(deep=True)
        for name in first:
            first[name].to_numpy()[:] = -1.0
        xr.testing.assert_identical(metrics(fit), kept)


def test_what_would_be_if_the_consensus_were_wrong_is_not_kept(fit: xr.DataTree) -> None:
    plain = metrics(fit)
    with computed_once(fit):
        consensus_sensitivity(fit, wrong=(0.5,))
        xr.testing.assert_identical(metrics(fit), plain)


def test_nothing_is_kept_of_other_fits(fit: xr.DataTree, asked: list[str]) -> None:
    other = fit_of(2)
    with computed_once(fit):
        mine = metrics(fit)
        theirs = [metrics(other) for _ in range(2)]
    assert asked == ["predicted_labels"] * 3
    assert not np.array_equal(mine["ndcg_at_k"], theirs[0]["ndcg_at_k"])
    xr.testing.assert_identical(*theirs)


def test_labels_drawn_otherwise_are_not_taken_for_those_of_the_fit(
    fit: xr.DataTree, asked: list[str]
) -> None:
    turned = fit.copy()
    labels = fit["labels"].to_dataset()
    state = labels["state"]
    turned["labels"] = labels.assign(state=(state.dims, state.to_numpy()[:, ::-1].copy()))
    with computed_once(fit):
        first, second = (metrics(tree, estimand="finite") for tree in (fit, turned))
    assert asked == ["metric_draws"] * 2
    assert not np.array_equal(first["ndcg_at_k"], second["ndcg_at_k"])


def test_prevalences_that_are_made_twice_are_one_metric(fit: xr.DataTree, asked: list[str]) -> None:
    with computed_once(fit):
        for _ in range(2):
            metrics(fit, estimand="finite", metric="prevalence[misleading=yes]")
    assert asked == ["metric_draws"]


def test_the_second_labels_of_the_budget_are_drawn_once(
    fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = variance_budget(fit), expected_width(fit)
    drawn = []

    def spy(tree: xr.DataTree) -> LabelDraws:
        drawn.append(tree)
        return second_labels(tree)

    monkeypatch.setattr(variance, "second_labels", spy)
    with computed_once(fit):
        for _ in range(2):
            found = variance_budget(fit), expected_width(fit)
            assert all(one.equals(other) for one, other in zip(found, alone, strict=True))
    assert len(drawn) == 1


def test_reliabilities_are_computed_once(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = {kind: rater_reliability(fit, kind=kind) for kind in ("recorded", "raw")}
    computed = []

    def spy(*given: object, kind: str) -> object:
        computed.append(kind)
        return reliability_table(*given, kind=kind)

    monkeypatch.setattr(reliability, "reliability_table", spy)
    with computed_once(fit):
        for _ in range(2):
            for kind, draws in alone.items():
                found = rater_reliability(fit, kind=kind)
                xr.testing.assert_identical(found, draws)
                found.to_numpy()[:] = -1.0
    assert computed == ["recorded", "raw"]

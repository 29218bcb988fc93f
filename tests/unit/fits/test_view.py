"""A view of a fit: what is read and computed once, and for whom."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import AssayError, FitError
from assay.comparison import compare
from assay.evaluation import expected_width, fitted, metrics, variance, variance_budget
from assay.evaluation.draws import LabelDraws, second_labels
from assay.fits import view as view_module
from assay.fits.view import FitView
from assay.raters import reliability
from assay.raters.reliability import rater_reliability, reliability_table
from assay.reporting.material import Material
from assay.reporting.writing import make_page
from assay.validation.sensitivity import sensitivity_to_consensus


def fit_of(seed: int) -> xr.DataTree:
    """Fit two systems on fewer than 20 clusters: their population is the model's."""
    ratings = assay.simulate(
        "retrieval", n_items=48, n_systems=2, n_clusters=8, n_raters=4, rng=seed
    )
    return assay.fit(ratings, method="map", draws=30, chains=1, starts=1, rng=seed)


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    return fit_of(1)


@pytest.fixture(autouse=True)
def few_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate fewer sets of new ratings for the expected widths."""
    monkeypatch.setattr("assay.evaluation.widths.SETS", 4)
    monkeypatch.setattr("assay.evaluation.widths.DRAWS", 30)


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


def test_a_view_is_read_like_its_tree_and_is_its_own_view(fit: xr.DataTree) -> None:
    view = FitView.of(fit)
    assert FitView.of(view) is view
    assert view.attrs is fit.attrs
    xr.testing.assert_identical(view["labels"], fit["labels"].to_dataset(inherit=False))
    with pytest.raises(FitError, match="this is not a fit", check=refusal("not-a-fit")):
        FitView.of(xr.DataTree())


def test_a_report_takes_a_fit_apart_once(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    for name in ("ratings_of", "build_structure"):

        def spy(*given: object, of: object = getattr(view_module, name), **more: object) -> object:
            built.append(of.__name__)  # type: ignore[attr-defined]
            return of(*given, **more)  # type: ignore[operator]

        monkeypatch.setattr(view_module, name, spy)
    material = Material(fit=fit, budget=True, claims=("system_1 > system_2 on ndcg_at_k",))
    assert len(make_page(material).sections) > 10
    assert built == ["ratings_of", "build_structure"]


TAKERS: dict[str, Callable[[Any], Any]] = {
    name: getattr(assay, name)
    for name in (
        "sensitivity_to_abstention", "compare", "compare_raters", "sensitivity_to_consensus",
        "rater_difficulty", "rater_drift", "effective_number_of_raters", "expected_width",
        "compare_groups", "label_doubts", "label_draws", "label_probabilities", "rater_lapses",
        "loo_gold", "methods", "metrics", "group_misperception", "posterior_predictive_check",
        "rater_consistency", "rater_decisions", "rater_spammers", "rater_reliability",
        "reliability_by_session",
        "rater_calibration", "compare_baselines", "state_probabilities", "variance_budget",
    )
}  # fmt: skip


@pytest.mark.parametrize("name", TAKERS)
def test_public_functions_take_a_view(name: str, fit: xr.DataTree) -> None:
    def found(given: xr.DataTree | FitView) -> str:
        try:
            return str(TAKERS[name](given))
        except AssayError as error:  # this fit has no drift, no scores, no gold
            return str(error)

    assert found(FitView.of(fit)) == found(fit)


def test_what_writes_files_takes_a_view(fit: xr.DataTree, tmp_path: Path) -> None:
    view, key = FitView.of(fit), tmp_path / "key.csv"
    assay.rater_sheets(view, tmp_path / "s.html", refit=False, pseudonyms=key)
    assay.report(view, tmp_path / "r.html", budget=False, short=True, pseudonyms=key)
    assay.export_labels(view, tmp_path / "l.jsonl", to="huggingface")
    assert {"s.html", "r.html", "l.jsonl"} <= {path.name for path in tmp_path.iterdir()}


def test_numbers_are_those_without_it(fit: xr.DataTree) -> None:
    alone = {e: metrics(fit, estimand=e) for e in ("finite", "population")}
    pairs, wrong = compare(fit).pairs, sensitivity_to_consensus(fit)
    view = FitView.of(fit)
    for _ in range(2):
        for estimand, draws in alone.items():
            xr.testing.assert_identical(metrics(view, estimand=estimand), draws)
        assert compare(view).pairs.equals(pairs)
        assert sensitivity_to_consensus(view).equals(wrong)


def test_new_clusters_are_drawn_once_and_forgotten_at_the_end(
    fit: xr.DataTree, asked: list[str]
) -> None:
    view = FitView.of(fit)
    metrics(view)
    compare(view)
    sensitivity_to_consensus(view, wrong=(0.0,))
    assert asked == ["predicted_labels"]
    metrics(view, estimand="finite")
    metrics(view, estimand="finite")
    assert asked == ["predicted_labels", "metric_draws"]
    metrics(view, by=None)
    assert asked[2:] == ["predicted_labels"]  # other panels
    metrics(fit)
    metrics(fit)
    assert asked[3:] == ["predicted_labels"] * 2


def test_what_is_asked_later_is_added(fit: xr.DataTree, asked: list[str]) -> None:
    whole = metrics(fit)
    asked.clear()
    view = FitView.of(fit)
    metrics(view, metric="ndcg_at_k")
    found = metrics(view)
    metrics(view)
    assert asked == ["predicted_labels"] * 2
    xr.testing.assert_identical(found, whole)


def test_the_caller_may_change_what_it_got(fit: xr.DataTree) -> None:
    view = FitView.of(fit)
    first = metrics(view)
    kept = first.copy(deep=True)
    for name in first:
        first[name].to_numpy()[:] = -1.0
    xr.testing.assert_identical(metrics(view), kept)


def test_what_would_be_if_the_consensus_were_wrong_is_not_kept(fit: xr.DataTree) -> None:
    plain = metrics(fit)
    view = FitView.of(fit)
    sensitivity_to_consensus(view, wrong=(0.5,))
    xr.testing.assert_identical(metrics(view), plain)


def test_nothing_is_kept_of_other_fits(fit: xr.DataTree, asked: list[str]) -> None:
    other = fit_of(2)
    view = FitView.of(fit)
    mine = metrics(view)
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
    first, second = (metrics(tree, estimand="finite") for tree in (fit, turned))
    assert asked == ["metric_draws"] * 2
    assert not np.array_equal(first["ndcg_at_k"], second["ndcg_at_k"])


def test_prevalences_that_are_made_twice_are_one_metric(fit: xr.DataTree, asked: list[str]) -> None:
    view = FitView.of(fit)
    for _ in range(2):
        metrics(view, estimand="finite", metric="prevalence[misleading=yes]")
    assert asked == ["metric_draws"]


def test_the_second_labels_of_the_budget_are_drawn_once(
    fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = variance_budget(fit), expected_width(fit)
    drawn = []

    def spy(view: FitView) -> LabelDraws:
        drawn.append(view)
        return second_labels(view)

    monkeypatch.setattr(variance, "second_labels", spy)
    view = FitView.of(fit)
    for _ in range(2):
        found = variance_budget(view), expected_width(view)
        assert all(one.equals(other) for one, other in zip(found, alone, strict=True))
    assert len(drawn) == 1


def test_reliabilities_are_computed_once(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = {kind: rater_reliability(fit, kind=kind) for kind in ("recorded", "raw")}
    computed = []

    def spy(*given: object, kind: str, **more: object) -> object:
        computed.append(kind)
        return reliability_table(*given, kind=kind, **more)

    monkeypatch.setattr(reliability, "reliability_table", spy)
    view = FitView.of(fit)
    for _ in range(2):
        for kind, draws in alone.items():
            found = rater_reliability(view, kind=kind)
            xr.testing.assert_identical(found, draws)
            found.to_numpy()[:] = -1.0
    assert computed == ["recorded", "raw"]

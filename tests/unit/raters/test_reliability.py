import warnings
from itertools import product

import numpy as np
import pytest
import xarray as xr

import assay
from assay._util.errors import FitError, FitWarning
from assay.data.ratings import Ratings
from assay.fits.view import FitView

OPTIONS = {
    "retry": {"resolve": "retry"},
    "repair": {"resolve": "repair"},
    "warn": {"response": {"sufficient_is_relevant": "warn"}},
}


def quick(ratings: Ratings, **options: object) -> xr.DataTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        plain = {"raters": "hierarchical", "method": "map", "draws": 1, "chains": 1, "starts": 1}
        return assay.fit(ratings, **plain | options)


def by_hand(fit: xr.DataTree) -> np.ndarray:
    """Recorded confusions of binary labels without gates: (rater, label, true, reported)."""
    structure = FitView.of(fit).structure
    task, resolve = structure.ratings.task, structure.ratings.resolve
    values = {k: v[0] for k, v in FitView.of(fit).draws.items()}
    theta = assay.rater_reliability(fit, kind="raw").values[0, 0]
    table = fit["posterior"]["prevalence"].values[0, 0]
    if table.ndim == 2:
        table = np.average(
            table, axis=0, weights=structure.ratings.panels["system"].value_counts().sort_index()
        )
    vectors = list(product((0, 1), repeat=len(task.labels)))

    def breaks(vector: tuple[int, ...], text: str) -> bool:
        codes = {n: np.array([c]) for n, c in zip(task.label_names, vector, strict=True)}
        return not task.expression(text)(codes)[0]

    blocked = [
        any(breaks(v, r.expression) for r in task.rules if r.response == "block") for v in vectors
    ]
    warned = [r for r in task.rules if r.response == "warn"]
    counts = np.zeros((len(theta), len(task.labels), 2, 2))
    for j in range(len(theta)):
        for state, share in zip(structure.prevalence.space.states.tolist(), table, strict=True):
            raw = []
            for v in vectors:
                p = np.prod(
                    [theta[j, n, s, y] for n, (s, y) in enumerate(zip(state, v, strict=True))]
                )
                for r, omega in zip(warned, values.get("warn_omega", []), strict=True):
                    p *= omega if breaks(v, r.expression) else 1.0
                raw.append(p)
            found = np.zeros(len(vectors))
            for n, v in enumerate(vectors):
                if not blocked[n]:
                    found[n] += raw[n]
                elif resolve == "repair":
                    away = [
                        np.inf if blocked[k] else sum(a != b for a, b in zip(v, w, strict=True))
                        for k, w in enumerate(vectors)
                    ]
                    nearest = np.flatnonzero(np.array(away) == min(away))
                    found[nearest] += raw[n] / len(nearest)
            found /= found.sum()
            for p, v in zip(found, vectors, strict=True):
                for n, (s, y) in enumerate(zip(state, v, strict=True)):
                    counts[j, n, s, y] += share * p
    return counts / counts.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("name", OPTIONS)
def test_recorded_against_enumeration(name: str):
    ratings = assay.simulate(
        "retrieval", n_items=40, n_raters=3, n_systems=2, rng=5, **OPTIONS[name]
    )
    fit = quick(ratings)
    found = assay.rater_reliability(fit)
    assert found.dims == ("chain", "draw", "rater", "label", "true_class", "reported_class")
    np.testing.assert_allclose(found.values[0, 0], by_hand(fit), atol=1e-10)
    np.testing.assert_allclose(found.sum("reported_class"), 1, atol=1e-12)
    assert np.abs(found - assay.rater_reliability(fit, kind="raw")).max() > 1e-3


@pytest.mark.parametrize("resolve", ["retry", "repair"])
def test_recorded_is_what_is_seen_in_simulated_ratings(resolve: str):
    """Frequencies of the answers given the truth, at the parameters that made them."""
    ratings = assay.simulate(
        "retrieval",
        raters="dawid_skene",
        n_items=20_000,
        n_raters=2,
        ratings_per_item=1,
        resolve=resolve,
        rng=6,
    )
    fit = quick(
        assay.simulate(
            "retrieval", n_items=5, n_raters=2, ratings_per_item=1, resolve=resolve, rng=6
        ),
        raters="dawid_skene",
    )
    for name, value in ratings.simulated.values.items():
        variable = fit["posterior"][name]
        fit["posterior"][name] = variable.copy(data=np.reshape(value, variable.shape))
    found = assay.rater_reliability(fit).values[0, 0]
    truth = ratings.simulated.truth[ratings.item]
    for j, n, s in product(range(2), range(3), range(2)):
        rows = (ratings.rater == j) & (truth[:, n] == s)
        seen = ratings.answers[rows, n].mean()
        error = np.sqrt(0.25 / rows.sum())
        assert seen == pytest.approx(found[j, n, s, 1], abs=5 * error)


@pytest.mark.parametrize("task", ["generation", "ais", "relevance"])
@pytest.mark.parametrize("raters", ["hierarchical", "pooled"])
def test_without_rules_recorded_is_raw(task: str, raters: str):
    fit = quick(assay.simulate(task, n_items=20, n_raters=3, rng=7), raters=raters)
    recorded, raw = (assay.rater_reliability(fit, kind=k) for k in ("recorded", "raw"))
    np.testing.assert_array_equal(recorded.values, raw.values)
    assert recorded.sizes["rater"] == 3
    np.testing.assert_allclose(raw.sum("reported_class"), 1, atol=1e-12)


def test_classes_that_a_label_does_not_have_are_nan():
    fit = quick(assay.simulate("single", classes=("a", "b", "c"), n_items=20, rng=8))
    assert assay.rater_reliability(fit)["true_class"].values.tolist() == ["a", "b", "c"]
    assert not assay.rater_reliability(fit).isnull().any()


def test_a_kind_that_does_not_exist_is_an_error():
    fit = quick(assay.simulate("single", n_items=10, rng=8))
    with pytest.raises(FitError, match="valid: recorded, raw"):
        assay.rater_reliability(fit, kind="cooked")

"""Reliability of each rater, and who is right more often than whom."""

import tracemalloc
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitError, FitWarning, ModelError
from assay.data.ratings import Ratings
from assay.fits.datatree import posterior_dataset
from assay.fits.view import FitView
from assay.raters.reliability import class_shares, compare_raters, rater_accuracy, rater_reliability

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
    with pytest.raises(FitError, match="valid: recorded, raw", check=refusal("argument-choice")):
        assay.rater_reliability(fit, kind="cooked")


def favouring(items: int = 60, good_in: tuple[float, float] = (0.5, 0.5)) -> Ratings:
    """Three raters of items of two systems; the judge calls all items of b good."""
    rng = np.random.default_rng(1)
    rows = []
    for n in range(items):
        system, good = ("a", "b")[n % 2], rng.random() < good_in[n % 2]
        said = {"person": good, "person 2": good, "judge": good or system == "b"}
        for rater, yes in said.items():
            cell = {"item": f"i{n}", "system": system, "rater": rater}
            rows.append(cell | {"good": "yes" if yes else "no"})
    return assay.read_ratings(pd.DataFrame(rows))


def test_reliability_by_system_shows_a_judge_that_favours_one() -> None:
    ratings = favouring()
    fit = quick(ratings, raters="hierarchical + system_bias")
    whole = assay.rater_reliability(fit)
    split = assay.rater_reliability(fit, by="system")
    assert split.dims == (*whole.dims[:3], "system", *whole.dims[3:])
    assert ((split.min("system") <= whole) & (whole <= split.max("system"))).all()
    judge = split.sel(rater="judge", true_class="no", reported_class="no").squeeze()
    assert judge.sel(system="a") > judge.sel(system="b") + 0.1


@pytest.mark.parametrize("layer", ["", " + item_difficulty"])
@pytest.mark.parametrize("prevalence", ["loglinear", "dirichlet"])
def test_reliability_is_that_on_the_items_of_a_class(layer: str, prevalence: str) -> None:
    """Most bad items are of system b, so the judge's errors there count most."""
    ratings = favouring(items=400, good_in=(0.9, 0.2))
    raters = f"hierarchical{layer} + system_bias"
    fit = quick(ratings, raters=raters, prevalence=prevalence)
    bad = 1 - assay.label_probabilities(fit).to_numpy()[:, 0, 1]
    own = (ratings.rater == ratings.raters.index.get_loc("judge")).nonzero()[0]
    weight, yes = bad[ratings.item[own]], ratings.answers[own, 0] == 1
    counted = (weight * yes).sum() / weight.sum()
    assert counted > 0.85
    judge = assay.rater_reliability(fit).sel(rater="judge", true_class="no", reported_class="yes")
    assert judge.mean().item() == pytest.approx(counted, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["", " + system_bias"])
def test_many_raters_take_memory_by_their_number_and_not_its_square(layer: str) -> None:
    ratings = assay.simulate("single", n_items=300, n_raters=150, n_systems=2, rng=1)
    fit = quick(ratings, raters=f"hierarchical{layer}", draws=100)
    tracemalloc.start()
    try:
        table = assay.rater_reliability(fit)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * table.nbytes


def test_raters_without_system_bias_are_alike_on_all_systems() -> None:
    fit = quick(favouring())
    split = assay.rater_reliability(fit, by="system")
    for name in split["system"].to_numpy():
        xr.testing.assert_allclose(split.sel(system=name, drop=True), assay.rater_reliability(fit))


def test_a_system_that_a_rater_has_not_rated_is_unknown() -> None:
    ratings = favouring()
    judge = ratings.raters.index.get_loc("judge")
    names = ratings.items.index.to_numpy()[ratings.item]
    of_b = np.array([int(name[1:]) % 2 == 1 for name in names])
    ratings = assay.take_ratings(ratings, ~(of_b & (ratings.rater == judge)))
    fit = quick(ratings, raters="hierarchical + system_bias")
    split = assay.rater_reliability(fit, by="system").sel(rater="judge")
    assert split.sel(system="b").isnull().all()
    assert split.sel(system="a").notnull().all()


def test_reliability_by_system_needs_systems() -> None:
    fit = quick(assay.simulate("single", n_items=20, n_raters=3, rng=1))
    with pytest.raises(ModelError, check=refusal("too-few-systems")):
        assay.rater_reliability(fit, by="system")
    with pytest.raises(ModelError, check=refusal("argument-choice")):
        assay.rater_reliability(fit, by="rater")  # type: ignore[arg-type]


DRAWS = 200


def drawn(task: str, **options: object) -> xr.DataTree:
    words = {"classes": ["a", "b"]} if task == "single" else {}
    ratings = assay.simulate(task, n_items=60, n_raters=4, ratings_per_item=3, rng=1, **words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        plain = {"method": "laplace", "draws": DRAWS // 2, "chains": 2, "starts": 1, "rng": 1}
        return assay.fit(ratings, **plain | options)


@pytest.fixture(scope="module")
def retrieval() -> xr.DataTree:
    return drawn("retrieval")


def chances(fit: xr.DataTree, rater: str, label: str, kind: str) -> list[float]:
    """The chance of a right answer in each draw, by the sum over classes."""
    table = rater_reliability(fit, kind=kind).sel(rater=rater, label=label)
    shares = class_shares(fit).sel(label=label)
    terms = [
        shares.sel(true_class=k) * table.sel(true_class=k, reported_class=k) for k in ("no", "yes")
    ]
    return (terms[0] + terms[1]).to_numpy().ravel().tolist()


@pytest.mark.parametrize("kind", ["recorded", "raw"])
def test_probabilities_are_counts_of_joint_draws(retrieval: xr.DataTree, kind: str) -> None:
    found = compare_raters(retrieval, kind=kind)
    assert found.dims == ("rater", "other", "label")
    assert found.attrs["kind"] == kind
    for label in found["label"].values:
        right = {r: chances(retrieval, r, label, kind) for r in found["rater"].values}
        for a, of_a in right.items():
            for b, of_b in right.items():
                count = sum(x > y for x, y in zip(of_a, of_b, strict=True)) + (a == b) * DRAWS / 2
                stated = float(found.sel(rater=a, other=b, label=label))
                assert stated == pytest.approx(count / DRAWS, abs=1e-12)


def test_two_raters_whose_intervals_overlap_can_leave_no_doubt() -> None:
    """The draws of both go up and down together, and one is always ahead by a hundredth."""
    fit = drawn("single", raters="dawid_skene")
    values = FitView.of(fit).draws
    level = np.random.default_rng(1).uniform(0.6, 0.9, DRAWS)
    right = np.stack([level, level + 0.01, level[::-1], level], axis=1)[:, :, None]
    values["confusion_2"] = np.stack(
        [np.concatenate([right, 1 - right], 2), np.concatenate([1 - right, right], 2)], axis=2
    )
    fit["posterior"] = xr.DataTree(posterior_dataset(FitView.of(fit).structure, values, 2))
    np.testing.assert_allclose(
        rater_accuracy(fit).to_numpy().reshape(DRAWS, 4), right[..., 0], atol=1e-12
    )
    found = compare_raters(fit).isel(label=0).to_numpy()
    assert (found[1, 0], found[0, 1]) == (1.0, 0.0)
    assert 0.3 < found[1, 2] < 0.7
    assert found[0, 3] == 0.5  # a tie in every draw
    np.testing.assert_allclose(found + found.T, 1.0)
    np.testing.assert_array_equal(np.diag(found), 0.5)


@pytest.mark.parametrize("method", ["map", "em"])
def test_a_mode_cannot_tell_who_is_better(method: str) -> None:
    fit = drawn("single", raters="dawid_skene", method=method, draws=4)
    with pytest.raises(FitError, check=refusal("mode-alone")):
        compare_raters(fit)


def test_an_unknown_kind_is_refused(retrieval: xr.DataTree) -> None:
    with pytest.raises(
        ModelError, match="`kind='row'`; did you mean raw", check=refusal("argument-choice")
    ):
        compare_raters(retrieval, kind="row")

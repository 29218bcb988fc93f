"""Raters who copy: found by a test, modelled by the default, and named."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay._util.errors import FitWarning, ModelError, UnknownNameError
from assay.checks.departures import remedies
from assay.checks.departures.remedies import (
    as_copies,
    found_copies,
    found_layers,
    may_copy,
    with_found_layers,
)
from assay.checks.departures.search import search
from assay.cli.program import app
from assay.comparison.refit import refit
from assay.data.misread_clusters import rows_with_readings
from assay.data.ratings import UNNAMED, Ratings, take_ratings
from assay.inference.settings import SamplerSettings
from benchmarks.worlds.departure_worlds import FAULTS, study


def copied(seed: int, share: float = 0.7) -> tuple[Ratings, np.ndarray]:
    """Six raters, four an item; the second always rates, and repeats a share of the first's."""
    rng = np.random.default_rng(seed)
    found = study(rng, raters=6, each=2)
    order = rng.random((len(found.truth), 4)).argsort(axis=1).argsort(axis=1)
    found.who = np.column_stack([np.ones((len(order), 2), bool), order < 2])
    answers = found.answers(rng)
    again = rng.random(len(order)) < share
    answers[:, 1] = np.where(again, answers[:, 0], answers[:, 1])
    return found.ratings(answers), found.truth


def fitted(ratings: Ratings, **options: object) -> xr.DataTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return assay.fit(
            ratings,
            **{"method": "laplace"} | options,  # type: ignore[arg-type]
            draws=300,
            chains=1,
            starts=2,
            progress=False,
        )


def loss(tree: xr.DataTree, truth: np.ndarray) -> float:
    """Log loss of the labels."""
    found = assay.label_probabilities(tree)
    place = found["item"].to_numpy().astype(int)
    yes = np.clip(found.to_numpy()[:, 0, -1], 1e-4, 1 - 1e-4)
    return float(-np.log(np.where(truth[place] == 1, yes, 1 - yes)).mean())


def codes(tree: xr.DataTree) -> set[str]:
    return {note["code"] for note in json.loads(tree.attrs["warnings"])}


@pytest.mark.parametrize("seed", [6])
def test_the_default_finds_who_copies_and_how_often(seed: int) -> None:
    ratings, truth = copied(seed)
    independent, tree = fitted(ratings, copies={}), fitted(ratings)
    assert json.loads(tree.attrs["spec"])["copies"] == {"r1": "r0"}
    lower, upper = np.quantile(tree["posterior"]["copied"], [0.005, 0.995])
    assert lower < 0.7 < upper
    assert loss(tree, truth) < 0.9 * loss(independent, truth)
    assert any("those of r0 by r1" in text for text in json.loads(tree.attrs["assumptions"]))
    (one,) = [f for f in assay.check(ratings).findings if f.code == "dependent-raters"]
    assert one.level == "note"
    assert "answers of r1 may repeat those of r0" in one.text
    assert "dependent-raters" in codes(independent)
    assert "dependent-raters" not in codes(tree)


def test_the_source_and_the_copier_may_be_exchanged() -> None:
    ratings, truth = copied(3)
    losses = [loss(fitted(ratings, copies=one), truth) for one in ({"r1": "r0"}, {"r0": "r1"})]
    assert losses[0] == pytest.approx(losses[1], rel=0.1)


@pytest.mark.slow
def test_nobody_copies_where_nobody_does() -> None:
    found = [found_copies(copied(seed, share=0.0)[0]) for seed in range(10, 16)]
    # Each is wrong with a chance of 1 %: two of six with one of 0.0015.
    assert sum(map(bool, found)) < 2


def blocs(seed: int) -> tuple[Ratings, np.ndarray]:
    """Two good people, and two judges who misread the same items."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(400) < 0.45).astype(int)
    seen = np.where(rng.random(400) < 0.15, 1 - truth, truth)
    lines = []
    for name, right, look in (
        ("ann", 0.97, truth), ("bob", 0.95, truth), ("judge 1", 0.92, seen), ("judge 2", 0.88, seen)
    ):  # fmt: skip
        said = np.where(rng.random(400) < right, look, 1 - look)
        words = np.array(["no", "yes"])[said]
        lines.append(pd.DataFrame({"item": range(400), "rater": name, "label": words}))
    return assay.read_ratings(pd.concat(lines), task="single"), truth


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_two_blocs_of_raters_are_no_copies(seed: int) -> None:
    """As copies, the good pair would lose to the judges: nothing tells which bloc is right."""
    ratings, truth = blocs(seed)
    pairs = search(ratings).pairs
    assert {frozenset(pair) for pair in pairs} >= {frozenset(("ann", "bob"))}
    assert found_copies(ratings) == {}
    (one,) = [f for f in assay.check(ratings).findings if f.code == "dependent-raters"]
    assert one.level == "warning"
    assert "reference='gold'" in one.text
    assert "copies" not in one.text
    tree = fitted(ratings)
    assert "dependent-raters" in codes(tree)
    assert loss(tree, truth) < loss(fitted(ratings, copies=as_copies(pairs)), truth)


def test_raters_who_misread_clusters_are_no_copies() -> None:
    ratings = FAULTS["misread"][1](np.random.default_rng(5))
    assert "rater-by-cluster" in {one.code for one in search(ratings).found}
    assert not may_copy(ratings)


def test_misread_clusters_get_their_layer_unless_it_would_take_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ratings = FAULTS["misread"][1](np.random.default_rng(5))
    assert found_layers(ratings) == ["misreading"]
    assert with_found_layers(ratings, "pooled") == "pooled + misreading"
    slots = {"human": "hierarchical", UNNAMED: "pooled"}
    expected = {"human": "hierarchical + misreading", UNNAMED: "pooled"}
    assert with_found_layers(ratings, slots) == expected
    rows = rows_with_readings(ratings, np.ones(len(ratings.raters), bool))
    monkeypatch.setattr(remedies, "MOST_ROWS", rows - 1)
    assert found_layers(ratings) == []


def test_slots_are_no_raters_who_copy() -> None:
    slots = assay.read_ratings(copied(1)[0].to_frame().assign(group=UNNAMED), task="single")
    assert search(slots).pairs
    assert found_copies(slots) == {}


def test_copies_are_only_looked_for_where_the_default_is_asked() -> None:
    ratings, _ = copied(1)
    for options in ({"raters": "dawid_skene"}, {"method": "map"}):
        assert json.loads(fitted(ratings, **options).attrs["spec"])["copies"] == {}


def test_chains_and_circles() -> None:
    assert as_copies([("a", "b"), ("c", "d"), ("b", "d")]) == {"b": "a", "d": "c"}
    assert as_copies([("a", "b"), ("c", "b")]) == {"b": "a", "c": "b"}
    assert as_copies([("a", "b"), ("b", "c"), ("c", "a")]) == {"b": "a", "c": "b"}


@pytest.mark.parametrize(
    ("copies", "error", "code"),
    [
        ({"r1": "r9"}, UnknownNameError, "unknown-rater"),
        ({"r1": "r1"}, ModelError, "copies-argument"),
        ({"r1": "r0", "r0": "r2", "r2": "r1"}, ModelError, "copies-argument"),
        (["r0", "r1"], ModelError, "copies-argument"),
        ({"r1": 1}, ModelError, "copies-argument"),
    ],
)
def test_what_is_no_pair_of_raters_is_refused(copies: object, error: type, code: str) -> None:
    ratings, _ = copied(1)
    with pytest.raises(error, check=refusal(code)):
        assay.fit(ratings, copies=copies, method="map", progress=False)  # type: ignore[arg-type]
    with pytest.raises(error, check=refusal(code)):
        assay.build_model(ratings, copies=copies)  # type: ignore[arg-type]


def test_scores_are_no_copies() -> None:
    ratings, _ = copied(1)
    with pytest.raises(ModelError, check=refusal("copies-argument")):
        assay.build_model(ratings, raters="scored", copies={"r1": "r0"})


def test_without_the_source_the_copier_is_a_rater_like_others() -> None:
    ratings, _ = copied(1)
    tree = fitted(ratings)
    fewer = take_ratings(ratings, ratings.rater != 0)
    again, _ = refit(tree, fewer, SamplerSettings(draws=20, chains=1))
    assert "copied" in tree["posterior"]
    assert "copied" not in again["posterior"]


def test_the_command_line_names_what_the_data_added(tmp_path: Path) -> None:
    ratings, _ = copied(7)
    file, fit = tmp_path / "ratings.csv", tmp_path / "fit.nc"
    ratings.to_frame().to_csv(file, index=False)
    made = CliRunner().invoke(app, ["fit", str(file), "-o", str(fit), "--method", "laplace"])
    assert made.exit_code == 0
    assert "the data add " in made.stderr
    assert "r1 may repeat r0" in made.stderr
    shown = CliRunner().invoke(app, ["raters", str(fit)])
    assert "By the model, r1 repeats the answer of r0 on 0.7" in shown.stdout
    quick = ["--method", "map", "--draws", "20", "--chains", "1", "--raters", "one_coin"]
    named = ["fit", str(file), "-o", str(fit), *quick]
    told = CliRunner().invoke(app, [*named, "--copies", "r1=r0"])
    assert told.exit_code == 0
    assert "the data add" not in told.stderr
    assert "copied" in assay.load(fit)["posterior"]

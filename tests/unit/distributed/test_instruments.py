"""A fit of a data set in partitions has the doubts and warnings of the same fit of one file."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from crowds import lenient_crowd
from refusals import refusal

import assay
from assay._util.errors import FitError
from assay.checks.departures.search import Search, search
from assay.distributed import instruments, writing
from assay.distributed.skeleton import make_skeleton, number, number_partition
from assay.inference.data_counts import DataCounts, count_data
from assay.inference.diagnostics import fit_warnings
from assay.inference.label_doubts import label_doubts
from assay.inference.subsets import join_ratings, take_items
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

pytestmark = pytest.mark.filterwarnings("ignore::assay.FitWarning")
QUICK: dict[str, Any] = {"draws": 40, "chains": 1, "starts": 2, "rng": 1, "progress": False}
WRONG_PRIOR = {
    "raters": "pooled", "prevalence": "dirichlet", "priors": {"confusion": "Confusion(0.1, 10000)"}
}  # fmt: skip
"""Raters are nearly always wrong by this prior, so that classes exchange their meaning."""


class Here:
    """An executor that computes at once, in this process."""

    def ready(self, *, show: bool = False) -> None:
        pass

    def send(self, value: Any) -> Any:
        return value

    def map(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        return [function(*given) for given in zip(*arguments, strict=True)]

    def gather(self, parts: Sequence[Any], *, to_the_end: bool = False) -> list[Any]:
        return list(parts)

    def each(self, parts: Sequence[Any]) -> Iterator[Any]:
        return iter(parts)

    def close(self) -> None:
        pass


class Unasked(Here):
    """An executor whose workers are not to be asked."""

    def map(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        raise AssertionError(function)


def table_of(
    said: np.ndarray, group: Sequence[str] | None = None, classes: str = "ab"
) -> pd.DataFrame:
    """Codes of answers (rater, item) as rows; each item is a cluster."""
    raters, items = said.shape
    table = pd.DataFrame(
        {
            "item": np.tile([f"i{n:03d}" for n in range(items)], raters),
            "rater": np.repeat([f"r{n}" for n in range(raters)], items),
            "label": np.array(list(classes), object)[said.ravel()],
        }
    )
    if group is not None:
        table["group"] = np.repeat(group, items)
    return table.assign(cluster=table["item"])


def crowd(raters: int, items: int, wrong: float = 0.1, seed: int = 1) -> np.ndarray:
    """Answers of raters who err alone, (rater, item)."""
    rng = np.random.default_rng(seed)
    return rng.integers(2, size=items) ^ (rng.random((raters, items)) < wrong)


def near_duplicates(items: int = 150) -> pd.DataFrame:
    said = crowd(5, items, wrong=0.2)
    other = np.random.default_rng(2).random(items) < 0.03
    said[1] = said[0] ^ other
    return table_of(said)


def groups_that_err_together() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=200)
    seen = truth ^ (rng.random(200) < 0.25)
    models = seen ^ (rng.random((3, 200)) < 0.05)
    people = truth ^ (rng.random((3, 200)) < 0.15)
    return table_of(np.vstack([models, people]), ["model"] * 3 + ["people"] * 3)


def lenient() -> pd.DataFrame:
    """A crowd that misses most items of a class."""
    table = lenient_crowd()[0]
    table["item"] = [f"i{item}" for item in table["item"]]
    return table.assign(cluster=table["item"])


def drifted() -> pd.DataFrame:
    """Items of two systems on which raters are mostly unanimous."""
    table = table_of(crowd(3, 80, wrong=0.05))
    number = table["item"].str[1:].astype(int)
    return table.assign(system=np.where(number % 2, "A", "B"), cluster=number // 2)


def scores_beside_answers() -> pd.DataFrame:
    table = table_of(crowd(4, 60), ["people"] * 3 + ["model"])
    alone = table["group"] == "model"
    score = np.random.default_rng(1).random(len(table))
    return table.assign(
        score=np.where(alone, score, np.nan), label=np.where(alone, "", table["label"])
    )


def repeated() -> pd.DataFrame:
    table = table_of(crowd(3, 60))
    return pd.concat([table.assign(copy="1"), table.assign(copy="2")])


def teams() -> pd.DataFrame:
    table = table_of(crowd(4, 80))
    table["system"] = np.where(table["item"] < "i040", "A", "B")
    return table[(table["system"] == "A") == (table["rater"] < "r2")]


def two_camps() -> pd.DataFrame:
    """Two raters call the classes by each other's names."""
    said = crowd(4, 80)
    said[2:] = 1 - said[2:]
    return table_of(said)


CASES: dict[str, tuple[pd.DataFrame, str, dict[str, Any], dict[str, Any]]] = {
    "unanimous items denied": (
        table_of(crowd(3, 60, wrong=0.05)), "class-drift", {"method": "map", **WRONG_PRIOR}, {}
    ),
    "a reference denied": (
        table_of(crowd(5, 60, wrong=0.05), ["people"] * 3 + ["model"] * 2),
        "class-drift",
        {"method": "map", "reference": "people", **WRONG_PRIOR},
        {},
    ),
    "an empty class": (
        lenient(), "empty-class", {"method": "map", "raters": "dawid_skene"}, {}
    ),
    "near-duplicate raters": (
        near_duplicates(), "dependent-raters", {"raters": "hierarchical + item_difficulty"}, {}
    ),
    "groups": (groups_that_err_together(), "groups-err-together", {"raters": "hierarchical"}, {}),
    "scores alone": (
        scores_beside_answers(), "scores-unread", {"method": "map", "raters": "pooled"},
        {"score": {"label": "score"}},
    ),
    "replicates": (
        repeated(), "independent-replicates",
        {"method": "map", "raters": "pooled", "replicates": "independent"}, {"replicate": "copy"},
    ),
    "two camps": (two_camps(), "other-mode", {"method": "map", "raters": "dawid_skene"}, {}),
    "teams": (teams(), "separate-teams", {"method": "map", "raters": "pooled"}, {}),
}  # fmt: skip


def write_thirds(table: pd.DataFrame, folder: Path) -> Path:
    folder.mkdir()
    code = pd.factorize(table["cluster"])[0]
    for n in range(3):
        table[code * 3 // (code.max() + 1) == n].to_parquet(folder / f"part-{n}.parquet")
    return folder


def fit_partitions(folder: Path, reading: dict[str, Any], **given: Any) -> xr.DataTree:
    return assay.fit_dataset(
        folder, task="single", out=folder.parent / "fit.zarr", executor=Here(), reading=reading,
        **QUICK | given,
    )  # fmt: skip


def mode_words(fit: xr.DataTree) -> list[tuple[str, bool]]:
    """How each mode names classes, and whether it says which ones trade places."""
    return [
        (text.split(":")[0], "are exchanged" in text) for text in json.loads(fit.attrs["modes"])
    ]


def test_a_mode_that_calls_a_class_otherwise_is_known_over_partitions(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    truth = rng.choice(3, 150, p=[0.5, 0.25, 0.25])
    chance = np.array([[0.8, 0.15, 0.05], [0.15, 0.7, 0.15], [0.05, 0.5, 0.45]])
    said = np.array([[rng.choice(3, p=chance[k]) for k in truth] for _ in range(4)])
    table = table_of(said, classes="abc")
    folder = write_thirds(table, tmp_path / "ratings")
    given = {"method": "map", "raters": "hierarchical", "starts": 4}
    here = assay.fit(assay.read_ratings(table, task="single"), **QUICK | given)
    words = mode_words(fit_partitions(folder, {}, **given))
    assert words == mode_words(here)
    assert words[1] == (
        "most answers to a class, or to its hard items, name another class",
        True,
    )


@pytest.mark.parametrize("case", CASES)
def test_partitions_have_the_warnings_and_doubts_of_one_file(case: str, tmp_path: Path) -> None:
    table, code, given, reading = CASES[case]
    given = {"method": "laplace"} | given
    folder = write_thirds(table, tmp_path / "ratings")
    together = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
    here = assay.fit(assay.read_ratings(together, task="single", **reading), **QUICK | given)
    there = fit_partitions(folder, reading, **given)
    assert code in [note.code for note in fit_warnings(here)]
    one, other = ([(note.code, note.level) for note in fit_warnings(fit)] for fit in (here, there))
    assert one == other
    one, other = (
        [(doubt.code, doubt.label, doubt.classes) for doubt in label_doubts(fit)]
        for fit in (here, there)
    )
    assert one == other
    for mine, yours in zip(label_doubts(here), label_doubts(there), strict=True):
        assert mine.numbers == pytest.approx(yours.numbers, abs=1e-3)
    data = [json.loads(fit.attrs["data_doubts"]) for fit in (here, there)]
    assert [line["code"] for line in data[0]] == [line["code"] for line in data[1]]
    assert mode_words(here) == mode_words(there)
    assert json.loads(here.attrs["assumptions"]) == json.loads(there.attrs["assumptions"])


def test_a_drifted_class_of_a_data_set_decides_nothing(tmp_path: Path) -> None:
    table = drifted()
    folder = write_thirds(table, tmp_path / "ratings")
    fit = fit_partitions(folder, {}, method="map", **WRONG_PRIOR)
    (mark,) = {doubt.mark for doubt in label_doubts(fit)}
    assert mark.startswith("class drift")
    assert set(assay.summarize(assay.metrics(fit))["doubt"]) == {mark}
    assert set(assay.compare(fit).pairs["doubt"]) == {mark}
    assert assay.check_claim(fit, "prevalence[label=b] of A > -1").verdict == "undecided"


DESIGNS: dict[str, tuple[dict[str, Any], Any]] = {
    "plain": ({}, make_spec("dawid_skene")),
    "replicates": ({"replicates": 2, "ratings_per_item": 2}, make_spec("dawid_skene")),
    "sessions": ({"sessions": 3, "replicates": 2, "ratings_per_item": 2}, make_spec("drift")),
    "gold": (
        {"gold": 0.5, "groups": {"a": 2, "b": 3}},
        make_spec("pooled + perception", reference="gold"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("design", DESIGNS)
def test_the_counts_of_partitions_add_up(design: str) -> None:
    more, spec = DESIGNS[design]
    given = {"n_items": 150, "n_raters": 5, "n_systems": 2, "n_clusters": 30, "rng": 1} | more
    if "groups" in given:
        del given["n_raters"]
    ratings = assay.simulate("retrieval", **given)
    code = pd.factorize(ratings.items["cluster"])[0]
    parts = [
        take_items(ratings, np.flatnonzero(code * 3 // (code.max() + 1) == n)) for n in range(3)
    ]
    skeleton = make_skeleton(join_ratings([make_skeleton(part, spec) for part in parts]), spec)
    _, numbering = number(skeleton, spec)
    first, *others = (number_partition(part, numbering).counts for part in parts)
    found: DataCounts = sum(others, start=first)
    structure = build_structure(ratings, spec)
    whole = count_data(ratings, structure.parts, ratings.systems)
    assert sorted(found.ratings) == sorted(whole.ratings)
    assert found.ratings.sum() == len(ratings.answers)
    for name in ("known", "repeated", "apart"):
        assert getattr(found, name) == getattr(whole, name), name
    assert (whole.repeated > 0) == ("replicates" in more)
    assert (whole.apart > 0) == (design == "sessions")
    for name in ("scores_alone", "answers"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    np.testing.assert_array_equal(found.links.common, whole.links.common)


def test_a_sample_of_the_clusters_shows_near_duplicates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []

    def search_some(ratings: assay.Ratings) -> Search:
        searched.append(len(ratings.answers))
        return search(ratings)

    monkeypatch.setattr(instruments, "MOST_ROWS", 500)
    monkeypatch.setattr(instruments, "search", search_some)
    folder = write_thirds(near_duplicates(300), tmp_path / "ratings")
    fit = fit_partitions(folder, {}, method="laplace")
    assert len(searched) == 1
    assert 900 < searched[0] < 1100
    assert "dependent-raters" in [line["code"] for line in json.loads(fit.attrs["data_doubts"])]


def test_too_many_ratings_for_a_check_of_groups_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "MOST_RATINGS", 100)
    folder = write_thirds(groups_that_err_together(), tmp_path / "ratings")
    fit = fit_partitions(folder, {}, method="laplace", raters="hierarchical")
    codes = [(note.code, note.level) for note in fit_warnings(fit)]
    assert ("group-errors-unchecked", "note") in codes
    assert "groups-err-together" not in dict(codes)


@pytest.mark.parametrize("name", ["draws", "chains", "starts"])
def test_numbers_are_checked_before_partitions_are_read(name: str, tmp_path: Path) -> None:
    folder = write_thirds(table_of(crowd(2, 6)), tmp_path / "ratings")
    with pytest.raises(
        FitError, match=f"{name}=0", check=refusal("argument-count", least=1, most=1000000)
    ):
        assay.fit_dataset(
            folder, task="single", out=tmp_path / "fit.zarr", executor=Unasked(),
            **QUICK | {"method": "map", name: 0},
        )  # fmt: skip


def test_a_fit_that_did_not_look_for_doubts_says_so_at_its_numbers(tmp_path: Path) -> None:
    """As earlier versions made them; no doubt is not the same as none found."""
    folder = write_thirds(drifted(), tmp_path / "ratings")
    fit = fit_partitions(folder, {}, method="map").load()
    assert label_doubts(fit) == ()
    assert set(assay.summarize(assay.metrics(fit))["doubt"]) == {""}
    del fit.attrs["label_doubts"], fit.attrs["data_doubts"]
    (doubt,) = label_doubts(fit)
    assert (doubt.code, doubt.level) == ("doubts-not-sought", "note")
    assert set(assay.summarize(assay.metrics(fit))["doubt"]) == {doubt.mark}
    assert set(assay.compare(fit).pairs["doubt"]) == {doubt.mark}
    claim = assay.check_claim(fit, "prevalence[label=b] of A > -1")
    assert claim.sentence.endswith(f"No conclusion rests on it: {doubt.mark}.")

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import zarr
from refusals import refusal

import assay
from assay._util.errors import ArgumentError, FitError, FitWarning, RatingsError
from assay.data.ratings import Ratings
from assay.fits.datatree import ratings_of
from assay.fits.view import FitView


def some_ratings() -> Ratings:
    ratings = assay.simulate(
        "ais",
        n_items=24,
        groups={"human": 2, "model": 2},
        n_systems=2,
        n_clusters=6,
        missing=0.1,
        rng=1,
    )
    truth = ratings.truth.copy()
    truth[0] = ratings.simulated.truth[0]
    names = [f"ünï {i}" for i in range(24)]
    items = ratings.items.set_axis(pd.Index(names, name="item")).assign(weight=np.arange(1.0, 25))
    aside = pd.DataFrame(
        {"line": [3], "item": ["a"], "rater": ["b"], "reason": ["blocked"], "detail": ["why"]}
    )
    accounting = replace(ratings.accounting, set_aside=aside, notes=("one", "two"), sha256="ff")
    return replace(ratings, truth=truth, items=items, accounting=accounting)


@pytest.fixture(scope="module")
def fitted() -> tuple[Ratings, xr.DataTree]:
    ratings = some_ratings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(
            ratings,
            raters="dawid_skene",
            priors={"main": "Normal(0, 1)"},
            method="map",
            draws=5,
            chains=2,
            rng=3,
            starts=1,
        )
    return ratings, fit


@pytest.mark.parametrize("name", ["fit.nc", "fit.zarr"])
def test_round_trip(fitted: tuple[Ratings, xr.DataTree], tmp_path: Path, name: str):
    _, fit = fitted
    written = assay.save(fit, tmp_path / name)
    back = assay.load(str(written))
    assert written == tmp_path / name
    assert set(back.children) == set(fit.children)
    for group in fit.children:
        xr.testing.assert_equal(back[group].to_dataset(), fit[group].to_dataset())
        for variable in fit[group].data_vars:
            kinds = {tree[group][variable].dtype.kind for tree in (back, fit)}
            assert len(kinds) == 1 or kinds <= set("OUT")  # text has several kinds
    assert dict(back.attrs) == dict(fit.attrs)
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["fit.nc", "fit.zarr"])
def test_what_comes_after_is_the_same(
    fitted: tuple[Ratings, xr.DataTree], tmp_path: Path, name: str
):
    _, fit = fitted
    back = assay.load(assay.save(fit, tmp_path / name))
    for function in (assay.label_probabilities, assay.label_draws, assay.rater_reliability):
        xr.testing.assert_identical(function(back), function(fit))


@pytest.mark.parametrize("saved", [False, True])
def test_ratings_come_out_as_they_went_in(
    fitted: tuple[Ratings, xr.DataTree], tmp_path: Path, saved: bool
):
    ratings, fit = fitted
    if saved:
        fit = assay.load(assay.save(fit, tmp_path / "fit.nc"))
    back = ratings_of(fit)
    for name in ("answers", "item", "rater", "replicate", "abstained", "truth"):
        found = getattr(back, name)
        np.testing.assert_array_equal(found, getattr(ratings, name))
        assert found.dtype == getattr(ratings, name).dtype
    for name in ("items", "raters", "panels"):
        pd.testing.assert_frame_equal(
            getattr(back, name), getattr(ratings, name), check_dtype=False
        )
    assert back.task == ratings.task
    assert (back.partial, back.resolve) == (ratings.partial, ratings.resolve)
    assert back.accounting.reasons == {"blocked": 1}
    assert back.accounting.notes == ("one", "two")
    assert back.accounting.sha256 == "ff"
    assert back.simulated is None


def test_the_model_can_be_rebuilt(fitted: tuple[Ratings, xr.DataTree], tmp_path: Path):
    _, fit = fitted
    back = assay.load(assay.save(fit, tmp_path / "fit.nc"))
    assert FitView.of(back).spec.priors == {"main": "Normal(0, 1)"}
    structure = FitView.of(back).structure
    assert structure.spec.raters == "dawid_skene"
    values = {p.name: back["posterior"][p.name].values[0, 0] for p in structure.parameters()}
    total = float(back["log_likelihood"]["ratings"][0, 0].sum())
    assert structure.log_likelihood(values) == pytest.approx(total, abs=1e-9)
    assert json.loads(back.attrs["versions"])["numpy"] == np.__version__


@pytest.mark.parametrize("name", ["fit.nc", "fit.zarr"])
def test_saving_again_replaces(fitted: tuple[Ratings, xr.DataTree], tmp_path: Path, name: str):
    _, fit = fitted
    for seed in (1, 2):
        changed = fit.copy()
        changed.attrs = {**fit.attrs, "seed": seed}
        assay.save(changed, tmp_path / name)
    assert assay.load(tmp_path / name).attrs["seed"] == 2
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_the_log_likelihood_of_a_folder_is_read_when_it_is_used(
    fitted: tuple[Ratings, xr.DataTree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """It is larger than all else, and metrics, raters and labels need none of it."""
    assay.save(fitted[1], tmp_path / "fit.zarr")
    read: list[str] = []
    original = zarr.Array.__getitem__

    def seen(array: zarr.Array, key: object) -> object:
        read.append(array.path)
        return original(array, key)

    monkeypatch.setattr(zarr.Array, "__getitem__", seen)
    fit = assay.load(tmp_path / "fit.zarr")
    for question in (assay.metrics, assay.rater_reliability, assay.label_probabilities):
        question(fit)
    assert "labels/state" in read
    assert "log_likelihood/ratings" not in read
    there = fit["log_likelihood"]["ratings"].to_numpy()
    assert np.array_equal(there, fitted[1]["log_likelihood"]["ratings"])
    read.clear()
    assay.metrics(fit)
    assert read == []


@pytest.mark.parametrize("name", ["fit.nc", "fit.zarr"])
def test_a_failed_write_leaves_the_old_fit(
    fitted: tuple[Ratings, xr.DataTree], tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
):
    _, fit = fitted
    assay.save(fit, tmp_path / name)

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    for method in ("to_netcdf", "to_zarr"):
        monkeypatch.setattr(xr.Dataset, method, full)
    with pytest.raises(FitError, match="No space left", check=refusal("file-not-written")):
        assay.save(fit, tmp_path / name)
    assert assay.load(tmp_path / name).attrs == fit.attrs
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_where_nothing_can_be_written(fitted: tuple[Ratings, xr.DataTree], tmp_path: Path):
    _, fit = fitted
    with pytest.raises(FitError, match="does not exist", check=refusal("output-place")):
        assay.save(fit, tmp_path / "nowhere" / "fit.nc")
    with pytest.raises(FitError, match="it is a", check=refusal("output-place")):
        assay.save(fit, tmp_path)
    for name in ("ratings.csv", "fit.txt", "fit"):
        with pytest.raises(ArgumentError, match=r"a \.nc file", check=refusal("output-place")):
            assay.save(fit, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FitError, check=refusal("not-a-fit")):
        assay.save(xr.DataTree(), tmp_path / "fit.nc")


def test_what_is_no_fit_is_said_in_words(tmp_path: Path):
    with pytest.raises(FitError, check=refusal("no-such-file")):
        assay.load(tmp_path / "fit.nc")
    (tmp_path / "text.nc").write_text("item,rater\n1,2\n")
    (tmp_path / "empty.nc").write_bytes(b"")
    (tmp_path / "folder.zarr").mkdir()
    xr.Dataset({"x": ("n", [1, 2])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    for name in ("text.nc", "empty.nc", "folder.zarr", "other.nc"):
        with pytest.raises(FitError, match=name, check=refusal("not-a-fit")):
            assay.load(tmp_path / name)


def test_a_truncated_file_is_an_error(fitted: tuple[Ratings, xr.DataTree], tmp_path: Path):
    _, fit = fitted
    path = assay.save(fit, tmp_path / "fit.nc")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FitError, check=refusal("not-a-fit")):
        assay.load(path)


def test_a_tree_with_the_groups_but_no_attributes_is_no_fit(
    fitted: tuple[Ratings, xr.DataTree], tmp_path: Path
):
    _, fit = fitted
    bare = fit.copy()
    bare.attrs = {}
    with pytest.raises(FitError):
        ratings_of(bare)


def test_a_fit_of_a_model_with_other_parameters_is_refused_in_words(tmp_path: Path) -> None:
    """As by an earlier version, whose model of the same name had fewer."""
    ratings = assay.simulate("relevance", n_items=20, n_raters=3, rng=1)
    fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1, progress=False)
    fit["posterior"] = fit["posterior"].to_dataset().drop_vars("ability_mean")
    path = tmp_path / "fit.nc"
    assay.save(fit, path)
    with pytest.raises(FitError, match="lacks ability_mean, which", check=refusal("other-version")):
        assay.rater_reliability(assay.load(path))


TABLE = pd.DataFrame({"item": ["a", "b"], "rater": ["x", "x"], "label": ["no", "yes"]})


@pytest.mark.parametrize("column", ["item", "rater", "label", "remark"])
@pytest.mark.parametrize("kind", ["table", "csv", "parquet"])
def test_nul_in_a_cell_is_removed_with_a_note(tmp_path: Path, column: str, kind: str) -> None:
    """No netCDF file can hold it, which was found out after the fit alone."""
    table = TABLE.assign(remark="")
    table.loc[1, column] = "b\0c"
    source: Any = table
    if kind == "csv":
        source = tmp_path / "ratings.csv"
        filler = pd.concat([TABLE.assign(remark="x" * 40_000)] * 2, ignore_index=True)
        filler["item"] = ["c", "d", "e", "f"]
        pd.concat([filler, table]).to_csv(source, index=False)
    elif kind == "parquet":
        source = tmp_path / "ratings.parquet"
        table.to_parquet(source)
    read = assay.read_ratings(source, task="single")
    (note,) = (n for n in read.accounting.notes if getattr(n, "code", "") == "nul-character")
    assert re.search(rf"1 cell.*column {column}, (row|line)", note)
    names = [*read.items.index, *read.raters.index, *read.task.labels[0].classes]
    assert not any("\0" in str(name) for name in names)
    assert ("bc" in names) == (column != "remark")


@pytest.mark.parametrize("name", ["a\0b", "a\udc80"])
def test_names_that_no_file_can_hold_are_refused_before_a_fit(name: str) -> None:
    with pytest.raises(RatingsError, match="cannot be stored", check=refusal("unstorable-name")):
        assay.fit(replace(assay.read_ratings(TABLE, task="single"), sessions=(name,)))


def test_nul_in_the_name_of_a_group_is_refused_before_a_fit() -> None:
    with pytest.raises(RatingsError, check=refusal("unstorable-name")):
        assay.fit(assay.read_ratings(TABLE, task="single", group={"x": "a\0b"}))

"""Stored fits from elsewhere: what is damaged, or acts, is refused in words."""

import json
import os
import pickle
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay import cli
from assay._util.errors import FitError, FitWarning
from assay.cli.shell import this_command
from assay.fits.datatree import SCHEMA_VERSION, ratings_of
from assay.fits.storage import _chunk
from assay.fits.view import FitView
from assay.reporting.fit import loo_of

DATA = Path(__file__).parents[2] / "data"


FROZEN = DATA / "fit-0.1.nc"
"""Written by version 0.1, before fits had a schema version; with the default of that time."""


PLAIN = DATA / "fit-0.1-hierarchical.nc"
"""Without a layer of difficulty."""


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    ratings = assay.simulate(
        "retrieval", n_items=12, n_raters=3, n_systems=2, n_clusters=4, missing=0.05, rng=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return assay.fit(ratings, method="map", draws=4, chains=2, starts=1, rng=1)


@pytest.mark.parametrize("file", [FROZEN, PLAIN], ids=["default", "hierarchical"])
def test_a_fit_of_version_0_1_opens(file: Path) -> None:
    fit = assay.load(file)
    assert "schema_version" not in fit.attrs
    assert len(ratings_of(fit).items) == 12
    assert assay.label_probabilities(fit).sizes["item"] == 12


def test_a_fit_of_version_0_1_is_used_or_says_what_to_do() -> None:
    """A model whose parameters have changed since has to be fitted again."""
    assert assay.rater_reliability(assay.load(PLAIN)).sizes["rater"] == 3
    try:
        assert assay.rater_reliability(assay.load(FROZEN)).sizes["rater"] == 3
    except FitError as error:
        assert "Fit the ratings again" in str(error)  # noqa: PT017


def test_a_fit_says_its_schema_version(fit: xr.DataTree, tmp_path: Path) -> None:
    assert assay.load(assay.save(fit, tmp_path / "fit.nc")).attrs["schema_version"] == 3


def test_a_later_schema_is_refused_with_what_to_do(fit: xr.DataTree, tmp_path: Path) -> None:
    later = fit.copy()
    later.attrs = {**fit.attrs, "schema_version": SCHEMA_VERSION + 1}
    with pytest.raises(FitError, check=refusal("other-version", newest=3)):
        assay.load(assay.save(later, tmp_path / "fit.nc"))


def external_link(file: Path, other: Path) -> None:
    with h5py.File(file, "a") as stored:
        stored["posterior/leak"] = h5py.ExternalLink(str(other), "/data")


def external_data(file: Path, other: Path) -> None:
    with h5py.File(file, "a") as stored:
        stored["posterior"].create_dataset(
            "leak", (8,), "u1", external=[(str(other), 0, h5py.h5f.UNLIMITED)]
        )


def virtual_data(file: Path, other: Path) -> None:
    layout = h5py.VirtualLayout(shape=(8,), dtype="u1")
    layout[:] = h5py.VirtualSource(str(other), "data", shape=(8,))
    with h5py.File(file, "a") as stored:
        stored["posterior"].create_virtual_dataset("leak", layout)


def soft_link(file: Path, other: Path) -> None:
    with h5py.File(file, "a") as stored:
        stored["posterior/leak"] = h5py.SoftLink("/constant_data")


@pytest.mark.parametrize("link", [external_link, external_data, virtual_data, soft_link])
def test_a_file_that_points_elsewhere_is_refused(
    fit: xr.DataTree, tmp_path: Path, link: Callable[[Path, Path], None]
) -> None:
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as secret:
        secret["data"] = np.arange(8, dtype="u1")
    file = assay.save(fit, tmp_path / "fit.nc")
    link(file, other)
    with pytest.raises(FitError, match=r"leak .*is refused", check=refusal("unsafe-store")):
        assay.load(file)


class Code:
    """What runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


def test_a_zarr_codec_runs_no_code(fit: xr.DataTree, tmp_path: Path) -> None:
    """Format 2 of Zarr has a codec that unpickles."""
    made, store = tmp_path / "made", tmp_path / "fit.zarr"
    fit.to_zarr(store, zarr_format=2, consolidated=False)
    chain = store / "posterior" / "chain"
    about = json.loads((chain / ".zarray").read_text())
    about |= {"compressor": None, "filters": [{"id": "pickle", "protocol": 5}], "dtype": "|O"}
    (chain / ".zarray").write_text(json.dumps(about | {"fill_value": None}))
    for file in chain.glob("[0-9]*"):
        file.write_bytes(pickle.dumps(Code(f"touch {made}")))
    with pytest.raises(FitError, match="format 2", check=refusal("unsafe-store")):
        assay.load(store)
    assert not made.exists()


def test_unknown_codecs_and_links_are_refused(fit: xr.DataTree, tmp_path: Path) -> None:
    store = assay.save(fit, tmp_path / "fit.zarr")
    about = store / "posterior" / "main" / "zarr.json"
    text = about.read_text()
    about.write_text(text.replace('"zstd"', '"numcodecs.pickle"'))
    with pytest.raises(FitError, match=r"numcodecs\.pickle", check=refusal("unsafe-store")):
        assay.load(store)
    about.write_text(text)
    assay.load(store)
    (store / "posterior" / "leak").symlink_to(tmp_path)
    with pytest.raises(FitError, match="points to another", check=refusal("unsafe-store")):
        assay.load(store)


def changed(fit: xr.DataTree, group: str, **variables: Any) -> xr.DataTree:
    tree = fit.copy()
    tree[group] = tree[group].to_dataset(inherit=False).assign(variables)
    return tree


def with_attribute(fit: xr.DataTree, **attributes: Any) -> xr.DataTree:
    tree = fit.copy()
    tree.attrs = {**fit.attrs, **attributes}
    return tree


def without(fit: xr.DataTree, group: str, variable: str) -> xr.DataTree:
    tree = fit.copy()
    tree[group] = tree[group].to_dataset(inherit=False).drop_vars(variable)
    return tree


def plus(fit: xr.DataTree, group: str, variable: str, shift: Any) -> xr.DataTree:
    return changed(fit, group, **{variable: fit[group][variable] + shift})


DAMAGES: dict[str, tuple[Callable[[xr.DataTree], xr.DataTree], str]] = {
    "answers": (lambda f: plus(f, "observed_data", "answers", 2), "answers is out of range"),
    "items": (lambda f: plus(f, "constant_data", "rating_item", 5), "rating_item is out of"),
    "raters": (lambda f: plus(f, "constant_data", "rating_rater", -1), "rating_rater is out of"),
    "places": (lambda f: plus(f, "constant_data", "place_item", 99), "place_item is out of"),
    "ranks": (lambda f: plus(f, "constant_data", "place_rank", -1), "place_rank is out of"),
    "weights": (lambda f: plus(f, "constant_data", "item_weight", -1), "item_weight is out of"),
    "weights that are text": (
        lambda f: changed(f, "constant_data", item_weight=("item", ["a"] * 12)), "another type",
    ),
    "names that are numbers": (
        lambda f: changed(f, "constant_data", item_cluster=("item", np.arange(12))),
        "item_cluster is out of range, or of another type",
    ),
    "states drawn": (lambda f: plus(f, "labels", "state", 4), "labels/state is out of range"),
    "shares": (lambda f: plus(f, "labels", "state_probability", 0.1), "state_probability is out"),
    "states": (
        lambda f: changed(f, "constant_data", states=f["constant_data"]["states"].variable[::-1]),
        "not those of the task",
    ),
    "dims": (
        lambda f: changed(f, "constant_data", place_rank=("other", np.ones(12, int))),
        "place_rank has other dims than place",
    ),
    "no truth": (lambda f: without(f, "constant_data", "truth"), "truth is missing"),
    "NaN": (lambda f: plus(f, "posterior", "main", np.nan), "posterior/main has values"),
    "no seed": (lambda f: with_attribute(f, seed="one"), "attribute seed"),
    "method": (lambda f: with_attribute(f, method="magic"), "attribute method is 'magic'"),
    "partial": (lambda f: with_attribute(f, partial="some"), "attribute partial"),
    "task": (lambda f: with_attribute(f, task="{}"), "attribute task: no labels"),
    "task of another kind": (lambda f: with_attribute(f, task="[]"), "attribute task"),
    "deep task": (lambda f: with_attribute(f, task="[" * 100_000), "attribute task"),
    "spec": (lambda f: with_attribute(f, spec='{"raters": "magic"}'), "attribute spec"),
    "spec of more": (lambda f: with_attribute(f, spec='{"code": 1}'), "attribute spec"),
    "prior": (
        lambda f: with_attribute(f, spec='{"priors": {"main": "exec(1)"}}'), "no distribution",
    ),
    "accounting": (lambda f: with_attribute(f, accounting="{}"), "attribute accounting"),
    "warnings": (lambda f: with_attribute(f, warnings="{}"), "no list of sentences"),
    "attribute of numbers": (lambda f: with_attribute(f, task=[1, 2]), "attribute task is no text"),
}  # fmt: skip


IN_ZARR = ("answers", "weights that are text", "dims", "no truth", "NaN", "no seed", "task")
"""Stores of both kinds are checked after they are read; these show that they are."""


@pytest.mark.parametrize(
    ("name", "suffix"), [(n, ".nc") for n in DAMAGES] + [(n, ".zarr") for n in IN_ZARR]
)
def test_a_damaged_fit_is_one_clear_error(
    fit: xr.DataTree, tmp_path: Path, name: str, suffix: str
) -> None:
    damage, said = DAMAGES[name]
    file = assay.save(damage(fit), tmp_path / f"fit{suffix}")
    with pytest.raises(FitError, match=said, check=refusal("damaged-fit", problems=1)) as caught:
        assay.load(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_items_of_one_name_are_refused(fit: xr.DataTree, tmp_path: Path) -> None:
    tree = fit.copy()
    tree["constant_data"] = fit["constant_data"].to_dataset().assign_coords(item=["a"] * 12)
    with pytest.raises(FitError, check=refusal("damaged-fit", problems=1)):
        assay.load(assay.save(tree, tmp_path / "fit.nc"))


def test_a_lost_chunk_is_missed(fit: xr.DataTree, tmp_path: Path) -> None:
    store = assay.save(fit, tmp_path / "fit.zarr")
    shutil.rmtree(store / "labels" / "state" / "c")
    with pytest.raises(FitError, match="labels/state", check=refusal("damaged-fit")):
        assay.load(store)


def flip(file: Path, place: int) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 4
    file.write_bytes(data)


def test_a_flipped_bit_is_noticed_in_netcdf(fit: xr.DataTree, tmp_path: Path) -> None:
    """The lowest bits of a number leave it in range: no look at values would tell."""
    file = assay.save(fit, tmp_path / "fit.nc")
    draws = fit["posterior"]["main"].to_numpy()
    place = file.read_bytes().index(draws.tobytes())
    for n in (0, draws.nbytes // 2, draws.nbytes - 8):
        flip(file, place + n)
        with pytest.raises(FitError, match="it is damaged", check=refusal("not-a-fit")):
            assay.load(file)
        flip(file, place + n)
    assert assay.load(file).identical(fit)


def test_a_flipped_bit_is_noticed_in_zarr(fit: xr.DataTree, tmp_path: Path) -> None:
    store = assay.save(fit, tmp_path / "fit.zarr")
    chunks = [c for c in (store / "posterior" / "main" / "c").rglob("*") if c.is_file()]
    for place in (0, chunks[0].stat().st_size // 2, -5):
        flip(chunks[0], place)
        with pytest.raises(FitError, check=refusal("not-a-fit")):
            assay.load(store)
        flip(chunks[0], place)
    assert assay.load(store).identical(fit)


def test_large_draws_have_checksums_a_piece_at_a_time() -> None:
    values = xr.DataArray(np.broadcast_to(np.float64(0), (4, 1000, 10_000)), dims=("c", "d", "i"))
    assert _chunk(values) == (1, 209, 10_000)
    assert _chunk(values[0, :3, :5]) == (3, 5)


@pytest.mark.parametrize("kept", [0, 3, 40])
def test_a_cut_chunk_is_an_error(fit: xr.DataTree, tmp_path: Path, kept: int) -> None:
    store = assay.save(fit, tmp_path / "fit.zarr")
    for chunk in (store / "constant_data").rglob("c/*"):
        if chunk.is_file():
            chunk.write_bytes(chunk.read_bytes()[:kept])
    with pytest.raises(FitError, match=r"fit\.zarr", check=refusal("not-a-fit")):
        assay.load(store)


def test_a_log_likelihood_that_is_read_later_is_one_error_too(
    fit: xr.DataTree, tmp_path: Path
) -> None:
    store = assay.save(fit, tmp_path / "fit.zarr")
    for chunk in (store / "log_likelihood" / "ratings" / "c").rglob("*"):
        if chunk.is_file():
            chunk.write_bytes(chunk.read_bytes()[:20])
    with pytest.raises(FitError, check=refusal("damaged-fit")):
        loo_of(FitView.of(assay.load(store)))


WRITE = """
import json, resource, sys
import numpy as np, xarray as xr
import assay
fit = assay.load(sys.argv[1])
large = {"ratings": (("chain", "draw", "cluster"), np.random.rand(2, 4, 50_000))}
fit["log_likelihood"] = xr.Dataset(large)
for target, size in json.loads(sys.argv[2]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        assay.save(fit, target)
    except assay.AssayError as error:
        print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="file sizes are limited otherwise there")
def test_a_full_disk_is_a_message(tmp_path: Path) -> None:
    """HDF5 ends the process, or raises from destructors, where it cannot write."""
    asked = [
        (str(tmp_path / f"fit{size}{suffix}"), size)
        for suffix, size in [(".nc", 20_000), (".nc", 80_000), (".nc", 500_000), (".zarr", 1_000)]
    ]
    done = subprocess.run(
        [sys.executable, "-B", "-c", WRITE, str(FROZEN), json.dumps(asked)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for target, _ in asked:
        assert f"cannot write {target}: File too large" in done.stdout
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("room", [0, 1, 100, 3_000, 9_000, 30_000, 50_000, 70_000, 85_000])
def test_whenever_a_disk_is_full_it_is_a_message(
    fit: xr.DataTree, tmp_path: Path, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, write, left = assay.save(fit, tmp_path / "fit.nc"), os.write, [room]
    before = target.read_bytes()

    def full(file: int, data: Any) -> int:
        if not left[0]:
            raise OSError(28, "No space left on device")
        done = write(file, data[: left[0]])
        left[0] -= done
        return done

    monkeypatch.setattr("assay._util.guarded_files.os.write", full)
    with pytest.raises(FitError, match="No space left", check=refusal("file-not-written")):
        assay.save(fit, target)
    monkeypatch.undo()
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["fit.nc"]


def full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be written below a folder."""
    opened = os.open

    def refuse(path: Any, *flags: Any, **more: Any) -> int:
        if str(path).startswith(str(folder)) and str(path).endswith(".nc"):
            raise OSError(28, "No space left on device")
        return opened(path, *flags, **more)

    monkeypatch.setattr("assay._util.guarded_files.os.open", refuse)


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_fit_goes_to_another_folder_if_its_disk_is_full(
    fit: xr.DataTree, tmp_path: Path, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, full, other = tmp_path / "ratings.csv", tmp_path / "full", tmp_path / "other"
    source.write_text("item,rater,label\n1,a,x\n2,a,y\n1,b,x\n2,b,y\n")
    for folder in (full, other):
        folder.mkdir()
    monkeypatch.setattr("assay.fit", lambda *_, **__: fit)
    monkeypatch.setattr("assay.cli.rescue.tempfile.gettempdir", lambda: str(other))
    monkeypatch.setattr(Path, "home", lambda: full)
    monkeypatch.chdir(full)
    full_disk(full if elsewhere else tmp_path, monkeypatch)
    command = ["fit", str(source), "--task", "single", "-o", str(full / "fit.nc"), "-q"]
    done = CliRunner().invoke(cli.app, command)
    assert done.exit_code == 1
    assert f"cannot write {full / 'fit.nc'}: No space left on device" in done.output
    assert list(full.iterdir()) == []
    if not elsewhere:
        assert "--checkpoint FOLDER" in done.output
        return
    (place,) = other.iterdir()
    assert f"{place / 'fit.nc'} instead" in done.output
    assert assay.load(place / "fit.nc").attrs["method"] == "map"


def test_a_command_with_bytes_that_are_no_text_can_be_stored(
    fit: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["assay", "fit", "na\udcefve.csv"])
    stored = with_attribute(fit, command=this_command())
    assert "na\\udcefve.csv" in assay.load(assay.save(stored, tmp_path / "fit.nc")).attrs["command"]

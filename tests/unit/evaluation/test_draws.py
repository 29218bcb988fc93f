"""States of a large fit are read some draws at a time, and give the same numbers."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import zarr

import assay
from assay.comparison import compare
from assay.evaluation.draws import StoredStates
from assay.fits import storage

pytestmark = pytest.mark.filterwarnings("ignore::assay.FitWarning")
DRAWS, CHUNK = 50, 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ratings = assay.simulate(
        "retrieval", n_items=120, n_raters=4, n_systems=2, n_clusters=24, rng=1
    )
    fit = assay.fit(ratings, method="map", draws=DRAWS, chains=2, rng=1, progress=False)
    fit["labels"]["state"].encoding["chunks"] = (1, CHUNK, 50)
    return assay.save(fit, tmp_path_factory.mktemp("stored") / "fit.zarr")


@pytest.mark.parametrize(
    "draws", [slice(None), slice(0, 3), slice(45, 60), slice(None, None, 7), slice(99, None)]
)
def test_draws_of_all_chains_stand_one_after_the_other(folder: Path, draws: slice) -> None:
    whole = assay.load(folder)["labels"]["state"].to_numpy().reshape(2 * DRAWS, 120)
    opened = xr.open_datatree(folder, engine="zarr", consolidated=False, chunks=None)
    stored = StoredStates(opened["labels"].to_dataset(inherit=False)["state"])
    assert stored.shape == whole.shape
    assert np.array_equal(stored[draws], whole[draws])


def test_metrics_of_a_large_fit_read_a_chunk_of_draws_at_a_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = assay.load(folder)
    expected = {name: assay.metrics(whole, estimand=name) for name in ("finite", "population")}
    pairs = compare(whole, metric="ndcg_at_k").pairs
    sizes: list[int] = []
    original = zarr.Array.__getitem__

    def seen(array: zarr.Array, key: object) -> object:
        found = original(array, key)
        if array.path == "labels/state":
            sizes.append(np.shape(found)[-2])
        return found

    monkeypatch.setattr(zarr.Array, "__getitem__", seen)
    monkeypatch.setattr(storage, "LARGE", 1000)
    fit = assay.load(folder)
    assay.rater_reliability(fit)
    assert sizes == []
    for name, there in expected.items():
        assert assay.metrics(fit, estimand=name).identical(there)
    assert compare(fit, metric="ndcg_at_k").pairs.equals(pairs)
    assert max(sizes) == CHUNK


def test_metrics_of_fifty_thousand_items_and_a_thousand_draws_stay_below_2_gb(
    tmp_path: Path,
) -> None:
    """In a process of its own: what counts is the peak of all that it holds."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "metric_memory", "--folder", str(tmp_path)],
        cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "metric_memory.csv").set_index("step")
    assert (table["items"] == 50_000).all()
    # The draws alone are 100 MB; as floats, for five labels, they would be 2 GB.
    assert table.loc["population", "peak_megabytes"] < 1000

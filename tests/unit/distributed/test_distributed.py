"""Fits on a Dask cluster are those of one machine."""

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import ArgumentError, AssayError, FitError, ModelError, RatingsError
from assay.data.ratings import Ratings
from assay.distributed import dask_executor, executor, fitting, writing
from assay.distributed.alike import require_alike
from assay.distributed.skeleton import make_skeleton, number, number_partition
from assay.distributed.store import make_regions, waves
from assay.inference.curvature import bend_row, curvature
from assay.inference.data_on_workers import cut_clusters
from assay.inference.density import Density, make_density
from assay.inference.diagnostics import fit_warnings
from assay.inference.optimise import prior_centre
from assay.inference.pieces import make_frame, make_piece, take_clusters
from assay.inference.subsets import join_ratings, take_items
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

pytestmark = pytest.mark.filterwarnings(
    "ignore::assay.FitWarning",
    # nutpie and Dask close sockets and loops of their own when they are collected.
    "ignore::ResourceWarning",
)
QUICK: dict[str, Any] = {"method": "laplace", "draws": 50, "chains": 2, "rng": 3, "starts": 2}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as found:
        yield found


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    from distributed import Client

    with Client(cluster) as found:
        found.wait_for_workers(2, timeout=30)
        yield found


def simulated(**more: Any) -> Ratings:
    given: dict[str, Any] = {
        "n_items": 240, "n_raters": 5, "ratings_per_item": 2, "n_systems": 2, "n_clusters": 24,
        "rng": 1,
    }  # fmt: skip
    return assay.simulate("retrieval", **given | more)


def table_of(ratings: Ratings) -> pd.DataFrame:
    """Ratings as a file would have them: a row for each rating and place of its item."""
    labels = ratings.task.labels
    rows = pd.DataFrame(
        {
            "number": ratings.item,
            "item": ratings.items.index[ratings.item],
            "rater": ratings.raters.index[ratings.rater],
            **{
                label.name: np.array([*label.classes, ""], object)[ratings.answers[:, n]]
                for n, label in enumerate(labels)
            },
        }
    )
    places = ratings.panels.drop(columns="panel").rename(columns={"item": "number"})
    return rows.merge(places, on="number").drop(columns="number")


def write_partitions(table: pd.DataFrame, folder: Path, sizes: tuple[int, ...]) -> Path:
    """Whole clusters, in files of unequal size."""
    folder.mkdir()
    code = pd.factorize(table["cluster"])[0]
    ends = np.cumsum(sizes) * (code.max() + 1) / sum(sizes)
    owner = np.searchsorted(ends, code, side="right")
    for n in range(len(sizes)):
        table[owner == n].to_parquet(folder / f"part-{n}.parquet")
    return folder


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return table_of(simulated())


@pytest.fixture
def folder(table: pd.DataFrame, tmp_path: Path) -> Path:
    return write_partitions(table, tmp_path / "ratings", (5, 1, 3, 4))


def together(folder: Path) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])


def by_item(fit: Any) -> pd.DataFrame:
    found: pd.DataFrame = assay.state_probabilities(fit).to_pandas()
    return found.sort_index()


# -- numbers ---------------------------------------------------------------------------

CASES = {
    "clusters": (simulated(), make_spec()),
    "replicates": (simulated(replicates=2, n_items=120), make_spec()),
    "gold": (simulated(gold=0.5), make_spec("pooled + perception", reference="gold")),
    "groups": (
        simulated(groups={"a": 2, "b": 2, "c": 1}, ratings_per_item=5),
        make_spec(reference="groups"),
    ),
    "bias": (simulated(), make_spec("pooled + system_bias", "dirichlet")),
    "partial": (simulated(missing=0.3), make_spec("dawid_skene + item_difficulty")),
    "drift": (simulated(sessions=3), make_spec("drift")),
}


def thirds(ratings: Ratings) -> list[Ratings]:
    code = pd.factorize(ratings.items["cluster"])[0]
    owner = code * 3 // (code.max() + 1)
    return [take_items(ratings, np.flatnonzero(owner == n)) for n in range(3)]


@pytest.mark.parametrize("case", CASES)
def test_partitions_are_numbered_alike_and_their_likelihoods_add_up(case: str) -> None:
    ratings, spec = CASES[case]
    parts = thirds(ratings)
    skeleton = make_skeleton(join_ratings([make_skeleton(part, spec) for part in parts]), spec)
    assert len(skeleton.items) < len(ratings.items)
    _, numbering = number(skeleton, spec)
    whole = make_density(build_structure(ratings, spec))
    assert sorted(whole.names()) == sorted(numbering.frame.density.names())
    x = np.random.default_rng(1).normal(size=whole.size) * 0.3
    named = dict(zip(whole.names(), x, strict=True))
    there = np.array([named[name] for name in numbering.frame.density.names()])
    pieces = [number_partition(part, numbering).piece for part in parts]
    value = sum(piece.likelihood(there)[0] for piece in pieces)
    assert value == pytest.approx(whole(x)[0] - whole.log_prior(x), rel=1e-9)


def test_a_skeleton_keeps_the_one_item_on_which_raters_of_a_group_meet() -> None:
    """Else the group would have a perception layer in one partition alone."""
    ratings, spec = CASES["groups"]
    b = [name for name, group in ratings.raters["group"].items() if group == "b"]
    place = ratings.raters.index.get_indexer(b)
    last = ratings.item.max()
    apart = np.where(ratings.item % 2 == 0, *place)
    ratings = assay.take_ratings(
        ratings, ~np.isin(ratings.rater, place) | (ratings.rater == apart) | (ratings.item == last)
    )
    skeleton = make_skeleton(ratings, spec)
    assert build_structure(ratings, spec).perception.groups == ("a", "b")
    assert build_structure(skeleton, spec).perception.groups == ("a", "b")


def test_a_partition_that_has_grown_since_is_refused() -> None:
    ratings, spec = CASES["clusters"]
    few = ratings.answers[:, 1] == 0
    _, numbering = number(make_skeleton(assay.take_ratings(ratings, few), spec), spec)
    with pytest.raises(FitError, check=refusal("partition-changed")):
        number_partition(ratings, numbering)


def bends(density: Density, x: np.ndarray) -> np.ndarray:
    """Negative Hessian of a density of all data or none."""
    return np.array([bend_row(lambda at: density(at)[1], x, n) for n in range(len(x))])


def test_curvatures_of_pieces_add_up() -> None:
    ratings, spec = CASES["clusters"]
    structure = build_structure(ratings, spec)
    density = make_density(structure)
    frame = make_frame(structure, density)
    x = prior_centre(density)
    total = bends(frame.density, x)
    for run in cut_clusters(structure.pattern):
        total = total + make_piece(frame, take_clusters(structure.pattern, run)[0]).curvature(x)
    direct = bends(density, x)
    np.testing.assert_allclose(total, direct, atol=1e-5)
    assert (curvature(density, x) is None) == (np.linalg.eigvalsh(direct).min() <= 0)


def test_partitions_that_share_a_chunk_are_not_written_side_by_side() -> None:
    rng = np.random.default_rng(1)
    sizes = [
        {dim: int(rng.integers(1, 9)) for dim in ("rating", "item", "place", "cluster")}
        for _ in range(30)
    ]
    regions = make_regions(sizes, 10)
    groups = waves(regions)
    assert sorted(n for group in groups for n in group) == list(range(30))
    for group in groups:
        for dim, starts in regions.starts.items():
            chunks = [
                set(
                    range(
                        starts[n] // regions.chunks[dim],
                        (starts[n + 1] - 1) // regions.chunks[dim] + 1,
                    )
                )
                for n in group
            ]
            assert sum(len(c) for c in chunks) == len(set().union(*chunks))


# -- data sets -------------------------------------------------------------------------


def test_a_data_set_gives_the_fit_of_one_machine(client: Any, folder: Path) -> None:
    ratings = assay.read_ratings(together(folder), task="retrieval")
    here = assay.fit(ratings, **QUICK | {"method": "map"})
    assay.fit_dataset(
        folder, task="retrieval", out=folder.parent / "fit.zarr", executor=dask_executor(client),
        **QUICK | {"method": "map"},
    )  # fmt: skip
    there = assay.load(folder.parent / "fit.zarr")
    assert here["labels"].to_dataset().sizes == there["labels"].to_dataset().sizes
    np.testing.assert_allclose(by_item(here), by_item(there), atol=1e-3)
    for name, variable in here["constant_data"].data_vars.items():
        assert variable.dims == there["constant_data"][name].dims
        assert np.array_equal(variable.values, there["constant_data"][name].values), name
    assert np.array_equal(here["observed_data"]["answers"], there["observed_data"]["answers"])
    one, other = (
        f["log_likelihood"]["ratings"].mean(("chain", "draw")).to_series() for f in (here, there)
    )
    assert one.index.name == "cluster"
    np.testing.assert_allclose(one, other.reindex(one.index), atol=0.05)
    shares = (f["posterior"]["prevalence"].isel(chain=0, draw=0).to_numpy() for f in (here, there))
    np.testing.assert_allclose(*shares, atol=1e-3)


@pytest.mark.slow
def test_laplace_over_partitions_is_laplace(client: Any, folder: Path) -> None:
    ratings = assay.read_ratings(together(folder), task="retrieval")
    effort = QUICK | {"draws": 500}
    here = assay.fit(ratings, **effort)
    there = assay.fit_dataset(
        folder,
        task="retrieval",
        out=folder.parent / "fit.zarr",
        executor=dask_executor(client),
        **effort,
    )
    assert there["labels"]["state"].shape == (2, 500, 240)
    np.testing.assert_allclose(by_item(here), by_item(there), atol=0.1)
    assert np.abs(by_item(here) - by_item(there)).to_numpy().mean() < 0.01
    frequency = (there["labels"]["state"] == 0).mean(("chain", "draw"))
    assert np.abs(frequency - there["labels"]["state_probability"][:, 0]).mean() < 0.02
    for name in ("topical_precision_at_k", "ndcg_at_k"):
        values = [assay.metrics(fit)[name] for fit in (here, there)]
        error = np.sqrt(sum(v.var(("chain", "draw")) / 500 for v in values))
        gap = np.abs(values[0].mean(("chain", "draw")) - values[1].mean(("chain", "draw")))
        assert (gap < 5 * error).all(), name
    assert there.attrs["method"] == "laplace"
    assert "rows_read" in there.attrs["accounting"]
    assert assay.rater_reliability(there).sizes["rater"] == 5


@pytest.mark.slow
def test_a_killed_worker_costs_time_and_no_result(
    client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fit(name: str) -> Any:
        return assay.fit_dataset(
            folder,
            task="retrieval",
            out=folder.parent / name,
            executor=dask_executor(client),
            **QUICK,
        )

    def kill_one() -> None:
        pids = client.run(os.getpid)
        killed.append(min(pids.values()))
        os.kill(killed[-1], signal.SIGKILL)

    def seek(*given: Any, **more: Any) -> Any:
        kill_one()  # it held partitions that this step needs
        return seek_modes(*given, **more)

    def write(*given: Any, **more: Any) -> Any:
        client.wait_for_workers(2, timeout=30)
        killer = threading.Timer(0.05, kill_one)
        killer.start()
        found = write_labels(*given, **more)
        killer.join()
        return found

    killed: list[int] = []
    undisturbed = fit("one.zarr")
    seek_modes, write_labels = fitting.seek_modes, writing.write_labels
    monkeypatch.setattr(fitting, "seek_modes", seek)
    monkeypatch.setattr(writing, "write_labels", write)
    disturbed = fit("two.zarr")
    client.wait_for_workers(2, timeout=30)
    assert len(killed) == 2
    assert not set(killed) & set(client.run(os.getpid).values())
    for group in ("posterior", "labels", "log_likelihood", "constant_data", "sample_stats"):
        assert undisturbed[group].to_dataset().identical(disturbed[group].to_dataset()), group


def test_em_is_the_mode_that_map_climbs_to(client: Any, folder: Path) -> None:
    found = {
        method: assay.fit_dataset(
            folder, task="retrieval", out=folder.parent / f"{method}.zarr",
            executor=dask_executor(client), **QUICK | {"method": method, "draws": 5},
        )
        for method in ("map", "em")
    }  # fmt: skip
    for group in ("posterior", "labels", "log_likelihood"):
        one, other = (fit[group].to_dataset() for fit in found.values())
        assert one.identical(other), group
    assert found["em"].attrs["method"] == "em"
    assert json.loads(found["em"].attrs["diagnostics"])["optimiser"] == "climb"


@pytest.mark.slow
def test_classes_that_a_partition_lacks_are_found_in_others(client: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    truth = np.repeat(["a", "b", "c"], 40)
    table = pd.DataFrame(
        {"item": np.repeat(np.arange(120), 3), "rater": np.tile(["x", "y", "z"], 120)}
    )
    wrong = rng.random(360) < 0.1
    table["answer"] = np.where(wrong, "a", np.repeat(truth, 3))
    folder = write_partitions(table.assign(cluster=table["item"]), tmp_path / "r", (1, 1, 1))
    reading = {"labels": {"label": "answer"}, "cluster": ""}
    fit = assay.fit_dataset(
        folder, task="single", out=tmp_path / "f.zarr", executor=dask_executor(client),
        reading=reading, **QUICK | {"method": "map"},
    )  # fmt: skip
    found = assay.label_probabilities(fit)[:, 0].to_pandas().idxmax(axis=1)
    right = found.sort_index(key=lambda names: names.astype(int)).to_numpy() == truth
    assert right.mean() > 0.95
    assert fit["log_likelihood"]["ratings"].dims == ("chain", "draw", "item")


@pytest.mark.slow
def test_ranked_lists_of_a_data_set_report_what_those_of_a_file_do(
    client: Any, tmp_path: Path
) -> None:
    rows = [
        (q, s, k, r, "yes" if (q * k + (r == "x") * (k == 2)) % 2 else "no")
        for q in range(24) for s in "AB" for k in (1, 2, 3) for r in "xyz"
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["query", "system", "rank", "rater", "relevant"])
    table["item"] = table["query"].astype(str) + table["system"] + table["rank"].astype(str)
    table["cluster"] = table.pop("query")
    folder = write_partitions(table, tmp_path / "r", (1, 1, 2))
    reading = {"labels": {"label": "relevant"}}
    here = assay.read_ratings(table, task="single", **reading)
    there = assay.fit_dataset(
        folder, task="single", out=tmp_path / "f.zarr", executor=dask_executor(client),
        reading=reading, **QUICK | {"method": "map"},
    )  # fmt: skip
    found = assay.metrics(there, estimand="finite")
    assert list(found.data_vars) == list(here.task.metrics)
    assert next(iter(found.data_vars)) == "precision_at_k[label]"


@pytest.mark.parametrize("people", [0.3, 1.0])
def test_one_instrument_on_all_of_several_systems_is_a_warning(
    client: Any, tmp_path: Path, people: float
) -> None:
    """In one partition people rated everything, in another nothing: only all data tell."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        [
            (f"{system}{n}", f"q{n}", system, rater, rng.choice(["x", "y"]), group)
            for n in range(40)
            for system in ("A", "B")
            for rater, group, share in (("judge", "llm", 1.0), ("p1", "people", people))
            if n < share * 40
        ],
        columns=["item", "cluster", "system", "rater", "answer", "group"],
    )
    folder = write_partitions(table, tmp_path / "r", (1, 1, 2))
    reading = {"labels": {"label": "answer"}}
    effort = QUICK | {"method": "map", "draws": 5}
    here = assay.fit(assay.read_ratings(table, task="single", **reading), **effort)
    there = assay.fit_dataset(
        folder,
        task="single",
        out=tmp_path / "f.zarr",
        executor=dask_executor(client),
        reading=reading,
        **effort,
    )
    said = fit_warnings(there)
    assert said == fit_warnings(here)
    assert ("double-sampling" in [note.code for note in said]) == (people < 1)


def test_gold_that_is_no_random_sample_is_a_warning(client: Any, tmp_path: Path) -> None:
    table = table_of(assay.simulate("single", n_items=240, n_raters=5, ratings_per_item=3, rng=4))
    table["cluster"] = table["item"]
    disputed = table.groupby("item")["label"].transform("nunique") > 1
    table["gold"] = np.where(disputed, table["label"].iloc[0], "")
    folder = write_partitions(table, tmp_path / "r", (1, 3, 2))
    reading = {"truth": "gold"}
    given = QUICK | {"method": "map", "draws": 2, "reference": "gold"}
    here = assay.fit(assay.read_ratings(together(folder), task="single", **reading), **given)
    there = assay.fit_dataset(
        folder,
        task="single",
        out=tmp_path / "f.zarr",
        executor=dask_executor(client),
        reading=reading,
        **given,
    )
    (said,) = (note for note in fit_warnings(there) if note.code == "gold-unlike-others")
    assert said in fit_warnings(here)
    assert "gold_chosen='recorded'" in said
    assert "share of disagreeing pairs" in said


# -- what is refused -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "words", "code"),
    [
        (
            {"method": "nuts"},
            FitError,
            "laplace, map and em",
            "partitions-unsupported",
        ),
        ({"out": "fit.nc"}, FitError, "name a .zarr store", "output-place"),
        (
            {"raters": "hierarchical + misreading"},
            FitError,
            "leave the layer out",
            "partitions-unsupported",
        ),
        (
            {"raters": "scored"},
            ModelError,
            "scores of a rater",
            "partitions-unsupported",
        ),
        (
            {"priors": {"penalty": "HalfNormal(1)"}},
            ModelError,
            "no rule of the task is soft",
            "prior-unused",
        ),
        (
            {"reading": {"panels": "p.csv"}},
            FitError,
            "columns of the partitions",
            "partitions-unsupported",
        ),
        ({"folder": "nowhere"}, RatingsError, "a folder of .parquet files", "no-partitions"),
        (
            {"executor": None},
            ArgumentError,
            "`executor=None` is not an executor",
            "executor-argument",
        ),
        ({"executor": 3}, ArgumentError, "`executor=3` is not an executor", "executor-argument"),
        (
            {"client": "tcp://127.0.0.1:9"},
            ArgumentError,
            "`client=` is now called `executor=",
            "executor-argument",
        ),
        ({"reading": {"item": "nothing"}}, FitError, "nothing", "unknown-column"),
        (
            {"reference": "gold"},
            ModelError,
            "at least 30 items; 0 have it",
            "reference-too-few-items",
        ),
        ({"draws": 0}, FitError, "draws=0", "argument-count"),
    ],
)
def test_refusals_say_why(
    change: dict[str, Any],
    error: type[AssayError],
    words: str,
    client: Any,
    folder: Path,
    code: str,
) -> None:
    given = {
        "folder": folder, "task": "retrieval", "out": folder.parent / "fit.zarr",
        "executor": dask_executor(client), **QUICK,
    } | change  # fmt: skip
    with pytest.raises(error, match=words, check=refusal(code)):
        assay.fit_dataset(given.pop("folder"), **given)
    assert not (folder.parent / "fit.zarr").exists()


def test_a_cluster_in_two_files_is_named_with_them(
    client: Any, table: pd.DataFrame, tmp_path: Path
) -> None:
    folder = write_partitions(table, tmp_path / "ratings", (1, 1))
    stray = table[table["cluster"] == table["cluster"].iloc[0]]
    stray.assign(item="other " + stray["item"]).to_parquet(folder / "part-2.parquet")
    words = f"cluster {stray['cluster'].iloc[0]} is in part-0.parquet and in part-2.parquet"
    with pytest.raises(FitError, match=words, check=refusal("split-clusters")):
        assay.fit_dataset(
            folder,
            task="retrieval",
            out=tmp_path / "f.zarr",
            executor=dask_executor(client),
            **QUICK,
        )


def test_a_rater_of_two_groups_is_named(client: Any, table: pd.DataFrame, tmp_path: Path) -> None:
    cluster = pd.factorize(table["cluster"])[0]
    grouped = table.assign(group=np.where(cluster < 12, "person", "llm"))
    folder = write_partitions(grouped, tmp_path / "ratings", (1, 1))
    with pytest.raises(FitError, check=refusal("rater-in-two-groups")):
        assay.fit_dataset(
            folder,
            task="retrieval",
            out=tmp_path / "f.zarr",
            executor=dask_executor(client),
            **QUICK,
        )


def test_sessions_need_an_order(client: Any, table: pd.DataFrame, tmp_path: Path) -> None:
    cluster = pd.factorize(table["cluster"])[0]
    dated = table.assign(session=np.where(cluster % 2, "may", "june"))
    folder = write_partitions(dated, tmp_path / "ratings", (1, 1))
    given: dict[str, Any] = {
        "task": "retrieval",
        "executor": dask_executor(client),
        **QUICK,
        "raters": "drift",
    }
    with pytest.raises(FitError, check=refusal("partition-sessions")):
        assay.fit_dataset(folder, out=tmp_path / "f.zarr", **given)
    reading = {"sessions": ["may", "june"]}
    fit = assay.fit_dataset(folder, out=tmp_path / "f.zarr", reading=reading, **given)
    assert fit["constant_data"]["session"].values.tolist() == ["may", "june"]


def accounts(*tables: pd.DataFrame, task: str = "retrieval") -> tuple[Any, list[Path]]:
    """What is said of tables that are partitions, and names for them."""
    read = [assay.read_ratings(each, task=task).accounting for each in tables]
    return read, [Path(f"part-{n}.parquet") for n in range(len(tables))]


def halves(table: pd.DataFrame, first: int = 12) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Some clusters, and the others."""
    code = pd.factorize(table["cluster"])[0]
    return table[code < first], table[code >= first]


def test_a_partition_of_one_question_may_not_show_that_it_is_a_cluster(table: pd.DataFrame) -> None:
    parts = [part.rename(columns={"cluster": "question"}) for part in halves(table, 1)]
    words = r"cluster is column question in part-1.parquet, and not in part-0.*cluster='question'"
    with pytest.raises(FitError, match=words, check=refusal("partitions-unlike")):
        require_alike(*accounts(*parts))


def test_a_partition_without_a_first_rank_may_count_from_zero(table: pd.DataFrame) -> None:
    one, other = halves(table.assign(rank=table["rank"] - 1))
    require_alike(*accounts(one, other))
    words = "ranks count from 0 in part-1.parquet, and from 1 in part-0.parquet"
    with pytest.raises(FitError, match=words, check=refusal("partitions-unlike")):
        require_alike(*accounts(one[one["rank"] > 0], other))


@pytest.mark.parametrize("column", ["rank", "misleading"])
def test_a_file_that_lacks_a_column_is_named(table: pd.DataFrame, column: str) -> None:
    one, other = halves(table)
    words = f"is column {column} in part-0.parquet, and there is no such column in part-1.parquet"
    with pytest.raises(FitError, match=words, check=refusal("partitions-unlike")):
        require_alike(*accounts(one, other.drop(columns=column)))


def test_files_that_name_a_column_otherwise_are_named(table: pd.DataFrame) -> None:
    one, other = halves(table)
    words = "rater is column rater in part-0.parquet, and column annotator in part-1.parquet"
    with pytest.raises(FitError, match=words, check=refusal("partitions-unlike")):
        require_alike(*accounts(one, other.rename(columns={"rater": "annotator"})))


def test_groups_that_change_within_raters_are_no_groups_in_all_files(table: pd.DataFrame) -> None:
    one, other = halves(table.assign(group="people"))
    changing = one.assign(group=np.where(np.arange(len(one)) % 2, "people", "llm"))
    with pytest.raises(FitError, check=refusal("partitions-unlike")):
        require_alike(*accounts(changing, other))


def test_a_partition_may_have_no_score() -> None:
    table = table_of(assay.simulate("single", n_items=40, n_raters=3, n_clusters=24, rng=1))
    one, other = halves(table.assign(score=0.5))
    require_alike(*accounts(one.assign(score=np.nan), other, task="single"))
    sure = one.rename(columns={"score": "confidence"})
    with pytest.raises(FitError, match="score of label", check=refusal("partitions-unlike")):
        require_alike(*accounts(sure, other, task="single"))


def test_a_file_without_rows_is_counted_and_left_out(client: Any, folder: Path) -> None:
    table = together(folder)
    table.head(0).to_parquet(folder / "part-9.parquet")
    fit = assay.fit_dataset(
        folder, task="retrieval", out=folder.parent / "f.zarr", executor=dask_executor(client),
        **QUICK | {"method": "map", "draws": 2},
    )  # fmt: skip
    accounting = json.loads(fit.attrs["accounting"])
    assert accounting["rows_used"] == len(table)
    assert "1 file has no rows: part-9.parquet" in accounting["notes"]
    for path in folder.glob("*.parquet"):
        table.head(0).to_parquet(path)
    with pytest.raises(RatingsError, check=refusal("no-partitions")):
        assay.fit_dataset(
            folder, task="retrieval", out=folder / "f.zarr", executor=dask_executor(client), **QUICK
        )


def unanswered(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(**dict.fromkeys(assay.load_task("retrieval").label_names, ""))


def unrated(table: pd.DataFrame) -> pd.DataFrame:
    return unanswered(table).assign(rater=None)


@pytest.mark.slow
@pytest.mark.parametrize("emptied", [unanswered, unrated])
def test_files_in_which_nobody_answered_are_taken_as_on_one_machine(
    client: Any, folder: Path, emptied: Any
) -> None:
    lacking = [folder / "part-1.parquet", folder / "part-2.parquet"]
    for path in lacking:
        emptied(pd.read_parquet(path)).to_parquet(path)
    fit = assay.fit_dataset(
        folder,
        task="retrieval",
        out=folder.parent / "f.zarr",
        executor=dask_executor(client),
        **QUICK,
    )
    here = assay.fit(assay.read_ratings(together(folder), task="retrieval"), **QUICK)
    np.testing.assert_allclose(by_item(fit), by_item(here), atol=1e-4)
    np.testing.assert_allclose(
        fit["posterior"]["prevalence"], here["posterior"]["prevalence"], atol=1e-4
    )
    told, known = (json.loads(tree.attrs["accounting"]) for tree in (fit, here))
    assert {name: told[name] for name in ("rows_read", "rows_used")} == {
        name: known[name] for name in ("rows_read", "rows_used")
    }
    said = "2 files have no answer: part-1.parquet, part-2.parquet"
    assert told["notes"] == [said, *known["notes"]]


@pytest.mark.parametrize("task", ["retrieval", "single"])
def test_files_of_which_none_has_an_answer_are_refused(
    client: Any, tmp_path: Path, task: str
) -> None:
    ratings = assay.simulate(task, n_items=40, n_raters=3, n_clusters=20, rng=1)
    table = table_of(ratings)
    blank = table.assign(**dict.fromkeys(ratings.task.label_names, ""))
    folder = write_partitions(blank, tmp_path / "r", (1, 1))
    with pytest.raises(FitError, check=refusal("no-answer-given")):
        assay.fit_dataset(
            folder, task=task, out=tmp_path / "f.zarr", executor=dask_executor(client), **QUICK
        )


@pytest.mark.slow
def test_a_rater_who_abstains_in_one_file_alone_is_not_silent(client: Any, folder: Path) -> None:
    def silence(path: Path, rater: str) -> None:
        table = pd.read_parquet(path)
        their = table["rater"] == rater
        table.loc[their] = unanswered(table.loc[their])
        table.to_parquet(path)

    first, *others = sorted(folder.glob("*.parquet"))
    silence(first, "rater_1")
    for path in (first, *others):
        silence(path, "rater_2")
    fit = assay.fit_dataset(
        folder, task="retrieval", out=folder.parent / "f.zarr", executor=dask_executor(client),
        **QUICK | {"method": "map", "draws": 2},
    )  # fmt: skip
    here = assay.read_ratings(together(folder), task="retrieval").accounting.notes
    assert "1 rater only abstained: rater_2" in here
    assert json.loads(fit.attrs["accounting"])["notes"] == list(here)


@pytest.mark.slow
def test_a_file_that_was_mended_is_read_anew(client: Any, folder: Path) -> None:
    given: dict[str, Any] = {
        "task": "retrieval", "out": folder.parent / "f.zarr", "executor": dask_executor(client),
        **QUICK | {"method": "map", "draws": 2},
    }  # fmt: skip
    file = folder / "part-1.parquet"
    right = file.read_bytes()
    file.write_bytes(b"no table")
    # Whoever keeps the error keeps what the workers hold.
    with pytest.raises(FitError, match="cannot be read", check=refusal("damaged-file")) as _:
        assay.fit_dataset(folder, **given)
    file.write_bytes(right)
    assert assay.fit_dataset(folder, **given)["labels"].sizes["item"] == 240


def test_folders_in_the_folder_are_not_left_out_silently(folder: Path) -> None:
    inner = folder / "system=A"
    inner.mkdir()
    (folder / "part-1.parquet").rename(inner / "part-1.parquet")
    with pytest.raises(RatingsError, match="there is system=A", check=refusal("no-partitions")):
        assay.fit_dataset(folder, task="retrieval", out=folder / "f.zarr", executor=None, **QUICK)


@pytest.mark.slow
def test_a_class_that_only_the_known_truth_has_is_one(client: Any, tmp_path: Path) -> None:
    table = table_of(assay.simulate("single", n_items=60, n_raters=3, n_clusters=20, rng=3))
    item = pd.factorize(table["item"])[0]
    folder = write_partitions(
        table.assign(gold=np.select([item == 5, item == 6], ["z", "1"], "")), tmp_path / "r", (1, 1)
    )
    fit = assay.fit_dataset(
        folder, task="single", out=tmp_path / "f.zarr", executor=dask_executor(client),
        reading={"truth": "gold"}, **QUICK | {"method": "map", "draws": 2},
    )  # fmt: skip
    here = assay.read_ratings(together(folder), task="single", truth="gold")
    classes = json.loads(fit.attrs["task"])["labels"][0]["classes"]
    assert tuple(classes) == here.task.labels[0].classes
    assert "z" in classes


def test_a_scheduler_without_workers_is_not_waited_for_forever(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(executor, "FIRST_WORKER", 0.5)
    words = r"no worker has joined the Dask scheduler at .* in 0 seconds; start"
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        dask_executor(empty.scheduler_address) as idle,
    ):
        given: dict[str, Any] = {"task": "retrieval", "executor": idle, **QUICK}
        with pytest.raises(FitError, match=words, check=refusal("dask-cluster", seconds=0.5)):
            assay.fit_dataset(folder, out=folder.parent / "f.zarr", **given)
        with pytest.raises(FitError, match=words, check=refusal("dask-cluster", seconds=0.5)):
            assay.fit(simulated(), executor=idle, method="map")


def test_a_scheduler_that_is_lost_is_said_in_words(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    for lost in (CommClosedError("gone"), FutureCancelledError("add-1", "gone")):

        def fail(*_: Any, lost: Exception = lost, **__: Any) -> None:
            raise lost

        monkeypatch.setattr(client, "gather", fail)
        workers = dask_executor(client)
        with pytest.raises(FitError, match="scheduler was lost", check=refusal("dask-cluster")):
            workers.gather(workers.map(abs, [1]))


@pytest.mark.slow
def test_a_worker_that_cannot_write_names_the_store(
    client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    out = folder.parent / "f.zarr"
    monkeypatch.setattr(writing, "write_partition", full)
    with pytest.raises(FitError, match="No space left", check=refusal("file-not-written")):
        assay.fit_dataset(
            folder,
            task="retrieval",
            out=out,
            executor=dask_executor(client),
            **QUICK | {"method": "map"},
        )
    assert not list(folder.parent.glob("*.zarr"))
    assert not list(folder.parent.glob(".assay-*"))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals are sent otherwise here")
def test_an_interrupt_leaves_no_store_that_workers_still_write(
    client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(_numbered: Any, _piece: Any, _number: int, store: Path, *_: Any) -> None:
        (store.parents[1] / "begun").touch()
        time.sleep(2)
        store.mkdir(parents=True, exist_ok=True)  # as Zarr does
        (store / "late").touch()

    def press() -> None:
        while not (folder.parent / "begun").exists():
            time.sleep(0.05)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    monkeypatch.setattr(writing, "write_partition", slow)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=press, daemon=True).start()
    out = folder.parent / "f.zarr"
    try:
        with pytest.raises(KeyboardInterrupt, match=r"f\.zarr was not written"):
            assay.fit_dataset(
                folder,
                task="retrieval",
                out=out,
                executor=dask_executor(client),
                **QUICK | {"method": "map"},
            )
    finally:
        signal.signal(signal.SIGINT, before)
    client.run(time.sleep, 3)
    assert sorted(path.name for path in folder.parent.iterdir()) == ["begun", "ratings"]


# -- data in memory --------------------------------------------------------------------


def test_ratings_in_memory_are_fitted_by_workers(client: Any) -> None:
    ratings = simulated()
    here, there = (
        assay.fit(ratings, **QUICK),
        assay.fit(ratings, executor=dask_executor(client), **QUICK),
    )
    np.testing.assert_allclose(by_item(here), by_item(there), atol=1e-3)
    np.testing.assert_allclose(here["sample_stats"]["lp"], there["sample_stats"]["lp"], atol=0.1)


@pytest.mark.slow
def test_chains_on_workers_have_the_same_bits(client: Any) -> None:
    ratings = simulated(n_items=60, n_clusters=6)
    effort: dict[str, Any] = {"draws": 40, "tune": 40, "chains": 2, "rng": 1, "progress": False}
    here, there = (
        assay.fit(ratings, **effort),
        assay.fit(ratings, executor=dask_executor(client), **effort),
    )
    assert here["posterior"].to_dataset().identical(there["posterior"].to_dataset())
    assert here["labels"].to_dataset().identical(there["labels"].to_dataset())


def test_what_is_no_cluster_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client

    allowed = "it must be the address of a scheduler, such as 'tcp://10.0.0.1:8786', or a d"
    for given, said in ((3, "3"), (client.cluster, "a LocalCluster"), ({}, "{}")):
        with pytest.raises(
            ArgumentError, match=f"`address={said}`; {allowed}", check=refusal("dask-client")
        ):
            dask_executor(given)
    monkeypatch.setattr(executor, "PATIENCE", 1.0)
    with pytest.raises(
        FitError,
        match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9",
        check=refusal("dask-cluster"),
    ):
        dask_executor("tcp://127.0.0.1:9")
    gone = Client(client.scheduler.address)
    open_before = dask_executor(gone)
    gone.close()
    with pytest.raises(
        ArgumentError,
        match="the Dask client is closed; connect it again",
        check=refusal("dask-client"),
    ):
        dask_executor(gone)
    with pytest.raises(ArgumentError, check=refusal("dask-client")):
        assay.fit(simulated(), executor=open_before, method="map")


def test_an_executor_closes_the_client_that_it_made_and_no_other(client: Any) -> None:
    with dask_executor(client.scheduler.address) as own:
        assert own.client.status == "running"
    assert own.client.status == "closed"
    with dask_executor(client):
        pass
    assert client.status == "running"


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        FitError, match=r"pip install 'assay\[dask\]'", check=refusal("extra-not-installed")
    ):
        assay.dask_executor("tcp://127.0.0.1:9")


def test_what_is_no_executor_is_refused(client: Any) -> None:
    for given, said in ((client, "a Client"), ("tcp://a:1", "'tcp://a:1'"), ({}, "{}")):
        for method in ("nuts", "map"):
            words = f"`executor={said}` is not an executor. assay.dask_executor makes"
            with pytest.raises(ArgumentError, match=words, check=refusal("executor-argument")):
                assay.fit(simulated(), executor=given, method=method)
    with pytest.raises(
        ArgumentError,
        match=r"Give `executor=assay\.dask_executor\(client\)",
        check=refusal("executor-argument"),
    ):
        assay.fit(simulated(), client=client, method="map")


def test_an_asynchronous_client_is_refused(cluster: Any) -> None:
    from distributed import Client

    async def connect() -> None:
        async with Client(cluster.scheduler_address, asynchronous=True) as waits:
            dask_executor(waits)

    with pytest.raises(
        ArgumentError, match="the Dask client is asynchronous", check=refusal("dask-client")
    ):
        asyncio.run(connect())


def test_executors_and_checkpoints_exclude_each_other(client: Any, tmp_path: Path) -> None:
    with pytest.raises(FitError, match="without `checkpoint=", check=refusal("nuts-option")):
        assay.fit(simulated(), executor=dask_executor(client), checkpoint=tmp_path)


@pytest.mark.parametrize("option", ["--keep-interrupted", "--checkpoint=ck", "--formula=~ a"])
def test_command_line_refuses_what_partitions_do_not_have(option: str, folder: Path) -> None:
    from typer.testing import CliRunner

    from assay.cli.program import app

    out = folder.parent / "fit.zarr"
    done = CliRunner().invoke(
        app,
        ["fit", str(folder), "--task", "retrieval", "-o", str(out), "--dask", "tcp://127.0.0.1:9",
         "--method", "map", option],
    )  # fmt: skip
    assert done.exit_code != 0
    told = " ".join(done.output.split())
    assert "[partitions-unsupported]" in told
    assert option.partition("=")[0] in told


def test_command_line_takes_a_folder_and_a_scheduler(cluster: Any, folder: Path) -> None:
    from typer.testing import CliRunner

    from assay.cli.program import app

    out = folder.parent / "fit.zarr"
    done = CliRunner().invoke(
        app,
        ["fit", str(folder), "--task", "retrieval", "-o", str(out), "--dask",
         cluster.scheduler_address, "--method", "em", "--draws", "20", "--chains", "1"],
    )  # fmt: skip
    assert done.exit_code in (0, 1), done.output
    assert f"wrote {out}" in done.output
    assert assay.load(out).attrs["command"]


def test_a_truth_in_other_words_is_refused_with_what_mends_it(client: Any, tmp_path: Path) -> None:
    rows = pd.DataFrame(
        [(f"i{n}", r, ("pass", "fail")[n % 2], str(1 - n % 2)) for n in range(40) for r in "abc"],
        columns=["item", "rater", "label", "gold"],
    )
    for part, few in enumerate((rows[:60], rows[60:])):
        few.to_parquet(tmp_path / f"{part}.parquet")

    def fit(**more: Any) -> Any:
        return assay.fit_dataset(
            tmp_path, task="single", reading={"truth": "gold"} | more,
            executor=dask_executor(client),
            out=tmp_path / "fit.zarr", **QUICK,
        )  # fmt: skip

    with pytest.raises(
        FitError,
        match=r"the truth of label says '0', '1', .* say 'fail', 'pass'",
        check=refusal("truth-vocabulary"),
    ):
        fit()
    fit(classes={"label": {"1": "pass", "0": "fail"}})
    tree = assay.load(tmp_path / "fit.zarr")
    assert list(tree["posterior"]["state"].to_numpy()) == ["fail", "pass"]

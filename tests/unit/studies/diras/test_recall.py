"""Recall from a judged sample: exact where all is judged, wide where the tail is thin."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay._util.errors import ArgumentError
from assay.cli.program import app
from assay.studies.diras import rank_documents, recall_of_runs
from assay.studies.diras.cells import CellModel

COLUMNS = ["item", "query_id", "document_id", "stratum", "stratum_size", "weight"]


def world(
    documents: int = 40, top: int = 10, per_part: int = 5, queries: int = 6, relevant: int = 6
) -> dict[str, Any]:
    """Each query has its relevant documents first in the pool's ranking, and one in its tail."""
    rng = np.random.default_rng(1)
    pairs, pool, truth = [], [], {}
    for q in range(queries):
        pool += [(f"q{q}", f"d{d}", "top") for d in range(top)]
        for name, first, last in (("top", 0, top), ("rest", top, documents)):
            size = last - first
            number = min(per_part, size)
            for d in first + rng.choice(size, number, replace=False):
                pairs.append((f"q{q}:d{d}", f"q{q}", f"d{d}", name, size, size / number))
                truth[f"q{q}:d{d}"] = bool(d < relevant or d == documents - 1)
    runs = {
        "head": [(f"q{q}", f"d{d}", d + 1) for q in range(queries) for d in range(5)],
        "tail": [
            (f"q{q}", f"d{documents - 1 - d}", d + 1) for q in range(queries) for d in range(5)
        ],
    }
    return {
        "truth": truth,
        "pairs": pd.DataFrame(pairs, columns=COLUMNS),
        "pool": pd.DataFrame(pool, columns=["query_id", "document_id", "stratum"]),
        "runs": {
            name: pd.DataFrame(rows, columns=["query_id", "document_id", "rank"])
            for name, rows in runs.items()
        },
    }


def estimate(given: dict[str, Any], **more: Any) -> pd.DataFrame:
    arguments = {"k": 5, "estimand": "finite", "draws": 200} | more
    found = recall_of_runs(
        given["truth"], given["runs"], given["pairs"], given["pool"], **arguments
    )
    return found.table.set_index(["run", "metric"])


def test_more_draws_than_a_table_can_hold_are_refused() -> None:
    with pytest.raises(ArgumentError, check=refusal("argument-count", least=1, most=10**6)):
        estimate(world(per_part=40), draws=10**30)


def test_where_all_documents_are_judged_recall_is_exact() -> None:
    table = estimate(world(per_part=40))
    for run, value in (("head", 5 / 7), ("tail", 1 / 7)):
        line = table.loc[(run, "recall_at_5")]
        for name in ("mean", "lower", "upper", "hajek", "naive"):
            assert math.isclose(line[name], value)
        assert line["share_judged"] == 1
    assert math.isclose(table.loc[("head", "precision_at_5"), "mean"], 1)
    assert math.isclose(table.loc[("tail", "precision_at_5"), "mean"], 1 / 5)
    assert table.loc[("head", "recall_at_5"), "p_best"] == 1


def test_the_weighted_ratio_is_that_of_the_weighted_sums() -> None:
    given = world()
    found = estimate(given)
    pairs = given["pairs"]
    worth = pairs["weight"] * pairs["item"].map(given["truth"])
    number = pairs["document_id"].str[1:].astype(int)
    ratios = [
        worth[of & (number < 5)].sum() / worth[of].sum()
        for query in pairs["query_id"].unique()
        if worth[of := pairs["query_id"] == query].sum()
    ]
    assert found.loc[("head", "recall_at_5"), "hajek"] == pytest.approx(np.mean(ratios))


def test_a_tail_without_a_relevant_document_leaves_a_wide_lower_end() -> None:
    """Nothing was found in 30 of 29,940 documents: much of the recall may be missing."""
    thin = world(documents=5000, per_part=5)
    thin["truth"] = {
        item: yes and int(item.split("d")[1]) < 10 for item, yes in thin["truth"].items()
    }
    line = estimate(thin).loc[("head", "recall_at_5")]
    assert line["hajek"] > 0.75
    assert line["lower"] < 0.3
    many = world(documents=5000, per_part=400)
    many["truth"] = {
        item: yes and int(item.split("d")[1]) < 10 for item, yes in many["truth"].items()
    }
    more = estimate(many).loc[("head", "recall_at_5")]
    assert more["lower"] > line["lower"] + 0.2


def test_a_sample_without_any_relevant_document_has_a_wide_interval() -> None:
    given = world()
    given["truth"] = dict.fromkeys(given["truth"], False)
    line = estimate(given).loc[("head", "recall_at_5")]
    assert math.isnan(line["hajek"])
    assert line["upper"] - line["lower"] > 0.3


def test_queries_without_a_relevant_document_do_not_count() -> None:
    given = world(per_part=40)
    given["truth"] = {
        item: yes and not item.startswith(("q0:", "q1:")) for item, yes in given["truth"].items()
    }
    table = estimate(given)
    assert math.isclose(table.loc[("head", "recall_at_5"), "mean"], 5 / 7)
    assert math.isclose(table.loc[("head", "precision_at_5"), "mean"], 4 / 6)


def test_a_run_that_lists_no_document_of_a_query_has_no_recall_there() -> None:
    given = world(per_part=40)
    given["runs"]["head"] = given["runs"]["head"].query("query_id != 'q0'")
    table = estimate(given)
    assert math.isclose(table.loc[("head", "recall_at_5"), "mean"], 5 / 7 * 5 / 6)


def test_doubt_about_the_truth_widens_the_interval() -> None:
    given = world(per_part=40)
    items = list(given["truth"])
    rng = np.random.default_rng(1)
    codes = np.where(
        rng.random((2, 100, len(items), 1)) < 0.2,
        ~np.array(list(given["truth"].values()))[:, None],
        np.array(list(given["truth"].values()))[:, None],
    )
    drawn = xr.DataArray(
        codes.astype(np.int16),
        dims=("chain", "draw", "item", "label"),
        coords={"item": items, "label": ["relevant"]},
    )
    sure = estimate(given).loc[("head", "recall_at_5")]
    unsure = estimate(given | {"truth": drawn}).loc[("head", "recall_at_5")]
    assert sure["upper"] - sure["lower"] == 0
    assert unsure["upper"] - unsure["lower"] > 0.05


def test_queries_are_weighed_in_the_population() -> None:
    """A query that stands for nine others counts nine times as much."""
    given = world(per_part=40)
    heavy = given["pairs"]["query_id"] == "q0"
    given["pairs"].loc[heavy, "weight"] *= 9
    given["runs"]["head"] = given["runs"]["head"].query("query_id == 'q0'")
    finite = estimate(given).loc[("head", "recall_at_5"), "mean"]
    population = estimate(given, estimand="population", draws=500).loc[("head", "recall_at_5")]
    assert finite == pytest.approx(5 / 7 / 6)
    drawn = np.random.default_rng(2).exponential(size=(20_000, 6)) * [9, 1, 1, 1, 1, 1]
    share = (drawn[:, 0] / drawn.sum(axis=1)).mean()
    assert population["mean"] == pytest.approx(5 / 7 * share, abs=0.02)
    assert population["upper"] - population["lower"] > 0.1


def test_prevalences_are_those_of_a_beta_where_one_query_is_all() -> None:
    """Without shrinkage over queries the posterior mean lies near that of Beta(1/2, 1/2)."""
    one = np.array([0])
    model = CellModel(
        cell=one, query=one, judged=np.array([200]), stratum=one, listed=np.array([False])
    )
    rng = np.random.default_rng(1)
    drawn = np.array([model.draw(np.array([20]), rng)[0] for _ in range(1000)])
    assert drawn.mean() == pytest.approx(20.5 / 201, abs=0.006)
    assert drawn.std() == pytest.approx(math.sqrt(0.1 * 0.9 / 200), rel=0.15)


def test_many_runs_share_cells_by_number() -> None:
    given = world(per_part=40)
    given["runs"] = {f"run{n}": given["runs"]["head"] for n in range(6)}
    table = estimate(given)
    assert math.isclose(table.loc[("run3", "recall_at_5"), "mean"], 5 / 7)


def test_the_pool_is_the_top_of_the_sampled_rankings() -> None:
    documents = pd.DataFrame({"id": [f"d{n}" for n in range(30)], "text": ["a"] * 30})
    queries = pd.DataFrame({"id": ["q", "r"], "text": ["a", "a"]})
    given: dict[str, Any] = {"retriever": lambda t: np.ones((len(t), 2)), "top": 6, "rng": 5}
    pool = rank_documents(documents, queries, **given)
    pairs = assay.sample_pairs(documents, queries, per_query=12, **given)
    top = pairs[pairs["stratum"] == "top"]
    merged = top.merge(pool, on=["query_id", "document_id"])
    assert len(merged) == len(top) == 12
    assert (merged["rank"] == merged["retriever_rank"]).all()
    assert pairs.groupby("stratum")["stratum_size"].first().to_dict() == {"top": 6, "rest": 24}


RUN = "q0 Q0 d3 1 9.5 x\nq0 Q0 d7 2 11 x\nq0 Q0 d1 3 -2 x\n"


def test_run_files_are_ordered_by_score(tmp_path: Path) -> None:
    from assay.studies.diras.runs import read_runs

    (tmp_path / "sys.trec").write_text(RUN)
    ((name, table),) = read_runs([tmp_path / "sys.trec"]).items()
    assert name == "sys"
    assert table["document_id"].tolist() == ["d7", "d3", "d1"]
    assert table["rank"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "text",
    ["q0 Q0 d3 1 9.5\n", "q0 Q0 d3 1 high x\n", RUN + "q0 Q0 d3 4 1 x\n", "q0 Q0 d3 1 nan x"],
)
def test_run_files_that_cannot_be_read_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "sys.trec").write_text(text)
    given = world()
    with pytest.raises(assay.AssayError, check=refusal("run-file")):
        estimate(given | {"runs": [tmp_path / "sys.trec"]})


def test_pairs_that_the_truth_does_not_have_are_refused() -> None:
    given = world()
    given["truth"].popitem()
    with pytest.raises(assay.AssayError, check=refusal("pairs-without-truth")):
        estimate(given)


def test_documents_beyond_the_collection_are_refused() -> None:
    given = world(documents=10, top=10)
    given["runs"]["tail"] = pd.DataFrame(
        [("q0", "d99", 1)], columns=["query_id", "document_id", "rank"]
    )
    with pytest.raises(assay.AssayError, check=refusal("run-documents")):
        estimate(given)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"k": 0}, "argument-count"),
        ({"estimand": "both"}, "argument-choice"),
        ({"level": 1.5}, "argument-number"),
    ],
)
def test_arguments_that_do_not_suit_are_refused(given: dict[str, Any], code: str) -> None:
    with pytest.raises(assay.AssayError, check=refusal(code)):
        estimate(world(), **given)


def test_the_commands_go_from_documents_to_recall(tmp_path: Path) -> None:
    """Sample, let two raters rate all pairs, fit, rank."""
    words = ["sun", "wind", "coal", "oil", "gas", "rain"]
    rng = np.random.default_rng(1)
    documents = pd.DataFrame(
        {
            "id": [f"d{n}" for n in range(60)],
            "text": [" ".join(rng.choice(words, 4)) for _ in range(60)],
        }
    )
    documents.to_csv(tmp_path / "d.csv", index=False)
    queries = pd.DataFrame({"id": [f"q{n}" for n in range(6)], "query": words})
    queries.to_csv(tmp_path / "q.csv", index=False)

    def run(*given: object) -> str:
        done = CliRunner().invoke(app, [str(word) for word in given])
        assert done.exit_code == 0, done.output
        return done.stdout

    sample = ["diras", "sample", tmp_path / "d.csv", tmp_path / "q.csv", "--per-query", 20]
    pairs, pool = tmp_path / "pairs.csv", tmp_path / "pool.csv"
    run(*sample, "--top", 15, "-o", pairs, "--pool", pool)
    assert len(pd.read_csv(pool)) == 6 * 15
    drawn = pd.read_csv(pairs)
    says = [q in text for q, text in zip(drawn["query"], drawn["document"], strict=True)]
    rated = pd.concat(
        [drawn.assign(rater=name, relevant=np.where(says, "yes", "no")) for name in ("Ann", "Bo")]
    )
    rated.drop(columns=["query", "document", "retriever_score"]).to_csv(
        tmp_path / "ratings.csv", index=False
    )
    run("fit", tmp_path / "ratings.csv", "--task", "single", "--labels", "relevant",
        "--raters", "pooled", "--method", "map", "--draws", 50, "--chains", 2, "--quiet",
        "-o", tmp_path / "fit.nc")  # fmt: skip
    for name, worth in (("good", lambda n, d: documents["text"][d].split().count(words[n])),
                        ("poor", lambda n, d: d)):  # fmt: skip
        lines = [f"q{n} Q0 d{d} 1 {worth(n, d)} x" for n in range(6) for d in range(60)]
        (tmp_path / f"{name}.trec").write_text("\n".join(lines))
    said = run("diras", "rank", tmp_path / "fit.nc", tmp_path / "good.trec", tmp_path / "poor.trec",
               "--pairs", pairs, "--pool", pool, "--json")  # fmt: skip
    (better,) = [b for b in json.loads(said)["better"] if b["metric"] == "recall_at_10"]
    assert better["run"] == "good"
    assert better["p_greater"] > 0.9


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["bm25/run.txt", "dense/run.txt"], ["bm25/run", "dense/run"]),
        (["bm25.txt", "bm25.run"], ["bm25.txt", "bm25.run"]),
        (["k1.2.txt", "k1.5.txt"], ["k1.2", "k1.5"]),
    ],
)
def test_each_run_file_is_a_run(files: list[str], names: list[str], tmp_path: Path) -> None:
    from assay.studies.diras.runs import read_runs

    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(RUN)
    assert list(read_runs([tmp_path / file for file in files])) == names

"""Labels for other tools, tables for papers, and the paragraph on the methods."""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay._util.errors import ArgumentError, UnknownNameError
from assay._util.files import TABLE_SUFFIXES, write_table
from assay.cli import app
from assay.display.frames import labels_frame

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    made = assay.simulate("retrieval", n_items=40, n_raters=3, n_clusters=10, rng=5)
    places = made.panels.set_index("item").loc[made.item]
    table = pd.DataFrame(made.answers, columns=list(made.task.label_names)).assign(
        question=places["cluster"].to_numpy(), doc=[f"d {n}" for n in made.item],
        place=places["rank"].to_numpy(), who=made.rater,
    )  # fmt: skip
    ratings = assay.read_ratings(
        table, task="retrieval", item=["question", "doc"], cluster="question", rank="place",
        rater="who",
    )  # fmt: skip
    return assay.fit(ratings, method="map", draws=50, chains=1, starts=1, rng=1)


def test_labels_have_the_key_columns_of_the_source(fit: xr.DataTree) -> None:
    frame = labels_frame(fit)
    assert list(frame.columns[:5]) == ["item", "question", "doc", "place", "label"]
    assert (frame["item"] == frame["question"] + "/" + frame["doc"]).all()
    assert frame["place"].isin([1, 2, 3, 4]).all()


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_a_table_comes_back_from_each_format(suffix: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"rater": ["a_1 & b|c", "d"], "n": [3, 4], "mean": [0.51236, 0.25]})
    path = tmp_path / f"table{suffix}"
    write_table(frame, path)
    match suffix:
        case ".csv" | ".tsv":
            found = pd.read_csv(path, sep="\t" if suffix == ".tsv" else ",")
        case ".parquet":
            found = pd.read_parquet(path)
        case ".xlsx":
            found = pd.read_excel(path, engine="openpyxl")
        case ".json" | ".jsonl":
            found = pd.read_json(path, lines=suffix == ".jsonl")
        case ".md":
            head, rule, *lines = path.read_text(encoding="utf-8").splitlines()
            assert (head, rule) == ("| rater | n | mean |", "| --- | ---: | ---: |")
            assert lines == [r"| a_1 & b\|c | 3 | 0.512 |", "| d | 4 | 0.250 |"]
            return
        case _:
            text = path.read_text(encoding="utf-8")
            assert [text.count(rf"\{rule}rule") for rule in ("top", "mid", "bottom")] == [1, 1, 1]
            assert r"a\_1 \& b|c & 3 & 0.512 \\" in text
            return
    pd.testing.assert_frame_equal(found, frame)


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_addresses_are_readable_in_json(suffix: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": ["https://a.org/b", "back\\/slash", 'quo"/te']})
    write_table(frame, tmp_path / f"t{suffix}")
    text = (tmp_path / f"t{suffix}").read_text(encoding="utf-8")
    assert "https://a.org/b" in text
    lines = json.loads(text) if suffix == ".json" else map(json.loads, text.splitlines())
    assert [line["item"] for line in lines] == frame["item"].tolist()


def test_formulas_stay_text_in_a_sheet(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"rater": ["=1+1"]}), tmp_path / "t.xlsx")
    assert pd.read_excel(tmp_path / "t.xlsx", engine="openpyxl")["rater"].tolist() == ["'=1+1"]


def test_soft_labels_for_training(fit: xr.DataTree, tmp_path: Path) -> None:
    path = assay.export_labels(fit, tmp_path / "labels.jsonl", to="huggingface")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    chance = assay.label_probabilities(fit)
    assert len(lines) == 40
    for line in lines:
        soft = line["misleading_soft"]
        there = chance.sel(item=line["item"], label="misleading")
        assert soft == pytest.approx(
            [float(there.sel({"class": c})) for c in ("no", "yes")], abs=1e-6
        )
        assert line["misleading"] == int(np.argmax(soft))
        assert line["misleading_text"] == ("no", "yes")[line["misleading"]]
        assert line["item"] == f"{line['question']}/{line['doc']}"


def test_predicted_probabilities_are_of_one_label(fit: xr.DataTree, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, check=refusal("label-unnamed")):
        assay.export_labels(fit, tmp_path / "p.csv", to="cleanlab")
    with pytest.raises(UnknownNameError, check=refusal("unknown-label")):
        assay.export_labels(fit, tmp_path / "p.csv", to="cleanlab", label="mislead")
    path = assay.export_labels(fit, tmp_path / "p.csv", to="cleanlab", label="misleading")
    table = pd.read_csv(path)
    assert list(table.columns) == ["item", "question", "doc", "place", "label", "no", "yes"]
    assert table[["no", "yes"]].sum(axis=1).to_numpy() == pytest.approx(1)
    assert (table["label"] == (table["yes"] > table["no"])).all()


def test_suggestions_have_scores(fit: xr.DataTree, tmp_path: Path) -> None:
    path = assay.export_labels(fit, tmp_path / "records.json", to="argilla")
    records = json.loads(path.read_text(encoding="utf-8"))
    assert {"id", "fields", "metadata", "suggestions", "responses"} == set(records[0])
    assert set(records[0]["suggestions"]) == {
        "topically_relevant",
        "evidence_sufficient",
        "misleading",
    }
    assert all(0.5 <= s["score"] <= 1 for r in records for s in r["suggestions"].values())


def test_grades_of_judgements_add_up_and_follow_the_states(
    fit: xr.DataTree, tmp_path: Path
) -> None:
    path = assay.export_labels(fit, tmp_path / "study.qrels", to="qrels")
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    assert {len(line) for line in lines} == {5}
    table = pd.DataFrame(lines, columns=["query", "zero", "doc", "grade", "p"])
    table["p"] = table["p"].astype(float)
    whole = table.groupby(["query", "doc"])["p"].sum()
    assert len(whole) == 40
    assert whole.to_numpy() == pytest.approx(1, abs=1e-5)
    assert table["doc"].str.fullmatch(r"d_\d+").all()
    sufficient = assay.label_probabilities(fit).sel(
        {"label": "evidence_sufficient", "class": "yes"}
    )
    top = table[table["grade"] == "2"]["p"]
    assert sorted(top) == pytest.approx(sorted(sufficient.to_numpy()), abs=1e-5)


class MetricScore(BaseModel):
    """A metric as pragmata 0.x reads it: nothing may be missing, and nothing added."""

    model_config = ConfigDict(extra="forbid", strict=True)

    point: float = Field(ge=0, le=1)
    ci_lower: float = Field(ge=0, le=1)
    ci_upper: float = Field(ge=0, le=1)
    method: Literal["wilson", "bootstrap"]
    n: PositiveInt


class Source(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["direct_path", "annotation_export", "model_prediction"]
    ref: str
    resolved_path: str


class RetrievalScores(BaseModel):
    model_config = ConfigDict(extra="forbid")

    task: Literal["retrieval"]
    source: Source
    notes: str
    created_at: datetime
    n_examples: PositiveInt
    top_k: PositiveInt
    ci_level: float = Field(gt=0, lt=1)
    topical_precision_at_k: MetricScore
    sufficiency_hit_at_k: MetricScore
    sufficiency_rate_at_k: MetricScore
    misleading_context_rate_at_k: MetricScore
    mean_reciprocal_rank_at_k: MetricScore
    ndcg_at_k: MetricScore


def test_the_score_report_is_the_one_that_pragmata_reads(fit: xr.DataTree, tmp_path: Path) -> None:
    path = assay.export_labels(fit, tmp_path / "retrieval_scores.json", to="pragmata")
    found = RetrievalScores.model_validate_json(path.read_text(encoding="utf-8"))
    assert (found.n_examples, found.top_k, found.ci_level) == (10, 4, 0.95)
    assert "consensus of all raters" in found.notes
    table = assay.summarize(assay.metrics(fit, by=None)).set_index("metric")
    assert found.ndcg_at_k.point == table.loc["ndcg_at_k", "mean"]
    assert found.ndcg_at_k.ci_lower == table.loc["ndcg_at_k", "lower"]
    with pytest.raises(UnknownNameError, check=refusal("unknown-system")):
        assay.export_labels(fit, path, to="pragmata", system="A")


@pytest.fixture(scope="module")
def answers() -> xr.DataTree:
    ratings = assay.simulate("grounding", n_items=30, n_raters=3, n_systems=2, rng=2)
    return assay.fit(ratings, raters="pooled", method="map", draws=30, chains=1, starts=1, rng=1)


def test_a_score_report_is_of_one_system_if_it_is_named(
    answers: xr.DataTree, tmp_path: Path
) -> None:
    one, every = (
        json.loads(assay.export_labels(answers, tmp_path / "s.json", to="pragmata", system=name)
                   .read_text(encoding="utf-8"))
        for name in (assay.metrics(answers)["system"].to_numpy()[0], None)
    )  # fmt: skip
    assert (one["n_examples"], every["n_examples"]) == (15, 30)
    assert one["citation_presence_rate"]["n"] == 15
    assert one["conditional_fabrication_rate"]["n"] < every["conditional_fabrication_rate"]["n"]
    assert "all panels pooled" in every["notes"]


def test_other_tasks_have_no_score_report(tmp_path: Path) -> None:
    ratings = assay.simulate("relevance", n_items=20, n_raters=3, rng=1)
    single = assay.fit(ratings, raters="pooled", method="map", draws=10, chains=1, starts=1, rng=1)
    with pytest.raises(ArgumentError, check=refusal("no-score-report")):
        assay.export_labels(single, tmp_path / "s.json", to="pragmata")


def test_a_class_may_have_the_name_of_a_column(tmp_path: Path) -> None:
    rows = [(f"q{i}", f"r{j}", ["item", "label"][(i + (j == i)) % 2]) for i in range(6)
            for j in range(3)]  # fmt: skip
    ratings = assay.read_ratings(pd.DataFrame(rows, columns=["item", "rater", "good"]))
    single = assay.fit(ratings, raters="pooled", method="map", draws=10, chains=1, starts=1, rng=1)
    path = assay.export_labels(single, tmp_path / "p.csv", to="cleanlab")
    assert path.read_text(encoding="utf-8").startswith("item,label,item,label\n")


def test_the_paragraph_says_what_was_done_and_cites_it(fit: xr.DataTree, tmp_path: Path) -> None:
    found = assay.methods(fit)
    for words in ("120 ratings of 40 items in 10 clusters by 3 raters", "Hierarchical Dawid-Skene",
                  "consensus of all raters", "seed 1", "omit their uncertainty"):  # fmt: skip
        assert words in found.paragraph
    keys = re.findall(r"^@\w+\{(\w+),$", found.bibtex, flags=re.MULTILINE)
    assert len(keys) == len(set(keys)) == len(found.references)
    assert found.bibtex.count("{") == found.bibtex.count("}")
    assert "paun2018" in keys
    cited = re.search(r"\\citep\{(.+)\}", found.latex)
    assert cited is not None
    assert cited[1].split(",") == keys
    assert r"topically\_relevant" in found.latex


@pytest.mark.parametrize(
    "path", sorted(Path("models").glob("*/*.toml")), ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_every_reference_of_the_catalogue_becomes_an_entry(path: Path) -> None:
    import tomllib

    from assay.display.methods import PaperText

    references = tomllib.loads(path.read_text(encoding="utf-8")).get("references", [])
    text = PaperText(paragraph="", references=tuple(references)).bibtex
    assert text.count("@") == len(references)
    assert text.count("{") == text.count("}")


def test_the_commands_write_both(fit: xr.DataTree, tmp_path: Path) -> None:
    assay.save(fit, tmp_path / "fit.nc")
    run = CliRunner().invoke
    typed = ["export", str(tmp_path / "fit.nc"), "--to", "qrels", "-o", str(tmp_path / "q.qrels")]
    assert run(app, typed).exit_code == 0
    assert (tmp_path / "q.qrels").exists()
    done = run(app, ["methods", str(tmp_path / "fit.nc"), "--bibtex", str(tmp_path / "r.bib")])
    assert done.exit_code == 0, done.output
    assert "We analysed 120 ratings" in done.output
    assert (tmp_path / "r.bib").read_text(encoding="utf-8").startswith("@")

"""Check, fit and report in one go."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay._util.errors import Note, UnknownNameError
from assay.cli import app
from assay.data.task import Label, Task
from assay.evaluation import metrics_for
from assay.reporting.material import Material
from assay.reporting.reliance import DOUBTFUL
from assay.reporting.whole_run import LABEL_DRAWS, Run, _effort
from assay.reporting.writing import make_page


@pytest.fixture(scope="module")
def lists() -> pd.DataFrame:
    """Ranked lists of two systems for thirty queries; B is better."""
    rng = np.random.default_rng(5)
    rows = []
    for query, system, chunk in product(range(30), "AB", range(1, 5)):
        truth = rng.random() < (0.3 if system == "A" else 0.7)
        for rater in "xyz":
            said = truth if rng.random() < 0.9 else not truth
            rows.append((f"q{query}", system, chunk, rater, ("no", "yes")[said]))
    return pd.DataFrame(rows, columns=["query", "model", "chunk", "rater", "relevant"])


@pytest.fixture(scope="module")
def found(lists) -> Run:
    return assay.run(lists, method="em", progress=False)


def test_one_value_holds_labels_raters_metrics_and_the_fit(lists, found):
    assert len(found.labels) == 240
    assert found.labels[["p[no]", "p[yes]"]].sum(axis=1).to_numpy() == pytest.approx(1)
    assert set(found.raters["rater"]) == {"x", "y", "z"}
    assert found.metrics["title"].unique().tolist() == [
        "Precision@4 of relevant", "MRR of relevant", "nDCG of relevant",
    ]  # fmt: skip
    assert set(found.metrics["better"]) == {"higher"}
    values = found.metrics.set_index(["metric", "system"])["mean"]
    assert values["precision_at_k[relevant]", "B"] > values["precision_at_k[relevant]", "A"]
    same = assay.summarize(assay.metrics(found.fit))
    assert same["mean"].to_numpy() == pytest.approx(found.metrics["mean"].to_numpy())
    pairs = assay.compare(found.fit).pairs
    pd.testing.assert_frame_equal(found.comparison, pairs)
    assert not found.check.at_least("problem")
    assert found.fit.attrs["method"] == "em"


def test_it_says_itself_in_short_and_in_a_notebook(found):
    said = repr(found)
    assert "720 ratings, 240 items, 3 raters" in said
    assert "Precision@4 of relevant, B: 0." in said
    assert len(said.splitlines()) <= 12
    shown = found._repr_html_()
    assert shown.count("<table") == 4
    assert "the uncertainty of the parameters" in shown


def test_names_are_escaped_in_a_notebook(lists):
    bad = lists.assign(rater=lists["rater"] + "<script>")
    assert "<script>" not in assay.run(bad, method="em", progress=False)._repr_html_()


def test_metrics_and_the_baseline_are_refused_before_the_fit(lists, monkeypatch):
    monkeypatch.setattr("assay.reporting.whole_run.fit", lambda *args, **kw: pytest.fail("fitted"))
    with pytest.raises(UnknownNameError, check=refusal("unknown-metric")):
        assay.run(lists, metric="precision[relevant]", progress=False)
    with pytest.raises(UnknownNameError, check=refusal("unknown-system")):
        assay.run(lists, baseline="C", progress=False)


def test_named_metrics_and_the_baseline_hold_throughout(lists):
    names = ["recall_at_k[relevant]", "rate[relevant]"]
    found = assay.run(lists, method="em", metric=names, baseline="A", progress=False)
    assert found.metrics["metric"].unique().tolist() == names
    assert found.comparison[["a", "b"]].drop_duplicates().to_numpy().tolist() == [["B", "A"]]
    assert assay.metrics(found.fit).data_vars.keys() == set(names)


def test_generic_metrics_go_through_claims_budgets_and_what_more_data_buys(found):
    name = "recall_at_k[relevant]"
    verdict = assay.check_claim(found.fit, f"B > A by 0.01 on {name}")
    assert verdict.probability > 0.9
    assert verdict.claim.metric == name
    budget = assay.variance_budget(found.fit, metric=name, contrast=("B", "A"))
    assert budget["variance"].iloc[0] > 0
    assert set(budget["metric"]) == {name}
    vote = assay.evaluation.majority_metrics(found.ratings, metric=name)
    assert vote["value"].between(0, 1).all()
    draws = assay.prior_metrics(found.ratings, metric=[name, "mrr_at_2[relevant=no]"], draws=20)
    assert draws[name].notnull().any()


def test_em_of_many_items_draws_fewer_labels_of_the_model_with_a_closed_form(lists):
    ratings = assay.read_ratings(lists)
    assert _effort(ratings, "nuts", None) == {"raters": None}
    effort = _effort(ratings, "em", None)
    assert effort == {
        "draws": 1000, "chains": 1, "raters": "dawid_skene", "prevalence": "dirichlet",
    }  # fmt: skip
    assert _effort(ratings, "em", "pooled") == {"raters": "pooled", "draws": 1000, "chains": 1}
    assert LABEL_DRAWS // 1_000_000 < 100


def test_tables_of_a_doubtful_fit_have_its_mark(found: Run, tmp_path, monkeypatch) -> None:
    """The report starred the numbers, and the column `doubt` of the files was empty."""
    doubt = Note("The chains disagree.", code="high-rhat")
    monkeypatch.setattr("assay.reporting.reliance.doubts", lambda fit: [doubt])
    for path in found.write_tables(tmp_path):
        if path.stem in ("metrics", "comparison"):
            assert pd.read_csv(path)["doubt"].str.contains(DOUBTFUL).all()


def test_command_writes_its_files_and_says_where(lists, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["assay", "run", "my_ratings.csv"])
    lists.to_csv("my_ratings.csv", index=False)
    done = CliRunner().invoke(app, ["run", "my_ratings.csv", "--method", "em", "--no-report"])
    assert done.exit_code == 0, done.output
    assert "Precision@4 of relevant (precision_at_k[relevant])" in done.output
    assert "Differences of systems" in done.output
    folder = Path("my_ratings-results")
    names = {"fit.nc", "labels.csv", "raters.csv", "metrics.csv", "comparison.csv"}
    assert {path.name for path in folder.iterdir()} == names
    assert len(pd.read_csv(folder / "labels.csv")) == 240
    assert assay.load(folder / "fit.nc").attrs["command"].startswith("assay ")
    typed = ["run", "my_ratings.csv", "--method", "em", "--no-report", "--json", "-o", "b"]
    told = json.loads(CliRunner().invoke(app, [*typed, "--baseline", "A"]).stdout)
    assert told["comparison"][0]["a"] == "B"
    assert told["files"]["fit.nc"] == str(Path("b") / "fit.nc")


def test_no_file_of_an_earlier_run_stays_beside_a_fit(lists, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lists.to_csv("r.csv", index=False)
    run = ["run", "r.csv", "--method", "em", "--no-report", "-o", "out"]
    first = CliRunner().invoke(app, run)
    assert "replaced" not in first.output
    (tmp_path / "out" / "report.html").write_text("of the first run")
    (tmp_path / "out" / "notes.txt").write_text("of the user")
    lists.query("model == 'A'").to_csv("r.csv", index=False)
    again = CliRunner().invoke(app, [*run, "--json"])
    assert again.exit_code == 0, again.output
    assert again.stderr.count("the earlier run in out is replaced") == 1
    told = json.loads(again.stdout)
    # Nor does a table stay that this run has no lines for.
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*told["files"], "notes.txt"}
    assert "comparison.csv" not in told["files"]


def test_the_share_of_two_classes_is_told_once():
    def names(*classes, better=""):
        task = Task(name="t", labels=(Label(name="l", classes=classes, better=better),))
        return [one.name for one in metrics_for(task)]

    assert names("safe", "unsafe") == ["prevalence[l=safe]"]
    assert names("safe", "unsafe", better="unsafe") == ["prevalence[l=unsafe]"]
    assert names("nein", "ja") == names("nein", "ja", better="nein") == ["prevalence[l=ja]"]
    assert len(names("a", "b", "c")) == 3


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
def test_page_one_of_two_classes_has_one_share_and_counts_it_once():
    ratings = assay.simulate("single", n_items=60, n_systems=2, classes=["safe", "unsafe"], rng=1)
    fit = assay.fit(ratings, method="map", draws=30, chains=1, starts=1, rng=1)
    page = make_page(Material(fit=fit, budget=False))
    (row,) = page.front.table.rows
    assert row.cells[0] == "Share of label = safe"
    (limits,) = [one for one in page.sections if one.key == "limits"]
    assert "The largest of 2 estimates" in str(limits.blocks)


def test_arguments_go_to_the_reader_and_to_the_fit(lists, tmp_path):
    found = assay.run(
        lists.rename(columns={"rater": "said_by"}), method="map", progress=False, draws=50,
        chains=2, starts=1, rater="said_by", prevalence="dirichlet", raters="one_coin",
    )  # fmt: skip
    assert found.fit["posterior"].sizes["draw"] == 50
    lists.to_csv(tmp_path / "r.csv", index=False)
    typed = ["run", str(tmp_path / "r.csv"), "-o", str(tmp_path / "o"), "--method", "em"]
    typed += ["--draws", "60", "--no-report", "--strict", "--raters", "one_coin"]
    typed += ["--prevalence", "dirichlet"]
    assert CliRunner().invoke(app, typed).exit_code == 0
    assert assay.load(tmp_path / "o" / "fit.nc")["posterior"].sizes["draw"] == 60


def test_several_files_are_one_table(lists, found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("a.csv", lists[:300]), ("b.csv", lists[300:])):
        rows.to_csv(name, index=False)
    same = assay.run(["a.csv", "b.csv"], method="em", progress=False)
    assert same.metrics["mean"].to_numpy() == pytest.approx(found.metrics["mean"].to_numpy())
    done = CliRunner().invoke(app, ["run", "a.csv", "b.csv", "--method", "em", "-q", "--no-report"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "ratings-results" / "metrics.csv").is_file()
    typed = ["fit", "a.csv", "b.csv", "--method", "em", "--raters", "dawid_skene", "-o", "f.nc"]
    done = CliRunner().invoke(app, [*typed, "--prevalence", "dirichlet", "-q"])
    assert done.exit_code == 0, done.output


def test_folder_that_is_a_file_is_refused_first(lists, tmp_path):
    (tmp_path / "out").write_text("")
    lists.to_csv(tmp_path / "r.csv", index=False)
    typed = ["run", str(tmp_path / "r.csv"), "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, typed)
    assert done.exit_code == 1
    assert "[file-not-written]" in done.output
    assert "--output" in done.output

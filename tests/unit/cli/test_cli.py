"""The command line: exit status, what goes to which stream, and no traceback."""

import html
import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import assay
from assay import cli
from assay.cli import shell
from assay.comparison import compare
from assay.data.states import MISSING
from assay.evaluation import registry
from assay.fits.simulate import simulate
from assay.io.items import RANKS_FROM_ZERO

COMMANDS = (
    "demo", "check", "agreement", "fit", "metrics", "compare", "raters", "labels", "report",
)  # fmt: skip
RUN = [sys.executable, "-c", "from assay.cli import main; main()"]


def redirected(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run a command as a process whose output is no terminal."""
    words = [*RUN, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=True)


def test_a_run_without_a_terminal_says_what_it_does(ratings_file: Path, tmp_path: Path) -> None:
    typed = ["run", ratings_file, "--method", "em", "-o", tmp_path / "out", "--no-report", "--json"]
    done = redirected(*typed)
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("note", "warning"))]
    assert lines == ["reading ratings.csv", "checking", "seeking modes", "writing the fit"]
    assert "metrics" in json.loads(done.stdout)
    quiet = redirected(*typed, "--quiet").stderr.splitlines()
    assert all(line.startswith(("note", "warning")) for line in quiet)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli.app, [str(a) for a in arguments], env={"COLUMNS": "80"})


def table_of(**sizes: Any) -> pd.DataFrame:
    """Simulated ratings as a table."""
    ratings = simulate("retrieval", **sizes)
    panels = ratings.panels.set_index("item").loc[ratings.item]
    answers = pd.DataFrame(ratings.answers, columns=list(ratings.task.label_names))
    return answers.assign(
        item=ratings.item, rater=ratings.rater, query=panels["cluster"].to_numpy(),
        rank=panels["rank"].to_numpy(), system=panels["system"].to_numpy(),
    )  # fmt: skip


@pytest.fixture(scope="module")
def ratings_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "ratings.csv"
    table_of(n_items=100, n_raters=4, n_systems=2, n_clusters=25, rng=1).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fit_file(ratings_file: Path) -> Path:
    path = ratings_file.parent / "fit.nc"
    done = run(
        "fit",
        ratings_file,
        "--task",
        "retrieval",
        "-o",
        path,
        "--method",
        "map",
        "--draws",
        50,
        "-q",
    )
    assert done.exit_code == 0, done.output
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str) -> None:
    done = run(command, "--help")
    assert done.exit_code == 0
    assert f"Example: assay {command}" in done.stdout


def test_version() -> None:
    done = run("--version")
    assert (done.exit_code, done.stdout) == (0, f"assay {assay.__version__}\n")


def test_check_reports_and_exits_0(ratings_file: Path) -> None:
    done = run("check", ratings_file, "--task", "retrieval")
    assert done.exit_code == 0
    assert "300 rows read, 300 used" in done.stdout


def test_check_of_data_with_a_problem_exits_1(tmp_path: Path) -> None:
    path = tmp_path / "once.csv"
    path.write_text("item,rater,label\n1,a,x\n2,b,y\n")
    done = run("check", path, "--task", "single", "--json")
    assert done.exit_code == 1
    assert any(f["level"] == "problem" for f in json.loads(done.stdout)["findings"])


@pytest.mark.parametrize("command", ["check", "agreement"])
def test_a_task_that_is_not_named_is_the_one_that_the_columns_fit(
    command: str, ratings_file: Path
) -> None:
    done = run(command, ratings_file)
    assert done.exit_code == 0
    assert command != "check" or "[note] task retrieval is taken: the columns have" in done.stdout


def test_a_folder_of_partitions_needs_the_name_of_its_task(tmp_path: Path) -> None:
    (tmp_path / "part.parquet").touch()
    done = run("fit", tmp_path, "-o", tmp_path / "fit.zarr", "--dask", "nowhere")
    assert done.exit_code == 2
    assert done.stderr.rstrip().endswith("[task-missing]")


@pytest.mark.parametrize("answer", [("--label", "said"), ("--labels", "label=said")])
def test_columns_are_named_by_options(answer: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("doc,part,who,said\n1,a,u,x\n1,a,v,y\n1,b,u,x\n1,b,v,x\n")
    options = ["--item", "doc", "--item", "part", "--rater", "who", *answer]
    done = run("check", path, "--task", "single", *options)
    assert done.exit_code == 0
    assert "4 ratings, 2 items, 2 raters" in done.stdout


def test_groups_that_no_column_has_are_given_for_each_rater(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("item,rater,kind,label\n1,a=1,x,no\n1,b,y,yes\n2,a=1,x,no\n2,b,y,yes\n")
    task = ("check", path, "--task", "single")
    told = run(*task, "--group", "a=1=people", "--group", "b=llm").stdout
    assert "2 raters in 2 groups: people 1, llm 1" in told
    assert "2 raters in 2 groups: x 1, y 1" in run(*task, "--group", "kind").stdout
    missing = run(*task, "--group", "b=llm")
    assert missing.exit_code == 1
    assert "rater: a=1;" in missing.stderr
    assert "[group-incomplete]" in missing.stderr


def test_a_missing_column_is_said_in_the_words_of_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("item,label\n1,x\n")
    done = run("check", path, "--task", "single")
    assert done.exit_code == 1
    assert "--rater" in done.stderr


@pytest.mark.parametrize("command", ["metrics", "raters", "labels"])
def test_json_is_all_that_stands_on_standard_output(command: str, fit_file: Path) -> None:
    done = run(command, fit_file, "--json")
    assert done.exit_code == 0
    assert len(json.loads(done.stdout)[command]) > 0


def test_a_fit_is_one_whatever_its_name(fit_file: Path, tmp_path: Path) -> None:
    named = tmp_path / "fit-of-monday"
    named.write_bytes(fit_file.read_bytes())
    done = run("report", named, "-o", tmp_path / "report.html", "--no-budget", "--short", "--quiet")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report.html").is_file()


@pytest.mark.parametrize("name", ["fit.txt", "fit"])
def test_a_fit_is_written_where_it_is_read_again(
    name: str, ratings_file: Path, tmp_path: Path
) -> None:
    done = run("fit", ratings_file, "--task", "retrieval", "-o", tmp_path / name, "-q")
    assert done.exit_code == 2
    assert done.stderr.rstrip().endswith("[output-place]")
    assert list(tmp_path.iterdir()) == []


def test_the_intervals_of_a_mode_say_what_they_leave_out(fit_file: Path) -> None:
    said = run("metrics", fit_file).stderr
    assert "warning: Posterior mode only: intervals omit the uncertainty of the parameters" in said


def test_metrics_are_those_of_the_package(fit_file: Path) -> None:
    done = run(
        "metrics", fit_file, "--estimand", "finite", "--by", "none", "--level", 0.8, "--json"
    )
    found = pd.DataFrame(json.loads(done.stdout)["metrics"])
    tree = assay.load(fit_file)
    there = assay.summarize(assay.metrics(tree, estimand="finite", by=None), level=0.8)
    there["incomplete"] = "predict"
    pd.testing.assert_frame_equal(found, there, check_dtype=False, check_like=True)


def test_both_estimands_are_the_default(fit_file: Path) -> None:
    done = run("metrics", fit_file)
    assert done.exit_code == 0
    assert "finite: these items; population: clusters like these" in " ".join(done.stdout.split())
    assert done.stdout.count("system_1") == 6


def test_raw_and_recorded_differ_under_blocking(fit_file: Path) -> None:
    raw, recorded = (
        json.loads(run("raters", fit_file, "--kind", kind, "--json").stdout)["raters"]
        for kind in ("raw", "recorded")
    )
    assert {line["kind"] for line in raw} == {"raw"}
    assert [line["mean"] for line in raw] != [line["mean"] for line in recorded]


def test_raters_of_many_classes_have_a_line_each_unless_asked_by_class(tmp_path: Path) -> None:
    ratings = simulate("single", n_items=40, n_raters=6, classes=["a", "b", "c"], rng=1)
    path = tmp_path / "fit.nc"
    assay.save(assay.fit(ratings, method="map", draws=20, chains=1, starts=1), path)
    short, long = run("raters", path), run("raters", path, "--by-class")
    assert [done.stdout.count("  rater_") for done in (short, long)] == [6, 3 * 6]
    assert "--by-class" in short.stderr
    assert "--by-class" not in long.stderr
    found = json.loads(run("raters", path, "--json").stdout)
    assert len(found["raters"]) == 6 * 9
    assert len(found["accuracy"]) == 6
    assert len(found["behaviour"]) == 6
    kinds = {line["kind"] for table in found.values() for line in table if "kind" in line}
    assert kinds == {"recorded"}  # the word says nothing else anywhere
    for table in ("behaviour", "worth", "misperceived", "consistency"):
        assert all({"level", "reference"} <= set(line) for line in found[table])
    assert "--by-class" not in run("raters", path, "-o", tmp_path / "raters.csv").stderr


PIPED = {
    "check": ["check", "RATINGS", "--task", "retrieval"],
    "agreement": ["agreement", "RATINGS", "--task", "retrieval"],
    "metrics": ["metrics", "FIT"],
    "raters": ["raters", "FIT"],
    "labels": ["labels", "FIT"],
    "compare": ["compare", "FIT", "--claim", "ndcg_at_k of system_1 < 1.5"],
}


@pytest.mark.parametrize("command", PIPED)
def test_nothing_is_folded_or_padded_in_a_pipe(
    command: str, ratings_file: Path, fit_file: Path
) -> None:
    places = {"RATINGS": str(ratings_file), "FIT": str(fit_file)}
    arguments = [places.get(a, a) for a in PIPED[command]]
    piped = CliRunner().invoke(cli.app, arguments, env={"COLUMNS": None}).stdout
    folded = CliRunner().invoke(cli.app, arguments, env={"COLUMNS": "40"}).stdout
    assert "…" not in piped + folded
    assert len(piped.splitlines()) < len(folded.splitlines())
    assert all(line == line.rstrip() for line in piped.splitlines())
    # All that is folded at 40 columns is there in both, in another arrangement.
    assert sorted("".join(piped.split()).replace("-", "")) == sorted(
        "".join(folded.split()).replace("-", "")
    )


def test_markdown_and_latex_hold_what_is_shown_unless_lines_are_left_out(tmp_path: Path) -> None:
    ratings = simulate("single", n_items=40, n_raters=4, classes=["a", "b"], rng=1)
    path, shown, whole = (tmp_path / name for name in ("fit.nc", "raters.tex", "labels.md"))
    assay.save(assay.fit(ratings, method="map", draws=20, chains=1, starts=1), path)
    assert run("raters", path, "-o", shown).stderr.endswith("raters.tex: 2 tables\n")
    assert "Rater & Sensitivity & Specificity & Agreement" in shown.read_text(encoding="utf-8")
    assert run("labels", path, "-o", whole).stderr.endswith("labels.md: 40 lines\n")
    assert whole.read_text(encoding="utf-8").count("\n") == 2 + 40


def test_a_check_names_the_options_of_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("doc,rater,label\n" + "".join(f"{n},{r},x\n" for n in range(9) for r in "ab"))
    told = run("check", path, "--task", "single", "--item", "doc").stdout
    assert "named by --item" in told
    assert "Name groups with --group" in " ".join(told.split())
    assert "group=" not in told


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_tables_are_written(suffix: str, fit_file: Path, tmp_path: Path) -> None:
    path = tmp_path / f"labels{suffix}"
    done = run("labels", fit_file, "--uncertain", 7, "-o", path)
    assert (done.exit_code, done.stdout) == (0, "")
    frame = {
        ".csv": pd.read_csv, ".tsv": lambda p: pd.read_csv(p, sep="\t"), ".parquet": pd.read_parquet
    }[suffix](path)  # fmt: skip
    assert len(frame) == 7
    assert frame["probability"].is_monotonic_increasing
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_labels_show_the_least_certain_and_say_so(fit_file: Path) -> None:
    done = run("labels", fit_file)
    assert "the 20 least certain of 300" in done.stdout
    assert "-o labels.csv" in done.stderr


def test_compare_is_that_of_the_package(fit_file: Path) -> None:
    done = run("compare", fit_file, "--metric", "ndcg_at_k", "--rope", "0.02", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    there = compare(assay.load(fit_file), metric="ndcg_at_k", rope=0.02)
    assert len(found["pairs"]) == len(there.pairs) == 1
    assert found["pairs"][0]["p_rope"] == pytest.approx(there.pairs["p_rope"].iloc[0])
    assert {line["system"] for line in found["systems"]} == {"system_1", "system_2"}
    assert found["claims"] == []


def test_compare_shows_each_pair_and_its_estimand(fit_file: Path) -> None:
    done = run("compare", fit_file, "--estimand", "finite", "--baseline", "system_1")
    assert done.exit_code == 0
    assert done.stdout.count("system_2 - system_1") == 6
    assert "Estimand finite" in done.stdout


def test_systems_are_compared_within_strata(tmp_path: Path, fit_file: Path) -> None:
    table = table_of(n_items=100, n_raters=4, n_systems=2, n_clusters=25, rng=1)
    queries = table["query"].unique()
    spoken = {q: "fr" if n < 3 else ("de", "en")[n % 2] for n, q in enumerate(queries)}
    ratings = assay.read_ratings(
        table.assign(language=table["query"].map(spoken)), task="retrieval", stratum="language"
    )
    fit = assay.fit(ratings, method="map", draws=40, chains=2, starts=1, rng=1, progress=False)
    path = assay.save(fit, tmp_path / "strata.nc")
    chosen = ("--by", "stratum", "--metric", "ndcg_at_k", "--estimand", "finite")
    done = run("compare", path, *chosen, "--json")
    assert done.exit_code == 0, done.output
    there = assay.compare_groups(fit, metric="ndcg_at_k", estimand="finite")
    lines = pd.DataFrame(json.loads(done.stdout)["groups"])
    assert lines["group"].tolist() == ["de", "en", "fr", "(mean of the groups)"]
    assert lines["pooled"].tolist() == pytest.approx(there["pooled"].tolist())
    shown = run("compare", path, *chosen).stdout
    assert "Estimand finite. Reference: consensus of all raters." in " ".join(shown.split())
    assert "nDCG@" in shown
    assert "ndcg_at_k" not in shown
    few = run("compare", path, "--by", "stratum", "--metric", "ndcg_at_k").stdout
    assert "model-based: 3 clusters" in few
    marked = {line.split()[0] for line in few.splitlines() if line.rstrip().count(")*")}
    assert "fr" in marked
    assert "de" not in marked
    assert run("compare", path, "--by", "stratum", "--rope", "0.02").exit_code == 2
    alone = run("compare", fit_file, "--by", "stratum")
    assert alone.exit_code == 1
    assert "--stratum" in alone.stderr


def test_results_say_what_became_of_incomplete_panels(tmp_path: Path) -> None:
    ratings = simulate("retrieval", n_items=100, n_raters=4, n_systems=2, n_clusters=25, rng=1)
    unrated = ratings.item == 0
    strata = np.where(ratings.items["cluster"] < "cluster_12", "de", "en")
    ratings = replace(
        ratings, answers=np.where(unrated[:, None], MISSING, ratings.answers),
        items=ratings.items.assign(stratum=strata),
    )  # fmt: skip
    # Without difficulty: each command would fit the model without it, to compare both.
    fit = assay.fit(
        ratings, raters="hierarchical", method="map", draws=40, chains=2, starts=1, rng=1,
        progress=False,
    )  # fmt: skip
    path, table = assay.save(fit, tmp_path / "fit.nc"), tmp_path / "table.csv"
    claim = ("--claim", "ndcg_at_k of system_1 < 1.5")
    for command in (["metrics"], ["compare", *claim], ["compare", "--by", "stratum", *claim]):
        name, *rest = command
        for which in ("predict", "drop"):
            asked = (name, path, *rest, "--incomplete", which, "--estimand", "finite")
            found = json.loads(run(*asked, "--json").stdout)
            assert {line["incomplete"] for lines in found.values() for line in lines} == {which}
        assert run(*asked, "-o", table).exit_code == 0
        assert set(pd.read_csv(table)["incomplete"]) == {"drop"}


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_claims_about_a_metric_need_no_systems(tmp_path: Path) -> None:
    said = pd.DataFrame([(n, r, ("yes", "no", "no")[n % 3]) for n in range(60) for r in "abc"])
    ratings = assay.read_ratings(said.set_axis(["item", "rater", "label"], axis=1), task="single")
    fit = assay.fit(
        ratings, raters="hierarchical", method="map", draws=20, chains=1, progress=False
    )
    path = assay.save(fit, tmp_path / "one.nc")
    done = run("compare", path, "--claim", "prevalence[label=yes] < 1.5")
    assert done.exit_code == 0
    assert done.stdout.startswith("Supported: prevalence[label=yes] < 1.5")
    done = run("compare", path, "--claim", "prevalence[label=yes] > 1.5", "--json")
    assert done.exit_code == 3
    assert [line["verdict"] for line in json.loads(done.stdout)["claims"]] == ["contradicted"]
    alone = run("compare", path)
    assert alone.exit_code == 1
    assert alone.stderr.rstrip().endswith("[too-few-systems]")


def test_fit_and_report_speak_json(tmp_path: Path) -> None:
    said = pd.DataFrame([(n, r, ("yes", "no", "no")[n % 3]) for n in range(60) for r in "abc"])
    source, path = tmp_path / "ratings.csv", tmp_path / "fit.nc"
    said.set_axis(["item", "rater", "label"], axis=1).to_csv(source, index=False)
    options = ["--task", "single", "--method", "laplace", "--draws", 40, "--chains", 1, "--json"]
    done = run("fit", source, "-o", path, *options, "-q")
    found = json.loads(done.stdout)
    assert (found["fit"], found["method"], found["rows_used"]) == (str(path), "laplace", 180)
    assert found["diagnostics"]["k_hat"] > 0
    assert found["notes"] == list(assay.read_ratings(source, task="single").accounting.notes)
    assert done.exit_code == 0
    strict = run("fit", source, "-o", path, *options, "-q", "--strict")
    assert strict.exit_code == any(note["level"] == "warning" for note in found["warnings"])
    page = tmp_path / "report.html"
    claims = ["prevalence[label=yes] < 0.9", "prevalence[label=yes] > 0.9"]
    asked = [option for claim in claims for option in ("--claim", claim)]
    done = run("report", path, "-o", page, *asked, "--no-budget", "--json", "-q")
    told = json.loads(done.stdout)
    assert told["report"] == str(page)
    assert [line["verdict"] for line in told["claims"]] == ["supported", "contradicted"]
    assert told["warnings"] == found["warnings"]
    text = html.unescape(page.read_text(encoding="utf-8"))
    assert told["findings"]
    # The page has the verdict of a claim as a heading, and the rest below it.
    said_of = [re.sub("^(Supported|Contradicted): ", "", f["text"]) for f in told["findings"]]
    assert [words for words in said_of if words not in text] == []
    assert all(one["code"] for one in [*told["findings"], *told["gaps"], *told["warnings"]])


def test_a_fit_says_what_the_reader_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("yes", "Yes", "no", "No")
    said = [(n, rater, words[n % 4], n % 5) for n in range(40) for rater in "abc"]
    table = pd.DataFrame([*said, said[0]], columns=["item", "rater", "answer", "rank"])
    source = tmp_path / "ratings.csv"
    small = ["--method", "map", "--draws", 40, "--chains", 1, "-q"]
    table.to_csv(source, index=False)

    def notes_of(command: str, output: str) -> list[str]:
        options = ["--task", "single", "-o", tmp_path / output, *small]
        quick = ["--no-budget", "--short"] if command == "report" else []
        done = run(command, source, *options, *quick)
        assert "note: " not in done.stdout
        return [line for line in done.stderr.splitlines() if line.startswith("note: ")]

    told = notes_of("fit", "fit.nc")
    assert told[0] == "note: 1 of 121 rows set aside"
    assert "Yes as yes; No as no" in told[1]
    assert told[2] == f"note: {RANKS_FROM_ZERO}"
    assert notes_of("report", "report.html") == told
    monkeypatch.setattr(shell, "SHOWN_NOTES", 1)
    assert notes_of("fit", "fit.nc") == [told[0], "note: 2 more; assay check shows all of them"]


@pytest.mark.parametrize(
    ("claim", "status", "verdict"),
    [
        ("ndcg_at_k of system_1 < 1.5", 0, "supported"),
        ("ndcg_at_k of system_1 > 1.5", 3, "contradicted"),
    ],
)
def test_a_claim_decides_the_exit_status(
    claim: str, status: int, verdict: str, fit_file: Path, tmp_path: Path
) -> None:
    done = run("compare", fit_file, "--claim", claim, "--json")
    assert done.exit_code == status
    assert [line["verdict"] for line in json.loads(done.stdout)["claims"]] == [verdict]
    path = tmp_path / "report.html"
    quick = ("--no-budget", "--short", "-q")
    told = run("report", fit_file, "-o", path, "--claim", claim, *quick)
    assert told.exit_code == status
    assert verdict.capitalize() in told.stdout
    assert verdict in path.read_text(encoding="utf-8")


def test_a_report_of_ratings_fits_them(ratings_file: Path, tmp_path: Path) -> None:
    path, tables = tmp_path / "report.html", tmp_path / "tables"
    done = run(
        "report", ratings_file, "--task", "retrieval", "-o", path, "--raters", "hierarchical",
        "--method", "map", "--draws", 20, "--no-budget", "-q", "--tables", tables,
        "--table-format", "json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    page = path.read_text(encoding="utf-8")
    assert ratings_file.name in page
    assert str(ratings_file.parent) not in page
    assert "300 rows were read" in page
    assert json.loads((tables / "metrics.json").read_text())


def test_agreement_is_that_of_the_package(ratings_file: Path, fit_file: Path) -> None:
    plain = ["agreement", ratings_file, "--task", "retrieval"]
    found = json.loads(run(*plain, "--fit", fit_file, "--json").stdout)
    assert {"percent", "gwet_ac1"} <= {line["statistic"] for line in found["agreement"]}
    assert all(line["expected"] is not None for line in found["agreement"][:1])
    shown = run(*plain)
    assert shown.exit_code == 0
    assert "krippendorff_alpha" in shown.stdout
    assert "Expected by the model" not in shown.stdout


def test_a_metric_of_the_users_own(
    fit_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests must not meet it.
    monkeypatch.setattr(registry, "_METRICS", dict(registry._METRICS))
    path = tmp_path / "mine.py"
    path.write_text(
        "from assay import metric\n"
        "print('what a file prints is no result')\n"
        "@metric('cli_first_relevant', task='retrieval', labels=['topically_relevant'])\n"
        "def first(y, mask):\n"
        "    return y[..., 0, 0] == 1\n"
    )
    options = ["--metric", "cli_first_relevant", "--metric-file", path, "--json"]
    done = run("metrics", fit_file, *options)
    assert done.exit_code == 0, done.output
    assert {m["metric"] for m in json.loads(done.stdout)["metrics"]} == {"cli_first_relevant"}
    assert "what a file prints is no result" in done.stderr


def test_a_metric_that_does_not_suit_the_task_is_named(
    fit_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_METRICS", dict(registry._METRICS))
    path = tmp_path / "mine.py"
    path.write_text(
        "from assay import metric\n"
        "@metric('cli_typo', task='retrieval', labels=['topicaly_relevant'])\n"
        "def typo(y, mask):\n"
        "    return y[..., 0, 0] == 1\n"
        "@metric('cli_elsewhere', task='grounding')\n"
        "def elsewhere(y, mask):\n"
        "    return y[..., 0, 0] == 1\n"
    )
    for command in ("metrics", "compare"):
        done = run(command, fit_file, "--metric-file", path)
        assert done.exit_code == 0, done.output
        assert re.search("'cli_typo' is left out: .* topicaly_relevant", done.stderr)
        assert re.search("'cli_elsewhere' is left out: .* grounding", done.stderr)


def test_the_command_stands_in_the_fit(fit_file: Path) -> None:
    assert assay.load(fit_file).attrs["command"].split()[0] == "assay"


def test_options_of_scores_and_words_reach_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("item,rater,label,sure\n1,a,ja,90\n1,b,nein,60\n2,a,nein,80\n2,b,ja,55\n")
    words = ["--word", "label:ja=yes", "--word", "label:nein=no"]
    scores = ["--confidence", "sure", "--score-range", "0", "100"]
    done = run("check", path, "--task", "single", *words, *scores)
    assert done.exit_code == 0, done.output
    assert "score" in done.stdout


WRONG_USAGE: dict[str, list[str]] = {
    "no such command": ["fti"],
    "no output": ["fit", "ratings.csv", "--task", "single"],
    "no such method": ["fit", "r.csv", "--task", "single", "-o", "f.nc", "--method", "mcmc"],
    "no draws": ["fit", "r.csv", "--task", "single", "-o", "f.nc", "--draws", "0"],
    "prior": ["fit", "r.csv", "--task", "single", "-o", "f.nc", "--prior", "Normal(0, 1)"],
    "response": ["check", "r.csv", "--task", "retrieval", "--response", "rule"],
    "kind": ["raters", "f.nc", "--kind", "cooked"],
    "level": ["metrics", "f.nc", "--level", "95"],
    "rope": ["compare", "f.nc", "--rope", "small"],
    "word": ["check", "r.csv", "--task", "single", "--word", "ja=yes"],
    "families": [
        "fit",
        "r.csv",
        "--task",
        "single",
        "-o",
        "f.nc",
        "--raters",
        "a=",
        "--raters",
        "b",
    ],
    "claim of a report": ["report", "f.nc", "-o", "r.html", "--claim", "B is better"],
    "report without a file": ["report", "f.nc"],
    "table format": ["report", "f.nc", "-o", "r.html", "--table-format", "docx"],
}


@pytest.mark.parametrize("name", WRONG_USAGE)
def test_wrong_usage_exits_2(name: str) -> None:
    done = run(*WRONG_USAGE[name])
    assert done.exit_code == 2
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("metrics", "--level", 1), "--level 1.0"),
        (("compare", "--rope", "0.2,0.1"), "--rope 0.2,0.1"),
        (("compare", "--claim", "B is better"), "cannot be read"),
    ],
)
def test_a_value_that_no_data_could_suit_is_wrong_usage(
    command: tuple[str, ...], words: str, fit_file: Path
) -> None:
    name, *options = command
    done = run(name, fit_file, *options)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_a_table_of_an_unknown_kind_is_wrong_usage(fit_file: Path, tmp_path: Path) -> None:
    done = run("raters", fit_file, "-o", tmp_path / "raters.docx")
    assert done.exit_code == 2
    assert ".parquet" in done.stderr


PROBLEMS: dict[str, tuple[list[str], str, str]] = {
    "missing file": (["check", "nowhere.csv", "--task", "single"], "unread-file", "nowhere.csv"),
    "no such task": (["check", "RATINGS", "--task", "retreival"], "unknown-task", "retrieval?"),
    "no such family": (
        ["fit", "RATINGS", "--task", "retrieval", "-o", "f.nc", "--raters", "one_con"],
        "unknown-catalogue-name", "one_coin?",
    ),
    "no such prior": (
        ["fit", "RATINGS", "--task", "retrieval", "-o", "f.nc", "--prior", "mian=Normal(0, 1)"],
        "prior-unknown", "main?",
    ),
    "prior without use": (
        ["fit", "RATINGS", "--task", "retrieval", "-o", "f.nc", "--prior", "penalty=Gamma(1, 1)"],
        "prior-unused", "penalty: no rule",
    ),
    "no such rule": (
        ["check", "RATINGS", "--task", "retrieval", "--response", "a -> b=warn"],
        "unknown-rule", "sufficient_is_relevant",
    ),
    "standard input": (["check", "-", "--task", "single"], "empty-file", "standard input"),
    "missing fit": (["metrics", "nowhere.nc"], "no-such-file", "assay fit ratings.csv -o fit.nc"),
    "not a fit": (["labels", "RATINGS"], "not-a-fit", ".nc"),
    "folder": (["raters", "FOLDER"], "not-a-fit", ".nc"),
    "output is a folder": (
        ["fit", "RATINGS", "--task", "retrieval", "-o", "FOLDER"], "output-place", "fit.nc",
    ),
    "no such priors": (
        ["fit", "RATINGS", "--task", "retrieval", "-o", "f.nc", "--priors", "nowhere.toml"],
        "prior-file", "nowhere.toml",
    ),
    "report is a folder": (["report", "f.nc", "-o", "FOLDER"], "output-place", "report.html"),
    "no such metric file": (
        ["metrics", "f.nc", "--metric-file", "nowhere.py"], "metric-file", "nowhere.py",
    ),
    "no folder for the output": (
        ["fit", "RATINGS", "--task", "retrieval", "-o", "nowhere/fit.nc"],
        "output-place", "nowhere/fit.nc",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_exits_1_with_its_code(
    name: str, ratings_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, code, word = PROBLEMS[name]
    places = {"RATINGS": str(ratings_file), "FOLDER": str(tmp_path)}
    done = run(*(places.get(a, a) for a in arguments))
    assert done.exit_code == 1
    assert f"[{code}]" in done.stderr
    assert word in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def untrusted(ratings_file: Path) -> tuple[Result, Path]:
    """A fit of few draws, with ``--strict``."""
    path = ratings_file.parent / "untrusted.nc"
    size = ["--draws", 20, "--tune", 20, "--chains", 2, "--quiet"]
    # Without difficulty: each command would fit the model without it, to compare both.
    how = ["--task", "retrieval", "--raters", "hierarchical", *size]
    return run("fit", ratings_file, "-o", path, *how, "--strict"), path


def test_a_fit_that_is_not_to_be_trusted_is_written_and_exits_1_if_strict(
    untrusted: tuple[Result, Path],
) -> None:
    done, path = untrusted
    assert done.exit_code == 1
    assert "[low-ess]" in done.stderr
    assert "more draws, in smaller steps (--draws, --target-accept 0.95)." in done.stderr
    assert "Traceback" not in done.output
    assert assay.load(path)["posterior"].sizes["draw"] == 20
    assert run("metrics", path, "--json").exit_code == 0


@pytest.mark.parametrize("command", ["metrics", "compare", "raters", "labels", "agreement"])
def test_what_reads_such_a_fit_exits_1_if_strict(
    command: str, untrusted: tuple[Result, Path], ratings_file: Path
) -> None:
    path = untrusted[1]
    of_ratings = [ratings_file, "--task", "retrieval", "--fit", path]
    read = of_ratings if command == "agreement" else [path]
    done = run(command, *read, "--json", "--strict")
    assert "[low-ess]" in done.stderr
    assert done.exit_code == 1
    assert json.loads(done.stdout)


@pytest.mark.parametrize(
    ("command", "sign", "status", "strictly"),
    # A report with a claim that is contradicted has a test of its own.
    [("compare", "<", 0, 1), ("compare", ">", 3, 3), ("report", "<", 0, 1)],
)
def test_a_claim_about_such_a_fit_exits_1_if_strict_unless_it_is_contradicted(
    command: str,
    sign: str,
    status: int,
    strictly: int,
    untrusted: tuple[Result, Path],
    tmp_path: Path,
) -> None:
    asked = [command, untrusted[1], "--claim", f"ndcg_at_k of system_1 {sign} 1.5"]
    if command == "report":
        asked += ["-o", tmp_path / "report.html", "--no-budget", "--short", "-q"]
    else:
        assert run(*asked).exit_code == status
    done = run(*asked, "--strict")
    assert done.exit_code == strictly
    assert ("Supported: " if sign == "<" else "Contradicted: ") in done.stdout
    assert "[low-ess]" in done.stderr


def test_priors_and_responses_reach_the_fit(ratings_file: Path, tmp_path: Path) -> None:
    path, priors = tmp_path / "fit.nc", tmp_path / "priors.toml"
    rule = "evidence_sufficient -> not misleading=warn"
    lines = ["[priors]", 'mean_other = "Normal(0, 1)"', 'main = "Normal(0, 9)"']
    priors.write_text("\n".join(lines), encoding="utf-8")
    done = run(
        "fit", ratings_file, "--task", "retrieval", "-o", path, "--method", "map", "--draws", 5,
        "--prior", "main=Normal(mu=0, sigma=0.5)", "--priors", priors, "--response", rule, "-q",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    tree = assay.load(path)
    taken = {"mean_other": "Normal(0, 1)", "main": "Normal(mu=0, sigma=0.5)"}
    assert json.loads(tree.attrs["spec"])["priors"] == taken
    rules = json.loads(tree.attrs["task"])["rules"]
    assert [r["response"] for r in rules] == ["block", "warn"]


def test_how_gold_was_chosen_reaches_the_fit(ratings_file: Path, tmp_path: Path) -> None:
    table, path = pd.read_csv(ratings_file), tmp_path / "fit.nc"
    first = assay.load_task("retrieval").label_names[0]
    gold = table.drop_duplicates("item").head(40)[["item", first]]
    gold.to_csv(tmp_path / "gold.csv", index=False)
    ratings = (ratings_file, "--task", "retrieval", "--truth", tmp_path / "gold.csv", "-q")
    quick = ("--method", "map", "--draws", 5, "-o", path)
    done = run("fit", *ratings, *quick, "--reference", "gold", "--gold-chosen", "recorded")
    assert done.exit_code == 0, done.output
    assert json.loads(assay.load(path).attrs["spec"])["gold_chosen"] == "recorded"
    done = run("fit", *ratings, *quick, "--gold-chosen", "recorded")
    assert done.exit_code == 1
    assert "Leave it out" in done.stderr


def test_a_table_that_cannot_be_written_leaves_the_old_one(
    fit_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    done = run("metrics", fit_file, "-o", path)
    assert done.exit_code == 1
    assert "No space left on device" in done.stderr
    assert path.read_text() == "old"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="pipes end otherwise here")
def test_a_reader_that_goes_away_is_no_error_message(fit_file: Path) -> None:
    with subprocess.Popen(
        [*RUN, "labels", str(fit_file), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in (said := process.stderr.read())
        assert all(line.startswith(b"warning: ") for line in said.splitlines())
        assert process.wait(60) == -signal.SIGPIPE


@pytest.mark.parametrize("compiled", [False, True])
def test_an_interrupt_is_said_and_exits_130(
    compiled: bool, ratings_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        if compiled:
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.check", interrupted)
    done = run("check", ratings_file, "--task", "retrieval")
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.slow
def test_sampling_can_be_interrupted(ratings_file: Path, tmp_path: Path) -> None:
    command = ["fit", str(ratings_file), "--task", "retrieval", "-o", str(tmp_path / "fit.nc")]
    with subprocess.Popen(
        [*RUN, *command, "--draws", "100000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        # Long enough to be compiled and sampling on a slow machine.
        time.sleep(45)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
        assert process.wait(60) == 130
    assert said.rstrip().endswith("interrupted")
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_that_is_kept_ends_as_interrupted(
    ratings_file: Path, fit_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = assay.load(fit_file)
    monkeypatch.setattr("assay.fit", lambda *_, **__: kept)
    asked = ("fit", ratings_file, "--task", "retrieval", "-o", tmp_path / "fit.nc", "-q")
    sizes = kept["posterior"].sizes
    whole = ("--draws", sizes["draw"], "--chains", sizes["chain"], "--keep-interrupted")
    assert run(*asked, *whole).exit_code == 0
    assert run(*asked, *whole, "--draws", sizes["draw"] + 1).exit_code == 130
    assert (tmp_path / "fit.nc").exists()


def test_check_is_strict_if_that_is_asked_for(tmp_path: Path) -> None:
    source = tmp_path / "ratings.csv"
    rows = [(n, rater, "xxy"[n % 3]) for n in range(60) for rater in "abc"[: 3 if n < 12 else 1]]
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(source, index=False)
    assert run("check", source, "--task", "single").exit_code == 0
    assert run("check", source, "--task", "single", "--strict").exit_code == 1


def test_the_folder_of_results_has_no_suffix_of_a_file(ratings_file: Path, tmp_path: Path) -> None:
    done = run("run", ratings_file, "-o", tmp_path / "out.html")
    assert done.exit_code == 1
    assert "file-not-written" in done.output
    assert not (tmp_path / "out.html").exists()

"""Tasks as files drafted from data, and as tables of the terminal."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import assay
from assay.checks.regularities import regular_gates, regular_rules
from assay.cli import app
from assay.data.directions import way_to_direct
from assay.io.task_choice import draft_arguments


@pytest.fixture(scope="module")
def support() -> pd.DataFrame:
    """A form that asks whether a problem is solved only if it was understood; no rude solution."""
    rng = np.random.default_rng(1)
    rows = []
    for item in range(150):
        for rater in "abc":
            understood = rng.random() < 0.7
            solved = understood and rng.random() < 0.6
            tone = rng.integers(1, 3) if solved else rng.integers(3)
            answer = ("nein", "ja")[solved] if understood else ""
            row = {"item": item, "rater": rater, "understood": ("nein", "ja")[understood]}
            rows.append(row | {"solved": answer, "tone": ("rude", "plain", "kind")[tone]})
    frame = pd.DataFrame(rows)
    unasked = (frame["understood"] == "nein") & (frame["tone"] != "rude")
    frame.loc[frame.index[unasked][:2], "solved"] = "ja"
    return frame


def test_rules_and_gates_are_those_that_answers_keep_to(support):
    ratings = assay.read_ratings(support, **draft_arguments(support))
    rules = {rule.expression: rule for rule in regular_rules(ratings)}
    assert list(rules) == ["solved -> tone != rude"]
    rule = rules["solved -> tone != rude"]
    rude, solved = support["tone"] == "rude", support["solved"] == "ja"
    assert rule.broken == (rude & solved).sum()
    told = support["solved"] != ""
    assert rule.ratings == min((rude & told).sum(), solved.sum())
    assert rule.expected == pytest.approx((rude & told).sum() * solved.sum() / told.sum())
    gates = regular_gates(ratings)
    assert gates["solved"].expression == "understood"
    assert (gates["solved"].broken, gates["solved"].ratings) == (2, 450)
    assert list(gates) == ["solved"]


def written(frame: pd.DataFrame, folder: Path, *options: str) -> tuple[Path, Path]:
    source, target = folder / "study.csv", folder / "study.toml"
    frame.to_csv(source, index=False)
    done = CliRunner().invoke(app, ["task", "init", str(source), "-o", str(target), *options])
    assert done.exit_code == 0, done.output
    return source, target


def same(one: assay.Ratings, other: assay.Ratings) -> bool:
    frames = all(
        getattr(one, name).equals(getattr(other, name)) for name in ("items", "raters", "panels")
    )
    arrays = all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("answers", "item", "rater", "replicate", "truth")
    )
    return frames and arrays and one.task.metrics == other.task.metrics


def test_drafted_file_gives_the_same_ratings(support, tmp_path):
    source, target = written(support, tmp_path)
    task = assay.load_task(target)
    drafted = assay.read_ratings(source, **draft_arguments(source))
    assert same(assay.read_ratings(source, task=task), drafted)
    assert task.classes["solved"] == ("nein", "ja")
    assert not task.rules


def test_suggestions_hold_as_they_are_written(support, tmp_path):
    _, target = written(support, tmp_path)
    text = re.sub(
        r"^# (?=\[\[rules|expression|truth|response|asked_if|better|ordered)",
        "",
        target.read_text(encoding="utf-8"),
        flags=re.M,
    )
    target.write_text(text, encoding="utf-8")
    task = assay.load_task(target)
    assert [rule.expression for rule in task.rules] == ["solved -> tone != rude"]
    assert task.labels[1].asked_if == "understood"
    assert {la.better for la in task.labels} == {"ja", "kind"}


def test_the_box_and_the_task_file_give_one_label_one_direction(support, tmp_path):
    """What page one says to set is a line of the drafted file, with both classes in its words."""
    _, target = written(support, tmp_path)
    text = target.read_text(encoding="utf-8")
    for label in assay.load_task(target).labels:
        if len(label.classes) == 2:
            way = way_to_direct(label)
            first, second = re.findall(r'"([^"]+)"', way)
            assert f'# better = "{first}"  # or "{second}": the good class' in text


def test_ranked_lists_and_stars_are_written_out(tmp_path):
    rng = np.random.default_rng(2)
    lines = [
        (f"q{q}", s, k, r, rng.integers(1, 6))
        for q in range(6) for s in "AB" for k in range(1, 6) for r in "xy"
    ]  # fmt: skip
    frame = pd.DataFrame(lines, columns=["query", "system", "chunk", "judge", "stars"])
    source, target = written(frame, tmp_path)
    task = assay.load_task(target)
    assert task.columns["item"] == ("query", "system", "chunk")
    assert task.columns["rank"] == ("chunk",)
    assert task.labels[0].ordered
    assert task.metrics == ("mean[stars]", "ndcg[stars]")
    assert same(assay.read_ratings(source), assay.read_ratings(source, task=target))


@pytest.mark.parametrize(
    ("key", "proposed"),
    [
        ("item", {"rate"}),
        ("query system chunk", {"rate", "precision_at_k", "recall_at_k", "hit_at_k"}),
        ("query system rank", {"rate", "precision_at_k", "recall_at_k", "hit_at_k", "mrr", "ndcg"}),
    ],
)
def test_metrics_of_lists_and_of_ranks_are_proposed_where_there_are_any(key, proposed, tmp_path):
    """Chunks with ids are lists without an order."""
    rng = np.random.default_rng(4)
    lines = [
        (f"q{q}", s, f"c{k}", k, rater, ("no", "yes")[rng.integers(2)])
        for q in range(6) for s in "AB" for k in range(1, 6) for rater in "xy"
    ]  # fmt: skip
    frame = pd.DataFrame(lines, columns=["query", "system", "chunk", "rank", "rater", "good"])
    frame["item"] = frame["query"] + frame["system"] + frame["chunk"]
    names = key.split()
    options = [word for name in names if len(names) > 1 for word in ("--item", name)]
    _, target = written(frame[[*names, "rater", "good"]], tmp_path, *options)
    text = target.read_text("utf-8")
    lines_of_metrics = re.findall(r"^(?:# others:|metrics =).*", text, re.MULTILINE)
    assert set(re.findall(r'"(\w+)\[', " ".join(lines_of_metrics))) == proposed


def test_rows_that_answer_a_question_each_have_a_label_a_question(tmp_path):
    rows = [
        (item, rater, question, ("low", "mid", "high")[(item + len(question)) % 3])
        for item in range(20) for rater in "ab" for question in ("tone", "style")
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "rater", "criterion", "rating"])
    source, target = written(frame, tmp_path)
    assert assay.load_task(target).label_names == ("style", "tone")
    assert (assay.read_ratings(source, task=target).answers >= 0).all()


def test_file_that_is_there_is_not_replaced_unless_it_is_named(support, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    support.to_csv("study.csv", index=False)
    assert CliRunner().invoke(app, ["task", "init", "study.csv"]).exit_code == 0
    again = CliRunner().invoke(app, ["task", "init", "study.csv"])
    assert again.exit_code == 1
    assert "[file-exists]" in again.output
    assert CliRunner().invoke(app, ["task", "init", "study.csv", "-o", "study.toml"]).exit_code == 0


def test_task_is_shown_with_labels_rules_and_states(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # nothing is folded
    shown = CliRunner().invoke(app, ["task", "show", "ais"]).output
    assert "    attributable  no, yes  interpretable" in shown
    assert "4 states" in shown
    assert "-: not asked" in shown
    shown = CliRunner().invoke(app, ["task", "show", "retrieval"]).output
    assert "evidence_sufficient -> not misleading      hard   block" in shown
    assert "5 states" in shown
    assert "no < partially < yes" in CliRunner().invoke(app, ["task", "show", "relevance"]).output
    assert "from the data" in CliRunner().invoke(app, ["task", "show", "single"]).output
    wrong = CliRunner().invoke(app, ["task", "show", "retrievel"])
    assert wrong.exit_code == 1
    assert "did you mean retrieval" in wrong.output


def test_several_columns_of_answers_are_refused_with_the_command_that_goes_on(
    support, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    support.to_csv("my study.csv", index=False)
    refused = CliRunner().invoke(app, ["check", "my study.csv"])
    assert refused.exit_code == 1
    advice = re.search(r"assay (task init '[^']*')", refused.output)
    assert CliRunner().invoke(app, shlex.split(advice[1])).exit_code == 0
    done = CliRunner().invoke(app, ["check", "my study.csv", "--task", "my study.toml"])
    assert done.exit_code == 0
    assert "label understood" in done.output


FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "formats"


@pytest.mark.parametrize("name", ["label_studio_rich.json", "argilla_rich.json", "mturk_rich.csv"])
def test_the_draft_of_an_export_is_the_task_that_it_brings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    brought = assay.read_ratings(FIXTURES / name)
    assert (
        CliRunner().invoke(app, ["task", "init", str(FIXTURES / name), "-o", "t.toml"]).exit_code
        == 0
    )
    task = assay.load_task("t.toml")
    assert task.classes == brought.task.classes
    assert [la.asked_if for la in task.labels] == [la.asked_if for la in brought.task.labels]
    assert np.array_equal(assay.read_ratings(FIXTURES / name, task=task).answers, brought.answers)


def test_gates_and_rules_of_the_task_are_written_out(tmp_path):
    frame = pd.DataFrame(
        {
            "item": [n // 2 for n in range(24)], "rater": ["a", "b"] * 12,
            "topically_relevant": ["yes", "no"] * 12, "evidence_sufficient": ["yes", "no"] * 12,
            "misleading": "no",
        }
    )  # fmt: skip
    _, target = written(frame, tmp_path)
    task, shipped = assay.load_task(target), assay.load_task("retrieval")
    assert [(r.expression, r.truth, r.response) for r in task.rules] == [
        (r.expression, r.truth, r.response) for r in shipped.rules
    ]


def test_options_of_several_choices_are_drafted_and_read_again(tmp_path):
    rows = [
        (n // 2, "ab"[n % 2], ["good", "bad"][n % 3 // 2],
         ["Too long, Rude", "Rude", "", "Too long"][n % 4])
        for n in range(24)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "rater", "verdict", "What is wrong?"])
    source, target = written(frame, tmp_path)
    task = assay.load_task(target)
    assert task.label_names == ("verdict", "Rude", "Too long")
    ratings = assay.read_ratings(source, task=task)
    assert ratings.answers[:4].tolist() == [[1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]]


def test_the_advised_command_has_what_the_file_does_not_say(tmp_path):
    rows = [["a", "x|y", "y"], ["b", "x", "none of these"], ["c", "y", "x|y"]]
    form = pd.DataFrame(rows, columns=["Email", "Question 1", "Question 2"])
    form.insert(0, "Timestamp", "2026-01-02 10:00:00")
    path = tmp_path / "my form.csv"
    form.to_csv(path, index=False)
    target = tmp_path / "my form.toml"
    done = CliRunner().invoke(
        app, ["task", "init", str(path), "-o", str(target), "--wide-items", "*"]
    )
    advice = re.search(r"then assay run (.*)", done.output)
    typed = shlex.split(advice[1])
    assert typed == [str(path), "--wide-items", "*", "--task", str(target)]
    assert assay.load_task(target).label_names == ("x", "y")
    checked = CliRunner().invoke(app, ["check", *typed])
    assert checked.exit_code == 0, checked.output
    assert "6 ratings, 2 items, 3 raters" in checked.output
    assert [0, 0] in assay.read_ratings(path, wide_items="*").answers.tolist()

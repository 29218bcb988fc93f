"""Files that were taken for what they are not: read right, or told, each as a kind."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reader_notes import note_codes, note_of
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay._util.errors import RatingsError, TaskError
from assay.cli import app
from assay.data.metric_names import SHIPPED
from assay.data.ratings import Ratings
from assay.data.task import Label
from assay.evaluation import registry
from assay.io import read_ratings
from assay.io.list_cells import joined_answers

ROWS = 24
ITEM = [n // 2 for n in range(ROWS)]
BASE = pd.DataFrame({"item": ITEM, "rater": list("ab") * 12, "label": list("xyzxyyxz") * 3})


def notes(ratings: Ratings) -> str:
    return " ".join(ratings.accounting.notes)


def error_of(table: object, **named: object) -> RatingsError:
    with pytest.raises(RatingsError) as error:
        read_ratings(table, task="single", **named)  # type: ignore[arg-type]
    return error.value


def refused(table: object, **named: object) -> str:
    return str(error_of(table, **named))


CONTAINERS = {
    "array": lambda word: np.array([word, "w"]),
    "tuple": lambda word: (word, "w"),
    "list": lambda word: [word, "w"],
    "set": lambda word: {word, "w"},
    "printed array": lambda word: str(np.array([word, "w"])),
    "printed list": lambda word: str([word, "w"]),
    "printed dict": lambda word: str({"label": {word}}),
    "printed tuple": lambda word: str((word, 1)),
    "JSON": lambda word: json.dumps([word, "w"]),
    "nested": lambda word: [[word], ["w"]],
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_cells_that_hold_several_values_are_no_class(kind: str) -> None:
    said = refused(BASE.assign(label=BASE["label"].map(CONTAINERS[kind])))
    assert "[multi-select]" in said or "[nested-cells]" in said


@pytest.mark.parametrize("kind", ["array", "tuple", "list", "JSON"])
def test_one_odd_cell_among_words_is_told(kind: str) -> None:
    table = BASE.astype(object)
    table.at[3, "label"] = CONTAINERS[kind]("x")
    assert "row 3" in refused(table)


def test_nothing_reads_a_printed_object_again() -> None:
    source = Path(assay.__file__).parent / "io"
    text = "".join(path.read_text(encoding="utf-8") for path in source.rglob("*.py"))
    assert "literal_eval" not in text
    assert "eval(" not in text


@pytest.mark.parametrize("sign", ["|", ";", "; ", ", ", ",", "\n", " | "])
def test_several_answers_in_a_cell_are_a_question_of_several_choices(sign: str) -> None:
    words = [["calm"], ["calm", "sad"], ["sad"], ["angry"], ["angry", "calm", "sad"], ["calm"]]
    error = error_of(BASE.assign(label=[sign.join(word) for word in words] * 4))
    assert refusal("multi-select", cells=8)(error)
    said = str(error)
    assert "column label" in said
    assert '{name = "angry"}, {name = "calm"}, {name = "sad"}' in said
    assert "replicate" not in said


@pytest.mark.parametrize(
    "words",
    [
        ["agree, strongly", "agree, weakly", "disagree, strongly", "disagree, weakly"],
        ["Yes, all of it", "No, nothing", "Partly"],
        ["1,5", "1", "5", "2,5"],
        ["New York, NY", "Boston, MA", "Boston"],
        ["a|b", "c|d"],
    ],
)
def test_signs_within_one_answer_are_left_alone(words: list[str]) -> None:
    assert joined_answers(words, Label(name="label", classes=())) is None


def test_classes_that_a_task_file_lists_may_hold_such_signs(tmp_path: Path) -> None:
    task = tmp_path / "own.toml"
    task.write_text('labels = [{name = "label", classes = ["a", "b", "a|b"]}]', encoding="utf-8")
    table = BASE.assign(label=["a", "b", "a|b"] * 8)
    assert read_ratings(table, task=task).answers.max() == 2
    assert "[multi-select]" in _refused_by(task, BASE.assign(label=["a", "b|a"] * 12))


def _refused_by(task: Path, table: pd.DataFrame) -> str:
    with pytest.raises(RatingsError) as error:
        read_ratings(table, task=task)
    return str(error.value)


STATUSES = {
    "tone.responses.status": ("submitted", "draft", "discarded"),
    "AssignmentStatus": ("Approved", "Rejected", "Rejected"),
    "response_status_now": None,
    "status": ("completed", "skipped", "pending"),
    "annotation.was_cancelled": ("false", "true", "true"),
}


@pytest.mark.parametrize("name", [name for name, words in STATUSES.items() if words])
def test_withdrawn_responses_are_no_answers(name: str) -> None:
    given, one, other = STATUSES[name]  # type: ignore[misc]
    status = [given] * ROWS
    status[3], status[10] = one, other
    ratings = read_ratings(BASE.assign(**{name: status}), task="single")
    assert np.flatnonzero(ratings.abstained).tolist() == [3, 10]
    note = note_of(ratings, "status-read")
    assert note.numbers == {"responses": 2}
    assert f"column {name} " in note
    roles = ratings.accounting.roles.set_index("column")["role"]
    assert roles[name] == "status"


def test_a_status_of_items_or_of_another_kind_changes_nothing() -> None:
    of_items = ["pending" if n < 3 else "completed" for n in ITEM]
    ratings = read_ratings(BASE.assign(status=of_items), task="single")
    assert not ratings.abstained.any()
    assert "status-of-items" in note_codes(ratings)
    verdict = read_ratings(BASE.assign(status=["approved", "rejected"] * 12), task="single")
    assert not verdict.abstained.any()
    marital = read_ratings(BASE.assign(status=["single", "pending"] * 12), task="single")
    assert not marital.abstained.any()


def test_a_status_of_unknown_words_is_told() -> None:
    ratings = read_ratings(BASE.assign(status=["submitted", "draft", "odd"] * 8), task="single")
    assert not ratings.abstained.any()
    note = note_of(ratings, "status-unclear")
    assert all(f" {word}" in note for word in ("status", "draft", "odd"))


def test_the_choices_of_prodigy_stand_in_accept() -> None:
    table = BASE.drop(columns="label").assign(
        options=[[{"id": "x"}, {"id": "y"}]] * ROWS,
        accept=[[word] for word in BASE["label"]],
        answer=["accept"] * 20 + ["reject", "ignore"] * 2,
    )
    ratings = read_ratings(table, task="single")
    assert ratings.task.labels[0].classes == ("x", "y", "z")
    assert int(ratings.abstained.sum()) == 4
    roles = ratings.accounting.roles.set_index("column")
    assert roles.loc["accept", "role"] == "label label"
    assert roles.loc["answer", "role"] == "status"
    several = table.assign(accept=[["x", "y"], ["x"], ["y"], []] * 6)
    error = error_of(several)
    assert refusal("multi-select", cells=6)(error)
    assert "column accept" in str(error)


def test_ignore_beside_accept_and_reject_is_no_answer() -> None:
    table = BASE.assign(label="TOXIC", answer=["accept", "reject", "ignore"] * 8)
    ratings = read_ratings(table, task="single")
    assert ratings.task.labels[0].classes == ("accept", "reject")
    assert int(ratings.abstained.sum()) == 8
    note = note_of(ratings, "no-answer-words")
    assert note.numbers == {"answers": 8}
    assert "ignore to label" in note


MISSING_WORDS = ["None", "-", "?", "skip", "unsure", "99", "don't know", "(none)", "-9"]


@pytest.mark.parametrize("word", MISSING_WORDS)
def test_words_that_may_mean_no_answer_are_noted_with_the_word_that_empties_them(
    word: str, tmp_path: Path
) -> None:
    table = BASE.assign(label=["1", "2", word] * 8)
    ratings = read_ratings(table, task="single")
    said = json.dumps({"label": {word: ""}})
    assert f"classes={said}" in notes(ratings)
    mended = read_ratings(table, task="single", classes=json.loads(said))
    assert mended.task.labels[0].classes == ("1", "2")
    assert int(mended.abstained.sum()) == 8
    assert "may mean no answer" not in notes(mended)
    table.to_csv(tmp_path / "r.csv", index=False)
    typed = ["check", str(tmp_path / "r.csv"), "--task", "single", "--word", f"label:{word}="]
    assert "8 ratings answer no label" in CliRunner().invoke(app, typed).output


@pytest.mark.parametrize(
    "words", [["+", "-"], ["pass", "fail"], ["97", "98", "99"], ["8", "9", "10"], ["-1", "-2"]]
)
def test_words_that_are_classes_are_not_doubted(words: list[str]) -> None:
    table = BASE.assign(label=(words * ROWS)[:ROWS])
    assert "no answer" not in notes(read_ratings(table, task="single"))


def test_minus_one_beside_classes_from_zero_is_no_answer() -> None:
    table = BASE.assign(label=["0", "1", "2", "-1"] * 6)
    ratings = read_ratings(table, task="single")
    assert ratings.task.labels[0].classes == ("0", "1", "2")
    assert int(ratings.abstained.sum()) == 6
    note = note_of(ratings, "no-answer-words")
    assert note.numbers == {"answers": 6}
    assert "-1 to label" in note
    kept = read_ratings(table, task="single", classes={"label": {"-1": "-1"}})
    assert kept.task.labels[0].classes == ("-1", "0", "1", "2")


GOLD = {"first": ["x", "x", "y", "y"] * 6, "second": ["y", "y", "x", "x"] * 6}


@pytest.mark.parametrize(
    ("said", "known"),
    [(("no", "yes"), (0, 1)), (("0", "1"), ("False", "True")), (("nein", "ja"), ("no", "yes"))],
)
def test_no_and_yes_of_the_truth_are_those_of_the_answers(
    said: tuple[str, str], known: tuple[object, object]
) -> None:
    code = [n // 2 % 2 for n in range(ROWS)]
    table = BASE.assign(label=[said[c] for c in code], gold=[known[c] for c in code])
    ratings = read_ratings(table, task="single", truth="gold")
    assert ratings.task.labels[0].classes == said
    assert ratings.truth[:, 0].tolist() == code[::2]
    assert "truth-translated" in note_codes(ratings)
    alone = table[["item", "gold"]].drop_duplicates().rename(columns={"gold": "label"})
    assert read_ratings(table, task="single", truth=alone).truth[:, 0].tolist() == code[::2]


def test_truth_of_items_whose_names_nearly_match_is_told() -> None:
    gold = pd.DataFrame({"item": [f"{n:02d}" for n in range(12)], "label": list("xy") * 6})
    ratings = read_ratings(BASE, task="single", truth=gold)
    note = note_of(ratings, "truth-of-others")
    assert note.numbers == {"items": 10}
    error = error_of(BASE, truth=gold.head(9))
    assert error.code == "truth-unmatched"
    assert "10 names nearly match" in note
    assert all("'00' and '0'" in said for said in (note, str(error)))


def test_truth_of_lists_of_one_element_is_the_element() -> None:
    gold = pd.DataFrame({"item": [0, 1], "gold": [["x"], np.array(["y"])]})
    known = read_ratings(BASE, task="single", truth=gold).truth
    assert known[:3, 0].tolist() == [0, 1, -1]


@pytest.mark.parametrize("word", ["None", "-1", "?", "unknown"])
def test_truth_that_may_not_be_known_is_told(word: str) -> None:
    few = BASE.assign(gold=["x"] * 12 + [word] * 6 + ["y"] * 6)
    said = json.dumps({"label": {word: ""}})
    assert f"classes={said}" in notes(read_ratings(few, task="single", truth="gold"))
    known = read_ratings(few, task="single", truth="gold", classes=json.loads(said))
    assert int((known.truth[:, 0] < 0).sum()) == 3
    assert known.task.labels[0].classes == ("x", "y", "z")
    assert f"classes={said}" in refused(few.assign(gold=["x"] * 2 + [word] * 22), truth="gold")


@pytest.mark.parametrize("word", ["None", "nan", "N/A", "?"])
def test_names_that_may_be_none_are_noted(word: str) -> None:
    ratings = read_ratings(BASE.assign(rater=[word, "b"] * 12), task="single")
    note = note_of(ratings, "nameless")
    assert note.numbers == {"names": 1}
    assert f"a rater: {word!r} (12 rows)" in note


def test_a_column_of_any_name_may_speak_of_statuses() -> None:
    stage = ["submitted"] * 20 + ["draft", "discarded"] * 2
    ratings = read_ratings(BASE.assign(stage=stage, annotation_state="done"), task="single")
    assert int(ratings.abstained.sum()) == 4


def test_unclear_words_of_the_truth_are_left_open() -> None:
    table = BASE.assign(label=["pass", "fail"] * 12, gold=[n % 2 for n in ITEM])
    assert '{"0": "...", "1": "..."}' in refused(table, truth="gold")


def test_words_of_the_truth_are_not_said_to_be_idle() -> None:
    code = [n // 2 % 2 for n in range(ROWS)]
    table = BASE.assign(label=[("fail", "pass")[c] for c in code], gold=code)
    words = {"label": {"0": "fail", "1": "pass"}}
    assert "no answer" not in notes(read_ratings(table, task="single", truth="gold", classes=words))
    words["label"]["2"] = "fail"
    said = notes(read_ratings(table, task="single", truth="gold", classes=words))
    assert "`classes=` names 2, which no answer to label says" in said


def test_a_proposal_that_leaves_a_class_open_cannot_be_copied() -> None:
    table = BASE.assign(label=["pass", "fail"] * 12, gold=[n % 2 for n in ITEM])
    error = error_of(table, truth="gold", classes={"label": {"0": "...", "1": "pass"}})
    assert error.code == "unknown-class"
    assert error.go_on == {"classes": {"label": {"0": ""}}}


def test_a_class_of_the_truth_that_no_answer_says_is_kept_if_it_is_meant() -> None:
    table = BASE.assign(gold=["w", *[""] * 23])
    assert "[truth-vocabulary]" in refused(table, truth="gold")
    words = {"label": {"w": "w"}}
    kept = read_ratings(table, task="single", truth="gold", classes=words)
    assert kept.task.labels[0].classes == ("w", "x", "y", "z")


NEAR = {
    "case": ("Ann", "ann"),
    "leading zeros": ("r1", "r01"),
    "Cyrillic": ("Anna", "\u0410nn\u0430"),
    "Greek": ("coder A", "coder \u0391"),
    "width": ("R1", "\uff32\uff11"),
    "blanks": ("Ann Lee", "Ann  Lee"),
    "no-break": ("Ann Lee", "Ann\u00a0Lee"),
    "invisible": ("Ann", "A\u200bnn"),
}


@pytest.mark.parametrize("kind", NEAR)
@pytest.mark.parametrize("role", ["rater", "item"])
def test_names_that_nearly_match_are_noted(kind: str, role: str) -> None:
    one, other = NEAR[kind]
    names = BASE[role].astype(str).to_list()
    names[0], names[1], names[2] = one, one, other
    if role == "rater":
        names[1] = "b"
    ratings = read_ratings(BASE.assign(**{role: names}), task="single")
    said = note_of(ratings, "near-names")
    assert said.startswith(f"1 group of {role}s ")
    assert f"'{one}' ({2 if role == 'item' else 1} row" in said


@pytest.mark.parametrize("form", ["csv", "frame", "parquet"])
def test_accents_that_stand_apart_are_noted(form: str, tmp_path: Path) -> None:
    apart = "Mu\N{COMBINING DIAERESIS}ller"
    table = BASE.assign(rater=[apart, "b"] * 12)
    table.to_csv(tmp_path / "r.csv", index=False)
    table.to_parquet(tmp_path / "r.parquet")
    ratings = read_ratings(table if form == "frame" else tmp_path / f"r.{form}", task="single")
    assert "M\u00fcller" in note_of(ratings, "accents-joined")
    assert ratings.raters.index.tolist() == ["M\u00fcller", "b"]


def test_systems_and_classes_that_nearly_match_are_noted() -> None:
    systems = ["gpt-4" if n < 6 else "GPT-4" for n in ITEM]
    said = note_of(read_ratings(BASE.assign(system=systems), task="single"), "near-names")
    assert said.startswith("1 group of systems")
    labels = ["good", "bad", "go\u043ed"] * 8
    said = note_of(read_ratings(BASE.assign(label=labels), task="single"), "near-names")
    assert said.startswith("1 group of classes")
    assert "go\\u043ed" in said


def test_truth_that_mostly_says_what_no_answer_does_is_asked_about() -> None:
    table = BASE.assign(gold=["GREAT"] * 14 + ["x"] * 10)
    error = error_of(table, truth="gold")
    assert error.code == "truth-vocabulary"
    assert "GREAT" in str(error)


def test_names_that_differ_are_not_noted() -> None:
    names = ["a1", "a2", "b-1", "b-2", "10", "1", "100", "M\u00fcller"] * 3
    assert "nearly" not in notes(read_ratings(BASE.assign(item=names), task="single"))


def test_the_way_in_without_options_ends_in_the_right_items(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # nothing is folded
    rng = np.random.default_rng(7)
    lines = [
        (f"How do I reset {q}?", model, chunk, rater, rng.choice(["yes", "no"]))
        for q in range(20) for model in ("bm25", "hybrid") for chunk in range(1, 6)
        for rater in (["Anna", "gpt-4o"] if rng.random() < 0.6 else ["gpt-4o"])
    ]  # fmt: skip
    columns = ["query", "model", "chunk", "rater", "relevant"]
    path = tmp_path / "my_ratings.csv"
    pd.DataFrame(lines, columns=columns).to_csv(path, index=False)
    typed = ["check", str(path), "--task", "single"]
    first = CliRunner().invoke(app, typed)
    assert first.exit_code == 1
    assert "--labels relevant" in first.output
    typed += ["--labels", "label=relevant"]
    for more in ([], ["--replicate", "row"]):
        second = CliRunner().invoke(app, [*typed, *more])
        assert second.exit_code == 0
        assert "query, model, chunk together" in second.output
        assert "200 items" in second.output
    none = CliRunner().invoke(app, ["check", str(path)])
    assert none.exit_code == 0
    assert "label relevant" in none.output
    meant = CliRunner().invoke(app, [*typed, "--item", "chunk", "--replicate", "row"])
    assert "--item query --item chunk" in meant.output
    typed += ["--cluster", ""]
    meant = CliRunner().invoke(app, [*typed, "--item", "chunk", "--replicate", "row"])
    assert "with --item query --item model --item chunk," in meant.output
    typed = typed[:-2]
    third = CliRunner().invoke(
        app, [*typed, "--item", "query", "--item", "model", "--item", "chunk"]
    )
    assert third.exit_code == 0
    assert "200 items" in third.output


WIDE = {"A": list("xyzx") * 3, "B": list("xyyx") * 3, "C": list("xzzy") * 3}
SHAPES = {
    "units": ({"unit": range(12)}, ["wide", "wide_items"]),
    "subjects": ({"subject": range(12)}, ["wide", "wide_items"]),
    "students": ({"student": range(12)}, ["wide", "wide_items"]),
    "respondents": ({"respondent": range(12)}, ["wide_items", "wide"]),
    "form": ({"Timestamp": range(12)}, ["wide_items", "wide"]),
    "nothing": ({}, ["wide", "wide_items"]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_each_reading_of_a_wide_table_is_what_it_says(name: str) -> None:
    rest, ways = SHAPES[name]
    table = pd.DataFrame(rest | WIDE)
    error = error_of(table)
    assert re.findall(r"`(wide\w*)=\['A', 'B', 'C'\]` if", str(error)) == ways
    assert refusal("wide-table", columns=3)(error)
    assert error.go_on == {ways[0]: ["A", "B", "C"]}
    for way in ways:
        ratings = read_ratings(table, task="single", **{way: ["A", "B", "C"]})
        found = (len(ratings.items), len(ratings.raters))
        assert found == ((12, 3) if way == "wide" else (3, 12))


def test_columns_that_are_called_raters_are_raters() -> None:
    table = pd.DataFrame({"id": range(12), **{f"Rater {c}": v for c, v in WIDE.items()}})
    assert refused(table).endswith("Go on with `wide=['Rater A', 'Rater B', 'Rater C']`")


def test_rows_of_ratings_are_no_wide_table() -> None:
    table = BASE.rename(columns={"label": "tone"}).assign(mood=list("xyzx") * 6)
    assert "[no-answers]" in refused(table)
    assert "[no-answers]" in refused(table.rename(columns={"item": "HIT", "rater": "worker"}))


def test_ratings_that_are_repeated_are_no_reason_to_doubt_the_item() -> None:
    rng = np.random.default_rng(3)
    again = pd.concat([BASE.assign(round=n, label=rng.choice(list("xy"), ROWS)) for n in range(3)])
    ratings = read_ratings(again, task="single")
    assert len(ratings.items) == 12
    trials = again.rename(columns={"round": "trial"})
    error = error_of(trials)
    assert (error.code, error.go_on) == ("item-key", {"replicate": "trial"})
    # A name that tells of repeats comes first; any other is part of the item first.
    ways = re.findall(r"`(item|replicate)=[^`]*` if", str(error))
    assert ways == ["replicate", "item"]
    error = error_of(again.rename(columns={"round": "language"}))
    assert (error.code, error.go_on) == ("item-key", {"item": ["item", "language"]})
    assert re.findall(r"`(item|replicate)=[^`]*` if", str(error)) == ["item", "replicate"]
    assert len(read_ratings(trials, task="single", replicate="trial").items) == 12


class TestMetrics:
    """A task that names metrics which cannot be computed."""

    def task(self, folder: Path, name: str, label: str = "ok") -> Path:
        path = folder / "own.toml"
        path.write_text(f'metrics = ["{name}"]\nlabels = [{{name = "{label}"}}]', encoding="utf-8")
        return path

    def test_check_refuses_a_metric_that_does_not_exist(self, tmp_path: Path) -> None:
        task = self.task(tmp_path, "flag_rat")
        table = BASE.assign(ok=["yes", "no"] * 12)
        found = assay.check(read_ratings(table, task=task)).at_least("problem")
        assert ["did you mean flag_rate?" in one.text for one in found] == [True]
        table.to_csv(tmp_path / "r.csv", index=False)
        typed = ["check", str(tmp_path / "r.csv"), "--task", str(task)]
        assert CliRunner().invoke(app, typed).exit_code == 1

    def test_a_metric_of_ones_own_exists_once_its_file_is_named(self, tmp_path: Path) -> None:
        task = self.task(tmp_path, "my_share_of_misread_tests")
        (tmp_path / "own.py").write_text(
            'import assay\n\n@assay.metric("my_share_of_misread_tests", labels=["ok"])\n'
            "def share(y, mask):\n    return (y[..., 0] == 1).any(axis=-1)\n", encoding="utf-8"
        )  # fmt: skip
        BASE.assign(ok=["yes", "no"] * 12).to_csv(tmp_path / "r.csv", index=False)
        typed = ["check", str(tmp_path / "r.csv"), "--task", str(task)]
        typed += ["--metric-file", str(tmp_path / "own.py")]
        try:
            assert CliRunner().invoke(app, typed).exit_code == 0
        finally:
            registry._METRICS.pop("my_share_of_misread_tests")

    def test_a_metric_that_lacks_its_labels_is_refused_when_the_task_loads(
        self, tmp_path: Path
    ) -> None:
        with pytest.raises(TaskError, check=refusal("task-file", problems=1)):
            assay.load_task(self.task(tmp_path, "flag_rate"))
        assert assay.load_task(self.task(tmp_path, "flag_rate", "flagged")).metrics

    def test_the_names_are_those_of_the_registry(self) -> None:
        from assay.evaluation.registry import registered

        assert {name: registered(name).labels for name in SHIPPED} == SHIPPED
        listed = {m for name in ("ais", "generation", "grounding", "retrieval")
                  for m in assay.load_task(name).metrics}  # fmt: skip
        assert listed == set(SHIPPED)

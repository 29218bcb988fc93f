"""Wide tables: columns of raters, of classes, of criteria."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import RatingsError
from assay.data.task import Label
from assay.io import read_ratings
from assay.io.class_columns import vote_columns
from assay.io.name_patterns import find_grid, parts_of
from assay.io.wide_tables import (
    _called_alike,
    answer_columns,
    names_people,
)


def test_columns_of_classes_are_found() -> None:
    frame = pd.DataFrame({"case": ["1", "2"], "Ann": ["yes", "no"], "Ben": ["no", ""]})
    assert answer_columns(frame, Label(name="ill")) == ["Ann", "Ben"]


def test_names_may_differ_in_one_number() -> None:
    assert [_called_alike(name, ["1_Q1", "2_Q1"]) for name in ("30_Q1", "3_Q2", "note")] == [
        True,
        False,
        False,
    ]


def test_columns_of_people_are_known_by_name() -> None:
    assert [
        names_people(name) for name in ("Email Address", "tone.responses.users", "subject")
    ] == [True, True, False]


def test_columns_of_steady_sums_are_votes() -> None:
    frame = pd.DataFrame({"unit": ["1", "2", "3"], "a": ["3", "0", "2"], "b": ["0", "3", "1"]})
    assert vote_columns(frame) == ["a", "b"]


def test_rows_without_a_name_are_told_which_columns_name_them() -> None:
    frame = pd.DataFrame({"url": list("aabbcc"), "part": list("xyxyxy"), "Ann": list("pqpqpp"),
                          "Ben": list("ppqqpq")})  # fmt: skip
    ratings = read_ratings(frame, wide=["Ann", "Ben"])
    said = next(note for note in ratings.accounting.notes if "called by its number" in note)
    assert said.endswith("; `item=['url', 'part']` names them")
    named = read_ratings(frame, wide=["Ann", "Ben"], item=["url", "part"])
    assert named.items.index.tolist() == ["a/x", "a/y", "b/x", "b/y", "c/x", "c/y"]
    alike = frame.assign(part="x")
    notes = read_ratings(alike, wide=["Ann", "Ben"]).accounting.notes
    assert any(note.endswith("called by its number") for note in notes)


@pytest.mark.parametrize(("item", "part"), [("Case", "Version"), ("question_id", "model")])
def test_raters_of_outputs_of_several_systems_are_no_labels(item: str, part: str) -> None:
    frame = pd.DataFrame({item: list("aabbccdd"), part: ["old", "new"] * 4})
    frame = frame.assign(**{"Dr. Ann": list("yynynnyn"), "Ben": list("ynnynnyy")})
    with pytest.raises(RatingsError, check=refusal("wide-table", columns=2)) as caught:
        read_ratings(frame)
    assert caught.value.go_on["wide"] == ["Dr. Ann", "Ben"]
    ratings = read_ratings(frame, wide=["Dr. Ann", "Ben"], item=[item, part], system=part)
    assert (len(ratings.items), ratings.systems) == (8, ["new", "old"])


def test_rows_of_a_rater_and_a_system_are_ratings() -> None:
    frame = pd.DataFrame({"item": list("aabbccdd"), "model": ["old", "new"] * 4})
    frame = frame.assign(polite=list("yynynnyn"), rude=list("ynnynnyy"), rater=list("rsrsrsrs"))
    with pytest.raises(RatingsError, check=refusal("no-answers")):
        read_ratings(frame)


ITEMS = 40


DRAWN = np.random.default_rng(1).random((ITEMS, 3))


FLAGS = {name: DRAWN[:, n] < 0.7 for n, name in enumerate(("faithful", "relevant", "complete"))}


GRADES = {f"{name}ness": (DRAWN[:, n] * 5).astype(int) + 1 for n, name in enumerate(("clear", "u"))}


WORDS = {
    "helpfulness": np.where(FLAGS["faithful"], "good", "bad"),
    "safety": np.where(FLAGS["relevant"], "safe", "unsafe"),
}


KINDS: Mapping[str, Mapping[str, object]] = {
    "no and yes": FLAGS, "grades": GRADES, "words that differ": WORDS,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_criteria_are_labels_and_no_raters(kind: str) -> None:
    texts = {"id": range(ITEMS), "answer": [f"It is {n}." for n in range(ITEMS)]}
    frame = pd.DataFrame({**texts, **KINDS[kind]})
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"labels": {c: c for c in KINDS[kind]}, "rater": "row"}
    ratings = read_ratings(frame, **caught.value.go_on)
    assert ratings.task.label_names == tuple(KINDS[kind])
    assert (len(ratings.items), len(ratings.raters), len(ratings.answers)) == (ITEMS, 1, ITEMS)


def test_names_of_raters_are_still_raters() -> None:
    frame = pd.DataFrame(
        {"id": range(ITEMS), **dict(zip(("Ann", "Bob", "Cy"), FLAGS.values(), strict=True))}
    )
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"wide": ["Ann", "Bob", "Cy"]}


@pytest.mark.parametrize("text", ["question", "output"])
def test_rows_with_equal_texts_are_items_of_their_own(text: str) -> None:
    texts = ["I do not know."] * 5 + [f"It is {n}." for n in range(5, ITEMS)]
    frame = pd.DataFrame({"id": range(ITEMS), text: texts, **FLAGS})
    ratings = read_ratings(frame, labels={c: c for c in FLAGS}, rater="row")
    assert (len(ratings.items), len(ratings.raters)) == (ITEMS, 1)


def test_votes_on_equal_texts_are_of_one_item() -> None:
    frame = pd.DataFrame({"id": range(ITEMS), "text_id": [n // 4 for n in range(ITEMS)]})
    ratings = read_ratings(frame.assign(label=FLAGS["faithful"]), rater="row")
    assert (len(ratings.items), len(ratings.raters)) == (10, 4)


CASES = 24
QUESTIONS = {"tone": ["calm", "sad", "angry"], "ok": ["yes", "no"]}
ALIKE = {"faithful": ["yes", "no"], "relevant": ["yes", "no"]}


def wide(
    names: str, raters: list[str], questions: dict[str, list[str]], **more: Any
) -> pd.DataFrame:
    """Return a table of known answers: those of the item, but for every seventh."""
    cells = dict(more)
    for k, rater in enumerate(raters):
        for label, classes in questions.items():
            size = len(classes)
            cells[names.format(rater=rater, label=label)] = [
                classes[(n + (n % 7 == k)) % size] for n in range(CASES)
            ]
    return pd.DataFrame(cells)


def refused(frame: pd.DataFrame) -> RatingsError:
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    return caught.value


NAMES = {
    "a number of the rater": ("{rater}_{label}", ["annotator_1", "annotator_2"], QUESTIONS),
    "questions first": ("{label}_annotator{rater}", ["1", "2", "3"], ALIKE),
    "criteria say which they are": ("{label}_{rater}", ["ann", "ben"], ALIKE),
    "signs and letters of other languages": ("{rater} - {label}", ["Jörg", "李", "Zoë"], QUESTIONS),
    "points": ("{label}.{rater}", ["gpt", "claude"], {"score": list("1234"), "safe": ["0", "1"]}),
}


@pytest.mark.parametrize("kind", NAMES)
def test_the_refusal_ends_with_the_pattern_that_reads_them(kind: str) -> None:
    names, raters, questions = NAMES[kind]
    frame = wide(names, raters, questions, doc_id=[f"d{n}" for n in range(CASES)])
    go_on = refused(frame).go_on
    ratings = read_ratings(frame, **go_on)
    assert set(ratings.task.label_names) == set(questions)
    assert (len(ratings.items), len(ratings.raters)) == (CASES, len(raters))
    assert len(ratings.answers) == CASES * len(raters)
    for n, label in enumerate(ratings.task.labels):
        classes, asked = label.classes, questions[label.name]
        said = {
            (ratings.items.index[i], ratings.raters.index[r]): classes[a]
            for i, r, a in zip(ratings.item, ratings.rater, ratings.answers[:, n], strict=True)
        }
        for k, rater in enumerate(ratings.raters.index):
            wanted = [asked[(i + (i % 7 == k)) % len(asked)] for i in range(CASES)]
            assert [said[f"d{i}", rater] for i in range(CASES)] == wanted


def test_pairs_without_an_answer_are_no_ratings_and_remarks_no_labels() -> None:
    frame = wide("{rater}_{label}", ["ann", "ben"], QUESTIONS)
    frame["ann_remark"] = [f"well, {n}" for n in range(CASES)]
    frame["ben_remark"] = ""
    frame.loc[3, ["ben_tone", "ben_ok"]] = ""
    frame.loc[4, "ben_tone"] = ""
    ratings = read_ratings(frame, wide="{rater}_{label}")
    assert len(ratings.answers) == 2 * CASES - 1
    assert ratings.task.label_names == ("tone", "ok")
    assert int((ratings.answers[:, 0] < 0).sum()) == 1


def test_one_question_is_read_alone() -> None:
    frame = wide("{rater}_{label}", ["ann", "ben"], QUESTIONS)
    ratings = read_ratings(frame, wide="{rater}_{label}", labels="ok")
    assert ratings.task.labels[0].classes == ("no", "yes")


def test_questions_of_the_same_values_may_be_meant_the_other_way() -> None:
    frame = wide("{rater}_{label}", ["a", "b"], {"x": ["yes", "no"], "y": ["yes", "no"]})
    error = refused(frame)
    assert error.go_on == {"wide": "{rater}_{label}"}
    assert "{label}_{rater}" in str(error)


@pytest.mark.parametrize(
    "frame",
    [
        wide("rater_{rater}", ["1", "2", "3"], {"x": ["a", "b"]}),
        wide("{label}_{rater}", ["ann", "ben"], {f"q{k}": ["a", "b"] for k in range(10)}),
        wide("{rater}_{label}", ["GPT-4_turbo", "GPT-4_mini"], {"x": ["a", "b"]}),
    ],
)
def test_other_names_are_raters_or_items_as_before(frame: pd.DataFrame) -> None:
    assert find_grid(frame.astype("str"), list(frame.columns)) is None
    assert "{rater}" not in str(refused(frame).go_on)


def test_rows_of_people_have_no_columns_of_raters() -> None:
    frame = wide("{rater} - {label}", ["Reply 1", "Reply 2"], QUESTIONS)
    frame.insert(0, "Email Address", [f"p{n}@x.org" for n in range(CASES)])
    assert "{rater}" not in str(refused(frame).go_on)


def test_a_pattern_that_no_column_has_is_refused(tmp_path: Path) -> None:
    frame = wide("{rater}_{label}", ["ann", "ben"], QUESTIONS)
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame, wide="{rater}:{label}")
    assert caught.value.code == "unknown-column"


def test_names_are_parted_where_the_fewest_result() -> None:
    columns = ["a_1_tone", "a_2_tone", "a_1_ok", "a_2_ok", "doc_id"]
    pairs = parts_of(columns, "{rater}_{label}")
    assert list(np.unique([parts["rater"] for parts in pairs.values()])) == ["a_1", "a_2"]


def test_an_item_on_which_all_raters_differ_is_an_item() -> None:
    frame = pd.DataFrame({
        "coder": list("ABCD"), "u1": list("1145"), "u2": list("1233"), "u3": list("*5*4"),
        "u4": list("2534"), "u5": list("341*"), "u6": list("1234"), "u7": list("1155"),
    })  # fmt: skip
    for extra in ({}, {"No": list("1234")}):  # a number of each row is none
        ratings = read_ratings(frame.assign(**extra), wide_items="*")
        assert ratings.items.index.tolist() == ["u1", "u2", "u3", "u4", "u5", "u6", "u7"]
        assert ratings.task.labels[0].classes == ("1", "2", "3", "4", "5")
        assert "no-answer-words" in [note.code for note in ratings.accounting.notes]


def test_a_class_called_like_a_count_is_counted_too() -> None:
    votes = [[(7 * n) % 60 + 5, (11 * n) % 30 + 2] for n in range(20)]
    frame = pd.DataFrame([[f"t{n}", e, c, 100 - e - c] for n, (e, c) in enumerate(votes)],
                         columns=["uid", "e", "c", "n"])  # fmt: skip
    assert vote_columns(frame.astype(str)) == ["e", "c", "n"]
    total = frame.assign(n=100 - frame["e"], c=frame["e"] * 0 + 100).astype(str)
    assert vote_columns(total.rename(columns={"c": "n", "n": "c"})) == ["e", "c"]


def test_votes_that_leave_zeros_out_are_counted() -> None:
    frame = pd.DataFrame({"uid": list("abcd"), "entails": ["5", "", "2", "4"],
                          "neutral": ["", "5", "3", ""], "other": ["", "", "", "1"]})  # fmt: skip
    with pytest.raises(RatingsError, check=refusal("count-table")) as caught:
        read_ratings(frame)
    assert len(read_ratings(frame, **caught.value.go_on).answers) == 20
    rated = frame.assign(entails=["4", "", "2", "5"])
    assert vote_columns(rated) == []


@pytest.mark.parametrize(("yes", "total", "classes"), [
    ("votes_toxic", "votes_total", ("not toxic", "toxic")), ("n_yes", "n_total", ("no", "yes")),
    ("yes", "total", ("no", "yes")),
])  # fmt: skip
def test_votes_for_one_class_of_a_total(yes: str, total: str, classes: tuple[str, str]) -> None:
    of = [5 + n % 3 for n in range(30)]
    frame = pd.DataFrame({"item_id": range(30), yes: [n % 6 for n in range(30)], total: of})
    with pytest.raises(RatingsError, check=refusal("count-table")) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"counts": yes}
    for counts in (yes, [yes, total]):
        ratings = read_ratings(frame, counts=counts)
        assert ratings.task.labels[0].classes == classes
        assert np.bincount(ratings.answers[:, 0]).tolist() == [sum(of) - 75, 75]


def test_known_truth_and_who_decides_are_no_raters() -> None:
    said = {name: list("nyynnyny" * 5) for name in ("Rad A", "Rad B")}
    said["Rad B"][::2] = list("yn" * 10)
    differ = [a != b for a, b in zip(said["Rad A"], said["Rad B"], strict=True)]
    one, others = Label(name="label"), ("Reference standard", "Expert panel", "Biopsy", "Consensus")
    for name in others:
        frame = pd.DataFrame({**said, name: said["Rad A"]}, dtype="str")
        assert answer_columns(frame, one) == ["Rad A", "Rad B"]
    third = [a if far else "" for a, far in zip(said["Rad A"], differ, strict=True)]
    assert answer_columns(pd.DataFrame({**said, "Kim": third}), one) == ["Rad A", "Rad B"]
    whole = pd.DataFrame({**said, "Kim": said["Rad A"]})
    assert answer_columns(whole, one) == ["Rad A", "Rad B", "Kim"]


def test_questions_of_another_kind_are_no_items_by_their_number() -> None:
    frame = pd.DataFrame(
        {"Q1": ["I consent"] * 4, **{f"Q{n}": list("ynyn") for n in (2, 3, 4)}, "Q5": ["y"] * 4}
    )
    assert answer_columns(frame, Label(name="label")) == ["Q2", "Q3", "Q4", "Q5"]


def test_a_row_of_right_answers_shows_that_rows_are_raters() -> None:
    rows = [["Musterlösung", *"abcab"], ["Uma", *"abcab"], ["Vik", *"abcba"], ["Wes", *"aacab"]]
    frame = pd.DataFrame(rows, columns=["name", *(f"q{n}" for n in range(5))])
    for table in (frame, frame.iloc[[1, 2, 3, 0]].reset_index(drop=True)):
        with pytest.raises(RatingsError, match="all answers of one rater") as caught:
            read_ratings(table)
        ratings = read_ratings(table, **caught.value.problems[0].go_on)
        assert ratings.raters.index.tolist() == ["Uma", "Vik", "Wes"]
        assert ratings.has_truth.all()
    with pytest.raises(RatingsError) as caught:  # a word among others
        read_ratings(frame.replace("Musterlösung", "gold").rename(columns={"name": "item"}))
    assert "truth_rater" not in caught.value.problems[0].go_on


ANSWERED = {
    f"{system}_ann{n}": [("good", "bad")[(n * row + len(system)) % 3 > 0] for row in range(30)]
    for system in ("gpt4", "llama")
    for n in (1, 2, 3)
}
BESIDE: dict[str, dict[str, list[str]]] = {
    "nothing": {},
    "texts": {f"{system}_response": [f"{system} {n}" for n in range(30)] for system in "ab"},
    "documents": {"doc_id": [f"d{n // 3}" for n in range(30)]},
    "a document": {"document": list("ab") * 15},
}


@pytest.mark.parametrize("item", [None, "Prompt_ID"])
@pytest.mark.parametrize("beside", BESIDE)
def test_columns_of_systems_and_raters_are_ratings_of_what_systems_made(
    beside: str, item: str | None
) -> None:
    prompt = {"prompt_id": [f"p{n}" for n in range(30)]}
    frame = pd.DataFrame(prompt | BESIDE[beside] | ANSWERED)
    ratings = read_ratings(frame, task="single", wide="{system}_{rater}", item=item)
    assert (len(ratings.answers), len(ratings.items)) == (180, 60)
    assert list(ratings.systems) == ["gpt4", "llama"]
    assert list(ratings.raters.index) == ["ann1", "ann2", "ann3"]
    assert ratings.panels["cluster"].nunique() == 30
    assert ratings.task.labels[0].classes == ("bad", "good")


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (("gpt4_alice", "gpt4_bob", "llama_alice", "llama_bob"), "{system}_{rater}"),
        (("ann1-gpt4", "ann2-gpt4", "ann1-llama", "ann2-llama"), "{rater}-{system}"),
        (("gpt4_fluent", "gpt4_relevant", "llama_fluent", "llama_relevant"), "{rater}_{label}"),
        (("r1_model_correct", "r1_model_clear", "r2_model_correct", "r2_model_clear"),
         "{rater}_model_{label}"),
    ],
)  # fmt: skip
def test_names_tell_systems_from_raters_and_criteria(names: tuple[str, ...], pattern: str) -> None:
    frame = pd.DataFrame({name: list("xyyx") * 3 for name in names})
    grid = find_grid(frame, list(names))
    assert grid is not None
    assert grid.pattern == pattern


def test_columns_of_systems_without_an_answer_are_refused() -> None:
    frame = pd.DataFrame(ANSWERED).assign(prompt_id=range(30))
    frame[list(ANSWERED)] = ""
    with pytest.raises(RatingsError, check=refusal("no-answer-given")):
        read_ratings(frame, task="single", wide="{system}_{rater}")


def test_how_sure_a_rater_was_is_no_question_of_a_pattern() -> None:
    frame = pd.DataFrame({f"{who}_{what}": list("xyyx") * 5 for who in ("Ann", "Bob")
                          for what in ("label", "conf", "comment")})  # fmt: skip
    ratings = read_ratings(frame.assign(id=range(20)), wide="{rater}_{label}")
    assert ratings.task.label_names == ("label",)


def test_when_a_rating_was_given_names_no_item() -> None:
    rows = [(n // 2, "ab"[n % 2], "xyy"[n % 3], f"2024-05-{1 + n % 27:02}T16:{n:02}:22Z")
            for n in range(40)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["prompt_nr", "annotator", "winner", "created_at"])
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert "created_at" not in str(caught.value.go_on)
    assert len(read_ratings(frame, **caught.value.go_on).items) == 20

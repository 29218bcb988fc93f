"""Columns whose names say little: what is proposed is judged by the table that it gives."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.io import read_ratings
from assay.io.task_choice import draft_arguments

RATERS, SYSTEMS = ["Ann", "Bo", "Cy", "Dee", "Eli"], ["alpha", "beta", "gamma"]


def study(
    names: Sequence[str], words: tuple[str, str] = ("no", "yes"), labels: int = 2, seed: int = 1
) -> pd.DataFrame:
    """Answers of three systems to 40 questions, of which five raters judge each, in any order."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"{n:03} of all", system, rater, *rng.choice(words, labels))
        for n in range(40) for system in SYSTEMS for rater in RATERS
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=[*names], dtype="str")
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


def followed(frame: pd.DataFrame, **given: Any) -> tuple[dict[str, Any], Any]:
    """Return all arguments that refusals propose, one after the other, and what they read."""
    call: dict[str, Any] = dict(given)
    for _ in range(4):
        try:
            return call, read_ratings(frame, **call)
        except RatingsError as error:
            refused = error
        assert refused.go_on, str(refused)
        call |= refused.go_on
    raise AssertionError(call)


NAMES = [
    ["Q#", "Bot (version)", "who?", "Is it correct?", "polite / kind?"],
    ["prompt", "assistant", "person", "correct", "polite"],
    ["question", "systeme", "annotateur", "exact", "poli"],
    ["pregunta", "sistema", "anotador", "correcto", "cortés"],
    ["Nr", "Modell", "Welcher Prüfer?", "stimmt", "nett"],
    ["otázka", "systém", "hodnotitel", "správně", "zdvořile"],
    ["promptText", "modelName", "ratedBy", "isCorrect", "isPolite"],
    ["a", "chatbot", "c", "d", "e"],
    ["a", "b", "judge name", "d", "e"],
]


@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[2])
def test_one_guess_serves_reading_and_drafts(names: list[str]) -> None:
    frame = study(names)
    question, system, rater, *labels = names
    call, ratings = followed(frame)
    assert call["labels"] == {name: name for name in labels}
    assert call["item"] == [question, system]
    assert (len(ratings.items), len(ratings.raters), len(ratings.rater)) == (120, 5, 600)
    assert call.get("rater", rater) == rater
    assert draft_arguments(frame)["labels"] == call["labels"]


def test_a_single_label_of_another_language_is_no_system() -> None:
    frame = study(["question", "système", "évaluateur", "réponse"], ("non", "oui"), labels=1)
    _, ratings = followed(frame)
    assert (len(ratings.items), len(ratings.raters)) == (120, 5)
    assert ratings.task.label_names == ("réponse",)


def test_values_tell_the_system_where_names_do_not() -> None:
    frame = study(["a", "b", "c", "d", "e"])
    frame["b"] = "model " + frame["b"]
    call, ratings = followed(frame)
    assert (call["rater"], call["system"], len(ratings.items)) == ("c", "b", 120)


@pytest.mark.parametrize("labels", [1, 2])
def test_a_table_that_two_columns_fit_is_no_guess(labels: int) -> None:
    frame = study(["a", "b", "c", "d", "e"][: 3 + labels], labels=labels)
    with pytest.raises(RatingsError, match=r"which column is the rater: b .* or c ") as caught:
        read_ratings(frame)
    assert caught.value.code == "which-column"
    assert not caught.value.go_on
    assert draft_arguments(frame) == {}
    call, ratings = followed(frame, rater="c")
    assert call["item"] == ["a", "b"]
    assert len(ratings.items) == 120


def test_a_rater_that_nothing_speaks_for_may_be_a_part_of_the_item() -> None:
    frame = study(["a", "system", "c", "d", "e"])
    one = frame[frame["system"] == "alpha"].drop(columns="system")
    with pytest.raises(RatingsError, match=r"which columns are the raters: c .*, or each of d, e"):
        read_ratings(one)
    one = one.set_axis(["a", "c", "correct", "polite"], axis=1)
    with pytest.raises(RatingsError, match=r"c .5 values., or nobody that a column names"):
        read_ratings(one)


def test_a_text_that_is_an_answer_of_a_system_leaves_the_question_its_cluster() -> None:
    frame = study(["a", "system", "worker", "d", "e"])
    frame.insert(2, "text", "said " + frame["a"] + frame["system"])
    call, _ = followed(frame)
    assert call["item"] == ["a", "system"]


def test_a_number_of_each_row_is_no_item_that_raters_share() -> None:
    rng = np.random.default_rng(2)
    texts = {n: (f"first {n // 3}", f"second {n % 30}") for n in range(60)}
    rows = [(*texts[n], rater, *rng.choice(["0", "1"], 2)) for n in texts for rater in RATERS[:3]]
    frame = pd.DataFrame(rows, columns=["before", "after", "annotator_id", "rude", "odd"])
    frame.insert(0, "example_no", np.arange(len(frame)))
    call, ratings = followed(frame)
    assert call["item"] == ["before", "after"]
    assert len(ratings.items) == 60
    once = frame.drop(columns=["before", "after"])
    with pytest.raises(RatingsError, match="which columns are the item: example_no") as caught:
        read_ratings(once)
    assert not caught.value.go_on


def test_keys_that_give_different_items_are_named_and_none_is_taken() -> None:
    rng = np.random.default_rng(3)
    other = {rater: rng.permutation(20) for rater in "xyz"}
    rows = [
        (f"p{n // 20}", f"q{n % 20}", f"r{other[rater][n % 20]}", rater, *rng.choice(["0", "1"], 2))
        for n in range(100) for rater in "xyz"
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["k", "l", "m", "rater", "rude", "odd"])
    with pytest.raises(RatingsError, match="which columns are the item") as caught:
        read_ratings(frame)
    assert caught.value.code == "which-column"


def one_hot(frame: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    grade = rng.integers(0, 4, len(frame))
    return frame.assign(**{f"abuse.{n}": (grade == n).astype(int).astype(str) for n in range(4)})


def test_classes_with_a_column_each_are_counts_also_beside_other_answers() -> None:
    frame = one_hot(study(["text", "bot", "annotator", "racist", "sexist"], ("0", "1")))
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame, item=["text", "bot"], rater="annotator")
    assert caught.value.go_on["counts"] == [f"abuse.{n}" for n in range(4)]
    frame.insert(0, "n", np.arange(len(frame)).astype(str))
    _, ratings = followed(frame)
    assert (len(ratings.items), len(ratings.raters), len(ratings.rater)) == (120, 5, 600)


def beside(criteria: Sequence[str] = SYSTEMS) -> pd.DataFrame:
    frame = study(["Frage", "system", "Bewerter", "ok"], labels=1)
    frame["system"] = frame["system"].map(dict(zip(SYSTEMS, criteria, strict=True)))
    return frame.pivot(index=["Frage", "Bewerter"], columns="system", values="ok").reset_index()


def test_columns_beside_item_and_rater_that_share_their_answers_are_systems() -> None:
    call, ratings = followed(beside())
    assert call["wide_items"] == SYSTEMS
    assert (len(ratings.items), len(ratings.raters), len(ratings.rater)) == (120, 5, 600)
    assert sorted(set(ratings.keys["system"])) == SYSTEMS
    assert draft_arguments(beside()) == {}


@pytest.mark.parametrize(
    "names",
    [["polite", "correct", "kurz"], ["Is it 1?", "b", "c"], ["hateful", "offensive", "aggressive"]],
)
def test_criteria_beside_item_and_rater_are_labels(names: list[str]) -> None:
    _, ratings = followed(beside(names))
    assert sorted(ratings.task.label_names) == sorted(names)
    assert len(ratings.items) == 40


def test_what_is_left_out_of_a_draft_is_named_with_its_reason() -> None:
    rng = np.random.default_rng(5)
    names = [f"is_{n}" for n in range(13)]
    rows = [
        (n, rater, *rng.choice(["0", "1"], 13), *rng.choice(["a", "b", "c"], 1))
        for n in range(60) for rater in "xyz"
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "rater", *names, "grade"]).astype("str")
    draft = draft_arguments(frame)
    said = "one model cannot hold all 14 labels, so that 10 are kept: the first of those with the "
    assert draft["left"] == f"{said}fewest classes; left out: is_10, is_11, is_12, grade"
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.go_on["labels"] == draft["labels"]
    assert draft["left"] in str(caught.value)


FRACTIONS = {
    "Note": [f"{n / 100:.2f}".replace(".", ",") for n in range(3, 100, 4)],
    "quality": [str(n / 100) for n in range(3, 100, 4)],
    "rating": [str(n / 100) for n in range(3, 100, 4)],
    "percent": [str(n + 0.3) for n in range(1, 100, 4)],
}


@pytest.mark.parametrize("name", FRACTIONS)
def test_many_fractions_are_scores_and_no_classes(name: str) -> None:
    rng = np.random.default_rng(6)
    frame = study(["item", "system", "rater", "ok"], labels=1).drop(columns="ok")
    frame[name] = rng.choice(FRACTIONS[name], len(frame))
    call, ratings = followed(frame, item=["item", "system"])
    assert call["score"] == name
    assert np.isfinite(ratings.scores).all()
    named = read_ratings(frame, item=["item", "system"], labels=name)
    codes = [getattr(note, "code", "") for note in named.accounting.notes]
    assert "fractions-as-classes" in codes


def test_a_single_column_of_probabilities_is_proposed_as_scores() -> None:
    rng = np.random.default_rng(7)
    frame = study(["item", "system", "rater", "ok"], labels=1).drop(columns="ok")
    frame["relevance_probability"] = rng.integers(1000, size=len(frame)) / 1000
    frame["seconds"] = rng.gamma(2, 20, size=len(frame)).round(2)
    call, _ = followed(frame, item=["item", "system"])
    assert call["score"] == "relevance_probability"


def test_grades_in_half_steps_stay_classes() -> None:
    frame = study(["item", "system", "rater", "rating"], [f"{n / 2}" for n in range(2, 17)], 1)
    ratings = read_ratings(frame, item=["item", "system"])
    assert ratings.task.labels[0].ordered
    assert len(ratings.task.labels[0].classes) == 15


WORDS = [
    ["trifft zu", "trifft nicht zu", "weiß nicht"],
    ["trifft voll zu", "trifft nicht zu", "weiß nicht"],
    ["applicable", "not applicable", "weiß nicht"],
    ["clear", "unclear", "weiß nicht"],
    ["se aplica", "no se aplica", "weiß nicht"],
]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_a_negative_beside_its_positive_is_an_answer(words: list[str]) -> None:
    frame = study(["item", "system", "rater", "label"], words, 1)
    notes = read_ratings(frame, item=["item", "system"]).accounting.notes
    (note,) = [str(n) for n in notes if getattr(n, "code", "") == "words-of-no-answer"]
    assert "weiß nicht (" in note
    assert words[1] not in note


def test_the_only_other_class_of_many_answers_is_one() -> None:
    frame = study(["item", "system", "rater", "label"], ("abusive", "none"), 1)
    notes = read_ratings(frame, item=["item", "system"]).accounting.notes
    assert not [n for n in notes if getattr(n, "code", "") == "words-of-no-answer"]

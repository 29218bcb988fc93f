"""read_ratings: scores, and guesses with a confidence."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reader_notes import note_codes, note_of
from refusals import refusal

from assay._util.errors import RatingsError
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.data.task import Label
from assay.data.task_files import load_task
from assay.io import read_ratings
from assay.io.replicates import EXACT
from assay.io.scores import _scale_of, belief, without_signs

CLOSED = -2
nan = np.nan


def frame(text: str) -> pd.DataFrame:
    """Build a table of strings from lines of words; ``.`` is an empty cell."""
    head, *rows = [line.split() for line in text.strip().splitlines()]
    return pd.DataFrame([[w.replace(".", "") if w == "." else w for w in r] for r in rows],
                        columns=head)  # fmt: skip


def notes(ratings: Ratings) -> str:
    return "\n".join(ratings.accounting.notes)


def roles(ratings: Ratings) -> dict[str, str]:
    table = ratings.accounting.roles
    return dict(zip(table["column"], table["role"], strict=True))


RELEVANCE = "item rater relevance score\n1 e no .\n1 m yes 0.95\n2 m partially 0.4\n2 e yes .\n"


class TestScores:
    def test_a_column_called_score_is_recognised_in_a_task_of_one_label(self) -> None:
        ratings = read_ratings(frame(RELEVANCE), task="relevance")
        np.testing.assert_array_equal(ratings.scores.ravel(), [nan, 0.95, 0.4, nan])
        assert ratings.answers.ravel().tolist() == [0, 2, 1, 2]
        assert roles(ratings)["score"] == "score of relevance"

    def test_an_empty_name_switches_scores_off(self) -> None:
        ratings = read_ratings(frame(RELEVANCE), task="relevance", score="")
        assert np.isnan(ratings.scores).all()
        assert roles(ratings)["score"] == ""

    def test_columns_that_carry_the_name_of_a_label(self) -> None:
        table = frame(
            "item rater topically_relevant topically_relevant_score misleading_score score\n"
            "1 m yes 0.9 0.2 7"
        )
        ratings = read_ratings(table, task="retrieval")
        np.testing.assert_array_equal(ratings.scores, [[0.9, nan, 0.2]])
        assert ratings.answers.tolist() == [[1, MISSING, MISSING]]
        assert roles(ratings)["misleading_score"] == "score of misleading"
        assert roles(ratings)["score"] == ""

    def test_a_dict_names_the_column_of_each_label(self) -> None:
        table = frame("item rater misleading p q\n1 m no 0.1 0.7")
        ratings = read_ratings(
            table, task="retrieval", score={"misleading": "p", "topically_relevant": "q"}
        )
        np.testing.assert_array_equal(ratings.scores, [[0.7, nan, 0.1]])

    def test_a_rating_of_scores_only_is_no_abstention(self) -> None:
        table = frame("item rater p\n1 m 0.1\n1 n .\n2 m 1\n2 n 0")
        ratings = read_ratings(table, task="relevance", score="p")
        assert ratings.abstained.tolist() == [False, True, False, False]
        assert (ratings.answers == MISSING).all()
        np.testing.assert_array_equal(ratings.scores.ravel(), [0.1, nan, 1, 0])

    def test_the_column_of_a_label_may_hold_its_scores(self) -> None:
        table = frame("item rater relevance\n1 m 0.25\n2 m 0.5")
        ratings = read_ratings(table, task="relevance", score="relevance")
        assert ratings.scores.ravel().tolist() == [0.25, 0.5]
        assert (ratings.answers == MISSING).all()

    def test_scores_alone_make_a_label_without_classes_binary(self) -> None:
        ratings = read_ratings(frame("item rater score\n1 m 0.1\n2 m 0.9"), task="single")
        assert ratings.task.classes["label"] == ("no", "yes")
        assert "classes-of-scores" in note_codes(ratings)

    def test_another_scale_is_named_and_never_guessed(self) -> None:
        table = frame("item rater misleading misleading_score\n1 m no 20\n2 m yes 85%\n3 m no 0")
        with pytest.raises(RatingsError, check=refusal("no-number")):
            read_ratings(table, task="retrieval")
        ratings = read_ratings(table, task="retrieval", score_range=(0, 100))
        np.testing.assert_allclose(ratings.scores[:, 2], [0.2, 0.85, 0])
        stars = table.assign(misleading_score=["1", "3", "5"])
        ratings = read_ratings(stars, task="retrieval", score_range=(1, 5))
        np.testing.assert_allclose(ratings.scores[:, 2], [0, 0.5, 1])

    def test_rounding_errors_at_the_ends_are_cut(self) -> None:
        table = pd.DataFrame({"item": [1, 2], "rater": "m", "score": [1 + 1e-12, -1e-12]})
        assert read_ratings(table, task="relevance").scores.ravel().tolist() == [1, 0]

    def test_a_column_of_words_is_not_taken_by_its_name(self) -> None:
        table = frame("item rater relevance confidence\n1 m yes high\n2 m no low")
        ratings = read_ratings(table, task="relevance")
        assert np.isnan(ratings.scores).all()
        assert "confidence" in note_of(ratings, "no-numbers")

    def test_classes_without_order_have_no_score(self) -> None:
        table = frame("item rater label score\n1 m x 0.5\n2 m y 0.5\n3 m z 0.5")
        ratings = read_ratings(table, task="single")
        assert np.isnan(ratings.scores).all()
        assert "scores-not-used" in note_codes(ratings)
        with pytest.raises(RatingsError, check=refusal("score-without-order")):
            read_ratings(table, task="single", score="score")

    def test_columns_that_an_argument_or_the_task_names_are_not_taken(self) -> None:
        table = frame("item rater relevance score\n1 m yes 0.5")
        ratings = read_ratings(table, task="relevance", weight="score")
        assert np.isnan(ratings.scores).all()
        assert ratings.items["weight"].tolist() == [0.5]

    def test_scores_behind_a_closed_gate_are_left_out_and_counted(self) -> None:
        table = frame(
            "item rater flagged interpretable attributable attributable_score\n"
            "1 m yes . . 0.5\n2 m no yes yes 0.9"
        )
        ratings = read_ratings(table, task="ais")
        np.testing.assert_array_equal(ratings.scores[:, 2], [nan, 0.9])
        assert ratings.answers[0].tolist() == [1, CLOSED, CLOSED]
        assert "1 score is left out, because" in notes(ratings)


class TestConfidence:
    @pytest.mark.parametrize(
        ("guess", "confidence", "score"),
        [("yes", 0.9, 0.9), ("no", 0.9, 0.1), ("yes", 0.3, 0.3), ("no", 1, 0), (".", 0.9, nan)],
    )
    def test_of_a_binary_label(self, guess: str, confidence: float, score: float) -> None:
        rows = f"item rater misleading misleading_confidence\n1 m {guess} {confidence}\n2 m no ."
        ratings = read_ratings(frame(rows), task="retrieval")
        np.testing.assert_allclose(ratings.scores[:, 2], [score, nan], rtol=0, atol=1e-15)

    @pytest.mark.parametrize(
        ("guess", "confidence", "score"),
        [
            ("yes", 0.9, 2.9 / 3),
            ("yes", 0.6, 2.6 / 3),
            ("partially", 0.9, 0.5),
            ("no", 0.6, 0.4 / 3),
            ("no", 0.9, 0.1 / 3),
        ],
    )
    def test_of_an_ordered_label(self, guess: str, confidence: float, score: float) -> None:
        table = frame(f"item rater relevance confidence\n1 m {guess} {confidence}")
        ratings = read_ratings(table, task="relevance")
        assert ratings.scores.item() == pytest.approx(score, abs=1e-15)
        assert roles(ratings)["confidence"] == "confidence in relevance"

    @pytest.mark.parametrize("size", [2, 3, 5])
    def test_the_surer_of_an_end_the_nearer_to_it(self, size: int) -> None:
        label = Label(name="x", classes=tuple("abcde"[:size]), ordered=True)
        sure = np.linspace(0.5, 1, 20)
        low = belief(np.zeros(20, np.int16), sure, label)
        high = belief(np.full(20, size - 1, np.int16), sure, label)
        assert (np.diff(low) < 0).all()
        assert (np.diff(high) > 0).all()
        assert (low[-1], high[-1]) == (0, 1)
        middles = [belief(np.array([g], np.int16), sure[:1], label)[0] for g in range(size)]
        assert (np.diff(middles) >= 0).all()

    def test_a_score_goes_before_a_confidence_unless_the_caller_turns_it_round(self) -> None:
        table = frame("item rater relevance confidence score\n1 m no 0.9 0.3")
        ratings = read_ratings(table, task="relevance")
        assert ratings.scores.item() == 0.3
        assert "column confidence is not used" in notes(ratings)
        asked = read_ratings(table, task="relevance", confidence="confidence")
        assert asked.scores.item() == pytest.approx(0.1 / 3)
        off = read_ratings(table, task="relevance", score="")
        assert off.scores.item() == pytest.approx(0.1 / 3)

    def test_a_confidence_without_a_guess_says_nothing_and_is_noted(self) -> None:
        table = frame("item rater relevance confidence\n1 m . 0.9\n2 m no 0.8")
        ratings = read_ratings(table, task="relevance")
        assert ratings.abstained.tolist() == [True, False]
        assert "1 confidence is left out" in notes(ratings)


class TestOneLabelARow:
    ROWS = """item rater label value score
    1 m topically_relevant yes 0.8
    1 m misleading no .
    1 n misleading . 0.3
    2 m evidence_sufficient yes 1"""

    def test_scores_join_their_rating(self) -> None:
        ratings = read_ratings(frame(self.ROWS), task="retrieval")
        np.testing.assert_array_equal(
            ratings.scores, [[0.8, nan, nan], [nan, nan, 0.3], [nan, 1, nan]]
        )
        assert not ratings.abstained.any()

    def test_confidences_take_the_answer_of_their_row(self) -> None:
        table = frame(self.ROWS).rename(columns={"score": "sure"})
        ratings = read_ratings(table, task="retrieval", confidence="sure")
        np.testing.assert_array_equal(
            ratings.scores, [[0.8, nan, nan], [nan, nan, nan], [nan, 1, nan]]
        )
        assert ratings.abstained.tolist() == [False, True, False]

    @pytest.mark.parametrize("arguments", [{}, {"label": "label", "score": "score"}])
    def test_there_may_be_no_answers(self, arguments: dict[str, Any]) -> None:
        table = frame(self.ROWS).drop(columns="value").dropna()
        table = table[table["score"] != ""]
        ratings = read_ratings(table, task="retrieval", **arguments)
        assert len(ratings.answers) == 3
        assert (ratings.answers == MISSING).all()
        assert not ratings.abstained.any()


class TestRepeats:
    def test_ratings_that_differ_in_their_score_only_are_no_repeats(self) -> None:
        table = frame("item rater relevance score\n1 m yes 0.9\n1 m yes 0.8")
        with pytest.raises(
            RatingsError, match="more than once", check=refusal("repeated-ratings", rows=2)
        ):
            read_ratings(table, task="relevance")
        ratings = read_ratings(table, task="relevance", replicate="row")
        assert ratings.replicate.tolist() == [0, 1]

    def test_a_score_is_no_abstention_beside_an_answer(self) -> None:
        table = frame("item rater relevance score\n1 m yes .\n1 m . 0.8")
        with pytest.raises(RatingsError, check=refusal("repeated-ratings", rows=2)):
            read_ratings(table, task="relevance")

    def test_exact_repeats_with_scores_go_aside(self) -> None:
        table = frame("item rater relevance score\n1 m yes 0.9\n1 m yes 0.9")
        account = read_ratings(table, task="relevance").accounting
        assert account.reasons == {EXACT: 1}


class TestClassWords:
    TABLE = "item rater relevance gold\n1 a partly partly\n2 a YES yes\n3 a idk no"
    WORDS = {"relevance": {"partly": "partially", "Idk": ""}}  # noqa: RUF012

    def test_words_stand_for_classes_in_answers_and_truth(self) -> None:
        ratings = read_ratings(
            frame(self.TABLE), task="relevance", classes=self.WORDS, truth="gold"
        )
        assert ratings.answers.ravel().tolist() == [1, 2, MISSING]
        assert ratings.truth.ravel().tolist() == [1, 2, 0]
        assert ratings.abstained.tolist() == [False, False, True]

    def test_words_in_a_table_of_truth(self) -> None:
        truth = frame("item relevance\n1 partly")
        ratings = read_ratings(frame(self.TABLE), task="relevance", classes=self.WORDS, truth=truth)
        assert ratings.truth.ravel().tolist() == [1, MISSING, MISSING]

    def test_an_unknown_word_comes_with_the_line_that_mends_it(self) -> None:
        with pytest.raises(RatingsError) as caught:
            read_ratings(frame(self.TABLE.replace("partly", "partially-yes")), task="relevance")
        words = '{"relevance": {"partially-yes": "partially", "idk": ""}}'
        assert f"classes={words}" in str(caught.value)

    def test_a_label_that_takes_its_classes_from_the_data(self) -> None:
        table = frame("item rater label\n1 a A\n2 a B\n3 a apple")
        ratings = read_ratings(table, task="single", classes={"label": {"apple": "A"}})
        assert ratings.task.classes["label"] == ("A", "B")
        assert ratings.answers.ravel().tolist() == [0, 1, 0]

    def test_only_the_rows_of_the_label_where_each_row_answers_one(self) -> None:
        table = frame("item rater label value\n1 a misleading nope\n1 a topically_relevant yes")
        words = {"misleading": {"nope": "no"}}
        ratings = read_ratings(table, task="retrieval", classes=words)
        assert ratings.answers.tolist() == [[1, MISSING, 0]]
        with pytest.raises(RatingsError, match="'nope' is no", check=refusal("unknown-class")):
            read_ratings(table.replace("yes", "nope"), task="retrieval", classes=words)

    def test_a_word_that_nobody_says_is_noted(self) -> None:
        words = {"relevance": {**self.WORDS["relevance"], "perhaps": "partially"}}
        ratings = read_ratings(frame(self.TABLE), task="relevance", classes=words)
        note = note_of(ratings, "idle-words")
        assert note.numbers == {"words": 1}
        assert "perhaps" in note

    def test_repeats_are_told_by_class(self) -> None:
        table = frame("item rater relevance\n1 a partly\n1 a partially")
        ratings = read_ratings(table, task="relevance", classes=self.WORDS)
        assert ratings.accounting.rows_used == 1

    def test_a_task_whose_ordered_classes_are_numbers(self) -> None:
        task = load_task("relevance")
        (label,) = task.labels
        stars = replace(task, labels=(replace(label, classes=("1", "2", "3")),))
        table = frame("item rater relevance\n1 a one\n2 a 3.0")
        ratings = read_ratings(table, task=stars, classes={"relevance": {"one": "1.0"}})
        assert ratings.answers.ravel().tolist() == [0, 2]


def test_the_smallest_usual_scale_is_found() -> None:
    assert _scale_of(pd.Series(["7", "", "4.5"], dtype="str")) == (0, 10)


def test_per_cent_signs_are_removed() -> None:
    cells, per_cent = without_signs(pd.Series(["83 %", "", "9%"], dtype="str"))
    assert (cells.tolist(), per_cent) == (["83", "", "9"], True)


def test_a_scale_that_starts_at_one_has_no_zero() -> None:
    assert _scale_of(pd.Series(["1", "", "4"], dtype="str")) == (1, 5)
    assert _scale_of(pd.Series(["0", "1", "4"], dtype="str")) == (0, 5)


def test_one_score_of_an_item_is_no_raters_score() -> None:
    rows = [(n, r, "xy"[n % 2], n / 10) for n in range(10) for r in "ab"]
    table = pd.DataFrame(rows, columns=["item", "rater", "label", "score"])
    ratings = read_ratings(table, task="single")
    assert np.isnan(ratings.scores).all()
    assert "scores-not-used" in {note.code for note in ratings.accounting.notes}
    assert np.isfinite(read_ratings(table, task="single", score="score").scores).all()

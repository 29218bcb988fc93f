"""read_ratings: sessions, audits and times."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reader_notes import note_codes, note_of
from refusals import refusal

from assay._util.errors import RatingsError
from assay.data.ratings import SOME_WRONG, Ratings, audited_ratings
from assay.io import read_ratings

nan = np.nan


def table_of(**columns: Any) -> pd.DataFrame:
    size = len(next(iter(columns.values())))
    base = {"item": range(size), "rater": "a", "misleading": ["no", "yes"] * (size // 2)}
    return pd.DataFrame(base).assign(**columns)


def notes(ratings: Ratings) -> str:
    return "\n".join(ratings.accounting.notes)


def read(table: pd.DataFrame, **arguments: Any) -> Ratings:
    return read_ratings(table, task="retrieval", **arguments)


class TestSessions:
    @pytest.mark.parametrize(
        ("values", "order", "how"),
        [
            ([10, 9, 2, 10], ("2", "9", "10"), "by number"),
            (["2.5", "-1", "2.5", "0"], ("-1", "0", "2.5"), "by number"),
            (
                ["2024-03-01", "2023-12-31", "2024-01-05", "2024-01-05"],
                ("2023-12-31", "2024-01-05", "2024-03-01"),
                "by date",
            ),
            (
                ["2024-01-01T10:00:00+02:00", "2024-01-01T08:30:00Z"] * 2,
                ("2024-01-01T10:00:00+02:00", "2024-01-01T08:30:00Z"),
                "by date",
            ),
            (
                ["round10", "round9", "round1", "round9"],
                ("round1", "round9", "round10"),
                "by the number in their names",
            ),
            (["late", "early", "late", "mid"], ("late", "early", "mid"), "as they first appear"),
            (["2024-99-01", "x"] * 2, ("2024-99-01", "x"), "as they first appear"),
            (
                ["1/13/2024", "12/10/2023", "2/1/2024", "2/1/2024"],
                ("12/10/2023", "1/13/2024", "2/1/2024"),
                "by date (month/day/year)",
            ),
            (
                ["1/2/2024", "31/12/2023", "1/2/2024", "2/1/2024"],
                ("31/12/2023", "2/1/2024", "1/2/2024"),
                "by date (day/month/year)",
            ),
            (["2/1/2024", "1/2/2024"] * 2, ("2/1/2024", "1/2/2024"), "as they first appear"),
        ],
    )
    def test_order(self, values: list[Any], order: tuple[str, ...], how: str) -> None:
        ratings = read(table_of(session=values))
        assert ratings.sessions == order
        assert ratings.session.tolist() == [str(v) for v in values]
        assert f"the sessions are ordered {how}" in notes(ratings)

    def test_an_ordered_categorical_has_its_own_order(self, tmp_path: Path) -> None:
        kind = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
        table = table_of(snapshot=pd.Series(["high", "low", None, "high"], dtype=kind))
        ratings = read(table)
        assert ratings.sessions == ("low", "high")
        assert ratings.session.tolist() == ["high", "low", "", "high"]
        assert "as their categories are" in notes(ratings)
        table.to_parquet(tmp_path / "r.parquet")
        assert read_ratings(tmp_path / "r.parquet", task="retrieval").sessions == ("low", "high")

    def test_the_caller_gives_the_order(self) -> None:
        ratings = read(table_of(when=list("baab")), session="when", sessions=["b", "a", "z"])
        assert ratings.sessions == ("b", "a", "z")
        assert "ordered" not in notes(ratings)

    def test_without_a_column_nothing_is_known(self) -> None:
        ratings = read(table_of(other=[1, 2]))
        assert ratings.sessions == ()
        assert ratings.session.tolist() == ["", ""]

    def test_sessions_tell_ratings_of_one_item_apart_and_order_them(self) -> None:
        table = table_of(session=["2", "1", "10", "1"]).assign(item=[1, 1, 1, 2])
        ratings = read(table)
        assert ratings.replicate.tolist() == [1, 0, 2, 0]
        assert "sessions-replicate" in note_codes(ratings)
        with pytest.raises(RatingsError, check=refusal("repeated-ratings")):
            read(table.assign(session="1"))

    def test_replicates_of_their_own_go_before(self) -> None:
        table = table_of(session=["2", "1"], replicate=[1, 2]).assign(item=1)
        assert read(table).replicate.tolist() == [0, 1]

    def test_many_sessions_are_noted(self) -> None:
        assert "has 120 sessions" in notes(read(table_of(session=range(120))))

    def test_one_label_a_row(self) -> None:
        table = pd.DataFrame(
            {
                "item": [1, 1, 1], "rater": "a", "label": ["misleading", "topically_relevant"] * 1
                + ["misleading"], "value": ["no", "yes", "yes"], "session": ["s1", "s1", "s2"],
            }
        )  # fmt: skip
        ratings = read(table)
        assert ratings.session.tolist() == ["s1", "s2"]
        assert ratings.answers.tolist() == [[1, -1, 0], [-1, -1, 1]]
        with pytest.raises(RatingsError, check=refusal("rating-sessions")):
            read(table.assign(replicate=[1, 1, 2], session=["s1", "s2", "s2"]))


class TestAudits:
    @pytest.mark.parametrize("right", ["right", "Correct", "yes", "1", True, 1.0])
    @pytest.mark.parametrize("wrong", ["wrong", "incorrect", "NO", "0", False])
    def test_words(self, right: Any, wrong: Any) -> None:
        ratings = read(table_of(misleading_audit=[right, wrong, None, right]))
        assert ratings.audit[:, 2].tolist() == [1, 0, -1, 1]
        assert (ratings.audit[:, :2] == -1).all()
        assert ratings.audit.dtype == np.int8

    def test_a_dict_names_the_column_of_each_label(self) -> None:
        table = table_of(ok=["right", "wrong"], topically_relevant=["yes", "yes"])
        ratings = read(table, audit={"topically_relevant": "ok"})
        assert ratings.audit[:, 0].tolist() == [1, 0]
        roles = ratings.accounting.roles.set_index("column")["role"]
        assert roles["ok"] == "audit of topically_relevant"

    def test_one_column_judges_the_only_answer(self) -> None:
        ratings = read(table_of(audit=["right", "wrong"]))
        assert ratings.audit.tolist() == [[-1, -1, 1], [-1, -1, 0]]
        table = pd.DataFrame({"item": [1, 2], "rater": "a", "label": list("xy"), "a": ["ok", "no"]})
        assert read_ratings(table, task="single", audit="a").audit.ravel().tolist() == [1, 0]

    def test_one_column_over_several_answers_keeps_what_it_can_say(self) -> None:
        table = table_of(
            audit=["right", "wrong", "", "wrong"], topically_relevant=["yes", "yes", "no", ""]
        )
        ratings = read(table)
        vague = SOME_WRONG
        assert ratings.audit.tolist() == [[1, -1, 1], [vague, -1, vague], [-1, -1, -1], [-1, -1, 0]]
        assert audited_ratings(ratings).tolist() == [1, 0, -1, 0]
        note = note_of(ratings, "audits-of-several")
        assert note.numbers == {"ratings": 1}
        assert 'audit={"topically_relevant": "..."}' in note

    def test_a_rating_checked_in_part_is_neither_right_nor_wrong_as_a_whole(self) -> None:
        table = table_of(
            misleading_audit=["right", "wrong", "wrong", "right"],
            topically_relevant_audit=["", "", "right", "right"],
            topically_relevant=["yes", "yes", "no", "no"],
        )
        assert audited_ratings(read(table)).tolist() == [-1, -1, 0, 1]

    def test_audits_of_answers_that_are_not_there_are_left_out_and_counted(self) -> None:
        table = pd.DataFrame(
            {
                "item": [1, 2, 3], "rater": "a", "flagged": ["yes", "no", ""],
                "interpretable": ["", "yes", ""], "attributable": ["", "no", ""],
                "attributable_audit": ["wrong", "right", "right"],
            }
        )  # fmt: skip
        ratings = read_ratings(table, task="ais")
        assert ratings.audit.tolist() == [[-1, -1, -1], [-1, -1, 1], [-1, -1, -1]]
        assert note_of(ratings, "audits-without-answer").numbers == {"audits": 2}

    def test_one_label_a_row(self) -> None:
        table = pd.DataFrame(
            {
                "item": [1, 1, 2], "rater": "a",
                "label": ["misleading", "topically_relevant", "misleading"],
                "value": ["no", "yes", "yes"], "audit": ["wrong", "right", ""],
            }
        )  # fmt: skip
        ratings = read(table)
        assert ratings.audit.tolist() == [[1, -1, 0], [-1, -1, -1]]
        assert audited_ratings(ratings).tolist() == [0, -1]

    def test_words_of_other_languages_are_said(self) -> None:
        ratings = read(table_of(audit=["Richtig", "falsch"]))
        assert (ratings.audit[0][ratings.answers[0] >= 0] == 1).all()
        assert audited_ratings(ratings).tolist() == [1, 0]
        assert "audits in column audit: richtig is right, falsch is wrong" in notes(ratings)
        assert "audits in column" not in notes(read(table_of(audit=["right", "no"])))

    def test_an_empty_name_switches_audits_off(self) -> None:
        assert (read(table_of(audit=["maybe", "no"]), audit="").audit == -1).all()


class TestSeconds:
    def test_a_column_of_seconds(self) -> None:
        ratings = read(table_of(lead_time=["1.5", "", "0", "1e3"]))
        np.testing.assert_array_equal(ratings.seconds, [1.5, nan, 0, 1000])

    def test_words_are_not_taken_by_name_and_refused_by_argument(self) -> None:
        table = table_of(seconds=["slow", "fast"])
        assert "seconds" in note_of(read(table), "no-numbers")
        with pytest.raises(RatingsError, check=refusal("no-number")):
            read(table, seconds="seconds")

    @pytest.mark.parametrize(
        ("seconds", "expected", "how"),
        [([3, 4, 5], [7, 5], "added"), ([3, 3, 5], [3, 5], "repeat"), (["", 4, ""], [4, nan], "")],
    )
    def test_one_label_a_row(self, seconds: list[Any], expected: list[float], how: str) -> None:
        table = pd.DataFrame(
            {
                "item": [1, 1, 2], "rater": "a", "seconds": seconds,
                "label": ["misleading", "topically_relevant", "misleading"],
                "value": ["no", "yes", "yes"],
            }
        )  # fmt: skip
        ratings = read(table)
        np.testing.assert_array_equal(ratings.seconds, expected)
        assert how in notes(ratings)


def test_runs_of_judges_are_offered_as_repeated_ratings() -> None:
    rows = [(n, judge, run, "yn"[(n + run * k + n * run) % 2])
            for n in range(20) for k, judge in enumerate("xy") for run in (1, 2, 3)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["example_id", "judge", "run", "verdict"])
    with pytest.raises(RatingsError, check=refusal("item-key")) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"replicate": "run"}
    assert len(read_ratings(frame, replicate="run").items) == 20

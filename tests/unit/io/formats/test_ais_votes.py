"""Votes of AIS studies, released as counts."""

from pathlib import Path

import pytest

import assay
from assay._util.errors import RatingsError
from tests.refusals import refusal
from tests.studies import notes_of, quoted_csv


def test_votes_of_ais_studies_add_up_to_the_counts(tmp_path: Path) -> None:
    rows = [
        {"example": "e1", "model": "m1", "flagged": 0, "interpretable": 1, "attributable": 1,
         "n_agree_interpretable": 4, "n_agree_attributable": 3},
        {"example": "e1", "model": "m2", "flagged": 0, "interpretable": 0, "attributable": 0,
         "n_agree_interpretable": 3, "n_agree_attributable": -1},
        {"example": "e2", "model": "m1", "flagged": 1, "interpretable": 0, "attributable": 0,
         "n_agree_interpretable": -1, "n_agree_attributable": -1},
    ]  # fmt: skip
    ratings = assay.read_ratings(quoted_csv(tmp_path / "votes.csv", *rows))
    assert ratings.task.name == "ais"
    votes = [ratings.answers[ratings.item == n] for n in range(2)]
    assert [(v[:, 1] == 1).sum() for v in votes] == [4, 2]
    assert [(v[:, 2] == 1).sum() for v in votes] == [3, 0]
    assert len(ratings.items) == 2
    assert {"unnamed-raters", "votes-not-released", "votes-missing"} <= notes_of(ratings).keys()


def test_a_note_counts_the_votes_that_may_be_flags(tmp_path: Path) -> None:
    row = {"model": "m", "flagged": 0, "interpretable": 1, "attributable": 1,
           "n_agree_attributable": 2}  # fmt: skip
    counts = [("e1", 2), ("e2", 5), ("e3", 4)]
    rows = [row | {"example": name, "n_agree_interpretable": n} for name, n in counts]
    ratings = assay.read_ratings(quoted_csv(tmp_path / "votes.csv", *rows))
    assert notes_of(ratings)["flags-not-released"].startswith("4 votes against the consensus")
    assert [(ratings.answers[ratings.item == n, 1] == 1).sum() for n in range(3)] == [2, 5, 4]
    ratings = assay.read_ratings(quoted_csv(tmp_path / "votes.csv", rows[1]))
    assert "flags-not-released" not in notes_of(ratings)


def test_the_votes_that_were_released_are_all_read(shared_data: Path) -> None:
    ratings = assay.read_ratings(shared_data / "ais_votes" / "qrecc.csv")
    asked = ratings.answers[:, 1] == 1
    assert (ratings.answers[asked, 2] == -1).sum() == 74


AIS = {"example": "e", "flagged": "0", "interpretable": "1", "attributable": "1",
       "n_agree_interpretable": "4", "n_agree_attributable": "3"}  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [
        {"n_agree_interpretable": "4.0", "n_agree_attributable": " 3.0"},
        {"interpretable": "1.0", "flagged": "0.0"},
        {"interpretable": "True", "flagged": "false", "attributable": "TRUE"},
    ],
)
def test_vote_counts_may_be_written_as_other_numbers(more: dict[str, str], tmp_path: Path) -> None:
    rows = [AIS | {"example": f"e{n}"} | more for n in range(3)]
    rows.append(AIS | more | {"example": "flagged", "flagged": more.get("interpretable", "1")})
    ratings = assay.read_ratings(quoted_csv(tmp_path / "votes.csv", *rows))
    assert len(ratings.items) == 3
    for n in range(3):
        votes = ratings.answers[ratings.item == n]
        assert ((votes[:, 1] == 1).sum(), (votes[:, 2] == 1).sum()) == (4, 3)


@pytest.mark.parametrize("column", [*AIS][1:])
@pytest.mark.parametrize("word", ["many", "2.5", "-2", "1e9", "nan"])
def test_vote_counts_that_are_no_counts_are_refused(column: str, word: str, tmp_path: Path) -> None:
    path = quoted_csv(tmp_path / "votes.csv", AIS, AIS | {"example": "f", column: word})
    with pytest.raises(RatingsError, match="line 3", check=refusal("no-number", cells=1)):
        assay.read_ratings(path)

"""Exports of Prodigy: choices, sessions, and tasks that were not answered."""

from pathlib import Path
from typing import Any

import pytest

import assay
from assay._util.errors import RatingsError
from tests.refusals import refusal
from tests.studies import jsonl, notes_of


def prodigy(answer: str, label: str, rater: str | None, number: int, **more: Any) -> dict[str, Any]:
    named = {"_annotator_id": rater} if rater else {}
    return {"_input_hash": number, "_task_hash": hash((number, label)), "answer": answer,
            "label": label, **named, **more}  # fmt: skip


def test_prodigy_labels_of_one_text_are_one_rating(tmp_path: Path) -> None:
    records = [
        prodigy(("accept", "reject")[n % 2], label, "db-ann", n)
        for n in range(4)
        for label in ("CALM", "SAD")
    ]
    ratings = assay.read_ratings(jsonl(tmp_path / "db.jsonl", *records))
    assert ratings.task.label_names == ("CALM", "SAD")
    assert ratings.answers.tolist() == [[1, 1], [0, 0]] * 2


def test_prodigy_rejected_choices_and_ignored_tasks_are_abstentions(tmp_path: Path) -> None:
    choice = {"options": [{"id": "a"}, {"id": "b"}], "accept": ["a"], "_view_id": "choice"}
    records = [prodigy(answer, "", "ann", n, **choice, config={})
               for n, answer in enumerate(("accept", "reject", "ignore"))]  # fmt: skip
    records.append(prodigy("accept", "", "ann", 9, **{**choice, "accept": ["b"]}))
    ratings = assay.read_ratings(jsonl(tmp_path / "db.jsonl", *records))
    assert ratings.abstained.tolist() == [False, True, True, False]
    assert "(rejected 1, ignored 1)" in notes_of(ratings)["ratings-withdrawn"]


def test_prodigy_sessions_that_nobody_named_are_one_rater(tmp_path: Path) -> None:
    records = [prodigy("accept" if n else "reject", "X", f"db-2024-01-0{n + 1}_10-00-00", n)
               for n in range(3)]  # fmt: skip
    ratings = assay.read_ratings(jsonl(tmp_path / "db.jsonl", *records))
    assert list(ratings.raters.index) == ["annotator"]
    assert "nameless-annotators" in notes_of(ratings)


def test_prodigy_tasks_without_an_answer_are_refused_with_their_line(tmp_path: Path) -> None:
    records = [prodigy("accept", "X", "ann", 1), prodigy("maybe", "X", "ann", 2)]
    with pytest.raises(RatingsError, match="line 2", check=refusal("damaged-export", places=1)):
        assay.read_ratings(jsonl(tmp_path / "db.jsonl", *records))

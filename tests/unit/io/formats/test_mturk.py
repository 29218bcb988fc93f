"""Results of Mechanical Turk: a line for each assignment of a HIT."""

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay._util.errors import RatingsError
from tests.refusals import refusal
from tests.studies import notes_of, quoted_csv


def hit(number: int, worker: str, **more: Any) -> dict[str, Any]:
    return {"HITId": f"h{number}", "WorkerId": worker, "AssignmentStatus": "Approved", **more}


def test_hits_that_show_the_same_input_are_one_item(tmp_path: Path) -> None:
    rows = [hit(n, f"w{n}", **{"Input.text": "same" if n < 2 else "other", "Answer.q": "ab"[n % 2]})
            for n in range(3)]  # fmt: skip
    ratings = assay.read_ratings(quoted_csv(tmp_path / "batch.csv", *rows))
    assert list(ratings.items.index) == ["h0", "h2"]
    assert "hits-are-items" in notes_of(ratings)


def test_a_hit_of_several_items_has_inputs_and_answers_that_are_numbered_alike(
    tmp_path: Path,
) -> None:
    rows = [
        hit(n, worker, **{"Input.text_1": f"t{n}", "Input.text_2": f"u{n}",
                          "Answer.tone_1": "ab"[n], "Answer.tone_2": "ba"[n]})
        for n in range(2) for worker in ("v", "w")
    ]  # fmt: skip
    ratings = assay.read_ratings(quoted_csv(tmp_path / "batch.csv", *rows))
    assert list(ratings.items.index) == ["h0/1", "h0/2", "h1/1", "h1/2"]
    assert len(ratings.answers) == 8
    assert ratings.task.labels[0].classes == ("a", "b")
    assert "hits-of-several" in notes_of(ratings)


def test_turk_answers_that_are_no_json_are_refused_with_their_line(tmp_path: Path) -> None:
    packed = json.dumps([{"q": {"label": "a"}}])
    rows = [hit(1, "w", **{"Answer.taskAnswers": packed}),
            hit(2, "w", **{"Answer.taskAnswers": "[{"})]  # fmt: skip
    with pytest.raises(RatingsError, match="line 3", check=refusal("damaged-export", places=1)):
        assay.read_ratings(quoted_csv(tmp_path / "batch.csv", *rows))

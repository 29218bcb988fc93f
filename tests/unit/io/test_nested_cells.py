"""Text tables whose cells hold the ratings of an item in JSON or as Python prints it."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reader_notes import note_codes
from refusals import refusal

from assay._util.errors import RatingsError
from assay.io import read_ratings

RATERS = ["ann", "bo", "cy"]
RATINGS = [
    {"annotator": rater, "label": ("pos", "neg")[(n + len(rater)) % 2], "note": None}
    for n in range(3)
    for rater in ("ann", "bo")
]


def test_lists_of_ratings_in_cells_become_rows() -> None:
    cells = [json.dumps(RATINGS[2 * n : 2 * n + 2]) for n in range(3)]
    table = pd.DataFrame({"item_id": list("uvwx"), "text": "t", "annotations": [*cells, "[]"]})
    ratings = read_ratings(table, task="single")
    assert len(ratings.answers) == len(RATINGS)
    assert ratings.items.index.tolist() == list("uvw")
    assert set(ratings.raters.index) == {"ann", "bo"}
    told = {note.code: note.numbers for note in ratings.accounting.notes}
    assert told["nested-read"] == {"columns": 1, "empty": 1}
    said = [ratings.task.labels[0].classes[code] for code in ratings.answers[:, 0]]
    assert said == [one["label"] for one in RATINGS]


SAID = ["O'Neil", 'a "b" c', "both ' and \"", "back\\slash", "True", "é", "line\nend"]


@pytest.mark.parametrize("write", [json.dumps, str])
@pytest.mark.parametrize("word", SAID)
def test_what_python_prints_is_read_as_json_is(write: Any, word: str) -> None:
    held = [
        [
            {"annotator": r, "label": word if n % 2 else "x", "seen": True, "note": None}
            for r in "ab"
        ]
        for n in range(4)
    ]
    table = pd.DataFrame({"item": list("uvwx"), "annotations": [*map(write, held)]})
    ratings = read_ratings(table, task="single")
    assert set(ratings.task.labels[0].classes) == {word, "x"}
    assert len(ratings.answers) == 8


@pytest.mark.parametrize("write", [json.dumps, str])
def test_answers_by_rater_in_a_cell_become_columns_whose_meaning_is_asked(write: Any) -> None:
    cells = [write({r: ("yes", "no")[(n + len(r)) % 2] for r in RATERS[n % 2 :]}) for n in range(6)]
    table = pd.DataFrame({"item": list("uvwxyz"), "ratings": cells})
    with pytest.raises(RatingsError) as caught:
        read_ratings(table, task="single")
    assert caught.value.go_on == {"wide": RATERS}
    ratings = read_ratings(table, task="single", wide=RATERS)
    assert len(ratings.answers) == sum(len(RATERS[n % 2 :]) for n in range(6))
    assert set(ratings.raters.index) == set(RATERS)


def test_objects_of_a_column_with_another_name_stay() -> None:
    table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": list("xyx")})
    ratings = read_ratings(table.assign(meta='{"model": "m", "label": "z"}'), task="single")
    assert set(ratings.task.labels[0].classes) == {"x", "y"}
    assert "nested-read" not in note_codes(ratings)


def test_lists_that_cannot_be_read_are_no_class() -> None:
    table = pd.DataFrame({"item": list("uvw"), "annotations": "[{'annotator': Ann(), 'label': 1}]"})
    with pytest.raises(RatingsError, check=refusal("nested-cells")):
        read_ratings(table, task="single", rater="row", labels="annotations")


@pytest.mark.parametrize("cell", ['[{"id": 1, "text": "x"}, {"id": 2, "text": "y"}]', '{"a": 1}'])
def test_other_objects_in_cells_stay(cell: str) -> None:
    table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": list("xyx"), "o": cell})
    assert len(read_ratings(table, task="single").answers) == 3


def test_braces_that_are_no_objects_stay() -> None:
    table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": ["{x}", "{y}", "{x}"]})
    ratings = read_ratings(table, task="single")
    assert ratings.task.labels[0].classes == ("{x}", "{y}")
    assert "nested-read" not in note_codes(ratings)


@pytest.mark.parametrize(
    "fence", ["{}", "```json\n{}\n```", "```\n{}```", " ```JSON\r\n{}\r\n```\n"]
)
def test_an_object_with_the_answer_becomes_columns(fence: str) -> None:
    said = [{"Grade": 1 + n % 3, "rating": n % 2, "reason": f"since {n}"} for n in range(24)]
    cells = [fence.replace("{}", json.dumps(one, indent=1)) for one in said]
    table = pd.DataFrame(
        {"item": [n // 3 for n in range(24)], "rater": list("uvw") * 8, "raw": cells}
    )
    ratings = read_ratings(table, labels="rating")
    assert (len(ratings.items), len(ratings.raters)) == (8, 3)
    assert ratings.to_frame()["rating"].tolist() == [str(n % 2) for n in range(24)]
    assert "nested-read" in note_codes(ratings)


def test_a_cell_without_an_object_among_objects_is_named() -> None:
    cells = [*['```json\n{"rating": 1}\n```'] * 5, "I cannot say"]
    table = pd.DataFrame({"item": [1, 1, 2, 2, 3, 3], "rater": list("ab") * 3, "raw": cells})
    with pytest.raises(RatingsError, check=refusal("broken-cells")):
        read_ratings(table)


def test_reasons_are_no_items() -> None:
    """Some recur within a prompt, so that they look like what several judges rated."""
    rows = range(240)
    said = np.random.default_rng(1).integers(0, 30, 240)
    table = pd.DataFrame({"prompt_id": [f"p{n // 6}" for n in rows],
                          "model": [["alpha", "beta"][n // 3 % 2] for n in rows],
                          "judge": list("uvw") * 80,
                          "verdict": ["pass" if n * 7 % 11 < 6 else "fail" for n in rows],
                          "reason": [f"for {said[n]} of {n // 6}" for n in rows]})  # fmt: skip
    with pytest.raises(RatingsError) as caught:
        read_ratings(table)
    assert caught.value.go_on["item"] == ["prompt_id", "model"]


@pytest.mark.parametrize("first", [0, 92])
def test_a_few_broken_cells_are_named_wherever_they_stand(first: int) -> None:
    cells = ['{"rating": "ok"}', '{"rating": "bad"}'] * 50
    cells[first : first + 8] = [f"timeout {n}" for n in range(8)]
    cells[50] = "NA"  # no answer
    table = pd.DataFrame({"item": np.arange(100) // 2, "rater": list("ab") * 50, "raw": cells})
    with pytest.raises(RatingsError, check=refusal("broken-cells")):
        read_ratings(table)
    assert len(read_ratings(table, labels="rating", set_aside=True).answers) == 91


def test_remarks_of_which_one_is_an_object_are_no_broken_ratings() -> None:
    notes = ["", '[{"rater": "x", "label": "yes"}]', "see above", "meh", *[""] * 116]
    table = pd.DataFrame({"item": np.arange(120) // 3, "rater": list("abc") * 40,
                          "label": list("yyn") * 40, "notes": notes})  # fmt: skip
    assert len(read_ratings(table).answers) == 120


def test_the_output_of_a_judge_is_its_answers() -> None:
    cells = [json.dumps({"grounded": "yno"[n % 2], "why": f"since {n}"}) for n in range(40)]
    table = pd.DataFrame({"run": ["2024-06-02"] * 40, "query_id": np.arange(40) // 2,
                          "judge": list("ab") * 20, "judge_output": cells})  # fmt: skip
    ratings = read_ratings(table, labels="grounded", item="query_id")
    assert len(ratings.answers) == 40

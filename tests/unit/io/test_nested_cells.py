"""Text tables whose cells hold the ratings of an item in JSON or as Python prints it."""

import json
from typing import Any

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

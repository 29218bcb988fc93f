"""Text tables whose cells hold objects or lists of them."""

import json
from collections.abc import Callable

import pandas as pd
import pytest
from reader_notes import note_codes

from assay._util.errors import RatingsError
from assay.io import read_ratings

RATINGS = [
    {"annotator": rater, "label": ("pos", "neg")[(n + len(rater)) % 2], "note": None}
    for n in range(3)
    for rater in ("ann", "bo")
]


@pytest.mark.parametrize("written", [json.dumps, str])
def test_lists_of_ratings_in_cells_become_rows(written: Callable[[object], str]) -> None:
    cells = [written(RATINGS[2 * n : 2 * n + 2]) for n in range(3)]
    table = pd.DataFrame({"item_id": list("uvwx"), "text": "t", "annotations": [*cells, "[]"]})
    ratings = read_ratings(table, task="single")
    assert len(ratings.answers) == len(RATINGS)
    assert ratings.items.index.tolist() == list("uvw")
    assert set(ratings.raters.index) == {"ann", "bo"}
    told = {note.code: note.numbers for note in ratings.accounting.notes}
    assert told["nested-read"] == {"columns": 1, "empty": 1}
    said = [ratings.task.labels[0].classes[code] for code in ratings.answers[:, 0]]
    assert said == [one["label"] for one in RATINGS]


def test_an_object_from_raters_to_answers_is_a_column_for_each() -> None:
    cells = [json.dumps({"ann": "yes", "bo": "no"}), json.dumps({"bo": "yes", "cy": "no"})] * 6
    table = pd.DataFrame({"item": range(12), "answers": cells})
    with pytest.raises(RatingsError) as caught:
        read_ratings(table)
    ratings = read_ratings(table, **caught.value.go_on)
    assert (len(ratings.answers), set(ratings.raters.index)) == (24, {"ann", "bo", "cy"})


def test_braces_that_are_no_objects_stay() -> None:
    table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": ["{x}", "{y}", "{x}"]})
    ratings = read_ratings(table, task="single")
    assert ratings.task.labels[0].classes == ("{x}", "{y}")
    assert "nested-read" not in note_codes(ratings)

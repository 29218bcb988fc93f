"""Text tables whose cells hold the ratings of an item in JSON."""

import json

import pandas as pd
import pytest
from reader_notes import note_codes

from assay.io import read_ratings

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


@pytest.mark.parametrize("cell", ['[{"id": 1, "text": "x"}, {"id": 2, "text": "y"}]', '{"a": 1}'])
def test_other_objects_in_cells_stay(cell: str) -> None:
    table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": list("xyx"), "o": cell})
    assert len(read_ratings(table, task="single").answers) == 3


def test_braces_that_are_no_objects_stay() -> None:
    table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": ["{x}", "{y}", "{x}"]})
    ratings = read_ratings(table, task="single")
    assert ratings.task.labels[0].classes == ("{x}", "{y}")
    assert "nested-read" not in note_codes(ratings)

import pandas as pd

from assay.io import read_ratings
from assay.io.list_cells import is_nested, lists_of, parallel


def test_lists_of_equal_lengths_are_parallel() -> None:
    frame = pd.DataFrame({"who": ['["a", "b"]', "[]"], "said": ["[1, 2]", ""], "n": [1, 2]})
    assert parallel(frame.astype("str"), "who") == ["who", "said"]


def test_printed_lists_and_dicts_are_nested() -> None:
    assert [is_nested(cell) for cell in ("['a' 'b']", '{"a": 1}', "(1, 2)", "[a]", "(none)")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_column_of_lists_has_lists_only() -> None:
    assert lists_of(pd.Series(['["a", "b"]', ""])) == {'["a", "b"]': ["a", "b"], "": []}
    assert lists_of(pd.Series(['["a", "b"]', "c"])) == {}


LONG = [(n, rater, "xy"[n % 3 == (rater == "b")]) for n in range(12) for rater in "ab"]


def test_parts_of_the_name_of_an_item_are_joined() -> None:
    rows = [(["p", f"q{n}"], rater, label) for n, rater, label in LONG]
    ratings = read_ratings(pd.DataFrame(rows, columns=["item", "rater", "label"]))
    assert list(ratings.items.index) == [f"p/q{n}" for n in range(12)]
    codes = [getattr(note, "code", "") for note in ratings.accounting.notes]
    assert "name-lists" in codes


def test_only_lists_of_answers_are_votes() -> None:
    rows = [(["a sentence", f"and {n}"], n, label) for n, _, label in LONG]
    frame = pd.DataFrame(rows, columns=["text", "item", "label"])
    assert len(read_ratings(frame, rater="row").answers) == len(LONG)

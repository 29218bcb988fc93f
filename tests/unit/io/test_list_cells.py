import pandas as pd

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

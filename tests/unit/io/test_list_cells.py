import pandas as pd

from assay.io.list_cells import is_nested, lists_of, parallel


def test_parallel_example() -> None:
    frame = pd.DataFrame({"who": ['["a", "b"]', "[]"], "said": ["[1, 2]", ""], "n": [1, 2]})
    assert parallel(frame.astype("str"), "who") == ["who", "said"]


def test_is_nested_example() -> None:
    assert [is_nested(cell) for cell in ("['a' 'b']", '{"a": 1}', "(1, 2)", "[a]", "(none)")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_lists_of_example() -> None:
    assert lists_of(pd.Series(['["a", "b"]', ""])) == {'["a", "b"]': ["a", "b"], "": []}
    assert lists_of(pd.Series(['["a", "b"]', "c"])) == {}

import pandas as pd

from assay.io.cells import _as_people_count, _pointed, parse_numbers, point_wanted


def test_as_people_count_example() -> None:
    assert sorted(["c10", "C2", "b"], key=_as_people_count) == ["b", "C2", "c10"]


def test_parse_numbers_example() -> None:
    assert (
        repr(parse_numbers(pd.Series(["0.5", "", "high"], dtype="str")))
        == "(array([0.5, nan, nan]), array([ True, False,  True]))"
    )


def test_pointed_example() -> None:
    cells, had_commas = _pointed(pd.Series(["87,5", "", "90"], dtype="str"))
    assert (cells.tolist(), had_commas) == (["87.5", "", "90"], True)
    assert not _pointed(pd.Series(["1,250", "900"], dtype="str"))[1]


def test_point_wanted_example() -> None:
    assert point_wanted(["high", "0,5"]) == "write decimal points: 0.5"

import pandas as pd

from assay.io.cells import _as_people_count, _pointed, parse_numbers, point_wanted


def test_names_sort_by_their_numbers() -> None:
    assert sorted(["c10", "C2", "b"], key=_as_people_count) == ["b", "C2", "c10"]


def test_words_and_empty_cells_are_no_numbers() -> None:
    assert (
        repr(parse_numbers(pd.Series(["0.5", "", "high"], dtype="str")))
        == "(array([0.5, nan, nan]), array([ True, False,  True]))"
    )


def test_decimal_commas_become_points_unless_they_may_be_thousands() -> None:
    cells, had_commas = _pointed(pd.Series(["87,5", "", "90"], dtype="str"))
    assert (cells.tolist(), had_commas) == (["87.5", "", "90"], True)
    assert not _pointed(pd.Series(["1,250", "900"], dtype="str"))[1]


def test_the_first_decimal_comma_is_shown_with_a_point() -> None:
    assert point_wanted(["high", "0,5"]) == "write decimal points: 0.5"

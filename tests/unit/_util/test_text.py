"""Numbers, counts and lists as text."""

import pandas as pd

from assay._util.text import (
    chance_cell,
    chance_cells,
    counted,
    decimals_beside,
    decimals_for,
    does,
    first_names,
    fixed,
    gap,
    interval,
    is_inside,
    listed,
    marked,
    notes_said,
    probability,
    rounded,
    sentence,
    some,
    tenths,
    with_undefined,
    without_folders,
)


def test_further_names_are_counted() -> None:
    assert some(["a", "b", "c"], limit=2) == "a, b and 1 more"


def test_further_names_are_dots() -> None:
    assert listed(["a", "b", "c"], limit=2) == "a, b, ..."


def test_long_names_are_cut() -> None:
    assert first_names(["a", "How good is it?", "c"], limit=2, longest=8) == "a, How g..., ..."


def test_nouns_and_verbs_follow_the_count() -> None:
    assert (counted(1, "rater"), counted(2, "rating")) == ("1 rater", "2 ratings")
    assert (counted(1, "item", "have"), counted(2, "item", "have")) == (
        "1 item has",
        "2 items have",
    )


def test_verbs_follow_the_count() -> None:
    assert (does(1, "give"), does(2, "give"), does(1, "have")) == ("gives", "give", "has")


def test_a_finding_becomes_a_sentence() -> None:
    assert sentence("two raters look like one") == "Two raters look like one."


def test_absolute_paths_lose_their_folders() -> None:
    assert (
        without_folders("assay fit /data/ann/ratings.csv -o out/fit.nc --claim 'A/B'")
        == "assay fit ratings.csv -o out/fit.nc --claim 'A/B'"
    )


def test_decimals_follow_the_width_of_the_interval() -> None:
    assert (decimals_for(0.46, 0.70), decimals_for(0.011, 0.019)) == (2, 4)
    assert decimals_for(1 - 1e-16, 1.0) == 2  # an interval without a width


def test_decimals_show_the_side_of_a_mark() -> None:
    assert (decimals_beside(-0.001, 0.4, marks=[0.0]), decimals_beside(0.0, 0.4, marks=[0.0])) == (
        3,
        2,
    )


def test_a_difference_shows_whether_0_is_inside() -> None:
    assert (gap(0.2, -0.001, 0.4), gap(0.2, 0.1, 0.4)) == (
        "0.200 (-0.001 to 0.400)",
        "0.20 (0.10 to 0.40)",
    )


def test_a_mean_outside_its_interval_comes_second() -> None:
    assert interval(0.581, 0.462, 0.699) == "0.58 (0.46 to 0.70)"
    assert interval(0.012, 0.02, 0.02) == "0.02 to 0.02 (mean 0.01)"
    assert interval(0.393, float("nan"), float("nan")) == "0.39 (no interval)"
    assert interval(float("nan"), 0.0, 1.0) == "undefined"


def test_rounding_decides_what_is_inside() -> None:
    assert (is_inside(0.019, 0.02, 0.02, 2), is_inside(0.019, 0.02, 0.02, 3)) == (True, False)


def test_the_share_of_undefined_draws_is_added() -> None:
    assert with_undefined(["0.58", "0.58", "undefined"], [0.0, 0.125, 1.0]) == [
        "0.58",
        "0.58 [undefined in 12.5%]",
        "undefined",
    ]


def test_only_0_and_1_look_like_none_and_all() -> None:
    assert [tenths(share) for share in (0.25, 0.0002, 0.9998, 1.0)] == [
        "25.0%",
        "<0.1%",
        ">99.9%",
        "100.0%",
    ]


def test_minus_zero_is_zero() -> None:
    assert (rounded(-0.001, 2), rounded(0.125, 3)) == ("0.00", "0.125")


def test_undefined_numbers_are_named() -> None:
    assert (fixed(0.15, 3), fixed(-0.0001, 3), fixed(float("nan"), 3)) == (
        "0.150",
        "0.000",
        "undefined",
    )


def test_a_column_of_probabilities_shows_which_are_clear() -> None:
    """0.9748 was 0.97, beside "clear: above 0.975"."""
    assert chance_cells([0.9748, 0.5]) == ["0.9748", "0.5000"]
    assert chance_cells([0.9731, 0.001]) == ["0.973", "0.001"]
    assert chance_cells([0.96, 0.9941, float("nan")]) == ["0.96", "0.99", "undefined"]
    assert chance_cells([0.9481], 0.9) == ["0.948"]
    assert chance_cells([0.9481]) == ["0.95"]


def test_two_decimals_never_show_certainty() -> None:
    assert [chance_cell(p) for p in (0.5, 0.9951, 0.0002, float("nan"))] == [
        "0.50",
        ">0.99",
        "<0.01",
        "undefined",
    ]


def test_three_decimals_never_show_certainty() -> None:
    assert [probability(p) for p in (0.5, 0.9995, 0.0002, float("nan"))] == [
        "0.500",
        ">0.999",
        "<0.001",
        "undefined",
    ]


def test_doubts_get_marks() -> None:
    notes = {}
    line = {"mean": [0.5], "lower": [0.4], "upper": [0.6], "doubt": ["empty class"]}
    assert (marked(pd.DataFrame(line), notes), notes_said(notes)) == (
        ["0.50 (0.40 to 0.60)*"],
        " * empty class.",
    )


def test_plurals_follow_the_last_letters() -> None:
    words = ["guess", "query", "box", "batch", "day", "item"]
    assert [counted(2, word) for word in words] == [
        "2 guesses", "2 queries", "2 boxes", "2 batches", "2 days", "2 items"
    ]  # fmt: skip
    assert counted(1, "guess") == "1 guess"
    assert (does(1, "pass"), does(1, "carry"), does(1, "say")) == ("passes", "carries", "says")

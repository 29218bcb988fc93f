"""Sentences of contrasts by several approaches, from tables of known numbers."""

import pandas as pd

from assay.comparison.baselines import CHANGED, CORRECTED, NAIVE, SideBySide

LINE = {
    "metric": "m", "quantity": "A - B", "a": "A", "b": "B", "level": 0.95, "doubt": "",
    "basis": "votes", "estimand": "finite", "reference": "gold",
}  # fmt: skip


def side_by_side(*numbers, metrics=("m",), doubt=""):
    """Return one contrast of each metric: numbers of the vote, then of the model."""
    lines = [
        LINE | dict(zip(("mean", "lower", "upper"), of, strict=True), approach=approach, metric=m)
        for m in metrics
        for approach, of in zip((NAIVE, CORRECTED), numbers, strict=True)
    ]
    table = pd.DataFrame(lines)
    table.loc[table["approach"] == CORRECTED, "doubt"] = doubt
    return SideBySide(table=table)


def test_a_sign_changes_only_where_the_means_are_on_two_sides_of_0() -> None:
    same = side_by_side((0.2, -0.1, 0.5), (0.1, -0.2, 0.4)).sentences()[0]
    assert same.endswith("The conclusion is unchanged: the sign is open.")
    other = side_by_side((0.2, -0.1, 0.5), (-0.1, -0.4, 0.2)).sentences()[0]
    assert other.endswith("unchanged (the sign is open), although the estimate changes sign.")
    zero = side_by_side((0.2, -0.1, 0.5), (0.0, -0.3, 0.3)).sentences()[0]
    assert "changes sign" not in zero


def test_another_conclusion_is_told_with_its_sign() -> None:
    kept = side_by_side((0.2, 0.1, 0.3), (0.1, -0.1, 0.3)).sentences()[0]
    assert kept.endswith(f"{CHANGED}: naive, A is higher; corrected, the sign is open.")
    turned = side_by_side((0.2, 0.1, 0.3), (-0.2, -0.3, -0.1)).sentences()[0]
    assert turned.endswith(
        f"{CHANGED}, and the estimate changes sign: naive, A is higher; corrected, B is higher."
    )


def test_sentences_follow_the_order_of_the_table() -> None:
    told = side_by_side((0.2, 0.1, 0.3), (0.2, 0.1, 0.3), metrics=("z", "a")).sentences()
    assert [one.partition(",")[0] for one in told] == ["z", "a"]


def test_numbers_in_doubt_and_undefined_ones_conclude_nothing() -> None:
    numbers = (0.2, 0.1, 0.3), (0.3, 0.2, 0.4)
    doubted = side_by_side(*numbers, doubt="class drift").sentences()[0]
    assert doubted.endswith("No conclusion rests on the corrected numbers: class drift.")
    nan = float("nan")
    assert "undefined" in side_by_side((nan, nan, nan), numbers[1]).sentences()[0]

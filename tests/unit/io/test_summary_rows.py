"""Rows of sums and means beside those of items, and items that are called so."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assay.io import read_ratings
from assay.io.files.opening import open_source
from assay.io.summary_rows import without_summaries

ITEMS = 12
RATERS = ["Uma", "Vik", "Wes"]
GRADES = np.random.default_rng(3).integers(1, 6, (ITEMS, 3))


def frame(*more: list[object], grades: object = GRADES, first: bool = False) -> pd.DataFrame:
    """Return a row for each item, with further rows below (or above)."""
    rows = [[f"s{n}", *row] for n, row in enumerate(np.asarray(grades).tolist())]
    rows = [*map(list, more), *rows] if first else [*rows, *map(list, more)]
    width = max(map(len, rows))
    return pd.DataFrame(rows, columns=["Satz", *RATERS, "Rest"][:width]).astype(str)


def items(table: pd.DataFrame) -> list[str]:
    read = without_summaries(open_source(table).plain_table())
    return read.frame["Satz"].tolist()


OWN = [f"s{n}" for n in range(ITEMS)]
SUMS, MEANS = GRADES.sum(axis=0), GRADES.mean(axis=0).round(2)


@pytest.mark.parametrize(
    "more",
    [
        [["Total", *SUMS]],
        [["Mean", *MEANS], ["SD", *GRADES.std(axis=0).round(2)]],
        [["Mittelwert", *(str(mean).replace(".", ",") for mean in MEANS)]],
        [["Moyenne", *MEANS], ["Max", 5, 5, 5], ["N", 12, 12, 12]],
        [["Median", *np.median(GRADES, axis=0).astype(int)]],
        [["% above 3", *(f"{share:.0f}%" for share in 100 * (GRADES > 3).mean(axis=0))]],
        [["Fleiss' kappa", 0.61, "", ""]],
        [["Итого", *SUMS], ["Note: Wes was tired", "", "", ""]],
        [["", *SUMS]],
        [["", *MEANS]],
    ],
    ids=["sum", "mean", "commas", "french", "median", "share", "kappa", "note", "no name",
         "no name of means"],
)  # fmt: skip
def test_rows_that_sum_up_are_no_items(more: list[list[object]]) -> None:
    assert items(frame(*more)) == OWN
    above = [row for row in more if any(row[1:])]
    assert items(frame(*above, first=True)) == OWN


def test_they_are_told_from_words() -> None:
    said = np.where(GRADES > 2, "oui", "non")
    table = frame(["Total oui", *(said == "oui").sum(axis=0)], ["%", 0.5, 0.6, 0.7], grades=said)
    ratings = read_ratings(table, wide=RATERS)
    assert ratings.items.index.tolist() == OWN
    (note,) = (note for note in ratings.accounting.notes if note.code == "summary-rows")
    assert note == "2 rows are left out that sum up the others: Total oui, %"


@pytest.mark.parametrize(
    "more",
    [
        [["Total", 3, 4, 5]],
        [["Max", 5, 5, 5]],
        [["Min", *SUMS]],
        [["mean", 3, 3, 3]],
        [["average", *np.median(GRADES, axis=0).astype(int)]],
        [["total knee replacement of both", 30, 40, 50]],
        [["", 3, 3, 3]],
        [["", 4, "", ""]],
        [["s12", *SUMS]],
    ],
    ids=str,
)  # fmt: skip
def test_items_that_are_called_so_stay(more: list[list[object]]) -> None:
    assert items(frame(*more)) == [*OWN, *(str(row[0]) for row in more)]


def test_a_name_that_recurs_is_no_sum() -> None:
    rows = [[word, who, n % 4 + 1] for n, word in enumerate(["total", "mean", "sum"] * 6)
            for who in "ab"]  # fmt: skip
    table = pd.DataFrame(rows, columns=["Satz", "rater", "grade"]).astype(str)
    assert len(items(table)) == len(rows)


def test_the_sum_of_a_column_of_answers_is_no_rating(tmp_path: Path) -> None:
    rows = [f"s{n},{who},{n % 3 + 1}" for n in range(ITEMS) for who in RATERS]
    file = tmp_path / "long.csv"
    file.write_text("\n".join(["item,rater,label", *rows, "Sum,,72", ""]), encoding="utf-8")
    ratings = read_ratings(file)
    assert (len(ratings.items), len(ratings.raters)) == (ITEMS, 3)
    assert not len(ratings.accounting.set_aside)

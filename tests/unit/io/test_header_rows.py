"""Headers of two rows, and tables that look a little like them."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.io import read_ratings
from assay.io.files.opening import open_source

ITEMS = 30
GRID = "{rater}_{label}"


def cells(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).choice(["oui", "non"], (ITEMS, 4))


def leveled(name: str | None, levels: list[str] | None) -> pd.DataFrame:
    columns = pd.MultiIndex.from_product([["Uma", "Vik"], ["ton", "sens"]], names=levels)
    index = pd.Index([f"t{n}" for n in range(ITEMS)], name=name)
    return pd.DataFrame(cells(), columns=columns, index=index)


@pytest.mark.parametrize(
    ("name", "levels", "kind"),
    list(product([None, "phrase"], [None, ["rater", "label"]], ["csv", "xlsx", "frame", "reset"])),
)
def test_columns_of_two_levels_are_joined(
    name: str | None, levels: list[str] | None, kind: str, tmp_path: Path
) -> None:
    frame = leveled(name, levels)
    file = tmp_path / f"levels.{kind}"
    if kind == "csv":
        frame.to_csv(file)
    elif kind == "xlsx":
        frame.to_excel(file)
    source = {"frame": frame, "reset": frame.reset_index()}.get(kind, file)
    ratings = read_ratings(source, wide=GRID)
    assert ratings.task.label_names == ("ton", "sens")
    assert len(ratings.items) == ITEMS
    read = ratings.to_frame()
    vik = read[read["rater"] == "Vik"]
    assert vik[["ton", "sens"]].to_numpy().tolist() == cells()[:, 2:].tolist()
    assert len(read) == 2 * ITEMS
    assert any(note.code == "header-rows" for note in ratings.accounting.notes)


def merged(rows: list[list[str]], file: Path) -> Path:
    """Write rows under a header whose upper cells are merged."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Case", "Uma", None, "Vik", None, "Remark"])
    sheet.append([None, "ton", "sens", "ton", "sens", None])
    for row in rows:
        sheet.append(row)
    for place in ("A1:A2", "B1:C1", "D1:E1", "F1:F2"):
        sheet.merge_cells(place)
    book.save(file)
    return file


def test_merged_cells_stand_over_all_their_columns(tmp_path: Path) -> None:
    rows = [[f"c{n}", *row, ""] for n, row in enumerate(cells().tolist())]
    file = merged(rows, tmp_path / "merged.xlsx")
    with pytest.raises(RatingsError) as caught:
        read_ratings(file)
    assert caught.value.problems[0].go_on == {"wide": GRID}
    ratings = read_ratings(file, wide=GRID)
    assert len(ratings.items) == ITEMS


def write(file: Path, *lines: str) -> Path:
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def columns(file: Path) -> list[str]:
    """Return the columns that a file is found to have."""
    return list(open_source(file).plain_table().frame.columns)


def test_themes_above_criteria_are_part_of_their_names(tmp_path: Path) -> None:
    file = write(
        tmp_path / "themes.csv", "doc,by,Quality,,Harm,", ",,flow,facts,bias,threat",
        "d1,u,1,2,1,1", "d1,v,1,1,2,1", "d2,u,2,2,1,1", "d2,v,2,2,1,2",
    )  # fmt: skip
    assert columns(file) == ["doc", "by", "Quality_flow", "Quality_facts", "Harm_bias",
                             "Harm_threat"]  # fmt: skip


def test_a_row_that_only_says_response_is_left_out(tmp_path: Path) -> None:
    file = write(
        tmp_path / "form.csv", "Respondent,a,b,c,d", ",Response,Response,Response,Response",
        "1,good,bad,good,bad", "2,good,good,bad,bad", "3,bad,bad,good,good",
    )  # fmt: skip
    assert columns(file) == ["Respondent", "a", "b", "c", "d"]
    assert len(open_source(file).plain_table().frame) == 3


@pytest.mark.parametrize(
    "lines",
    [
        # The first row of answers: its words recur.
        ["doc,Uma,,Vik,", "d1,yes,no,yes,no", "d2,no,yes,no,yes", "d3,yes,no,no,no"],
        # A reason beside each answer, none of which recurs.
        ["doc,Uma,,Vik,", "d1,yes,short,no,long", "d2,yes,dull,yes,fun", "d3,no,x,no,z"],
        # Copies of names, with the same words in the first row.
        ["doc,q,q,r,r", "d1,yes,no,yes,no", "d2,yes,no,no,no", "d3,no,no,no,yes"],
        # Numbers are answers.
        [",Uma,Uma,Vik,Vik", "d1,1,2,1,2", "d2,3,4,3,4", "d3,5,6,5,6"],
        # An item without a name whose raters say the same.
        ["doc,a,b,c,d", ",yes,yes,yes,yes", "d2,no,yes,no,no", "d3,yes,no,yes,yes"],
        # A first row without an item, of several words.
        ["doc,a,b,c,d", ",w,x,y,z", "d2,a,b,c,d", "d3,a,b,c,e"],
        # The names of rows have no name.
        [",rater,label", "r0,u,yes", "r1,v,no", "r2,w,yes"],
    ],
)  # fmt: skip
def test_a_row_of_answers_is_no_header(tmp_path: Path, lines: list[str]) -> None:
    table = open_source(write(tmp_path / "one.csv", *lines)).plain_table()
    assert len(table.frame) == len(lines) - 1
    assert not [note for note in table.notes if note.code == "header-rows"]


def test_levels_are_proposed_as_raters_and_questions() -> None:
    with pytest.raises(RatingsError, match="seem to hold the answers of 2 raters"):
        read_ratings(leveled("phrase", None))

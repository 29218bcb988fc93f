"""Delimited text; quotes that are not closed in their row take rows into a cell."""

from pathlib import Path

import pandas as pd
import pytest
from refusals import refusal
from typer.testing import CliRunner

from assay._util.errors import RatingsError
from assay.cli import app
from assay.io import read_ratings
from assay.io.files.delimited import lacks_header, with_tabs


def test_columns_separated_by_spaces_are_found() -> None:
    assert with_tabs("item rater label\n1 a  x\n") == "item\trater\tlabel\n1\ta\tx"
    assert (with_tabs("item,rater\n1,a\n"), with_tabs("a short note\non what was done\n")) == (
        None,
        None,
    )


def test_a_row_is_no_header() -> None:
    cells = [["t1", "bob", "no"], ["t2", "ann", "yes"], ["t2", "bob", "no"]]
    assert lacks_header(pd.DataFrame(cells, columns=["t1", "ann", "yes"]))
    assert not lacks_header(pd.DataFrame(cells, columns=["item", "ann", "yes"]))


LINES = ["item,rater,label,text"] + [
    f"u{n // 3},{'abc'[n % 3]},{'xy'[(n // 3 + (n % 5 == 0)) % 2]},well {n}" for n in range(60)
]


def opened(line: int, column: int) -> str:
    """Return a line of the file whose field begins with a quote."""
    cells = LINES[line - 1].split(",")
    cells[column] = f'"{cells[column]}'
    return ",".join(cells)


def written(folder: Path, *places: tuple[int, int]) -> Path:
    lines = list(LINES)
    for line, column in places:
        lines[line - 1] = opened(line, column)
    path = folder / "ratings.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


PLACES = {
    "in the middle of a row": [(11, 1)],
    "at the end of a row": [(11, 3)],
    "in the last row": [(61, 3)],
    "closed by another": [(6, 3), (41, 3)],
    "closed by another in the middle": [(6, 1), (41, 1)],
    "three": [(6, 1), (21, 2), (41, 3)],
}


@pytest.mark.parametrize("kind", PLACES)
def test_the_line_is_named_and_left_out_alone(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, *PLACES[kind])
    first = PLACES[kind][0][0]
    with pytest.raises(RatingsError, check=refusal("unparsed-file", line=first)) as caught:
        read_ratings(path)
    assert opened(*PLACES[kind][0])[:20] in str(caught.value)
    assert caught.value.go_on == {"set_aside": True}
    ratings = read_ratings(path, set_aside=True)
    assert ratings.accounting.rows_read == 60
    assert ratings.accounting.rows_used == len(ratings.answers) == 60 - len(PLACES[kind])
    aside = ratings.accounting.set_aside
    assert sorted(aside["line"] if "line" in aside else aside.iloc[:, 0]) == sorted(
        line for line, _ in PLACES[kind]
    )


def test_texts_of_several_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    text = '"He said, ""yes"",\nand left,\nand came, and sat, and ate,\nthen, slept"'
    path.write_text("\n".join([LINES[0], *(f"{line},{text}" for line in (
        one.rpartition(",")[0] for one in LINES[1:]))]) + "\n")  # fmt: skip
    assert len(read_ratings(path).answers) == 60


def test_a_quote_in_the_header_has_to_be_closed_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(['"item,rater,label,text', *LINES[1:]]) + "\n")
    done = CliRunner().invoke(app, ["check", str(path)])
    assert done.exit_code == 1
    assert "line 1" in done.output
    assert "assay check" not in done.output


@pytest.mark.parametrize(
    ("above", "header"),
    [
        ("# made 2026-01-02\n# by a, b, c, d, e\n", None),
        ("# one, two, three, four\n", None),
        ("# item,rater\n", ",item,rater,label,text"),  # pandas writes no name for the row's number
        ("# made 2026-01-02\n", "#item,rater,label,text"),
        ("", "#,item,rater,label,text"),
    ],
)
def test_comments_above_the_header_are_left_out(
    above: str, header: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "commented.csv"
    header = LINES[0] if header is None else header
    rows = [f"{n},{line}" if header.count(",") == 4 else line for n, line in enumerate(LINES[1:])]
    path.write_text("\n".join([above + header, *rows]) + "\n")
    ratings = read_ratings(path, item="#item" if "#item" in header else "item")
    assert (len(ratings.items), len(ratings.raters), len(ratings.answers)) == (20, 3, 60)

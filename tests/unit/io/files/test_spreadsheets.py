"""Tables of web pages, under whatever name."""

from pathlib import Path

import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import RatingsError
from assay.io import read_ratings
from assay.io.files.spreadsheets import table_of_page

TABLE = pd.DataFrame(
    {
        "item": [f"Satz {n // 3} & mehr" for n in range(36)],
        "rater": ["Zoë", "Jörg", "Ann"] * 12,
        "label": [("gut", "schlecht")[(n // 3 + (n % 5 == 0)) % 2] for n in range(36)],
    }
)
MENU = "<table><tr><td>Menu</td></tr></table>"
PAGES = {
    "a page": f"<!DOCTYPE html><html><body>{MENU}{{}}</body></html>",
    "a table alone": "{}",
    "a page of Excel": '<html xmlns:x="urn:schemas-microsoft-com:office:excel">{}</html>',
    "a table in a table": "<html><table><tr><td>Report</td><td>{}</td></tr></table></html>",
    "XHTML": '<?xml version="1.0"?>\n<html>{}</html>',
}


@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_the_table_of_a_page_is_read(kind: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "export.xls"
    path.write_text(PAGES[kind].format(TABLE.to_html(index=False)), encoding=encoding)
    found, wanted = read_ratings(path), read_ratings(TABLE)
    assert list(found.items.index) == list(wanted.items.index)
    assert list(found.raters.index) == list(wanted.raters.index)
    assert (found.answers == wanted.answers).all()
    assert "table-of-page" in [getattr(note, "code", "") for note in found.accounting.notes]


@pytest.mark.parametrize(
    "page",
    [
        "<!doctype html><p>Sign in",
        "<html><table><tr><td>name<td><input><tr><td>Sign in</table></html>",
        "<html><table></table></html>",
    ],
)
def test_a_page_without_a_table_of_ratings_is_refused(page: str, tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text(page)
    with pytest.raises(RatingsError, check=refusal("web-page")):
        read_ratings(path)


def test_cells_may_be_wide_empty_or_open() -> None:
    page = (
        "<table><tr><th colspan=3>Study<tr><th>a<th>b<th>c"
        "<tr><td>1<td>x<br>y<td><tr><td>2<td>z<td>w"
    )
    found = table_of_page(page, "page.html")
    assert found.frame.fillna("").to_dict("list") == {
        "a": ["1", "2"],
        "b": ["x\ny", "z"],
        "c": ["", "w"],
    }


def test_sheets_called_like_systems_are_systems(tmp_path: Path) -> None:
    path = tmp_path / "systems.xlsx"
    with pd.ExcelWriter(path) as book:
        for k, system in enumerate(("GPT-4", "Mixtral", "Baseline")):
            cells = {who: ["right", "wrong", "right", "wrong"][k:] * 4 for who in ("Ann", "Ben")}
            frame = pd.DataFrame({name: column[:12] for name, column in cells.items()})
            frame["Ben"] = frame["Ben"].to_numpy()[::-1]
            frame.insert(0, "Query", [f"q{n}" for n in range(len(frame))])
            frame.to_excel(book, sheet_name=system, index=False)
    with pytest.raises(RatingsError) as caught:
        read_ratings(path)
    assert caught.value.go_on == {"sheet": "*", "system": "sheet"}
    ratings = read_ratings(path, **caught.value.go_on, wide=["Ann", "Ben"])
    assert list(ratings.systems) == ["Baseline", "GPT-4", "Mixtral"]

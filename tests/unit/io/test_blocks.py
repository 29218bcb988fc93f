"""Tables below each other, each under a line that names its rater."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assay.io.reader import read_ratings

HEADER = ["Item", "Text", "Verdict"]
RATERS = ("Kim", "Lee", "Ola")


def lines(banner: str, *, again: bool, blank: bool) -> list[list[str]]:
    """Return the cells of a file with a block for each rater."""
    rows: list[list[str]] = []
    for k, rater in enumerate(RATERS):
        rows.append([banner.format(rater=rater), "", ""])
        if again or not k:
            rows.append(HEADER)
        rows += [[f"i{n}", f"text {n}", "xy"[(n + k) % 2]] for n in range(8)]
        rows += [["", "", ""]] * blank
    return rows


def write(rows: list[list[str]], path: Path, *, bare: bool) -> None:
    if path.suffix == ".xlsx":
        pd.DataFrame(rows).to_excel(path, index=False, header=False)
        return
    text = [",".join(row).rstrip("," if bare and row[1] == "" else "") for row in rows]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


@pytest.mark.parametrize("blank", [False, True])
@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize(
    ("banner", "again", "bare"),
    [("Annotator: {rater}", True, False), ("Annotator = {rater}", True, True),
     ("Annotator: {rater}", False, False), ("{rater}", True, False)],
)  # fmt: skip
def test_each_block_is_of_the_rater_above_it(
    banner: str, again: bool, bare: bool, suffix: str, blank: bool, tmp_path: Path
) -> None:
    path = tmp_path / f"blocks{suffix}"
    write(lines(banner, again=again, blank=blank), path, bare=bare)
    named = {} if ":" in banner or "=" in banner else {"rater": "block"}
    ratings = read_ratings(path, labels="Verdict", **named)
    assert list(ratings.raters.index) == list(RATERS)
    assert (len(ratings.items), len(ratings.answers)) == (8, 24)
    classes = ratings.task.labels[0].classes
    for k, rater in enumerate(ratings.raters.index):
        mine = ratings.rater == ratings.raters.index.get_loc(rater)
        pairs = zip(ratings.item[mine], ratings.answers[mine, 0], strict=True)
        said = {ratings.items.index[i]: classes[a] for i, a in pairs}
        assert said == {f"i{n}": "xy"[(n + k) % 2] for n in range(8)}


def test_a_file_without_such_lines_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    rows = [row for row in lines("{rater}", again=True, blank=False) if row[1]]
    rows = [[*row, "who" if row == HEADER else RATERS[n // 9]] for n, row in enumerate(rows)]
    path.write_text("\n".join(map(",".join, [["Study 7", "", "", ""], *rows])) + "\n")
    ratings = read_ratings(path, labels="Verdict", rater="who")
    assert (len(ratings.raters), len(ratings.answers)) == (3, 24)
    codes = [getattr(note, "code", "") for note in ratings.accounting.notes]
    assert "blocks-read" not in codes
    assert "title-rows" in codes
    assert np.all(ratings.answers >= 0)


@pytest.mark.parametrize("each", [3, 4])
def test_a_name_stands_once_for_its_rows(each: int, tmp_path: Path) -> None:
    rows = [(f"Teza {n}" if k == 0 else "", f"r{k}", "xy"[(n * k) % 2])
            for n in range(8) for k in range(each)]  # fmt: skip
    path = tmp_path / "names.csv"
    pd.DataFrame(rows, columns=["Item", "Rater", "Verdict"]).to_csv(path, index=False)
    ratings = read_ratings(path, labels="Verdict")
    assert (len(ratings.items), len(ratings.answers)) == (8, 8 * each)
    assert "filled-down" in [getattr(note, "code", "") for note in ratings.accounting.notes]


def test_items_that_are_lost_stay_lost() -> None:
    frame = pd.DataFrame({"item": [*"abcdefgh", *[""] * 4], "rater": list("uv") * 6,
                          "label": list("xyyx") * 3})  # fmt: skip
    ratings = read_ratings(frame)
    assert len(ratings.answers) == 8

"""Tables as Markdown and as LaTeX."""

import pandas as pd

from assay._util.table_texts import Cells, cells_of, latex, markdown


def test_markdown_escapes_bars_and_aligns_numbers() -> None:
    text = markdown(cells_of(pd.DataFrame({"rater": ["a|b"], "mean": [0.51236]})))
    assert text == "| rater | mean |\n| --- | ---: |\n| a\\|b | 0.512 |\n"


def test_latex_escapes_text_and_aligns_numbers() -> None:
    text = latex(cells_of(pd.DataFrame({"rater": ["r_1, 50%"], "mean": [0.51236]})))
    assert text.startswith("\\begin{tabular}{lr}\n\\toprule\n")
    assert "r\\_1, 50\\% & 0.512 \\\\\n" in text


def test_headings_of_rows_span_the_table() -> None:
    cells = Cells(["System", "Value"], [["nDCG"], ["A", "0.5"]], [False, True])
    assert markdown(cells).splitlines()[2:] == ["| **nDCG** |  |", "| A | 0.5 |"]
    assert "\\midrule\n\\multicolumn{2}{l}{nDCG} \\\\\nA & 0.5 \\\\\n" in latex(cells)
    assert "multicolumn" not in latex(Cells(["one"], [["a"]], [False]))


def test_a_line_that_begins_like_an_argument_is_text() -> None:
    """LaTeX takes ``[1]`` and ``*`` behind the end of a line as arguments of that command."""
    text = latex(Cells(["a", "b"], [["[1] x", "1"], ["*y", "2"], ["z [1]", "3"]], [False, True]))
    assert [line for line in text.splitlines() if "&" in line] == [
        r"a & b \\", r"{}[1] x & 1 \\", r"{}*y & 2 \\", r"z [1] & 3 \\",
    ]  # fmt: skip


def test_markdown_shows_a_name_that_looks_like_a_tag() -> None:
    assert markdown(Cells(["a"], [["<unk>"], ["<0.01"]], [False])).splitlines()[2:] == [
        r"| \<unk> |", "| <0.01 |",
    ]  # fmt: skip

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

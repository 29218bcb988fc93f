"""Tables as Markdown and as LaTeX."""

import pandas as pd

from assay._util.table_texts import latex, markdown


def test_markdown_escapes_bars_and_aligns_numbers() -> None:
    text = markdown(pd.DataFrame({"rater": ["a|b"], "mean": [0.51236]}))
    assert text == "| rater | mean |\n| --- | ---: |\n| a\\|b | 0.512 |\n"


def test_latex_escapes_text_and_aligns_numbers() -> None:
    text = latex(pd.DataFrame({"rater": ["r_1, 50%"], "mean": [0.51236]}))
    assert text.startswith("\\begin{tabular}{lr}\n\\toprule\n")
    assert "r\\_1, 50\\% & 0.512 \\\\\n" in text

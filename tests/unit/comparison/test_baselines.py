"""The order of contrasts by several approaches."""

import pandas as pd

from assay.comparison.baselines import CORRECTED, NAIVE, SideBySide


def test_sentences_and_cells_follow_the_order_of_the_table() -> None:
    line = {
        "quantity": "A - B", "a": "A", "b": "B", "mean": 0.2, "lower": 0.1, "upper": 0.3,
        "level": 0.95, "doubt": "", "basis": "votes", "estimand": "finite", "reference": "gold",
    }  # fmt: skip
    lines = [line | {"metric": m, "approach": a} for m in "za" for a in (NAIVE, CORRECTED)]
    found = SideBySide(table=pd.DataFrame(lines))
    assert [one.partition(",")[0] for one in found.sentences()] == ["z", "a"]
    html = found._repr_html_()
    assert -1 < html.find("<td>z</td>") < html.find("<td>a</td>")

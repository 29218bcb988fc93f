"""An agreement in text: the coefficients with their intervals."""

import pandas as pd

from assay._util.words import intervals, percent

EXPECTED = ["expected", "expected_lower", "expected_upper"]


def agreement_text(table: pd.DataFrame, level: float) -> str:
    """Write the coefficients of :class:`assay.raters.agreements.Agreement`, and what is to be
    noted.
    """
    told = table[["label", "statistic"]].assign(
        observed=intervals(table, ["value", "lower", "upper"])
    )
    if table["expected"].notna().any():
        told["expected"] = intervals(table, EXPECTED)
    told["items"] = table["n_items"]
    head = f"Agreement between raters ({percent(level)} interval, cluster bootstrap)"
    notes = dict.fromkeys(text for text in table["note"] if text)
    return "\n".join([head, told.to_string(index=False), *notes])

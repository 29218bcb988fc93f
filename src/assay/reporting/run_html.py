"""HTML of a run in a notebook."""

from collections.abc import Sequence

import pandas as pd

from assay._util.html import notebook_html
from assay._util.text import gap, interval, percent, probability


def run_html(
    *,
    summary: str,
    warnings: Sequence[str],
    metrics: pd.DataFrame,
    comparison: pd.DataFrame,
    raters: pd.DataFrame,
    labels: pd.DataFrame,
    level: float,
) -> str:
    """Return the tables of a run as HTML, the first lines of each."""
    said = f"posterior mean ({percent(level)} interval)"
    tables = {
        f"Metrics: {said}": _metrics(metrics),
        f"Systems compared: {said}": _pairs(comparison),
        f"Raters: chance of a right answer, {said}": _raters(raters),
        "Labels: posterior probability, the least certain first": _labels(labels),
    }
    return notebook_html(summary, tables, warnings)


def _told(frame: pd.DataFrame) -> list[str]:
    columns = (frame[name] for name in ("mean", "lower", "upper"))
    return [interval(*line) for line in zip(*columns, strict=True)]


def _metrics(frame: pd.DataFrame) -> pd.DataFrame:
    columns = {"metric": frame["title"], "system": frame["system"], "value": _told(frame)}
    return pd.DataFrame(columns | {"better is": frame["better"], "unit": frame["unit"]})


def _pairs(frame: pd.DataFrame) -> pd.DataFrame:
    if frame.empty:
        return frame
    ends = (frame[f"difference{end}"] for end in ("", "_lower", "_upper"))
    return pd.DataFrame(
        {
            "metric": frame["metric"],
            "difference": frame["a"] + " − " + frame["b"],
            "value": [gap(*line) for line in zip(*ends, strict=True)],
            "P(above 0)": frame["p_greater"].map(probability),
        }
    )


def _raters(frame: pd.DataFrame) -> pd.DataFrame:
    worst = frame.sort_values("mean", kind="stable")
    return pd.DataFrame(
        {"rater": worst["rater"], "label": worst["label"], "chance of a right answer": _told(worst)}
    )


def _labels(frame: pd.DataFrame) -> pd.DataFrame:
    least = frame.sort_values("probability", kind="stable")
    return least[["item", "label", "class", "probability"]].round({"probability": 3})

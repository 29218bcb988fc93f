"""Section: what the metrics become if abstentions hang on the truth."""

import pandas as pd

from assay._util.plurals import counted, does
from assay._util.words import interval, percent
from assay.display.notes import estimand_words
from assay.reporting.material import Material
from assay.reporting.page import Section, by_metric, prose, table_of

KEYS = ["metric", "system"]


def abstaining_section(material: Material) -> Section | None:
    """Show how far abstentions could move each metric, and on which items; None without any."""
    ratings = material.ratings
    if not ratings.abstained.any():
        return None
    table = material.abstaining
    cells = _furthest(table)
    ends = {"fitted": "At random", "lowest": "Lowest", "highest": "Highest"}
    shown, under = by_metric(cells, ends)
    count = int(ratings.abstained.sum())
    return Section(
        key="abstaining",
        title="If abstaining is not by chance",
        blocks=(
            prose(
                f"{count} of {counted(len(ratings.abstained), 'rating')} {does(count, 'are')} "
                "abstentions. All other numbers take it that whether a rater abstains tells "
                "nothing of the truth, which the data can hardly check. Here the odds of "
                "abstaining are four times as high, or a quarter, where the truth is of one kind: "
                "each kind in turn, and shown are the two that move a metric the furthest."
            ),
            table_of(
                "abstaining",
                f"If abstaining tells: posterior mean ({percent(material.level)} interval)",
                cells,
                shown,
                under=under,
                note=f"Estimand {estimand_words(table)}. Reference: {material.reference}.",
                export=table,
            ),
        ),
    )


def _furthest(table: pd.DataFrame) -> pd.DataFrame:
    """Put the lowest and the highest mean of each metric beside the fit's own."""
    cells = []
    for key, found in table.groupby(KEYS, sort=False):
        rising = found.sort_values("mean", kind="stable")
        own = rising[rising["odds_ratio"] == 1].iloc[0]
        cells.append([*key, _told(own), _end(rising.iloc[0]), _end(rising.iloc[-1])])
    return pd.DataFrame(cells, columns=[*KEYS, "fitted", "lowest", "highest"])


def _told(line: pd.Series) -> str:
    return interval(line["mean"], line["lower"], line["upper"])


def _end(line: pd.Series) -> str:
    """Say a number, and what would have to hold for it."""
    if line["odds_ratio"] == 1:
        return "the same"
    times = "4 times" if line["odds_ratio"] > 1 else "a quarter"
    return f"{_told(line)}: {times} on {line['when']}"

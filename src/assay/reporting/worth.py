"""Rater groups: how many independent raters each is worth, and how often it misperceives items."""

import pandas as pd

from assay._util.words import intervals, percent
from assay.inference.assumptions import LITTLE, PRIOR_DRIVEN
from assay.reporting.page import Block, prose, table_of


def worth_blocks(worth: pd.DataFrame, misperceived: pd.DataFrame, level: float) -> list[Block]:
    """Say what raters who err together are worth; nothing where the model has nobody do so.

    Parameters
    ----------
    worth : DataFrame
        From :func:`assay.display.frames.worth_frame`.
    misperceived : DataFrame
        From :func:`assay.perception_table`.
    level : float
        Probability of the intervals.
    """
    blocks: list[Block] = []
    if not worth.empty:
        text = (
            "Raters who err on the same items are no independent witnesses of them: a group counts "
            "as many independent raters as the correlation of its errors leaves."
        )
        blocks += [prose(text), _worth_table(worth, level)]
    if not misperceived.empty:  # of groups of one rater too
        blocks.append(_misperceived_table(misperceived, level))
    return blocks


def _worth_table(worth: pd.DataFrame, level: float) -> Block:
    several = worth["label"].nunique() > 1
    shown = {"group": "Group", "raters": "Raters", "words": "Independent raters"}
    return table_of(
        "worth",
        f"How many independent raters a group is worth ({percent(level)} interval)",
        worth.assign(words=intervals(worth)),
        shown,
        under="label" if several else "",
        note=f"By the model, after Kish's design effect. Reference: {worth['reference'].iloc[0]}.",
        export=worth,
    )


def _misperceived_table(misperceived: pd.DataFrame, level: float) -> Block:
    told = [_told_by(share) for share in misperceived["prior_share"].tolist()]
    return table_of(
        "misperceived",
        f"How often an item looks to a whole group like another ({percent(level)} interval)",
        misperceived.assign(words=intervals(misperceived), told=told),
        {"group": "Group", "words": "Share of the items", "told": "Told by"},
        export=misperceived,
    )


def _told_by(share: float) -> str:
    """Say who tells a number whose posterior has this share of the prior's SD."""
    if share > PRIOR_DRIVEN:
        return "the prior alone"
    return "the prior, and little by the data" if share > LITTLE else "the data"

"""Section: checks that could not run, and the input that would enable them."""

from collections.abc import Sequence

import pandas as pd

from assay.reporting.material import Material
from assay.reporting.page import Gap, Section, prose, table_of


def gaps_of(material: Material) -> list[Gap]:
    """Return what the input of this fit cannot answer, whatever is asked of the report."""
    ratings = material.ratings
    found = []
    if not ratings.has_truth.any():
        found.append(
            Gap(
                what="Calibration against known truth",
                why="the truth of no item is known",
                enable="known truth of some items, chosen at random (truth=)",
                code="no-known-truth",
            )
        )
    if ratings.raters["group"].nunique() < 2:
        found.append(
            Gap(
                what="Whether a group of raters errs together",
                why="all raters are one group",
                enable="a column with the group of each rater (group=)",
                code="one-rater-group",
            )
        )
    if (ratings.replicate == 0).all():
        found.append(
            Gap(
                what="Raters' consistency with themselves",
                why="no rater rated an item twice",
                enable="second ratings by the same raters (replicate=)",
                code="no-replicates",
            )
        )
    return found


def gaps_section(gaps: Sequence[Gap]) -> Section:
    """List the checks that could not run."""
    title = "Checks that could not run"
    if not gaps:
        return Section(key="gaps", title=title, blocks=(prose("None: all checks ran."),))
    lines = [{"what": g.what, "why": g.why, "enable": g.enable} for g in gaps]
    shown = {"what": "Check", "why": "Why not", "enable": "What would enable it"}
    table = table_of(
        "gaps", "Checks, and the input that would enable each", pd.DataFrame(lines), shown,
        is_prose=True,
    )  # fmt: skip
    return Section(key="gaps", title=title, blocks=(table,))

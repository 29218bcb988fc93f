"""Section: what the scores of scored raters mean."""

import pandas as pd

from assay._util.errors import FitError
from assay._util.words import intervals, percent
from assay.plots.scores import SHOWN_CURVES, draw_calibration, upper_classes
from assay.raters.calibration import NO_SCORE
from assay.reporting.material import Material
from assay.reporting.page import Block, Gap, Picture, Section, prose, table_of
from assay.reporting.svg import WIDTH, to_svg

FAMILY = "scored"
WHAT = "What the scores mean"


def scores_section(material: Material) -> Section | Gap | None:
    """Show the probability of each class given the score; None if no rater is scored."""
    if FAMILY not in material.spec.rater_parts:
        return None
    try:
        every = material.calibration
    except FitError:
        return Gap(
            what=WHAT,
            why=NO_SCORE,
            enable="their scores or confidences (score=, confidence=)",
            code="no-scores",
        )
    table = upper_classes(every, material.ratings.task)
    curves = table.drop_duplicates(["rater", "label"])
    note = f"At the prevalence of these items. Reference: {material.reference}."
    only = f", {SHOWN_CURVES} of {len(curves)} curves" if len(curves) > SHOWN_CURVES else ""
    words = "Probability of each class given the score, by rater; the table has it."
    blocks: list[Block] = [
        prose(
            "What a score is worth, as learned from all raters. Of a label with two classes, a "
            "score that is the probability of the upper one lies on the diagonal; above it the "
            "rater scores too low, below it too high."
        ),
        Picture(
            svg=to_svg(draw_calibration(table, width=WIDTH), name="scores", words=words),
            caption=f"Posterior mean with {percent(material.level)} band{only}. {note}",
        ),
        _table(
            _of_curves(table, curves[:SHOWN_CURVES]),
            material.level,
            f"{note} All curves: tables=." if only else note,
            every,
        ),
    ]
    return Section(key="scores", title=WHAT, blocks=tuple(blocks))


def _of_curves(table: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of some curves, which are a rater and a label each."""
    keys = ["rater", "label"]
    return table.merge(curves[keys], on=keys)


def _table(table: pd.DataFrame, level: float, note: str, export: pd.DataFrame) -> Block:
    bounds = zip(table["lowest_score"], table["highest_score"], strict=True)
    words = table.assign(
        whose=table["rater"] + ", " + table["label"] + " = " + table["class"].astype(str),
        score=[f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}" for low, high in bounds],
        told=intervals(table),
    ).sort_values("whose", kind="stable")
    columns = {
        "score": "Score",
        "n_ratings": "Ratings",
        "told": f"Probability ({percent(level)} interval)",
    }
    caption = "Probability of the class given the score"
    return table_of("scores", caption, words, columns, under="whose", note=note, export=export)

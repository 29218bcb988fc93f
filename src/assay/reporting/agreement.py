"""Section: agreement between raters, and its expectation under the model."""

import pandas as pd

from assay._util.text import interval, lines_of, percent
from assay.display.rater_tables import agreement_table, consistency_said
from assay.display.table import table_of
from assay.plots.labels import plot_agreement
from assay.raters.agreements import WHOLE, Agreement
from assay.reporting.material import Material
from assay.reporting.page import (
    WIDTH,
    Block,
    Callout,
    Finding,
    Gap,
    Section,
    picture,
    prose,
)

WEIGHT = 75.0
SLIGHT = 0.2
"""Alpha up to which agreement is slight (Landis & Koch 1977, Biometrics 33, 159-174)."""

ENOUGH = 30
"""Items with two answers below which intervals of coefficients are too narrow."""

ALPHA = ("krippendorff_alpha_ordinal", "krippendorff_alpha")
"""Coefficients of agreement beyond chance; the first that a label has is used."""

NO_OVERLAP = Gap(
    what="Agreement between raters",
    why="no two raters answered the same label of the same item",
    enable="second ratings of some items",
    code="no-shared-items",
)


def agreement_section(material: Material) -> Section | Gap:
    """Report coefficients of agreement, and where the model expects other values."""
    found = material.agreed
    if found.table["value"].isna().all():
        return NO_OVERLAP
    figure = plot_agreement(found, width=WIDTH)
    words = "Coefficients of agreement: observed, and expected by the fitted model."
    slight = _slight(found)
    blocks: list[Block] = [
        prose(
            "Agreement is not accuracy: raters can agree and be wrong together. A coefficient far "
            "from its expected value shows that the model does not describe the raters well."
        ),
        *(Callout(word="Slight agreement", text=text, level="doubt") for text in slight),
        *_misfit(found.table, found.level),
        picture(figure, name="agreement", words=words, caption=words),
        agreement_table(found),
    ]
    if len(found.intra_rater):
        shown = {"rater": "Rater", "label": "Label", "n": "Items", "percent": "Agreement"}
        said = consistency_said(material.consistency)
        blocks.append(
            table_of(
                "intra_rater",
                "Agreement of raters with their own earlier ratings",
                found.intra_rater,
                shown,
                note=said,
            )
        )
    findings = tuple(Finding(weight=WEIGHT, text=text, code="slight-agreement") for text in slight)
    return Section(key="agreement", title="Agreement", blocks=tuple(blocks), findings=findings)


def _slight(found: Agreement) -> list[str]:
    """Describe the labels with certainly slight agreement."""
    labels = found.table[found.table["label"] != WHOLE]
    told = []
    for label, table in labels.groupby("label", sort=False):
        by_name = table.set_index("statistic")
        line = lines_of(by_name.loc[[next(s for s in ALPHA if s in by_name.index)]])[0]
        if line["n_items"] >= ENOUGH and line["upper"] < SLIGHT:
            told.append(
                f"Raters agree on {label} hardly more than by chance: Krippendorff's alpha "
                f"{interval(line['value'], line['lower'], line['upper'])}. Their answers carry "
                "little information about the truth. The model's labels and shares depend mostly "
                "on the prior and on assumptions about raters."
            )
    return told


def _misfit(table: pd.DataFrame, level: float) -> list[Block]:
    """Name the coefficients outside the interval that the model expects."""
    below, above = (
        table["value"] < table["expected_lower"],
        table["value"] > table["expected_upper"],
    )
    odd = table[below | above]
    if odd.empty or table["expected"].isna().all():
        return []
    names = "; ".join(f"{s} of {la}" for la, s in zip(odd["label"], odd["statistic"], strict=True))
    text = (
        f"Outside the {percent(level)} interval that the model expects: {names}. A few of "
        f"{table['expected'].notna().sum()} correlated coefficients may lie outside by chance. "
        "For tail probabilities, see 'Does the model fit?'."
    )
    return [Callout(word="Model check", text=text, level="doubt")]

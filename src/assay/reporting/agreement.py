"""Section: agreement between raters, beside what the model expects."""

import pandas as pd

from assay.plots.agreement import plot_agreement
from assay.reporting.material import Material
from assay.reporting.page import Block, Callout, Gap, Picture, Section, prose, table_of
from assay.reporting.svg import WIDTH, to_svg
from assay.words import interval, percent

NO_OVERLAP = Gap(
    what="Agreement between raters",
    why="no two raters answered the same label of the same item",
    enable="second ratings of some items",
)


def agreement_section(material: Material) -> Section | Gap:
    """Report the usual coefficients, and where the model expects others."""
    found = material.agreed
    if found.table["value"].isna().all():
        return NO_OVERLAP
    figure = plot_agreement(found, width=WIDTH)
    words = "Coefficients of agreement, and what the fitted model expects of them."
    blocks: list[Block] = [
        prose(
            "Agreement is not accuracy: raters can agree and be wrong together. Where what was "
            "observed lies far from what the model expects, the model misses something about the "
            "raters."
        ),
        *_misfit(found.table, found.level),
        Picture(svg=to_svg(figure, name="agreement", words=words), caption=words),
        _table(found.table, found.level, found.draws),
    ]
    if len(found.intra_rater):
        shown = {"rater": "Rater", "label": "Label", "n": "Items", "percent": "Agreement"}
        blocks.append(table_of("intra_rater", "Raters with themselves", found.intra_rater, shown))
    return Section(key="agreement", title="Agreement", blocks=tuple(blocks))


def _misfit(table: pd.DataFrame, level: float) -> list[Block]:
    """Name the coefficients that lie outside the interval that the model expects."""
    below, above = (
        table["value"] < table["expected_lower"],
        table["value"] > table["expected_upper"],
    )
    odd = table[below | above]
    if odd.empty or table["expected"].isna().all():
        return []
    names = "; ".join(f"{s} of {la}" for la, s in zip(odd["label"], odd["statistic"], strict=True))
    text = (
        f"Outside the {percent(level)} interval that the model expects: {names}. Of "
        f"{table['expected'].notna().sum()} coefficients, which go together, a few may lie outside "
        "by chance; tail probabilities stand under 'Does the model fit?'."
    )
    return [Callout(word="Model check", text=text, level="doubt")]


def _table(table: pd.DataFrame, level: float, draws: int) -> Block:
    columns = {
        "observed": ["value", "lower", "upper"],
        "model": ["expected", "expected_lower", "expected_upper"],
    }
    words = table.assign(
        **{
            name: [interval(*line) for line in table[names].to_numpy(float)]
            for name, names in columns.items()
        }
    )
    shown = {
        "statistic": "Coefficient",
        "observed": "Observed",
        "model": "Expected by the model",
        "n_items": "Items",
    }
    notes = "; ".join(dict.fromkeys(text for text in table["note"] if text))
    return table_of(
        "agreement",
        f"Agreement between raters ({percent(level)} interval)",
        words,
        shown,
        under="label",
        note=f"Cluster bootstrap, {draws} samples. {notes}".strip(),
        export=table,
    )

"""Section on model checks: which features of the answers the model does not reproduce."""

import pandas as pd

from assay._util.text import intervals, percent, some
from assay.checks.departures.report import MEANINGS
from assay.display.notes import doubts
from assay.display.table import table_of
from assay.reporting.material import MISFIT, Material
from assay.reporting.page import Block, Callout, Finding, Section, prose
from assay.validation.posterior_predictive import ACROSS, INDEPENDENCE, WITHIN

SHOWN_MODEL_CHECKS = 12
WEIGHT = 8.0
OF_CHECKS = {
    "how sure the labels are: raters agree otherwise than the model expects": {
        "agreement", "unanimity",
    },
    "whether shares are right: raters give some answers otherwise than the model expects": {
        "answers",
    },
    "how reliable raters are: they repeat their ratings otherwise than the model expects": {
        "repeats",
    },
}  # fmt: skip
"""What a misfit leaves open on page one, by the checks that show it."""
FAVOURS = MEANINGS["rater-by-system"].asked


def misfit_section(material: Material) -> Section:
    """Compare the answers with replicates from the model."""
    table, odd = material.predictive, material.misfits
    blocks: list[Block] = [
        prose(
            "These checks compare the answers with replicates from the fitted model, for the same "
            "raters and items. A small tail probability is a misfit. A large one does not prove "
            "that the model fits: with few items, shared errors are hard to detect."
        ),
        _model_checks_verdict(odd, len(table)),
        *([] if material.view.spec.reference else _together(odd)),
        *_of_one_mind(odd),
        *_repeating(odd),
        _model_checks_table(table, material.level),
    ]
    text = f"The model does not reproduce {len(odd)} of {len(table)} features of the answers."
    finding = Finding(
        weight=WEIGHT,
        text=text,
        code="features-not-reproduced",
        numbers={"features": len(odd), "of": len(table)},
        hedge=_favours(material),
        doubted=_doubted(material),
    )
    return Section(
        key="checks",
        title="Does the model fit?",
        blocks=tuple(blocks),
        findings=(finding,) if len(odd) else (),
    )


def _favours(material: Material) -> str:
    """Say in a clause that raters favour a system beyond the model, where systems are compared."""
    labels = _unexplained(material).get(FAVOURS, [])
    if not labels or len(material.ratings.systems) < 2:
        return ""
    on = f" on {some(labels, 2)}" * (len(material.ratings.task.labels) > 1)
    return f"raters may favour a system{on}, which the model does not reproduce"


def _doubted(material: Material) -> str:
    """Say which misfits bear on page one: raters who depend on each other, or on the items."""
    hedged = bool(_favours(material))
    asked = [one for one in _unexplained(material) if not (hedged and one == FAVOURS)]
    if asked:
        return f"{some(asked, 2)}: the model does not reproduce the answers there"
    odd = {*material.misfits["check"]}
    return next((text for text, checks in OF_CHECKS.items() if odd & checks and not hedged), "")


def _unexplained(material: Material) -> dict[str, list[str]]:
    """Return the tests of independent raters that the model does not reproduce, with their labels.
    As some of many have a small tail, Bonferroni's correction decides.
    """
    table = material.predictive
    count = int((table["check"] == INDEPENDENCE).sum())
    odd = table[(table["check"] == INDEPENDENCE) & (table["tail"] * count < MISFIT)]
    if odd.empty:
        return {}
    told = {MEANINGS[n.code].asked for n in doubts(material.view) if n.code in MEANINGS}
    odd = odd[~odd["quantity"].isin(told)]
    return {str(one): list(part["label"]) for one, part in odd.groupby("quantity", sort=False)}


def _model_checks_verdict(odd: pd.DataFrame, count: int) -> Callout:
    if odd.empty:
        text = f"None of {count} features of the answers has a tail probability below {MISFIT}."
        return Callout(word="No misfit seen", text=text, level="good")
    lines = zip(odd["quantity"], odd["label"], odd["group"], strict=True)
    names = "; ".join(f"{q} of {la}{f' ({g})' if g else ''}" for q, la, g in lines)
    return Callout(word="Misfit", text=f"Below {MISFIT}: {names}.", level="doubt")


def _together(odd: pd.DataFrame) -> list[Block]:
    """Suggest remedies where raters of a group agree more than the model expects.

    Labels on which raters of two groups also do so are left out: there, items are hard for all.
    """
    more = odd[odd["observed"] > odd["expected"]]
    everywhere = more.loc[more["quantity"] == ACROSS, "label"]
    more = more[(more["quantity"] == WITHIN) & ~more["label"].isin(everywhere)]
    if more.empty:
        return []
    groups = [name for name in dict.fromkeys(more["group"]) if name]
    who = f"Raters of {', '.join(groups)}" if groups else "Raters of one group"
    return [
        prose(
            f"{who} agree with each other more often than the model expects. Either they err "
            "together, or the group that dominates the consensus does. A perception layer models "
            "shared errors. To estimate their rate, fit with known truth (`reference='gold'`), "
            "with a reference group (`reference=`), or with three groups (`reference='groups'`)."
        )
    ]


def _of_one_mind(odd: pd.DataFrame) -> list[Block]:
    """Suggest an explanation where raters are unanimous more often than the model expects."""
    more = odd[(odd["check"] == "unanimity") & (odd["observed"] > odd["expected"])]
    if more.empty:
        return []
    return [
        prose(
            "Raters are unanimous more often than the model expects, so they do not err "
            "independently. Some items are harder than others, or look like another class. A "
            "layer of difficulty (item_difficulty, item_difficulty_continuous, "
            "item_difficulty_by_class) models this, and may change shares and intervals."
        )
    ]


def _repeating(odd: pd.DataFrame) -> list[Block]:
    """Suggest remedies where raters repeat themselves more or less often than the model expects."""
    if not (odd["check"] == "repeats").any():
        return []
    return [
        prose(
            "Raters repeat their earlier ratings more or less often than the model expects. The "
            "intervals of their reliability are therefore too narrow or too wide. Fit the first "
            "rating of each item alone, to see what depends on the others."
        )
    ]


def _model_checks_table(table: pd.DataFrame, level: float) -> Block:
    shown = table.nsmallest(SHOWN_MODEL_CHECKS, "tail")
    words = shown.assign(
        model=intervals(shown, ["expected", "lower", "upper"]),
        observed=shown["observed"].map("{:.3f}".format),
        tail=shown["tail"].map(lambda p: f"<{MISFIT}" if p < MISFIT else f"{p:.3f}"),
        whose=shown["group"].replace("", "all"),
    )
    columns = {
        "quantity": "Feature",
        "label": "Label",
        "whose": "Raters",
        "observed": "Observed",
        "model": f"Expected ({percent(level)} interval)",
        "tail": "Tail probability",
    }
    caption = f"The {len(shown)} of {len(table)} features of the answers with the worst fit"
    return table_of("checks", caption, words, columns, export=table)

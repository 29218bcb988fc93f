"""Section: whether the model fits what it was fitted to."""

import pandas as pd

from assay._util.words import intervals, percent
from assay.reporting.material import Material
from assay.reporting.page import Block, Callout, Finding, Section, prose, table_of
from assay.validation.posterior_predictive import ACROSS, WITHIN

LIMIT = 0.01
"""Tail probability below which a line is a misfit: of many lines some are small by chance."""

SHOWN = 12
WEIGHT = 8.0


def misfit_section(material: Material) -> Section:
    """Compare the answers with those that the model would have produced."""
    table = material.predictive
    odd = table[table["tail"] < LIMIT]
    blocks: list[Block] = [
        prose(
            "Answers drawn from the fitted model, of the same raters on the same items, beside "
            "those that were given. A small tail probability is a gross misfit; a large one is no "
            "proof: on few items it hardly shows here that raters err together on hard ones."
        ),
        _verdict(odd, len(table)),
        *([] if material.spec.reference else _together(odd)),
        *_of_one_mind(odd),
        *_repeating(odd),
        _table(table, material.level),
    ]
    text = f"The model does not reproduce {len(odd)} of {len(table)} features of the answers."
    finding = Finding(
        weight=WEIGHT,
        text=text,
        section="checks",
        code="features-not-reproduced",
        numbers={"features": len(odd), "of": len(table)},
    )
    return Section(
        key="checks",
        title="Does the model fit?",
        blocks=tuple(blocks),
        findings=(finding,) if len(odd) else (),
    )


def _verdict(odd: pd.DataFrame, count: int) -> Callout:
    if odd.empty:
        text = f"None of {count} features of the answers has a tail probability below {LIMIT}."
        return Callout(word="No misfit seen", text=text, level="good")
    lines = zip(odd["quantity"], odd["label"], odd["group"], strict=True)
    names = "; ".join(f"{q} of {la}{f' ({g})' if g else ''}" for q, la, g in lines)
    return Callout(word="Misfit", text=f"Below {LIMIT}: {names}.", level="doubt")


def _together(odd: pd.DataFrame) -> list[Block]:
    """Say what would help where raters of a group agree more than the model expects.

    On labels on which raters of two groups do so too, items are hard for all: no group explains it.
    """
    more = odd[odd["observed"] > odd["expected"]]
    everywhere = more.loc[more["quantity"] == ACROSS, "label"]
    more = more[(more["quantity"] == WITHIN) & ~more["label"].isin(everywhere)]
    if more.empty:
        return []
    groups = [name for name in dict.fromkeys(more["group"]) if name]
    who = f"the raters of {', '.join(groups)}" if groups else "raters of one group"
    return [
        prose(
            f"That {who} agree with each other more than the model expects says that they err "
            "together, and are fewer independent witnesses than they are raters; or that another "
            "group does, which makes most of the consensus. A perception layer takes that into "
            "account; known truth (reference='gold'), a group whose consensus is the truth "
            "(reference=), or three groups (reference='groups') tell it how often."
        )
    ]


def _of_one_mind(odd: pd.DataFrame) -> list[Block]:
    """Say what explains raters who are all of one mind more often than the model expects."""
    more = odd[(odd["check"] == "unanimity") & (odd["observed"] > odd["expected"])]
    if more.empty:
        return []
    return [
        prose(
            "That all raters of an item say the same more often than the model expects says that "
            "they do not err independently: items differ in how hard they are for everybody, or in "
            "what they look like. Layers of difficulty (item_difficulty, "
            "item_difficulty_continuous, item_difficulty_by_class) say so, and with them shares "
            "and intervals may be others."
        )
    ]


def _repeating(odd: pd.DataFrame) -> list[Block]:
    """Say what helps where raters repeat themselves more or less often than the model expects."""
    if not (odd["check"] == "repeats").any():
        return []
    return [
        prose(
            "All raters of a recipe share one chance that a repeated rating is the earlier one "
            "again; some of these repeat themselves more often than others. What is said of their "
            "reliability is too sure or not sure enough. Raters who repeat themselves alike can "
            "be a group (group=) with a recipe of its own (raters={group: recipe})."
        )
    ]


def _table(table: pd.DataFrame, level: float) -> Block:
    shown = table.nsmallest(SHOWN, "tail")
    words = shown.assign(
        model=intervals(shown, ["expected", "lower", "upper"]),
        observed=shown["observed"].map("{:.3f}".format),
        tail=shown["tail"].map(lambda p: f"<{LIMIT}" if p < LIMIT else f"{p:.3f}"),
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
    caption = f"The {len(shown)} features of the answers that fit worst, of {len(table)}"
    return table_of("checks", caption, words, columns, export=table)

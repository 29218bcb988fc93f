"""Sections: what the report does not establish, and checks that could not run."""

from collections.abc import Sequence

import pandas as pd

from assay.reporting.material import Material
from assay.reporting.page import Gap, Section, bullets, prose, table_of
from assay.spec import CONSENSUS

NOT_A_CAUSE = (
    "Why a system or a rater does better: differences are described, and nothing was assigned at "
    "random here unless whoever collected the ratings did so."
)
OTHERS = (
    "Anything about items, raters or questions other than those in the data, but for clusters "
    "that are sampled as these were (estimand population)."
)
MISSING = (
    "That missing answers, abstentions and discards say nothing of the truth: they are taken to "
    "be missing at random given what was observed."
)


def limits_section(material: Material) -> Section:
    """Say what does not follow from the numbers."""
    said = [
        *_truth(material),
        *_assumed(material),
        *_dependence(material),
        *_interface(material),
        *_leaning(material),
        *_many(material),
        *([MISSING] if not material.answered.all() or _has_gaps(material) else []),
        OTHERS,
        NOT_A_CAUSE,
    ]
    return Section(key="limits", title="What this report does not establish", blocks=bullets(said))


def _truth(material: Material) -> list[str]:
    if material.reference != CONSENSUS:
        return [f"That {material.reference} is right: it is the truth here by definition."]
    return [
        "That the raters' consensus is right. The truth here is the consensus of all raters: a "
        "misunderstanding that all of them share cannot be seen in their ratings. Known truth of "
        "some items would show it."
    ]


def _assumed(material: Material) -> list[str]:
    """Repeat what the fit says it takes for granted; whose truth it is stands before."""
    said = material.attribute("assumptions") or []
    return [text for text in said if not text.startswith("The truth is")]


def _dependence(material: Material) -> list[str]:
    spec = str(material.attribute("spec")["raters"])
    if any(layer in spec for layer in ("perception", "item_difficulty", "joint")):
        return []
    return [
        "That raters err independently of each other. The model takes their errors to be "
        "independent given the truth; where items differ in difficulty, or raters are models of "
        "one family, it is too sure of itself (raters='hierarchical + item_difficulty')."
    ]


def _interface(material: Material) -> list[str]:
    strict = [r.expression for r in material.ratings.task.rules if r.response != "off"]
    if not strict:
        return []
    return [
        f"That the interface worked as assumed for {'; '.join(strict)}: a rater's own sensitivity "
        "hangs on it, while what is recorded is less sensitive to it."
    ]


def _leaning(material: Material) -> list[str]:
    return [
        f"Numbers that lean on the prior: {finding.text}."
        for finding in material.checked.at_least("note")
        if "on the prior" in finding.text
    ]


def _many(material: Material) -> list[str]:
    systems, metrics = len(material.ratings.systems), len(material.summaries["finite"])
    if systems < 2:
        return []
    return [
        f"That the most striking of {metrics} numbers would strike again: probabilities are given "
        "one by one, and what is picked for its size is on average smaller than it looks."
    ]


def _has_gaps(material: Material) -> bool:
    return bool(material.ratings.abstained.any())


def gaps_of(material: Material) -> list[Gap]:
    """Return what the input of this fit cannot answer, whatever is asked of the report."""
    ratings = material.ratings
    found = []
    if not (ratings.truth >= 0).any():
        found.append(
            Gap(
                what="Calibration against known truth",
                why="the truth of no item is known",
                enable="known truth of some items, chosen at random (truth=)",
            )
        )
    if ratings.raters["group"].nunique() < 2:
        found.append(
            Gap(
                what="Whether a group of raters errs together",
                why="all raters are one group",
                enable="a column with the group of each rater (group=)",
            )
        )
    if (ratings.replicate == 0).all():
        found.append(
            Gap(
                what="Raters' consistency with themselves",
                why="no rater rated an item twice",
                enable="second ratings by the same raters (replicate=)",
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

"""Section: the data, and what was set aside."""

import numpy as np
import pandas as pd

from assay._util.plurals import counted, does, sentence, some
from assay.checks.double_sampling import RECIPE, TURNS
from assay.checks.findings import Finding as Checked
from assay.checks.findings import Proposal
from assay.data.ratings import Accounting, Ratings
from assay.modelling.spec import parse_recipe
from assay.reporting.material import Material
from assay.reporting.page import Block, Callout, Finding, Section, bullets, prose, table_of

SHOWN_LINES = 5
LEVELS = {"problem": "bad", "warning": "doubt"}
OF_ORDERS = ("ordinal", "scored")
"""Families that know of ordered classes."""
SAID = ("rows", "items")
"""Topics of the check that the section's own sentences and tables tell."""

UNTOLD_WEIGHT = 95.0
"""Of what the data cannot tell: only a fit that is not to be trusted comes before it."""

WEIGHT = 80.0
"""More than that of a claim: a verdict on a comparison of the wrong sign is wrong, too."""


def data_section(material: Material) -> Section:
    """Say what was read, what was used, what was set aside and why, and what data can tell."""
    ratings, accounting = material.ratings, material.ratings.accounting
    blocks: list[Block] = [prose(_sizes(ratings), _rows(accounting))]
    if len(accounting.set_aside):
        blocks.append(_set_aside_table(accounting))
    blocks += bullets(accounting.notes, "What the reader of the file decided:")
    found = _still_true(material)
    for finding in found:
        if finding.level in LEVELS:
            level = LEVELS[finding.level]
            blocks.append(Callout(word=finding.level, text=sentence(finding.text), level=level))
    notes = [f.text for f in found if f.level == "note" and f.topic not in SAID]
    blocks += bullets(notes, "What a check of the ratings found besides:")
    fine = [f.text for f in found if f.level == "ok" and f.topic not in SAID]
    blocks += bullets(fine, "What is as it should be:")
    if len(accounting.roles):
        blocks.append(_roles_table(accounting))
    return Section(
        key="data",
        title="The data, and what was set aside",
        blocks=tuple(blocks),
        findings=_findings(found),
    )


def _still_true(material: Material) -> list[Checked]:
    """Return what the check found, but for proposals that this fit has followed."""
    parts = set(material.spec.rater_parts)
    followed: dict[Proposal | None, bool] = {
        "reference": material.spec.reference is not None,
        "order": not parts.isdisjoint(OF_ORDERS),
        "system_bias": parts.issuperset(parse_recipe(RECIPE).layers),
    }
    return [f for f in material.data_check.findings if not followed.get(f.proposes)]


def _findings(found: list[Checked]) -> tuple[Finding, ...]:
    """Tell what the data cannot tell, and that a comparison may have the wrong sign."""
    problems = (
        Finding(
            weight=UNTOLD_WEIGHT, text=sentence(f.text), section="data", code=f.code,
            numbers=f.numbers,
        )
        for f in found
        if f.level == "problem"
    )  # fmt: skip
    told = [f for f in found if f.code == "double-sampling" and f.level in LEVELS]
    signs = (
        Finding(
            weight=WEIGHT,
            text=f"{sentence(f.text.partition(TURNS)[0] + TURNS)} What to fit instead stands "
            "there.",
            section="data",
            code=f.code,
            numbers=f.numbers,
        )
        for f in told
    )
    return (*problems, *signs)


def _sizes(ratings: Ratings) -> str:
    """Count ratings, items, raters, clusters and systems."""
    per_item = np.bincount(ratings.item[ratings.answered], minlength=len(ratings.items))
    clusters, systems = ratings.items["cluster"].nunique(), ratings.systems
    parts = [f"{counted(len(ratings.answers), 'rating')} of {counted(len(ratings.items), 'item')}"]
    parts.append(f"by {counted(len(ratings.raters), 'rater')}")
    if clusters < len(ratings.items):
        parts.append(f"in {counted(clusters, 'cluster')}")
    if systems:
        parts.append(f"of {counted(len(systems), 'system')} ({some(systems)})")
    once, more = int((per_item == 1).sum()), int((per_item > 1).sum())
    none = len(per_item) - once - more
    kinds = {"several ratings": more, "one": once, "none": none}
    told = [f"{count} {does(count, 'have')} {kind}" for kind, count in kinds.items() if count]
    return f"{' '.join(parts)}. Of the items, {', '.join(told)}."


def _rows(accounting: Accounting) -> str:
    """Count rows read, used and set aside."""
    if not accounting.rows_read:
        return "The ratings were not read from a file."
    aside = len(accounting.set_aside)
    return (
        f"{accounting.rows_read} rows were read from {accounting.source}, {accounting.rows_used} "
        f"used and {aside} set aside{'.' if aside else ': nothing was left out.'}"
    )


def _set_aside_table(accounting: Accounting) -> Block:
    lines = [
        {
            "reason": str(reason),
            "rows": len(part),
            "lines": some([str(n) for n in part["line"]], SHOWN_LINES),
            "detail": str(part["detail"].iloc[0]),
        }
        for reason, part in accounting.set_aside.groupby("reason", sort=False)
    ]
    return table_of(
        "set_aside",
        "Rows set aside",
        pd.DataFrame(lines),
        {"reason": "Reason", "rows": "Rows", "lines": "Lines of the file", "detail": "For example"},
        export=accounting.set_aside,
    )


def _roles_table(accounting: Accounting) -> Block:
    shown = {"column": "Column", "role": "Taken for", "evidence": "Because"}
    told = accounting.roles.replace({"role": {"": "not used"}})
    return table_of(
        "roles", "Columns of the source", told, shown, export=accounting.roles, is_prose=True
    )

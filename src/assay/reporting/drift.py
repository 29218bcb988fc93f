"""Section: reliability by session."""

from typing import TYPE_CHECKING

import pandas as pd

from assay._util.words import gap, lines_of, percent
from assay.comparison.settled import sign
from assay.plots.forest import Series, forest
from assay.reporting.material import Material
from assay.reporting.page import Block, Finding, Picture, Section, prose, table_of
from assay.reporting.svg import WIDTH, to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAYER = "drift"
SHOWN = 40
"""Lines of the figure and of the table: raters times labels."""

WEIGHT = 12.0


def drift_section(material: Material) -> Section | None:
    """Say whose reliability changed between the first session and the last; None without drift."""
    if LAYER not in material.spec.rater_parts:
        return None
    table, sessions = material.drift, material.ratings.sessions
    shown = _largest_first(table).head(SHOWN).sort_index()
    about = f"from {sessions[0]} to {sessions[-1]}"
    note = f"Kind raw: before the interface blocks. Reference: {material.reference}."
    only = f", the {SHOWN} that changed most of {len(table)}" if len(table) > SHOWN else ""
    changed = _changed(table)
    words = f"Change of reliability {about}; the table has it."
    blocks: list[Block] = [
        prose(
            f"Reliability is the probability of the right answer, averaged over the classes of a "
            f"label. Over {len(sessions)} sessions, {about}, it changed by:"
        ),
        Picture(
            svg=to_svg(_figure(shown, material.level), name="drift", words=words),
            caption=f"Change, posterior mean with {percent(material.level)} interval{only}. {note}",
        ),
        prose(_summary(changed, material.level)),
        _table(shown, material.level, note, table),
    ]
    return Section(
        key="drift",
        title="Reliability by session",
        blocks=tuple(blocks),
        findings=_findings(changed, about),
    )


def _changed(table: pd.DataFrame) -> pd.DataFrame:
    """Return the raters whose interval excludes no change, the largest change first."""
    sure = table[[bool(found) for found in map(sign, table["lower"], table["upper"])]]
    return _largest_first(sure)


def _largest_first(table: pd.DataFrame) -> pd.DataFrame:
    return table.reindex(table["change"].abs().sort_values(ascending=False).index)


def _figure(shown: pd.DataFrame, level: float) -> "Figure":
    values = shown.rename(columns={"change": "mean"}).set_index(["label", "rater"])
    series = Series(name="change", values=values[["mean", "lower", "upper"]])
    label = f"change of reliability, {percent(level)} interval"
    return forest([series], label=label, reference=0.0, width=WIDTH)


def _summary(changed: pd.DataFrame, level: float) -> str:
    if changed.empty:
        return f"The {percent(level)} interval of every rater's change holds 0."
    said = [
        f"{line['rater']} on {line['label']} got {'better' if line['change'] > 0 else 'worse'}"
        for line in lines_of(changed)
    ]
    return f"By intervals of {percent(level)} that exclude 0: {'; '.join(said)}."


def _table(shown: pd.DataFrame, level: float, note: str, export: pd.DataFrame) -> Block:
    numbers = shown[["change", "lower", "upper"]].to_numpy(float)
    words = shown.assign(
        told=[gap(*line) for line in numbers],
        first=shown["first"].map("{:.2f}".format),
        last=shown["last"].map("{:.2f}".format),
        p_better=shown["p_better"].map("{:.2f}".format),
    )
    columns = {
        "rater": "Rater",
        "first": "First session",
        "last": "Last session",
        "told": f"Change ({percent(level)} interval)",
        "p_better": "P(better at the end)",
    }
    several = shown["label"].nunique() > 1
    return table_of(
        "drift",
        "Reliability in the first and in the last session",
        words,
        columns,
        under="label" if several else "",
        note=note,
        export=export,
    )


def _findings(changed: pd.DataFrame, about: str) -> tuple[Finding, ...]:
    """Tell the largest change."""
    return tuple(
        Finding(
            weight=WEIGHT * abs(line["change"]),
            text=(
                f"{line['rater']} got {'better' if line['change'] > 0 else 'worse'} at "
                f"{line['label']} {about}: reliability went from {line['first']:.2f} to "
                f"{line['last']:.2f}."
            ),
            section="drift",
            code="rater-drifted",
            numbers={"first": line["first"], "last": line["last"]},
        )
        for line in lines_of(changed.head(1))
    )

"""Part of the section on stability: what becomes of the metrics themselves."""

from collections.abc import Sequence

import pandas as pd

from assay._util.words import UNDEFINED, interval, lines_of
from assay.comparison.words import Line
from assay.display.notes import estimand_words
from assay.reporting.page import Block, Callout, table_of
from assay.validation.views import CHANGES

KERNEL = "kernel"


def metrics_blocks(table: pd.DataFrame, ran: pd.DataFrame, reference: str) -> list[Block]:
    """Show the metrics of each system as fitted, under the other kernel, and over all refits.

    Parameters
    ----------
    table : DataFrame
        Of :func:`assay.stability`, ``of="systems"``; exported.
    ran : DataFrame
        Its lines of variants that could run.
    reference : str
        Whose truth the numbers are about.
    """
    frame = pd.DataFrame([_row(part) for _, part in ran.groupby(["metric", "system"], sort=False)])
    shown = {"metric": "Metric"} if frame["system"].nunique() == 1 else {"system": "System"}
    shown |= {"fitted": "As fitted"}
    kernel = ran.loc[ran["kind"] == KERNEL, "variant"]
    if len(kernel):
        shown[KERNEL] = _heading(str(kernel.iloc[0]))
    shown |= {"range": "Estimates of the refits", "most": "Moved most by"}
    numbers = table_of(
        "stability_metrics",
        "Each metric as fitted, and under other assumptions",
        frame,
        shown,
        under="" if "metric" in shown else "metric",
        note=f"Estimand {estimand_words(ran)}. Reference: {reference}. All refits: tables=.",
        export=table,
    )
    left = leaving(ran)
    if not left:
        return [numbers]
    word = "Where an estimate leaves its interval as fitted"
    return [numbers, Callout(word=word, text="; ".join(left) + ".", level="doubt")]


def leaving(ran: pd.DataFrame) -> list[str]:
    """Say which refits move an estimate out of its interval as fitted."""
    changed = ran[ran["changes"].str.startswith(CHANGES)]
    return [
        f"{line['metric']}{f' of {line["system"]}' if line['system'] else ''}, {line['variant']}: "
        f"{line['mean']:z.2f} {line['changes'][line['changes'].index('(') :]}"
        for line in lines_of(changed)
    ]


def _row(part: pd.DataFrame) -> dict[str, str]:
    """One line per metric and system."""
    first, *others = lines_of(part.sort_values("kind", key=lambda k: k != "none", kind="stable"))
    values = [line["mean"] for line in others if line["mean"] == line["mean"]]
    return {
        "metric": str(first["metric"]),
        "system": str(first["system"]),
        "fitted": _told(first),
        KERNEL: next((_told(line) for line in others if line["kind"] == KERNEL), ""),
        "range": f"{min(values):z.2f} to {max(values):z.2f}" if values else "none ran",
        "most": moved_most(first, others, "mean"),
    }


def _heading(variant: str) -> str:
    """Return the heading of the other kernel's column."""
    return variant[:1].upper() + variant[1:]


def _told(line: Line) -> str:
    return interval(line["mean"], line["lower"], line["upper"])


def moved_most(first: Line, others: Sequence[Line], number: str) -> str:
    """Name the refit that moves an estimate most, and by how much.

    Parameters
    ----------
    first : mapping
        The line of the fit.
    others : sequence of mapping
        Lines of its refits.
    number : str
        The column of the estimate.
    """
    moves = {line["variant"]: line[number] - first[number] for line in others}
    known = {name: move for name, move in moves.items() if move == move}
    if not known:
        return UNDEFINED
    name = max(known, key=lambda name: abs(known[name]))
    return f"{name} ({known[name]:+z.2f})"

"""The decision on a launch as a table: a line per system, with gain, guardrails and loss."""

import pandas as pd

from assay._util.text import chance_cells, fixed, intervals, mark_of, percent
from assay.comparison.launch import Decision
from assay.display.table import Table, table_of

FEW_GUARDRAILS = 3
"""Guardrails that have a column each; with more, only all of them together have one."""


def decision_table(found: Decision, draws: float | None = None) -> Table:
    """Return the numbers of each system, the lowest expected loss first. The effective number of
    ``draws`` limits the decimals.
    """
    table = found.table.sort_values("expected_loss", kind="stable", ignore_index=True)
    marks: dict[str, str] = {}
    others = table[table["system"] != found.baseline]
    told = {
        str(name): pd.Series(chance_cells(others[name]), others.index)
        for name in table
        if str(name).startswith("p_")
    }
    gains = intervals(others, ("gain", "lower", "upper"), draws=draws, marks=[0.0])
    told["gain"] = pd.Series(
        [g + (mark_of(d, marks) if d else "") for g, d in zip(gains, others["doubt"], strict=True)],
        index=others.index,
    )
    losses = [fixed(loss, 3) for loss in table["expected_loss"]]
    words = table[["system"]].assign(expected_loss=losses, **told).fillna("")
    shown = {"system": "System", "gain": f"Gain over {found.baseline}", "p_better": "P(better)"}
    held = [f"p_holds_{name}" for name in found.guardrails]
    if len(held) <= FEW_GUARDRAILS:
        shown |= {name: f"P(guardrail {n})" for n, name in enumerate(held, start=1)}
    elif held:
        shown |= {"p_guardrails": "P(guardrails)"}
    shown |= {"p_all": "P(all)"} if held else {}
    shown |= {"expected_loss": "Expected loss"}
    return table_of(
        "decision",
        f"Launch: gain, posterior mean ({percent(found.level)} interval), and probabilities",
        words,
        shown,
        note=_legend(found),
        marks=marks,
        export=found.table,
    )


def _legend(found: Decision) -> str:
    """Return which metrics the gain and the guardrails are about, each with its name."""
    parts = [
        _named(found, name) + (f" times {weight:g}" if len(found.weights) > 1 else "")
        for name, weight in found.weights.items()
    ]
    lines = [f"Gain: {' and '.join(parts)}."]
    known = set(found.weights)
    for n, (name, margin) in enumerate(found.guardrails.items(), start=1):
        title = found.titles[name] if name in known else _named(found, name)
        lines.append(f"Guardrail {n}: {title} not worse by more than {margin:g}.")
    return " ".join(lines)


def _named(found: Decision, name: str) -> str:
    """Return a metric's title, with the name by which options call it."""
    title = found.titles[name]
    return name if title == name else f"{title} ({name})"

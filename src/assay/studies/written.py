"""The tables of a study in text: estimates with their intervals, a table below the other."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.words import UNDEFINED, interval, mark_of, percent
from assay.display.notes import estimand_words

ENDS = ("lower", "upper")
SHARED = ("estimand", "reference", "shift", "doubt")
"""Columns that a heading tells, or that the numbers beside them make."""


def study_text(
    systems: pd.DataFrame,
    agreement: pd.DataFrame,
    audits: pd.DataFrame,
    times: pd.DataFrame,
    *,
    notes: Sequence[str],
    level: float,
) -> str:
    """Write the tables of a study (see :func:`assay.ais_study`); empty ones are left out."""
    ends = f"{percent(level)} interval"
    about = f"estimand {estimand_words(systems)}; reference: {systems['reference'].iloc[0]}"
    vote, marks = ["majority", "majority_lower", "majority_upper"], dict[str, str]()
    tables = {
        f"Rates by system ({ends}; {about})": _marked(
            _told(systems, majority=vote, model=["mean", *ENDS]), systems["doubt"], marks
        ),
        f"Agreement of the raters ({ends})": _told(agreement, value=["value", *ENDS]),
        f"Audited answers that are right ({ends})": _told(audits, share=["share", *ENDS]),
        "Completion times in seconds": times.round(1),
    }
    blocks = [f"{name}\n{t.to_string(index=False)}" for name, t in tables.items() if len(t)]
    notes = [*(f"{mark} {text}" for text, mark in marks.items()), *notes]
    return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else [])])


def _marked(table: pd.DataFrame, doubts: pd.Series, marks: dict[str, str]) -> pd.DataFrame:
    """Mark the model's numbers that may mislead."""
    if "model" not in table:
        return table
    found = [mark_of(doubt, marks) if doubt else "" for doubt in doubts]
    return table.assign(model=table["model"] + found)


def _told(table: pd.DataFrame, **estimates: list[str]) -> pd.DataFrame:
    """Write estimates with their intervals; those that no line has are left out."""
    words = {
        name: [interval(*line) if np.isfinite(line[0]) else UNDEFINED for line in numbers]
        for name, columns in estimates.items()
        if np.isfinite(numbers := table[columns].to_numpy(float)).any()
    }
    gone = {*SHARED, *(c for columns in estimates.values() for c in columns)}
    return table[[c for c in table.columns if c not in gone]].assign(**words)

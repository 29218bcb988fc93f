"""Whether a fit is to be relied on: doubts about the draws concern every number of a report."""

import json

import pandas as pd

from assay._util.errors import Note
from assay.checks.departures.report import MEANINGS, TEAMS
from assay.checks.double_sampling import DOUBLE
from assay.checks.items import ALIKE
from assay.display.notes import doubts
from assay.fits.view import Fit
from assay.inference.convergence import FEW_DRAWS
from assay.inference.label_doubts import both_doubts, label_doubts

DO_NOT_RELY = "Do not rely on this fit yet"
DOUBTFUL = "doubtful fit: its warnings say why"
"""Mark of all numbers of such a fit."""
OF_DESIGN = {DOUBLE, TEAMS, ALIKE}
"""Doubts about the design, whose numbers are marked or have a section of their own."""


def is_rough(fit: Fit, doubt: Note) -> bool:
    """Return whether a doubt is about imprecise ends of intervals alone."""
    numbers = json.loads(fit.attrs.get("diagnostics", "null")) or {}
    least = numbers.get("ess_results") or numbers.get("ess_min") or 0
    return doubt.code == "low-ess" and bool(least >= FEW_DRAWS)


def mark_of_draws(fit: Fit) -> str:
    """Return the mark of every number of a fit whose draws are in doubt; empty otherwise."""
    return DOUBTFUL if doubts_of_draws(fit) else ""


def with_mark(table: pd.DataFrame, mark: str) -> pd.DataFrame:
    """Add a mark of every number to the column ``doubt``."""
    return table.assign(doubt=[both_doubts(doubt, mark) for doubt in table["doubt"]])


def doubts_of_draws(fit: Fit) -> list[Note]:
    """Return the doubts that concern every number: those that mark only some are left out."""
    some = {*MEANINGS, *OF_DESIGN, *(doubt.code for doubt in label_doubts(fit))}
    return [note for note in doubts(fit) if note.code not in some and not is_rough(fit, note)]

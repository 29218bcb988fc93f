"""Ratings for reports, and what the sections of a report say."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import assay
from assay.checks import Check
from assay.checks.findings import Proposal
from assay.display.table import Table
from assay.plots.raters import SHOWN_CURVES
from assay.reporting.data import data_section
from assay.reporting.material import Material
from assay.reporting.page import Prose, Section

SCORED_RATERS = SHOWN_CURVES + 2
SIZE = 60
LARGER = 180
"""Enough to tell who got worse."""


def rated(*, systems: bool = False, size: int = SIZE) -> pd.DataFrame:
    """Two people, of whom one gets worse from session to session, and a model that gives scores."""
    rng = np.random.default_rng(2)
    truth = rng.random(size) < 0.5
    session = np.arange(size) * 3 // size
    lines = []
    for rater, accuracy in (("ann", [0.9, 0.9, 0.9]), ("bob", [1.0, 0.6, 0.4])):
        right = rng.random(size) < np.array(accuracy)[session]
        said = np.where(right, truth, ~truth)
        lines += [(n, rater, "people", said[n], np.nan) for n in range(size)]
    score = 1 / (1 + np.exp(-rng.normal(np.where(truth, 2.0, -2.0), 1.5)))
    lines += [(n, "llm", "model", score[n] > 0.5, score[n].round(2)) for n in range(size)]
    table = pd.DataFrame(lines, columns=["item", "rater", "group", "label", "score"])
    table["label"] = np.where(table["label"], "yes", "no")
    table["session"] = "s" + pd.Series(session + 1).astype(str).to_numpy()[table["item"]]
    if systems:
        table["system"] = np.where(table["item"] % 2, "A", "B")
    return table


def scored() -> pd.DataFrame:
    """Raters with confidences in per cent, and a column that plays no role."""
    rng = np.random.default_rng(3)
    truth = rng.random(40) < 0.5
    lines = []
    for rater in range(SCORED_RATERS):
        said = np.where(rng.random(40) < 0.85, truth, ~truth)
        sure = rng.integers(55, 99, 40)
        lines += [
            (n, f"model {rater}", "yes" if said[n] else "no", f"{sure[n]}%", "x") for n in range(40)
        ]
    return pd.DataFrame(lines, columns=["item", "rater", "label", "confidence", "remark"])


def simulated() -> assay.Ratings:
    """Ratings of a study of retrieval."""
    return assay.simulate("retrieval", n_items=150, n_raters=4, ratings_per_item=3, rng=1)


def mode_of(ratings: assay.Ratings) -> xr.DataTree:
    """Return the posterior mode alone."""
    return assay.fit(ratings, method="map", draws=10, chains=1, rng=1)


def texts(one: Section) -> str:
    """All words of a section."""
    said = []
    for block in one.blocks:
        said += [str(getattr(block, name, "")) for name in ("text", "word", "caption", "note")]
        said += [*getattr(block, "paragraphs", ()), *getattr(block, "items", ())]
        said += [cell for row in getattr(block, "rows", ()) for cell in row.cells]
    return " ".join(said)


def table_of(one: Section | None, key: str) -> Table:
    """Return a table of a section."""
    assert one is not None
    return next(b for b in one.blocks if isinstance(b, Table) and b.key == key)


def prose_of(section: Section) -> str:
    """All sentences of a section."""
    return " ".join(p for b in section.blocks if isinstance(b, Prose) for p in b.paragraphs)


def told_in_other_words(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> set[str | None]:
    """Which proposals of the check a report tells, were each written as its own name alone."""

    def reworded(ratings: assay.Ratings) -> Check:
        found = assay.check(ratings)
        named = [replace(f, text=f"<{f.proposes}>", level="note") for f in found.findings]
        return replace(found, findings=tuple(named))

    monkeypatch.setattr("assay.reporting.material.check", reworded)
    section = texts(data_section(Material(fit=fit)))
    return {name for name in (None, *get_args(Proposal)) if f"<{name}>" in section}

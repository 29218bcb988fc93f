"""Raters who answer without looking: of fits with the family ``mace``, whose parameter it is."""

import pandas as pd
import xarray as xr

from assay._util.intervals import interval_ends
from assay._util.plurals import some
from assay._util.words import intervals, percent
from assay.fits.datatree import group
from assay.reporting.page import Block, Finding, prose, table_of

PARAMETER = "spamming"
MOSTLY = 0.5
"""Who spams more often than this, by the whole interval, is named among the findings."""
SHOWN = 24
WEIGHT = 11.0


def spamming_frame(fit: xr.DataTree, level: float) -> pd.DataFrame:
    """Return how often each rater's ratings are spam, the most often first.

    Returns
    -------
    pandas.DataFrame
        ``rater``, ``mean``, ``lower``, ``upper``, ``level``; no lines if no rater has the
        parameter.
    """
    parts = []
    for name, draws in group(fit, "posterior").data_vars.items():
        if str(name).rpartition(".")[2] == PARAMETER:
            values = draws.to_numpy().reshape(-1, draws.shape[-1])
            lower, upper = interval_ends(values, level, axis=0)
            names = draws[draws.dims[-1]].to_numpy().astype(str)
            parts.append(
                pd.DataFrame(
                    {"rater": names, "mean": values.mean(axis=0), "lower": lower, "upper": upper}
                )
            )
    if not parts:
        return pd.DataFrame(columns=["rater", "mean", "lower", "upper", "level"])
    table = pd.concat(parts, ignore_index=True).assign(level=level)
    return table.sort_values("mean", ascending=False, kind="stable", ignore_index=True)


def spamming_blocks(frame: pd.DataFrame, level: float) -> list[Block]:
    """Say how often ratings are spam, in a table; nothing where no rater has the parameter."""
    if frame.empty:
        return []
    shown = frame.assign(words=intervals(frame)).head(SHOWN)
    rest = f" All {len(frame)} raters: tables=." if len(frame) > SHOWN else ""
    return [
        prose("A rating is honest and right, or spam that has nothing to do with the item (MACE)."),
        table_of(
            "spamming",
            f"How often a rater's ratings are spam: posterior mean ({percent(level)} interval)",
            shown,
            {"rater": "Rater", "words": "Share of spam"},
            note="The most often first." + rest,
            export=frame,
        ),
    ]


def spamming_findings(frame: pd.DataFrame) -> tuple[Finding, ...]:
    """Name the raters most of whose ratings are spam, by the whole interval."""
    most = frame[frame["lower"] > MOSTLY]
    if most.empty:
        return ()
    text = (
        f"{len(most)} of {len(frame)} raters answer without regard to the item more often than "
        f"not: {some(list(most['rater']))}. The model gives their answers little weight."
    )
    return (
        Finding(
            weight=WEIGHT,
            text=text,
            section="raters",
            code="spamming-raters",
            numbers={"raters": len(most), "of": len(frame)},
        ),
    )

"""Section: how well the model foretells ratings that it has not seen."""

from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from assay._util.errors import FitError
from assay._util.interrupts import unbroken
from assay._util.plurals import counted
from assay._util.validation import cut
from assay.fits.datatree import group
from assay.inference.diagnostics import FEW_FOR_PSIS
from assay.reporting.material import Material
from assay.reporting.page import Block, Callout, Gap, Section, prose, table_of

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDData

SHOWN = 5
WHAT = "Leave-one-out: how well the model foretells ratings that it has not seen"


def left_out_section(material: Material) -> Section | Gap:
    """Report PSIS leave-one-out by cluster, or by item where there are no clusters."""
    gap = gap_of_draws(material.fit, WHAT)
    if gap is not None:
        return gap
    found = loo_of(material.fit)
    table = left_out_table(found)
    unit = str(table.columns[0])
    blocks: list[Block] = [
        prose(
            f"The ratings of each {unit} are foretold by the model of all others. Expected log "
            f"predictive density: {found.elpd:.1f} (standard error {found.se:.1f}), with "
            f"{found.p:.1f} effective parameters. The number means nothing by itself: of two "
            "models of the same ratings, the one with the higher number foretells better "
            "(arviz.compare)."
        ),
        _verdict(table, unit, float(found.good_k)),
        _table(table, unit),
    ]
    return Section(key="loo", title="Ratings that the model has not seen", blocks=tuple(blocks))


def gap_of_draws(fit: xr.DataTree, what: str) -> Gap | None:
    """Say why a fit's draws cannot be weighed for leave-one-out, if they cannot."""
    if fit.attrs["method"] != "nuts":
        why = "it needs draws of the posterior, and this fit approximates it"
        return Gap(what=what, why=why, enable="method='nuts'", code="approximate-draws")
    draws = fit["posterior"].sizes["chain"] * fit["posterior"].sizes["draw"]
    if draws < FEW_FOR_PSIS:
        why = f"it needs the tail of the draws, and this fit has {counted(draws, 'draw')} in all"
        return Gap(
            what=what,
            why=why,
            enable=f"at least {FEW_FOR_PSIS} draws",
            code="few-draws",
            numbers={"draws": draws, "needed": FEW_FOR_PSIS},
        )
    return None


def left_out_table(found: "ELPDData") -> pd.DataFrame:
    """Return a line per unit left out: its name, ``pareto_k`` and ``elpd``; most influence first.

    Parameters
    ----------
    found : ELPDData
        Of :func:`arviz_stats.loo` with ``pointwise=True``.
    """
    unit = str(found.elpd_i.dims[0])
    table = pd.DataFrame(
        {
            unit: found.elpd_i[unit].to_numpy(),
            "pareto_k": found.pareto_k.to_numpy(),
            "elpd": found.elpd_i.to_numpy(),
        }
    )
    return table.sort_values("pareto_k", ascending=False, kind="stable", ignore_index=True)


def loo_of(fit: xr.DataTree) -> "ELPDData":
    """Leave out each unit of the log likelihood in turn; what ArviZ warns of, the section says."""
    import warnings

    from arviz_stats.loo import loo

    leave_out: Any = loo
    stored = group(fit, "log_likelihood")
    try:
        with unbroken():
            stored.load()
    except (
        Exception
    ) as error:  # of a Zarr store it is read here only, and zarr raises what it meets
        raise FitError(
            f"the log-likelihood of this fit is damaged ({cut(str(error))}); fit the ratings again",
            code="damaged-fit",
        ) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found: ELPDData = leave_out(fit, pointwise=True)
    return found


def _verdict(table: pd.DataFrame, unit: str, good: float) -> Callout:
    """Say whether any unit has so much influence that the approximation fails."""
    bad = int((table["pareto_k"] > good).sum())
    if not bad:
        text = f"No {unit} has a Pareto k above {good:.2f}: none decides the posterior by itself."
        return Callout(word="Approximation holds", text=text, level="good")
    without, whose = ("it", "its") if bad == 1 else ("one of these", "their")
    text = (
        f"{bad} of {len(table)} {unit}s: Pareto k above {good:.2f}. Without {without} the "
        f"posterior would be another, and the number above is rough. Look at {whose} ratings first."
    )
    return Callout(word="Influential", text=text, level="doubt")


def _table(table: pd.DataFrame, unit: str) -> Block:
    shown = table.head(SHOWN)
    words = shown.assign(
        pareto_k=shown["pareto_k"].map("{:.2f}".format), elpd=shown["elpd"].map("{:.1f}".format)
    )
    columns = {
        unit: unit.capitalize(),
        "pareto_k": "Pareto k",
        "elpd": "Log predictive density",
    }
    caption = f"The {len(shown)} of {len(table)} with most influence on the posterior"
    return table_of("loo", caption, words, columns, export=table)

"""Sections on the fit: convergence, model checks, ratings and gold left out."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from assay._util.errors import FitError, Note
from assay._util.progress import unbroken
from assay._util.text import counted, does
from assay._util.validation import cut
from assay.checks.double_sampling import DOUBLE
from assay.checks.items import ALIKE
from assay.data.ratings import Ratings
from assay.data.states import vector_name
from assay.display.notes import convergence_words, doubts
from assay.display.table import table_of
from assay.fits.view import FitView
from assay.inference.convergence import (
    ESS_LIMIT,
    LOW_ESS,
    R_HAT_LIMIT,
    SOURCE,
    convergence_table,
    worst_first,
)
from assay.inference.diagnostics import FEW_FOR_PSIS, K_HAT_LIMIT
from assay.inference.settings import MODES_ALONE
from assay.reporting.material import Material
from assay.reporting.page import Block, Callout, Finding, Gap, Section, prose
from assay.reporting.reliance import DO_NOT_RELY, is_rough
from assay.validation.loo import UNTOLD, high_k_share, loo_gold

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDData


SHOWN = 5
WHAT = "Leave-one-out: how well the model predicts ratings that were left out"


def left_out_section(material: Material) -> Section | Gap:
    """Report PSIS leave-one-out by cluster, or by item where there are no clusters."""
    gap = gap_of_draws(material.view, WHAT)
    if gap is not None:
        return gap
    found = loo_of(material.view)
    table = left_out_table(found)
    unit = str(table.columns[0])
    blocks: list[Block] = [
        prose(
            f"The ratings of each {unit} are predicted from those of all others. Expected log "
            f"predictive density: {found.elpd:.1f} (standard error {found.se:.1f}), with "
            f"{found.p:.1f} effective parameters. Use this number only to compare models of the "
            "same ratings: the higher number predicts better (arviz.compare)."
        ),
        _verdict(table, unit, float(found.good_k)),
        _table(table, unit),
    ]
    return Section(key="loo", title="Prediction of ratings left out", blocks=tuple(blocks))


def gap_of_draws(view: FitView, what: str) -> Gap | None:
    """Return why a fit's draws do not allow leave-one-out; None if they do."""
    if view.attrs["method"] != "nuts":
        why = "it needs draws of the exact posterior, and this fit approximates the posterior"
        return Gap(what=what, why=why, enable="`method='nuts'`", code="approximate-draws")
    sizes = view["posterior"].sizes
    draws = sizes["chain"] * sizes["draw"]
    if draws < FEW_FOR_PSIS:
        why = f"it needs more draws; this fit has {counted(draws, 'draw')} in all"
        return Gap(
            what=what,
            why=why,
            enable=f"at least {FEW_FOR_PSIS} draws",
            code="few-draws",
            numbers={"draws": draws, "needed": FEW_FOR_PSIS},
        )
    return None


def left_out_table(found: "ELPDData") -> pd.DataFrame:
    """Return each unit left out, its ``pareto_k`` and its ``elpd``; most influence first."""
    unit = str(found.elpd_i.dims[0])
    table = pd.DataFrame(
        {
            unit: found.elpd_i[unit].to_numpy(),
            "pareto_k": found.pareto_k.to_numpy(),
            "elpd": found.elpd_i.to_numpy(),
        }
    )
    return table.sort_values("pareto_k", ascending=False, kind="stable", ignore_index=True)


def loo_of(view: FitView) -> "ELPDData":
    """Return PSIS leave-one-out of each unit; the section reports what ArviZ warns of."""
    import warnings

    from arviz_stats.loo import loo

    leave_out: Any = loo
    stored = view["log_likelihood"]
    try:
        with unbroken():
            stored.load()
    except Exception as error:  # a damaged Zarr store is noticed only here, with any error of zarr
        raise FitError(
            f"the log-likelihood of this fit is damaged ({cut(str(error))}); fit the ratings again",
            code="damaged-fit",
        ) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found: ELPDData = leave_out(view.tree, pointwise=True)
    return found


def _verdict(table: pd.DataFrame, unit: str, good: float) -> Callout:
    """State whether a unit has so much influence that the approximation fails."""
    bad = int((table["pareto_k"] > good).sum())
    if not bad:
        text = f"No {unit} has a Pareto k above {good:.2f}, so none dominates the posterior."
        return Callout(word="Approximation holds", text=text, level="good")
    whose = "its" if bad == 1 else "their"
    text = (
        f"{bad} of {len(table)} {unit}s {does(bad, 'have')} a Pareto k above {good:.2f}. The "
        f"posterior depends strongly on {whose} ratings, so the number above is unreliable. Check "
        f"{whose} ratings first."
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
    caption = f"The {len(shown)} of {len(table)} {unit}s with the most influence on the posterior"
    return table_of("loo", caption, words, columns, export=table)


WHAT_GOLD = "Gold left out: how well the model predicts known truth that was left out"
FEW = 10
"""Items with gold below which their mean is not reported."""
SHOWN_GOLD = 5
HEADINGS = {
    "items": "Items with gold",
    "probability": "Its probability",
    "pareto_k": "Pareto k",
}


def gold_section(material: Material) -> Section | Gap | None:
    """Report leave-one-out of gold, and the worst predicted gold."""
    known = material.n_known
    if not known:
        return None
    gap = gap_of_draws(material.view, WHAT_GOLD)
    if gap is not None:
        return gap
    if known < FEW:
        why = f"the truth of only {counted(known, 'item')} is known"
        return Gap(
            what=WHAT_GOLD,
            why=why,
            enable=f"known truth of at least {FEW} items (`truth=`)",
            code="few-known-truth",
            numbers={"items": known, "needed": FEW},
        )
    found = loo_gold(material.view)
    table = gold_table(found, material.ratings)
    unit = str(table.columns[0])
    loss, error = -found.elpd / known, found.se / known
    together = "" if unit == "item" else f"All gold of a {unit} is left out together. "
    shown = table.head(SHOWN_GOLD)
    words = shown.assign(**{c: shown[c].map("{:.2f}".format) for c in ("probability", "pareto_k")})
    columns = {name: HEADINGS.get(str(name), str(name).capitalize()) for name in table.columns}
    return Section(
        key="gold",
        title="Prediction of gold left out",
        blocks=(
            prose(
                f"The known truth of each of {known} items is predicted from the ratings, without "
                f"its gold. The log loss is {loss:.3f} (standard error {error:.3f}): the geometric "
                f"mean probability of the truth is {np.exp(-loss):.2f}. {together}If items with "
                "gold are a random sample, other items are predicted about as well. If you have "
                "two models of the same ratings and gold, prefer the one with the lower loss "
                "(assay.loo_gold, arviz.compare)."
            ),
            *_doubt(found, unit),
            table_of(
                "gold",
                f"The {len(shown)} of {counted(len(table), unit)} with the worst predicted gold: "
                "check the gold and the ratings",
                words,
                columns,
                export=table,
            ),
        ),
    )


def _doubt(found: "ELPDData", unit: str) -> list[Block]:
    """State that the score is unreliable, by the rule of :func:`assay.stack_labels`."""
    high = high_k_share(found)
    if high <= UNTOLD:
        return []
    text = (
        f"{high:.0%} of the {unit}s with gold have a Pareto k above {K_HAT_LIMIT}. The posterior "
        "depends strongly on their gold, so the log loss above is unreliable. Add gold, or fit a "
        "simpler model."
    )
    return [Callout(word="Influential", text=text, level="doubt")]


def gold_table(found: "ELPDData", ratings: Ratings) -> pd.DataFrame:
    """Return a line per item or cluster left out, the worst predicted first. ``probability`` is
    that of its gold, as a geometric mean in a cluster; ``pareto_k`` is beside it.
    """
    unit = str(found.elpd_i.dims[0])
    names = found.elpd_i[unit].to_numpy()
    table, elpd = pd.DataFrame({unit: names}), found.elpd_i.to_numpy()
    if unit == "item":
        told = ratings.truth[ratings.items.index.get_indexer(pd.Index(names))]
        table["gold"] = [vector_name(ratings.task, row) for row in told]
    else:
        clusters = ratings.items["cluster"].astype(str)[ratings.has_truth].value_counts()
        table["items"] = clusters.loc[names.astype(str)].to_numpy()
        elpd = elpd / table["items"]
    table["probability"] = np.exp(elpd)
    table["pareto_k"] = found.pareto_k.to_numpy()
    return table.sort_values("probability", kind="stable", ignore_index=True)


WORST = 5
DOUBT_WEIGHT = 100.0
"""Weight of a doubtful posterior, above that of its results."""


def convergence_section(material: Material) -> Section:
    """Report whether the draws can be trusted."""
    words, *warnings = convergence_words(material.view)
    distrust = doubts(material.view)
    alone = material.view.attrs["method"] in MODES_ALONE
    found = fit_findings(material.view)
    sizes = material.view["posterior"].sizes
    # The agreement of chains cannot be assessed with one chain.
    single = material.view.attrs["method"] == "nuts" and sizes["chain"] == 1
    doubtful = bool(distrust) or alone or single
    verdict = "Trust with care" if doubtful else "No reason for doubt"
    if any(one.text.startswith(DO_NOT_RELY) for one in found):
        verdict = DO_NOT_RELY
    blocks: list[Block] = [
        Callout(word=verdict, text=words, level="doubt" if doubtful else "good"),
        *(_told(note) for note in warnings),
    ]
    if material.view.attrs["method"] == "nuts":
        blocks += [_explanation(), _worst(material)]
    return Section(
        key="convergence",
        title="Convergence",
        blocks=tuple(blocks),
        findings=tuple(found[:1]),
    )


def _told(note: Note | str) -> Callout:
    """Show a warning of the fit, or a note, which makes nothing doubtful."""
    if getattr(note, "level", "warning") == "warning":
        return Callout(word="Warning", text=str(note), level="doubt")
    return Callout(word="Note", text=str(note))


def fit_findings(view: FitView) -> list[Finding]:
    """Return what makes the fit untrustworthy, or its intervals too narrow."""
    # The section of the data has the finding on its design.
    found = [_finding(view, note) for note in doubts(view) if note.code != DOUBLE]
    # A requested mode is no fault of the fit, but its intervals are too narrow.
    return found + [_too_narrow()] * (view.attrs["method"] in MODES_ALONE)


def _finding(view: FitView, doubt: Note) -> Finding:
    """Return a finding on a doubt; imprecise interval ends alone do not discredit a fit.

    Nor do alike clusters, which matter for conclusions about new units alone.
    """
    said = _without_parameters(doubt)
    alone = is_rough(view, doubt) or doubt.code == ALIKE
    text = said if alone else f"{DO_NOT_RELY}: {said}"
    return Finding(
        weight=DOUBT_WEIGHT, text=text, code=doubt.code,
        numbers=doubt.numbers,
    )  # fmt: skip


def _without_parameters(doubt: Note) -> str:
    """Write a doubt on the chains for readers who do not know the model's parameters.

    The section has the whole warning, with the worst parameters and the source of the limits.
    """
    numbers, advice = doubt.numbers, doubt.rpartition(". ")[2]
    if doubt.code == "low-ess" and {"ess", "limit"} <= set(numbers):
        return (
            f"{LOW_ESS} {numbers['ess']:.0f}. Below {numbers['limit']:.0f}, the ends of intervals "
            f"are imprecise. {advice}"
        )
    if doubt.code == "chains-disagree" and "r_hat" in numbers:
        return (
            f"The chains disagree: the largest R-hat is {numbers['r_hat']:.3f}, above "
            f"{R_HAT_LIMIT}. {advice}"
        )
    return str(doubt)


def _too_narrow() -> Finding:
    text = (
        "All intervals are too narrow: the fit is a posterior mode, which omits the uncertainty "
        "of the parameters. To include it, fit with `method='nuts'`."
    )
    return Finding(weight=DOUBT_WEIGHT, text=text, code="mode-alone")


def _explanation() -> Block:
    return prose(
        f"R-hat compares chains with different starting points: they agree if it is at most "
        f"{R_HAT_LIMIT}. The largest of many values may be slightly higher by chance. The "
        "effective sample size is the number of independent draws that the chains are worth. With "
        f"{ESS_LIMIT} or more, means and interval ends are stable to the digits shown. Source of "
        f"both limits: {SOURCE}. Class shares and rater accuracies matter most; parameters that no "
        "result reports, such as SDs, may mix more slowly."
    )


def _worst(material: Material) -> Block:
    posterior = material.view["posterior"]
    table = convergence_table(posterior.drop_vars("prevalence", errors="ignore"))
    worst = worst_first(table).head(WORST)
    shown = {
        "parameter": "Parameter",
        "r_hat": "R-hat",
        "ess_bulk": "Bulk ESS",
        "ess_tail": "Tail ESS",
    }
    rounded = worst.round({"r_hat": 3, "ess_bulk": 0, "ess_tail": 0})
    words = rounded.assign(
        ess_bulk=rounded["ess_bulk"].map("{:.0f}".format),
        ess_tail=rounded["ess_tail"].map("{:.0f}".format),
        r_hat=rounded["r_hat"].map("{:.3f}".format),
    )
    caption = f"The {len(worst)} parameters with the worst convergence"
    return table_of("convergence", caption, words, shown, export=table)

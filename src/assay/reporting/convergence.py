"""Section: convergence in words."""

from assay._util.errors import Note
from assay.display.notes import convergence_words, doubts
from assay.fits.datatree import group
from assay.inference.convergence import (
    ESS_LIMIT,
    FEW_DRAWS,
    R_HAT_LIMIT,
    SOURCE,
    convergence_table,
    worst_first,
)
from assay.inference.fit_arguments import MODES_ALONE
from assay.reporting.material import Material
from assay.reporting.page import Block, Callout, Finding, Section, prose, table_of

WORST = 5
DOUBT_WEIGHT = 100.0
"""A posterior that was not found outweighs whatever it seems to say."""


def convergence_section(material: Material) -> Section:
    """Say whether the draws can be trusted."""
    words, *warnings = convergence_words(material.fit)
    distrust = doubts(material.fit)
    alone = material.fit.attrs["method"] in MODES_ALONE
    # What was asked for is no fault of the fit, but its intervals are not what they look like.
    numbers = material.attribute("diagnostics") or {}
    least = numbers.get("ess_results") or numbers.get("ess_min") or 0
    found = [_finding(note, least) for note in distrust if note.code != "double-sampling"]
    found += [_too_narrow()] * alone
    sizes = group(material.fit, "posterior").sizes
    # One chain agrees with itself.
    single = material.fit.attrs["method"] == "nuts" and sizes["chain"] == 1
    doubtful = bool(distrust) or alone or single
    verdict = "Trust with care" if doubtful else "No reason for doubt"
    blocks: list[Block] = [
        Callout(word=verdict, text=words, level="doubt" if doubtful else "good"),
        *(Callout(word="Warning", text=text, level="doubt") for text in warnings),
    ]
    if material.fit.attrs["method"] == "nuts":
        blocks += [_explanation(), _worst(material)]
    return Section(
        key="convergence",
        title="Convergence",
        blocks=tuple(blocks),
        # What the data's design does to a comparison is a finding of the data's section.
        findings=tuple(found[:1]),
    )


def _finding(doubt: Note, least: float) -> Finding:
    """Say what is doubtful; ends of intervals that are rough are no reason to distrust a fit."""
    rough = doubt.code == "low-ess" and least >= FEW_DRAWS
    text = str(doubt) if rough else f"The fit is not to be trusted as it is: {doubt}"
    return Finding(
        weight=DOUBT_WEIGHT, text=text, section="convergence", code=doubt.code,
        numbers=doubt.numbers,
    )  # fmt: skip


def _too_narrow() -> Finding:
    text = (
        "All intervals are too narrow: the fit is the mode alone, and leaves out the uncertainty "
        "of the parameters, which a fit with method='nuts' has."
    )
    return Finding(weight=DOUBT_WEIGHT, text=text, section="convergence", code="mode-alone")


def _explanation() -> Block:
    return prose(
        f"R-hat compares chains that started apart: at most {R_HAT_LIMIT} means that they agree, "
        "and of many parameters the largest may be a little above by chance. The effective sample "
        f"size says how many independent draws the chains are worth: with {ESS_LIMIT} or more, "
        f"means and ends of intervals are stable to the digits shown. Both limits are those of "
        f"{SOURCE}. What counts are the shares of the classes and the raters' accuracies; "
        "parameters that no result reports, such as SDs, may mix more slowly."
    )


def _worst(material: Material) -> Block:
    posterior = group(material.fit, "posterior")
    table = convergence_table(posterior.drop_vars("prevalence", errors="ignore"))
    worst = worst_first(table).head(WORST)
    shown = {
        "parameter": "Parameter",
        "r_hat": "R-hat",
        "ess_bulk": "Effective size, middle",
        "ess_tail": "Effective size, tails",
    }
    rounded = worst.round({"r_hat": 3, "ess_bulk": 0, "ess_tail": 0})
    words = rounded.assign(
        ess_bulk=rounded["ess_bulk"].map("{:.0f}".format),
        ess_tail=rounded["ess_tail"].map("{:.0f}".format),
        r_hat=rounded["r_hat"].map("{:.3f}".format),
    )
    caption = f"The {len(worst)} parameters that converged worst"
    return table_of("convergence", caption, words, shown, export=table)

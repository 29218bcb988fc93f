"""Section: where the uncertainty comes from, and what more data would buy."""

import pandas as pd

from assay._util.words import UNDEFINED, decimals_for, fixed, lines_of, percent
from assay.display.notes import estimand_words
from assay.evaluation.widths import BUYS, OVERLAP
from assay.plots.budget import PARTS, plot_budget
from assay.reporting.material import Material
from assay.reporting.page import Block, Finding, Gap, Picture, Section, prose, table_of
from assay.reporting.svg import WIDTH, to_svg

UNTOLD = "cannot be told"
WEIGHT = 2.0
WORTH_TELLING = 0.01
SHOWN_CONTRASTS = 60
SHARES = "Variance budget: shares of the posterior variance"
BINDS = {
    "ratings": "one more rating of every item",
    "clusters": "ten more clusters",
    "raters": "one more rater",
    OVERLAP: "a second rater of some items",
}
COLUMNS = {kind: column for column, kind in BUYS.items()}
ALONE = (
    "Of more data, second raters of some items come first: no item has two raters and no truth is "
    "known, so that nothing tells errors from truth, and more items or clusters would not."
)
NOT_ASKED = Gap(
    what="Variance budget, and what more data would buy",
    why="it was left out of this report",
    enable="a report with budget=True",
    code="budget-not-asked",
)


def budget_section(material: Material) -> Section | Gap:
    """Take the variance apart, and say what would narrow the intervals most."""
    if not material.budget:
        return NOT_ASKED
    variance, widths = material.variance, material.widths
    estimands = estimand_words(variance)
    note = f"Estimand {estimands}. Reference: {material.reference}."
    words = "Shares of the posterior variance of each metric; the table has them."
    blocks: list[Block] = [
        prose(
            "Parameters: what is not known of the raters and of the prevalence. Labels: what is "
            "not known of the items when the raters are known. Clusters: which ones were sampled."
        ),
        Picture(
            svg=to_svg(plot_budget(variance, width=WIDTH), name="budget", words=words),
            caption=f"{words} {note}",
        ),
        _variance_table(variance, note),
        *_contrasts_table(material.contrast_variance, material.reference),
        _widths_table(widths, material.level, note),
    ]
    return Section(
        key="budget",
        title="Where the uncertainty comes from, and what more data would buy",
        blocks=tuple(blocks),
        findings=_findings(widths),
    )


def _contrasts_table(variance: pd.DataFrame, reference: str) -> list[Block]:
    """Show the budget of each contrast of three systems or more: what they share cancels."""
    if variance.empty:
        return []
    note = f"Estimand {estimand_words(variance)}. Reference: {reference}."
    if len(variance) > SHOWN_CONTRASTS:
        note += f" The first {SHOWN_CONTRASTS} of {len(variance)}; the exported table has all."
    title = f"{SHARES}, of each difference of two systems"
    words, shown, note = _shares_told(variance, note)
    shown = {"system": "Systems"} | shown
    return [
        table_of(
            "budget_of_contrasts", title, words.head(SHOWN_CONTRASTS), shown, under="metric",
            note=note, export=variance,
        )
    ]  # fmt: skip


def _variance_table(variance: pd.DataFrame, note: str) -> Block:
    words, shown, note = _shares_told(variance.assign(what=_what(variance)), note)
    return table_of("budget", SHARES, words, {"what": "Metric"} | shown, note=note, export=variance)


def _shares_told(variance: pd.DataFrame, note: str) -> tuple[pd.DataFrame, dict[str, str], str]:
    """Write the shares of a budget; which columns to show of it, and what stands below."""
    total = variance["variance"].where(variance["variance"] > 0)
    shares = {name: _share(variance[name] / total) for name in PARTS}
    told = [f"{v:.2g}" if v == v else UNDEFINED for v in variance["variance"]]
    words = variance.assign(**shares, error=_share(variance["mcse"] / total), variance=told)
    shown = {"variance": "Variance"} | {name: name.capitalize() for name in PARTS}
    shown |= {"error": "Monte Carlo error"}
    return words, shown, f"{note} Shares add up to 100% within Monte Carlo error."


def _share(numbers: pd.Series) -> pd.Series:
    """Write shares in per cent; one that is below zero by Monte Carlo error alone is zero."""
    return numbers.map(lambda x: f"{fixed(100 * x, 0)}%" if x == x else UNDEFINED)


def _widths_table(widths: pd.DataFrame, level: float, note: str) -> Block:
    words = widths.assign(what=_what(widths), most=widths["binds"].map(BINDS).fillna("nothing"))
    untold = widths["binds"] == OVERLAP
    decimals = [decimals_for(0, width) + 1 if width > 0 else 3 for width in widths["width"]]
    for column in ("width", *BUYS):
        words[column] = list(map(fixed, widths[column], decimals))
    for column in ("one_more_rating", "one_more_rater"):
        words[column] = words[column].mask(untold, UNTOLD)
    shown = {
        "what": "Metric",
        "width": "Width now",
        "one_more_rating": "One more rating of every item",
        "ten_more_clusters": "Ten more clusters",
        "one_more_rater": "One more rater",
        "most": "Narrows it most",
    }
    caption = f"Width of the {percent(level)} interval to expect with more data"
    note = f"{note} First-order approximations.{f' {ALONE}' if untold.any() else ''}"
    return table_of("more_data", caption, words, shown, note=note, export=widths)


def _what(frame: pd.DataFrame) -> list[str]:
    pairs = zip(frame["metric"], frame["system"], strict=True)
    return [f"{metric}, {system}" if system else str(metric) for metric, system in pairs]


def _findings(widths: pd.DataFrame) -> tuple[Finding, ...]:
    """Say which kind of data binds most of the metrics."""
    if (widths["binds"] == OVERLAP).any():
        return (Finding(weight=WEIGHT, text=ALONE, section="budget", code="budget-untold"),)
    bound = widths[widths["binds"].isin(list(COLUMNS))]
    if bound.empty:
        return ()
    most = str(bound["binds"].mode().iloc[0])
    lines = lines_of(bound[bound["binds"] == most])
    shrink = [1 - line[COLUMNS[most]] / line["width"] for line in lines if line["width"] > 0]
    if not shrink or sum(shrink) / len(shrink) < WORTH_TELLING:
        return ()
    text = (
        f"Of more data, {BINDS[most]} would narrow {len(lines)} of {len(widths)} intervals most, "
        f"by about {sum(shrink) / len(shrink):.0%}."
    )
    return (
        Finding(
            weight=WEIGHT,
            text=text,
            section="budget",
            code="data-worth-most",
            numbers={
                "intervals": len(lines),
                "of": len(widths),
                "share": sum(shrink) / len(shrink),
            },
        ),
    )

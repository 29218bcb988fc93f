"""Sections: metrics with both estimands, sources of uncertainty, claims."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.text import (
    UNDEFINED,
    counted,
    decimals_for,
    fixed,
    interval,
    lines_of,
    percent,
)
from assay.comparison import ClaimResult
from assay.display.notes import estimand_words, estimands_said, panels_said
from assay.display.result_tables import metrics_table
from assay.display.table import table_of
from assay.evaluation.widths import BUYS, OVERLAP
from assay.inference.settings import MODES_ALONE
from assay.plots.metrics import PARTS, draw_metrics, plot_budget, titled
from assay.reporting.material import Material
from assay.reporting.page import (
    WIDTH,
    Block,
    Callout,
    Finding,
    Gap,
    Section,
    picture,
    prose,
)
from assay.validation.equal_difficulty import difficulty_sentence

LEVELS = {"supported": "good", "undecided": "doubt", "contradicted": "bad"}
WEIGHTS = {"supported": 15.0, "undecided": 60.0, "contradicted": 70.0}
NO_CLAIMS = Gap(
    what="Check of claims",
    why="no claim was made",
    enable="a claim in words: `claims=['B > A by 0.03 on METRIC']`",
    code="no-claims",
)


def claims_section(material: Material) -> Section | Gap:
    """Report the verdict on each claim."""
    if not material.claims:
        return NO_CLAIMS
    results = material.verdicts
    return Section(
        key="claims",
        title="Claims",
        is_appendix=False,
        blocks=tuple(_callout(result) for result in results),
        findings=tuple(
            Finding(weight=WEIGHTS[r.verdict], text=r.sentence, code="claim-checked")
            for r in results
        ),
    )


def _callout(result: ClaimResult) -> Callout:
    text = result.sentence.removeprefix(f"{result.verdict.capitalize()}: ")
    return Callout(word=result.verdict, text=text, level=LEVELS[result.verdict])


UNTOLD = "not identifiable"
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
    "No item has two raters and no truth is known, so rater errors are not identifiable. Collect "
    "second ratings of some items first; more items or clusters do not help."
)
NOT_ASKED = Gap(
    what="Variance budget, and the effect of more data",
    why="it was left out of this report",
    enable="a report with `budget=True`",
    code="budget-not-asked",
)


def budget_section(material: Material) -> Section | Gap:
    """Split the variance, and report which data would narrow the intervals most."""
    if not material.budget:
        return NOT_ASKED
    variance, widths = material.variance, material.widths
    estimands = estimand_words(variance)
    note = f"Estimand {estimands}. Reference: {material.reference}."
    figure = plot_budget(titled(variance, material.titles), width=WIDTH)
    words = "Shares of the posterior variance of each metric, as in the table."
    blocks: list[Block] = [
        prose(
            "Parameters: uncertainty about raters and prevalence. Labels: uncertainty about the "
            "true classes, given the parameters. Clusters: sampling of the clusters."
        ),
        picture(figure, name="budget", words=words, caption=f"{words} {note}"),
        _variance_table(variance, note, material.titles),
        *_contrasts_table(material.contrast_variance, material.reference, material.titles),
        _widths_table(widths, material.level, note, material.titles),
    ]
    return Section(
        key="budget",
        title="Sources of uncertainty, and the effect of more data",
        blocks=tuple(blocks),
        findings=_findings(widths),
    )


def _contrasts_table(
    variance: pd.DataFrame, reference: str, titles: Mapping[str, str]
) -> list[Block]:
    """Show the budget of each contrast of three systems or more: shared parts cancel."""
    if variance.empty:
        return []
    note = f"Estimand {estimand_words(variance)}. Reference: {reference}."
    if len(variance) > SHOWN_CONTRASTS:
        note += f" The first {SHOWN_CONTRASTS} of {len(variance)} lines. All: `tables=`."
    title = f"{SHARES}, of each difference of two systems"
    words, shown, note = _shares_told(variance, note)
    shown = {"system": "Systems"} | shown
    return [
        table_of(
            "budget_of_contrasts", title, titled(words.head(SHOWN_CONTRASTS), titles), shown,
            under="metric",
            note=note, export=variance,
        )
    ]  # fmt: skip


def _variance_table(variance: pd.DataFrame, note: str, titles: Mapping[str, str]) -> Block:
    words, shown, note = _shares_told(variance.assign(what=_what(variance, titles)), note)
    return table_of("budget", SHARES, words, {"what": "Metric"} | shown, note=note, export=variance)


def _shares_told(variance: pd.DataFrame, note: str) -> tuple[pd.DataFrame, dict[str, str], str]:
    """Return the shares of a budget as text, the columns to show, and the note."""
    total = variance["variance"].where(variance["variance"] > 0)
    shares = {name: _share(variance[name] / total) for name in PARTS}
    told = [f"{v:.2g}" if v == v else UNDEFINED for v in variance["variance"]]
    words = variance.assign(**shares, error=_share(variance["mcse"] / total), variance=told)
    shown = {"variance": "Variance"} | {name: name.capitalize() for name in PARTS}
    shown |= {"error": "Monte Carlo error"}
    return words, shown, f"{note} Shares add up to 100% within Monte Carlo error."


def _share(numbers: pd.Series) -> pd.Series:
    """Write shares in per cent, with negative ones due to Monte Carlo error as zero."""
    return numbers.map(lambda x: f"{fixed(100 * x, 0)}%" if x == x else UNDEFINED)


def _widths_table(
    widths: pd.DataFrame, level: float, note: str, titles: Mapping[str, str]
) -> Block:
    words = widths.assign(
        what=_what(widths, titles), most=widths["binds"].map(BINDS).fillna("nothing")
    )
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
    caption = f"Expected width of the {percent(level)} interval with more data"
    note = f"{note} First-order approximations.{f' {ALONE}' if untold.any() else ''}"
    return table_of("more_data", caption, words, shown, note=note, export=widths)


def _what(frame: pd.DataFrame, titles: Mapping[str, str]) -> list[str]:
    pairs = zip([titles.get(m, m) for m in frame["metric"]], frame["system"], strict=True)
    return [f"{metric}, {system}" if system else str(metric) for metric, system in pairs]


def _findings(widths: pd.DataFrame) -> tuple[Finding, ...]:
    """Return a finding on the data that would narrow most intervals."""
    if (widths["binds"] == OVERLAP).any():
        return (Finding(weight=WEIGHT, text=ALONE, code="budget-untold"),)
    bound = widths[widths["binds"].isin(list(COLUMNS))]
    if bound.empty:
        return ()
    most = str(bound["binds"].mode().iloc[0])
    lines = lines_of(bound[bound["binds"] == most])
    shrink = [1 - line[COLUMNS[most]] / line["width"] for line in lines if line["width"] > 0]
    if not shrink or sum(shrink) / len(shrink) < WORTH_TELLING:
        return ()
    text = (
        f"For {len(lines)} of {len(widths)} intervals, {BINDS[most]} would help most: it would "
        f"narrow them by about {sum(shrink) / len(shrink):.0%}."
    )
    return (
        Finding(
            weight=WEIGHT,
            text=text,
            code="data-worth-most",
            numbers={
                "intervals": len(lines),
                "of": len(widths),
                "share": sum(shrink) / len(shrink),
            },
        ),
    )


WEIGHT_METRICS = 1.0
WORDS = {"majority-vote-off": "Majority vote", "equal-difficulty": "Depends on the model"}
"""Heading of each finding in the section, by code."""
ALIKE = "ratings read without weights (`weight=''`), if all items may have equal weight"
FIRST = 1000.0
"""Weight of a finding that a number depends on the model: it precedes all others."""


def metrics_section(material: Material) -> Section:
    """Report the metrics with both estimands, and those of a majority vote."""
    summaries, vote = material.summaries, material.vote
    titles = material.titles
    figure = draw_metrics(
        {name: titled(table, titles) for name, table in summaries.items()},
        titled(vote, titles), width=WIDTH,
    )  # fmt: skip
    weights = material.ratings.items["weight"]
    about = estimands_said(summaries, weights.tolist())
    panels = f"{panels_said(material.draws['finite'])} {material.ties}".rstrip()
    note = f"Estimand {about}. Reference: {material.reference}.{panels}"
    caption = (
        "Posterior means, and the majority vote with its cluster bootstrap, with "
        f"{percent(material.level)} intervals. {note}"
    )
    # If the data do not identify errors, a gap to the majority vote is due to the prior. If design
    # weights differ, it may be due to them: they count in the vote and not in the estimand finite.
    untold = material.data_check.at_least("problem") or weights.nunique() > 1
    off = [] if untold else _off(summaries["finite"], vote, material.level, titles)
    if len(material.equal_difficulty):
        text = difficulty_sentence(material.equal_difficulty)
        off.append(Finding(weight=FIRST, text=text, code="equal-difficulty"))
    words = "The task's metrics from the model and from a majority vote, as in the table."
    blocks: list[Block] = [
        *(Callout(word=WORDS[f.code], text=f.text, level="doubt") for f in off),
        prose(
            f"{_held(material)} Majority-vote intervals treat the vote as the truth"
            f"{', with design weights' if weights.nunique() > 1 else ''}."
        ),
        picture(figure, name="metrics", words=words, caption=caption),
        metrics_table(
            summaries,
            titles,
            vote=vote,
            weights=weights.tolist(),
            panels=panels,
            draws=material.worth_draws,
        ),
        _legend(material.draws["finite"]),
    ]
    return Section(
        key="metrics",
        title="Metrics",
        blocks=tuple(blocks),
        findings=tuple(off),
        gaps=_left_out(material),
    )


def _legend(draws: xr.Dataset) -> Block:
    """Describe each metric, its direction and its unit."""
    said = [
        {"metric": str(name)}
        | {key: one.attrs.get(key, "") for key in ("title", "better", "unit", "description")}
        for name, one in draws.data_vars.items()
    ]
    shown = {
        "metric": "Metric", "title": "Title", "better": "Better is", "unit": "Unit",
        "description": "Definition",
    }  # fmt: skip
    return table_of(
        "metric_names", "Definitions of the metrics", pd.DataFrame(said), shown, is_prose=True
    )


def _left_out(material: Material) -> tuple[Gap, ...]:
    """Name the metrics of the task that cannot count the design weights."""
    said = material.draws["finite"].attrs
    if "left_out" not in said:
        return ()
    why = str(said["left_out_because"]).removesuffix(".")
    return (
        Gap(
            what=", ".join(said["left_out"]),
            why=why[0].lower() + why[1:],
            enable=ALIKE,
            code="uneven-design-weights",
        ),
    )


def _held(material: Material) -> str:
    """State which uncertainty the intervals include: a mode has none of the parameters."""
    held = "Model intervals include uncertainty about labels"
    if material.view.attrs["method"] not in MODES_ALONE:
        return f"{held} and raters."
    return (
        f"{held}, but not about raters and prevalence, so they are too narrow (method "
        f"{material.view.attrs['method']}; nuts includes both)."
    )


def _off(
    finite: pd.DataFrame, vote: pd.DataFrame, level: float, titles: Mapping[str, str]
) -> list[Finding]:
    """Return a finding on the majority vote that is farthest outside the model's interval."""
    keys = ["metric", "system"]
    both = finite.merge(vote[[*keys, "value"]], on=keys)
    outside = both[(both["value"] < both["lower"]) | (both["value"] > both["upper"])]
    if outside.empty:
        return []
    distance = (outside["value"] - outside["mean"]).abs() / outside["sd"].clip(lower=1e-9)
    line = lines_of(outside.loc[[distance.idxmax()]])[0]
    where = f" of {line['system']}" if line["system"] else ""
    told = interval(line["mean"], line["lower"], line["upper"])
    more = (
        f" The same is true of {counted(len(outside) - 1, 'more number')}."
        if len(outside) > 1
        else ""
    )
    more += f" The model's number may mislead: {line['doubt']}." if line["doubt"] else ""
    text = (
        f"The majority vote gives {titles[line['metric']]}{where} = {line['value']:.2f}. This is "
        f"outside the model's {percent(level)} interval, which allows for rater errors: {told} "
        f"(estimand finite).{more}"
    )
    return [
        Finding(
            weight=WEIGHT_METRICS * float(np.log1p(distance.max())),
            text=text,
            code="majority-vote-off",
            numbers={
                "vote": line["value"],
                "mean": line["mean"],
                "lower": line["lower"],
                "upper": line["upper"],
            },
        )
    ]

"""Sections: the metrics if an assumption is wrong."""

from collections.abc import Sequence

import pandas as pd

from assay._util.text import (
    UNDEFINED,
    counted,
    does,
    intervals,
    lines_of,
    percent,
    some,
)
from assay.comparison.decisions import Line, pair_conclusion, sign
from assay.display.notes import estimand_words
from assay.display.result_tables import by_metric
from assay.display.table import table_of
from assay.modelling.spec import is_consensus
from assay.reporting.material import ABSTENTION_DRAWS, Material
from assay.reporting.page import Block, Callout, Finding, Gap, Section, prose
from assay.validation.stability import CHANGES, FAILED

KEYS = ["metric", "system"]


def abstaining_section(material: Material) -> Section | None:
    """Show how informative abstentions could move each metric; None without abstentions."""
    ratings = material.ratings
    if not ratings.abstained.any():
        return None
    table = material.abstaining
    cells = _furthest(table)
    ends = {"fitted": "At random", "lowest": "Lowest", "highest": "Highest"}
    shown, under = by_metric(cells, ends)
    count = int(ratings.abstained.sum())
    return Section(
        key="abstaining",
        title="If abstentions are informative",
        blocks=(
            prose(
                f"{count} of {counted(len(ratings.abstained), 'rating')} {does(count, 'are')} "
                "abstentions. All other results assume that abstentions do not depend on the "
                "truth; the data can hardly test this. Here, the odds of abstaining are multiplied "
                "by four, or divided by four, for one true state at a time. The table shows the "
                "two assumptions that move each metric furthest.",
                _fewer_draws(material),
            ),
            table_of(
                "abstaining",
                f"Informative abstentions: posterior mean ({percent(material.level)} interval)",
                cells,
                shown,
                under=under,
                note=f"Estimand {estimand_words(table)}. Reference: {material.reference}.",
                export=table,
            ),
        ),
    )


def _fewer_draws(material: Material) -> str:
    """State that numbers differ from those of the fit, if they are from fewer draws."""
    sizes = material.view["posterior"].sizes
    total = sizes["chain"] * sizes["draw"]
    if total <= ABSTENTION_DRAWS:
        return ""
    return (
        f"These numbers are from about {ABSTENTION_DRAWS:,} of the {total:,} draws, which saves "
        "time. So they may differ from those of other tables in the last digit."
    )


def _furthest(table: pd.DataFrame) -> pd.DataFrame:
    """Return the lowest and the highest mean of each metric, and the fit's own."""
    cells = []
    table = table.assign(told=intervals(table))
    for key, found in table.groupby(KEYS, sort=False):
        rising = found.sort_values("mean", kind="stable")
        own = rising[rising["odds_ratio"] == 1].iloc[0]
        cells.append([*key, own["told"], _end(rising.iloc[0]), _end(rising.iloc[-1])])
    return pd.DataFrame(cells, columns=[*KEYS, "fitted", "lowest", "highest"])


def _end(line: pd.Series) -> str:
    """Write a number and the assumption that gives it."""
    if line["odds_ratio"] == 1:
        return "the same"
    times = "odds × 4" if line["odds_ratio"] > 1 else "odds ÷ 4"
    return f"{line['told']}: {times} for {line['when']}"


KERNEL = "kernel"


def metrics_blocks(table: pd.DataFrame, ran: pd.DataFrame, reference: str) -> list[Block]:
    """Show the metrics of each system as fitted, under the other kernel, and over all refits.

    ``ran`` are the lines of ``table`` (which is exported) whose variants could run.
    """
    rows = []
    ran = ran.assign(told=intervals(ran))
    for (metric, system), part in ran.groupby(KEYS, sort=False):
        first, others = _as_fitted(part)
        kernel = next((line["told"] for line in others if line["kind"] == KERNEL), "")
        cells = {"metric": str(metric), "system": str(system), "fitted": first["told"]}
        rows.append(cells | {KERNEL: kernel} | _over_refits(first, others, "mean"))
    frame = pd.DataFrame(rows)
    shown = {"metric": "Metric"} if frame["system"].nunique() == 1 else {"system": "System"}
    shown |= {"fitted": "As fitted"}
    variants = ran.loc[ran["kind"] == KERNEL, "variant"]
    if len(variants):
        variant = str(variants.iloc[0])
        shown[KERNEL] = variant[:1].upper() + variant[1:]
    shown |= OVER_REFITS
    numbers = table_of(
        "stability_metrics",
        "Each metric as fitted, and under other assumptions",
        frame,
        shown,
        under="" if "metric" in shown else "metric",
        note=f"Estimand {estimand_words(ran)}. Reference: {reference}. All refits: `tables=`.",
        export=table,
    )
    left = leaving(ran)
    if not left:
        return [numbers]
    word = "Estimates outside their fitted interval"
    return [numbers, Callout(word=word, text="; ".join(left) + ".", level="doubt")]


def leaving(ran: pd.DataFrame) -> list[str]:
    """Describe refits that move an estimate out of its interval as fitted."""
    changed = ran[ran["changes"].str.startswith(CHANGES)]
    return [
        f"{line['metric']}{f' of {line["system"]}' if line['system'] else ''}, {line['variant']}: "
        f"{line['mean']:z.2f} {line['changes'][line['changes'].index('(') :]}"
        for line in lines_of(changed)
    ]


OVER_REFITS = {"range": "Estimates of the refits", "most": "Moved most by"}


def _as_fitted(part: pd.DataFrame) -> tuple[Line, list[Line]]:
    """Return the line of the fit and those of its refits."""
    first, *others = lines_of(part.sort_values("kind", key=lambda k: k != "none", kind="stable"))
    return first, list(others)


def _over_refits(first: Line, others: Sequence[Line], number: str) -> dict[str, str]:
    """Return the range of the refits' estimates, and the refit that moves them most."""
    values = [line[number] for line in others if line[number] == line[number]]
    told = f"{min(values):z.2f} to {max(values):z.2f}" if values else "none ran"
    return {"range": told, "most": moved_most(first, others, number)}


def moved_most(first: Line, others: Sequence[Line], number: str) -> str:
    """Name the refit that moves the estimate in column ``number`` most, and by how much."""
    moves = {line["variant"]: line[number] - first[number] for line in others}
    known = {name: move for name, move in moves.items() if move == move}
    if not known:
        return UNDEFINED
    name = max(known, key=lambda name: abs(known[name]))
    return f"{name} ({known[name]:+z.2f})"


WEIGHT, WEIGHT_OF_NUMBERS = 55.0, 35.0
ROUGH = "effective sample size|chains disagree"
"""Warnings that are due to few draws; others are due to the design."""
NOT_ASKED = Gap(
    what="Stability: refits without each rater, with other priors, rules and kernels",
    why="it was not requested; each refit takes as long as a small fit",
    enable="`stability=True`",
    code="stability-not-asked",
)


def stability_section(material: Material) -> Section | Gap:
    """Report which conclusions and numbers change under other assumptions."""
    if not material.stability:
        return NOT_ASKED
    table, contrasts = material.refitted_metrics, material.refits
    ran = _ran(table)
    left = leaving(ran)
    said: list[str] = []
    blocks: list[Block] = [prose(*_refits(ran, sampled=material.view.attrs["method"] == "nuts"))]
    if contrasts is not None:
        ran_contrasts = _ran(contrasts)
        said = _changed(ran_contrasts)
        blocks += _contrast_blocks(contrasts, ran_contrasts, said, material.reference)
    blocks += metrics_blocks(table, ran, material.reference)
    return Section(
        key="stability",
        title="Stability",
        blocks=tuple(blocks),
        gaps=tuple(_gaps(table)),
        findings=_findings(said, left),
    )


def _ran(table: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of variants that could run."""
    return table[~table["changes"].str.startswith(FAILED)]


def _changed(ran: pd.DataFrame) -> list[str]:
    """Describe the conclusions that change."""
    changed = ran[ran["changes"].str.startswith(CHANGES)]
    return [
        f"{line.metric}, {line.a} − {line.b}, {line.variant}: {line.changes}"
        for line in changed.itertuples()
    ]


def _contrast_blocks(
    table: pd.DataFrame, ran: pd.DataFrame, said: list[str], reference: str
) -> list[Block]:
    moved = ran[~ran["changes"].isin(["", "none"])]
    return [
        _verdict(said, ran),
        _contrasts(ran, reference, export=table),
        *([] if moved.empty else [_moves(moved)]),
    ]


def _refits(ran: pd.DataFrame, *, sampled: bool) -> tuple[str, str]:
    """State the number of refits, their draws, and the number of warnings."""
    refits = ran[ran["kind"] != "none"].drop_duplicates("variant")
    words = (
        f"The model was refitted in {len(refits)} ways, each with "
        f"{' or '.join(dict.fromkeys(refits['basis']))}. Small changes may be Monte Carlo error."
    )
    warned = list(refits.loc[refits["warnings"] != "", "variant"])
    rough = int(refits["warnings"].str.contains(ROUGH).sum()) if sampled else 0
    if not warned:
        return words, ""
    names = f" ({some(warned)})" if len(warned) < len(refits) else ""
    which = "their" if rough == len(warned) else f"{rough} of their"
    few = f": with so few draws, the ends of {which} intervals are imprecise" if rough else ""
    return words, (
        f"{len(warned)} of {len(refits)} refits came with a warning{names}{few}. For the "
        "texts, see the exported table."
    )


def _verdict(said: list[str], ran: pd.DataFrame) -> Block:
    if said:
        return Callout(word="Not stable", text="; ".join(said) + ".", level="doubt")
    fitted = ran[ran["kind"] == "none"]
    ends = zip(fitted["difference_lower"], fitted["difference_upper"], strict=True)
    clear = sum(sign(*pair) != 0 for pair in ends)
    contrasts = counted(len(fitted), "contrast")
    if not clear:
        text = f"None of {contrasts} has a clear sign, as fitted or in any refit."
        return Callout(word="Open", text=text, level="note")
    text = f"{clear} of {contrasts} {does(clear, 'have')} a clear sign; no refit changes it."
    return Callout(word="Stable", text=text, level="good")


def _contrasts(ran: pd.DataFrame, reference: str, *, export: pd.DataFrame) -> Block:
    """Show one line per contrast: as fitted, and over the refits."""
    lines = []
    ran = ran.assign(told=_gaps_told(ran))
    for (metric, a, b), part in ran.groupby(["metric", "a", "b"], sort=False):
        first, others = _as_fitted(part)
        cells = {"metric": str(metric), "contrast": f"{a} − {b}", "fitted": first["told"]}
        cells |= _over_refits(first, others, "difference")
        lines.append(cells | {"conclusion": _said(first, others)})
    frame = pd.DataFrame(lines)
    one = frame["contrast"].nunique() == 1
    shown = {"metric": f"Metric, {frame['contrast'].iloc[0]}"} if one else {"contrast": "Contrast"}
    shown |= {"fitted": "As fitted"} | OVER_REFITS | {"conclusion": "Conclusion"}
    return table_of(
        "stability",
        "Each contrast as fitted, and under other assumptions",
        frame,
        shown,
        under="" if one else "metric",
        note=f"Estimand {estimand_words(ran)}. Reference: {reference}. All refits: `tables=`.",
        export=export,
    )


def _gaps_told(table: pd.DataFrame) -> list[str]:
    """Write each difference with its interval."""
    keys = ("difference", "difference_lower", "difference_upper")
    return intervals(table, keys, marks=[0.0])


def _said(first: Line, others: Sequence[Line]) -> str:
    """State in how many refits the conclusion stays."""
    same = sum(pair_conclusion(line) == pair_conclusion(first) for line in others)
    return f"{pair_conclusion(first)}; in {same} of {len(others)} refits too"


def _moves(moved: pd.DataFrame) -> Block:
    """Show only the refits that change or move a contrast."""
    words = moved.assign(
        contrast=moved["metric"] + ", " + moved["a"] + " − " + moved["b"],
        told=_gaps_told(moved),
    ).sort_values("contrast", kind="stable")
    return table_of(
        "stability_moves",
        "Refits that change or move a contrast: posterior mean and interval",
        words,
        {"variant": "Refit", "told": "Difference", "changes": "What changes"},
        under="contrast",
        export=moved,
    )


def _gaps(table: pd.DataFrame) -> list[Gap]:
    """Name the variants that could not run."""
    failed = table[table["changes"].str.startswith(FAILED)].drop_duplicates("variant")
    return [
        Gap(
            what=f"Stability, {line.variant}",
            why=str(line.changes).removeprefix(f"{FAILED}: "),
            enable="what the message says",
            code="refit-failed",
        )
        for line in failed.itertuples()
    ]


def _findings(said: list[str], left: list[str]) -> tuple[Finding, ...]:
    """Return a finding on a changed conclusion, or else on a number that leaves its interval."""
    told = said or left
    if not told:
        return ()
    what = "conclusion" if said else "number"
    more = len(told) - 1
    rest = f" {counted(more, f'more {what}')} {does(more, 'change')} too." if more else ""
    text = f"A {what} depends on an assumption. {told[0]}.{rest}"
    return (
        Finding(
            weight=WEIGHT if said else WEIGHT_OF_NUMBERS,
            text=text,
            code="conclusion-on-assumption" if said else "number-on-assumption",
            numbers={"changes": len(told)},
            hedge="a conclusion depends on an assumption (see Stability)" if said else "",
        ),
    )


NOT_A_CONSENSUS = Gap(
    what="Metrics if the consensus is wrong",
    why="the truth is known, or is the consensus of one group",
    enable="a fit without `reference=`, of items without known truth",
    code="truth-not-consensus",
)


def wrong_section(material: Material) -> Section | Gap:
    """Report the metrics if the consensus were wrong on a share of the items."""
    if not is_consensus(material.reference):
        return NOT_A_CONSENSUS
    table = material.sensitivity
    told = intervals(table)
    named = table.assign(told=told, share=[f"{share:.0%}" for share in table["wrong"]])
    cells = named.pivot_table(
        index=["metric", "system"], columns="share", values="told", aggfunc="first", sort=False
    ).reset_index()
    shares = {share: f"Wrong on {share}" for share in dict.fromkeys(named["share"])}
    shown, under = by_metric(cells, shares)
    return Section(
        key="wrong",
        title="If the consensus is wrong",
        blocks=(
            prose(
                "Ratings do not identify how often all raters are wrong together. The table shows "
                "the metrics if the truth differs from the consensus on a share of the items."
            ),
            table_of(
                "wrong",
                f"If the consensus is wrong: posterior mean ({percent(material.level)} interval)",
                cells,
                shown,
                under=under,
                note=f"Estimand {estimand_words(table)}. Reference: {material.reference}.",
                export=table,
            ),
        ),
    )

"""Section: whether the conclusions survive other assumptions."""

from collections.abc import Sequence

import pandas as pd

from assay._util.plurals import counted, does, some
from assay._util.words import gap, lines_of
from assay.comparison.settled import pair_conclusion, sign
from assay.comparison.words import Line
from assay.display.notes import estimand_words
from assay.reporting.material import Material
from assay.reporting.page import Block, Callout, Finding, Gap, Section, prose, table_of
from assay.reporting.refitted_metrics import leaving, metrics_blocks, moved_most
from assay.validation.robustness import FAILED
from assay.validation.views import CHANGES

WEIGHT, WEIGHT_OF_NUMBERS = 55.0, 35.0
ROUGH = "effective sample size|chains do not agree"
"""What warnings of few draws say; others are of the design, whatever the number of draws."""
NOT_ASKED = Gap(
    what="Stability: refits without each rater, with other priors, rules and kernels",
    why="it was not asked for; each refit takes as long as a small fit",
    enable="stability=True",
    code="stability-not-asked",
)


def stability_section(material: Material) -> Section | Gap:
    """Say which conclusions and numbers change under other assumptions."""
    if not material.stability:
        return NOT_ASKED
    table, contrasts = material.refitted_metrics, material.refits
    ran = _ran(table)
    left = leaving(ran)
    said: list[str] = []
    blocks: list[Block] = [prose(*_refits(ran, sampled=material.fit.attrs["method"] == "nuts"))]
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
    """Say which conclusions change."""
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
    """Say how many refits there were, with how many draws, and which of them gave a warning."""
    refits = ran[ran["kind"] != "none"].drop_duplicates("variant")
    words = (
        f"The model was refitted in {len(refits)} ways, each with "
        f"{' or '.join(dict.fromkeys(refits['basis']))}: small moves are Monte Carlo error."
    )
    warned = list(refits.loc[refits["warnings"] != "", "variant"])
    rough = int(refits["warnings"].str.contains(ROUGH).sum()) if sampled else 0
    if not warned:
        return words, ""
    names = f" ({some(warned)})" if len(warned) < len(refits) else ""
    which = "their" if rough == len(warned) else f"{rough} of their"
    few = f": with so few draws the ends of {which} intervals are rough" if rough else ""
    return words, (
        f"{len(warned)} of {len(refits)} refits came with a warning{names}{few}. The exported "
        "table has the words."
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
    text = f"{clear} of {contrasts} {does(clear, 'have')} a clear sign; none changes."
    return Callout(word="Stable", text=text, level="good")


def _contrasts(ran: pd.DataFrame, reference: str, *, export: pd.DataFrame) -> Block:
    """One line per contrast: as fitted, and what the refits make of it."""
    lines = []
    for (metric, a, b), part in ran.groupby(["metric", "a", "b"], sort=False):
        first, *others = lines_of(part.sort_values("kind", key=lambda k: k != "none"))
        values = [line["difference"] for line in others if line["difference"] == line["difference"]]
        lines.append(
            {
                "metric": str(metric),
                "contrast": f"{a} − {b}",
                "fitted": _told(first),
                "range": f"{min(values):z.2f} to {max(values):z.2f}" if values else "none ran",
                "most": moved_most(first, others, "difference"),
                "conclusion": _said(first, others),
            }
        )
    frame = pd.DataFrame(lines)
    one = frame["contrast"].nunique() == 1
    shown = {"metric": f"Metric, {frame['contrast'].iloc[0]}"} if one else {"contrast": "Contrast"}
    shown |= {
        "fitted": "As fitted",
        "range": "Estimates of the refits",
        "most": "Moved most by",
        "conclusion": "Conclusion",
    }
    return table_of(
        "stability",
        "Each contrast as fitted, and under other assumptions",
        frame,
        shown,
        under="" if one else "metric",
        note=f"Estimand {estimand_words(ran)}. Reference: {reference}. All refits: tables=.",
        export=export,
    )


def _told(line: Line) -> str:
    keys = ("difference", "difference_lower", "difference_upper")
    return gap(*(line[key] for key in keys))


def _said(first: Line, others: Sequence[Line]) -> str:
    """Say in how many refits the conclusion stays."""
    same = sum(pair_conclusion(line) == pair_conclusion(first) for line in others)
    return f"{pair_conclusion(first)}; in {same} of {len(others)} refits too"


def _moves(moved: pd.DataFrame) -> Block:
    """Only the refits that change or move a contrast."""
    words = moved.assign(
        contrast=moved["metric"] + ", " + moved["a"] + " − " + moved["b"],
        told=list(map(_told, lines_of(moved))),
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
    """Tell of a conclusion that changes; where none does, of a number that leaves its interval."""
    told = said or left
    if not told:
        return ()
    what = "conclusion hangs" if said else "number hangs"
    more = len(told) - 1
    rest = f" {counted(more, what.split()[0])} more {does(more, 'change')} as well." if more else ""
    text = f"A {what} on an assumption. {told[0]}.{rest}"
    return (
        Finding(
            weight=WEIGHT if said else WEIGHT_OF_NUMBERS,
            text=text,
            section="stability",
            code="conclusion-on-assumption" if said else "number-on-assumption",
            numbers={"changes": len(told)},
        ),
    )

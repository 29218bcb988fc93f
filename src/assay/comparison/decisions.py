"""The decision rule for intervals, and its wording."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from assay._util.text import (
    UNDEFINED,
    chance_cell,
    decimals_beside,
    is_inside,
    lines_of,
    percent,
    probability,
    rounded,
    tenths,
)
from assay.comparison.contrasts import TIE, contrast

Verdict = Literal["supported", "contradicted", "undecided"]
OPEN = "the sign is open"


def verdict_on(
    lower: float, upper: float, region: tuple[float, float], *, closed: bool = False
) -> Verdict:
    """Return whether an interval lies in a region (``supported``), outside (``contradicted``) or
    neither, as with NaN; ``closed`` includes the region's ends. All verdicts use this rule.

    With a two-sided region it is Kruschke's rule for practical equivalence (2018, Advances in
    Methods and Practices in Psychological Science 1(2), 270-280), with an equal-tailed interval.
    """
    # A closed end includes values within rounding error of it; an open end excludes them.
    slack = TIE if closed else -TIE
    low, high = region[0] - slack, region[1] + slack
    if low <= lower and upper <= high:
        return "supported"
    return "contradicted" if upper < low or lower > high else "undecided"


def sign(lower: float, upper: float) -> int:
    """Return the sign that an interval settles; 0 if it settles none."""
    is_above = verdict_on(lower, upper, (0.0, np.inf)) == "supported"
    return int(is_above) - int(verdict_on(lower, upper, (-np.inf, 0.0)) == "supported")


def conclusion(a: str, b: str, lower: float, upper: float) -> str:
    """State which of two is higher, if the interval of a - b settles it.

    An interval that ends at 0 itself, as for metrics with few values, leaves a possible tie.
    """
    found = sign(lower, upper)
    if found:
        return f"{a if found > 0 else b} is higher"
    no_lower, no_higher = (
        verdict_on(lower, upper, region, closed=True) == "supported"
        for region in ((0.0, np.inf), (-np.inf, 0.0))
    )
    if no_lower and no_higher:
        return "they are equal"
    return f"{a if no_lower else b} is at least as high" if no_lower or no_higher else OPEN


def pair_conclusion(line: Mapping[str, Any]) -> str:
    """State which of two is higher, from a line of :attr:`assay.comparison.Comparison.pairs`."""
    return conclusion(line["a"], line["b"], line["difference_lower"], line["difference_upper"])


Line = Mapping[str, Any]
"""A line of a table: column names to cells."""


def with_interval(
    middle: float,
    lower: float,
    upper: float,
    level: float,
    *,
    marks: Sequence[float] = (0.0,),
) -> str:
    """Write an estimate and its interval, precisely enough to compare it with ``marks``."""
    if not np.isfinite([middle, lower, upper]).all():
        return UNDEFINED
    n = decimals_beside(lower, upper, marks)
    mid, low, high = (rounded(value, n) for value in (middle, lower, upper))
    if not is_inside(middle, lower, upper, n):
        return f"{low} to {high} ({percent(level)} interval; mean {mid})"
    return f"{mid} ({percent(level)} interval {low} to {high})"


def chance(p: float) -> str:
    """Write a probability in a sentence: two decimals, but as in tables near 0 and 1."""
    text = probability(p)
    if text == UNDEFINED:
        return f"is {text}"
    if text[0] in "<>":
        return f"{text[0]} {text[1:]}"
    return f"= {p:.2f}" if 0.055 <= p <= 0.945 else f"= {text}"


def chance_said(p: float, level: float = 0.95) -> str:
    """Write a probability in a sentence, with the decimals of a table's cell."""
    text = chance_cell(p, level)
    if text == UNDEFINED:
        return f"is {text}"
    return f"{text[0]} {text[1:]}" if text[0] in "<>" else f"= {text}"


def about(line: Line) -> str:
    """Name the metric, the estimand and the reference of a number."""
    whose = f"; reference: {line['reference']}" if line["reference"] else ""
    return f"{line['metric']} (estimand {line['estimand']}{whose})"


def left_out(undefined: float) -> str:
    """State the share of draws that are left out; empty if none is."""
    if not undefined > 0:
        return ""
    return f"; undefined in {tenths(undefined)} of the draws, which are left out"


def pair_sentence(line: Line) -> str:
    """State a line of :attr:`assay.comparison.Comparison.pairs` in words, the higher system first.

    The higher system is the one that the interval settles, or else the one with the higher mean.
    """
    gap, lower, upper = (line[f"difference{end}"] for end in ("", "_lower", "_upper"))
    if np.isnan(gap):
        return f"{about(line)}: {line['a']} and {line['b']} are never both defined."
    first, second, p = line["a"], line["b"], line["p_greater"]
    supports = sign(lower, upper)
    if supports < 0 or (not supports and gap < 0):
        first, second, p = second, first, 1 - p - line["p_equal"]
        gap, lower, upper = -gap, -upper, -lower
    size = with_interval(gap, lower, upper, line["level"])
    is_higher = supports and not line["doubt"]
    head = f"{first} is higher than {second} by" if is_higher else f"{contrast(first, second)} is"
    text = f"{head} {size}, P({first} > {second}) {chance(p)}"
    if not np.isnan(line["p_rope"]):
        ends = f"{line['rope_lower']:g} to {line['rope_upper']:g}"
        text += f", P({contrast(line['a'], line['b'])} from {ends}) {chance(line['p_rope'])}"
    return f"{about(line)}: {text}{left_out(line['undefined'])}.{doubted(line)}"


def doubted(line: Line) -> str:
    """State that a number supports no conclusion, with the reason; empty if it does."""
    return f" No conclusion rests on it: {line['doubt']}." if line["doubt"] else ""


def best_sentence(lines: pd.DataFrame) -> str:
    """State which system to choose on one metric, and the expected loss of this choice."""
    line = lines_of(lines)[int(np.argmin(lines["expected_loss"]))]
    if line["doubt"]:
        return f"{about(line)}: none of {len(lines)} systems is named the best.{doubted(line)}"
    return (
        f"{about(line)}: choose {line['system']} of {len(lines)} systems ({line['better']} is "
        f"better): P(best) {chance(line['p_best'])}, expected loss {line['expected_loss']:.2g}"
        f"{left_out(line['unranked'])}."
    )

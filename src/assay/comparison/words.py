"""Comparisons in words: probabilities, intervals, and a sentence for each line of a table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from assay._util.words import (
    UNDEFINED,
    decimals_beside,
    is_inside,
    lines_of,
    percent,
    probability,
    rounded,
    tenths,
)
from assay.comparison.pairs import contrast
from assay.comparison.settled import sign

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
    """Write an estimate and its interval, with as many decimals as show where it ends.

    Parameters
    ----------
    middle, lower, upper, level : float
    marks : sequence of float
        Numbers of which it has to show whether the interval holds them.

    Examples
    --------
    >>> with_interval(0.062, 0.035, 0.089, 0.95)
    '0.062 (95% interval 0.035 to 0.089)'
    >>> with_interval(0.062, 0.0349, 0.089, 0.95, marks=[0.035])
    '0.0620 (95% interval 0.0349 to 0.0890)'
    >>> with_interval(0.012, 0.02, 0.02, 0.95)  # a few draws far away pull the mean
    '0.02 to 0.02 (95% interval; mean 0.01)'
    """
    if not np.isfinite([middle, lower, upper]).all():
        return UNDEFINED
    n = decimals_beside(lower, upper, marks)
    mid, low, high = (rounded(value, n) for value in (middle, lower, upper))
    if not is_inside(middle, lower, upper, n):
        return f"{low} to {high} ({percent(level)} interval; mean {mid})"
    return f"{mid} ({percent(level)} interval {low} to {high})"


def chance(p: float) -> str:
    """Write what a probability is in a sentence: two decimals, but near 0 and 1 as in tables.

    Examples
    --------
    >>> [chance(p) for p in (0.5, 0.987, 1.0, 0.0, float("nan"))]
    ['= 0.50', '= 0.987', '> 0.999', '< 0.001', 'is undefined']
    """
    text = probability(p)
    if text == UNDEFINED:
        return f"is {text}"
    if text[0] in "<>":
        return f"{text[0]} {text[1:]}"
    return f"= {p:.2f}" if 0.055 <= p <= 0.945 else f"= {text}"


def about(line: Line) -> str:
    """Say what a number is about: its metric, its estimand and whose truth it takes."""
    whose = f"; reference: {line['reference']}" if line["reference"] else ""
    return f"{line['metric']} (estimand {line['estimand']}{whose})"


def left_out(undefined: float) -> str:
    """Say which share of the draws is left out; nothing if none is."""
    if not undefined > 0:
        return ""
    return f"; undefined in {tenths(undefined)} of the draws, which are left out"


def pair_sentence(line: Line) -> str:
    """Say what a line of the pairs means, the higher system first.

    That is the one which the interval says is higher, or else the one with the higher mean.

    Parameters
    ----------
    line : mapping
        A line of :attr:`assay.comparison.Comparison.pairs`.
    """
    gap, lower, upper = (line[f"difference{end}"] for end in ("", "_lower", "_upper"))
    if np.isnan(gap):
        return f"{about(line)}: {line['a']} and {line['b']} are never both defined."
    first, second, p = line["a"], line["b"], line["p_greater"]
    settled = sign(lower, upper)
    if settled < 0 or (not settled and gap < 0):
        first, second, p = second, first, 1 - p - line["p_equal"]
        gap, lower, upper = -gap, -upper, -lower
    size = with_interval(gap, lower, upper, line["level"])
    is_higher = settled and not line["doubt"]
    head = f"{first} is higher than {second} by" if is_higher else f"{contrast(first, second)} is"
    text = f"{head} {size}, P({first} > {second}) {chance(p)}"
    if not np.isnan(line["p_rope"]):
        ends = f"{line['rope_lower']:g} to {line['rope_upper']:g}"
        text += f", P({contrast(line['a'], line['b'])} from {ends}) {chance(line['p_rope'])}"
    return f"{about(line)}: {text}{left_out(line['undefined'])}.{doubted(line)}"


def doubted(line: Line) -> str:
    """Say that a number supports no conclusion, and why; nothing if it can."""
    return f" No conclusion rests on it: {line['doubt']}." if line["doubt"] else ""


def best_sentence(lines: pd.DataFrame) -> str:
    """Say which system to choose on one metric, and what that may cost.

    Parameters
    ----------
    lines : pandas.DataFrame
        Lines of one metric of :attr:`assay.comparison.Comparison.systems`.
    """
    line = lines_of(lines)[int(np.argmin(lines["expected_loss"]))]
    if line["doubt"]:
        return f"{about(line)}: none of {len(lines)} systems is named the best.{doubted(line)}"
    return (
        f"{about(line)}: of {len(lines)} systems choose {line['system']} ({line['better']} is "
        f"better): P(best) {chance(line['p_best'])}, expected loss {line['expected_loss']:.2g}"
        f"{left_out(line['unranked'])}."
    )

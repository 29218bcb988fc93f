"""The one rule for what an interval decides, and its wording."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from assay._util.text import (
    UNDEFINED,
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


def settled(
    lower: float, upper: float, region: tuple[float, float], *, closed: bool = False
) -> Verdict:
    r"""Say what an interval settles of the statement that a number lies in a region.

    Every verdict of the package is this one: of claims, of the sign of a difference, of whether
    a conclusion survives other assumptions.

    Parameters
    ----------
    lower, upper : float
        Ends of the equal-tailed interval of some level; NaN settles nothing.
    region : (float, float)
        From its lowest value to its highest.
    closed : bool
        Whether the ends of the region belong to it.

    Returns
    -------
    {"supported", "contradicted", "undecided"}
        ``supported`` if the whole interval lies in the region, ``contradicted`` if none of it
        does.

    Notes
    -----
    With a region that is open to one side, such as a difference above 0, and an interval of
    95 %, ``supported`` means a probability of at least 0.975 and ``contradicted`` one of at most
    0.025. With a region between two ends it is Kruschke's rule for a region of practical
    equivalence, with the equal-tailed interval in the place of that of highest density.

    References
    ----------
    Kruschke, J. K. (2018). Rejecting or accepting parameter values in Bayesian estimation.
    Advances in Methods and Practices in Psychological Science 1(2), 270-280.

    Examples
    --------
    >>> settled(0.01, 0.07, (0.0, np.inf)), settled(0.01, 0.07, (0.03, np.inf))
    ('supported', 'undecided')
    >>> settled(0.01, 0.02, (0.03, np.inf))
    'contradicted'
    """
    # A closed end takes in what differs from it by rounding only; an open end leaves it out.
    slack = TIE if closed else -TIE
    low, high = region[0] - slack, region[1] + slack
    if low <= lower and upper <= high:
        return "supported"
    return "contradicted" if upper < low or lower > high else "undecided"


def sign(lower: float, upper: float) -> int:
    """Return the sign that an interval settles; 0 if it settles none.

    Examples
    --------
    >>> sign(0.01, 0.2), sign(-0.1, 0.2), sign(-0.2, -0.1)
    (1, 0, -1)
    """
    is_above = settled(lower, upper, (0.0, np.inf)) == "supported"
    return int(is_above) - int(settled(lower, upper, (-np.inf, 0.0)) == "supported")


def conclusion(a: str, b: str, lower: float, upper: float) -> str:
    """Say which of two is higher, by the interval of a - b, if that settles it.

    An interval that ends at 0 itself, as those of metrics with few values can, contradicts that
    one is higher without supporting that the other is: a tie is left.

    Examples
    --------
    >>> conclusion("A", "B", -0.3, -0.1), conclusion("A", "B", -0.3, 0.1)
    ('B is higher', 'the sign is open')
    >>> conclusion("A", "B", -0.3, 0.0), conclusion("A", "B", 0.0, 0.0)
    ('B is at least as high', 'they are equal')
    """
    found = sign(lower, upper)
    if found:
        return f"{a if found > 0 else b} is higher"
    no_lower, no_higher = (
        settled(lower, upper, region, closed=True) == "supported"
        for region in ((0.0, np.inf), (-np.inf, 0.0))
    )
    if no_lower and no_higher:
        return "they are equal"
    return f"{a if no_lower else b} is at least as high" if no_lower or no_higher else OPEN


def pair_conclusion(line: Mapping[str, Any]) -> str:
    """Say which of two is higher, by a line of :attr:`assay.comparison.Comparison.pairs`."""
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

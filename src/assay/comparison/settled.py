"""The one rule for verdicts: what an interval settles."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from assay.comparison.pairs import TIE

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

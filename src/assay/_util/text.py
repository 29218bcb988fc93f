"""Numbers, counts, verbs and lists as a sentence has them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.plain_text import plain

IRREGULAR = {"have": "has", "are": "is", "do": "does", "were": "was"}


def some(names: Sequence[str], limit: int = 5) -> str:
    """List the first few of some names.

    Examples
    --------
    >>> some(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(str(n) for n in names[:limit]) + more


def listed(names: Sequence[str], limit: int = 20) -> str:
    """List the first of some names, and say that there are more.

    Examples
    --------
    >>> listed(["a", "b", "c"], limit=2)
    'a, b, ...'
    """
    return ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")


def first_names(names: Sequence[str], limit: int = 5, longest: int = 40) -> str:
    """List the first of some names, which may be whole questions: long ones are cut.

    Examples
    --------
    >>> first_names(["a", "How good is it?", "c"], limit=2, longest=8)
    'a, How g..., ...'
    """
    cut = [n if len(n) <= longest else f"{n[: longest - 3].rstrip()}..." for n in names]
    return listed(cut, limit)


def counted(count: int, word: str, verb: str = "") -> str:
    """Write a number of things, and what they do.

    Examples
    --------
    >>> counted(1, "rater"), counted(2, "rating")
    ('1 rater', '2 ratings')
    >>> counted(1, "item", "have"), counted(2, "item", "have")
    ('1 item has', '2 items have')
    """
    return f"{count} {word}{'s' * (count != 1)}{f' {does(count, verb)}' * bool(verb)}"


def does(count: int, verb: str) -> str:
    """Write what some things do, by their number.

    Examples
    --------
    >>> does(1, "give"), does(2, "give"), does(1, "have")
    ('gives', 'give', 'has')
    """
    if count != 1:
        return verb
    return IRREGULAR.get(verb, f"{verb}s")


def sentence(text: str) -> str:
    """Make a sentence of a finding.

    Examples
    --------
    >>> sentence("two raters look like one")
    'Two raters look like one.'
    """
    return f"{text[:1].upper()}{text[1:]}."


FOLDERS = re.compile(r"(?<![\w.])(?:~|[A-Za-z]:)?[/\\](?:[^\s'\"/\\]+[/\\])*(?=[^\s'\"/\\])")
"""The folders of an absolute path: what stands before its last part."""
UNDEFINED = "undefined"
LEAST_DECIMALS, MOST_DECIMALS = 2, 4
ROUNDING = 1e-12
"""What sums in another order may differ by."""


def without_folders(text: str) -> str:
    """Leave of each absolute path its last part: where a file lies is nobody else's business.

    Examples
    --------
    >>> without_folders("assay fit /data/ann/ratings.csv -o out/fit.nc --claim 'A/B'")
    "assay fit ratings.csv -o out/fit.nc --claim 'A/B'"
    """
    return FOLDERS.sub("", text)


def printable(value: object) -> str:
    r"""Return text without control characters, which could garble a terminal.

    Examples
    --------
    >>> printable("a\x1b[2Jb")
    'a?[2Jb'
    """
    return plain(str(value), kept="")


def decimals_for(lower: float, upper: float) -> int:
    """Return how many decimals an interval deserves: two digits of its width, 2 to 4.

    Examples
    --------
    >>> decimals_for(0.46, 0.70), decimals_for(0.011, 0.019)
    (2, 4)
    >>> decimals_for(1 - 1e-16, 1.0)  # an interval without a width
    2
    """
    width = upper - lower
    if width <= ROUNDING:
        return LEAST_DECIMALS
    return int(np.clip(1 - np.floor(np.log10(width)), LEAST_DECIMALS, MOST_DECIMALS))


def decimals_beside(lower: float, upper: float, marks: Sequence[float]) -> int:
    """Return how many decimals show on which side of some numbers an interval ends: at most 4.

    An end that is not one of these numbers is not written as one: whether an interval holds it
    has to show.

    Examples
    --------
    >>> decimals_beside(-0.001, 0.4, marks=[0.0]), decimals_beside(0.0, 0.4, marks=[0.0])
    (3, 2)
    """
    n = decimals_for(lower, upper)
    while n < MOST_DECIMALS and any(
        ROUNDING < abs(end - mark) < 0.5 * 10**-n for end in (lower, upper) for mark in marks
    ):
        n += 1
    return n


TAIL_ERROR = 2.7
"""Monte Carlo error of the end of a 95 % interval over that of the mean, for a normal posterior."""


def column_decimals(
    numbers: NDArray[np.float64],
    *,
    sd: Sequence[float] | None = None,
    draws: float | None = None,
    marks: Sequence[float] = (),
) -> int:
    """Return how many decimals a column of estimates with intervals deserves: 2 to 4.

    They are as many as the widest Monte Carlo error allows, and no interval shrinks to a number.

    Parameters
    ----------
    numbers : ndarray (line, 3)
        Estimate, lower and upper end.
    sd : sequence of float, optional
        Posterior SD of each line.
    draws : float, optional
        How many independent draws the numbers are worth.
    marks : sequence of float
        Numbers of which it has to show on which side of them an interval ends.

    Examples
    --------
    >>> lines = np.array([[0.581, 0.462, 0.699], [0.02, 0.01, 0.03]])
    >>> column_decimals(lines), column_decimals(lines, sd=[0.05, 0.005], draws=400)
    (3, 2)
    """
    known = np.isfinite(numbers).all(axis=1)
    lines = numbers[known]
    if not len(lines):
        return LEAST_DECIMALS
    found = max(decimals_for(lower, upper) for _, lower, upper in lines)
    if sd is not None and draws:
        spread = np.nanmax(np.asarray(sd, float)[known], initial=0.0)
        error = TAIL_ERROR * spread / np.sqrt(draws)
        allowed = MOST_DECIMALS if error <= ROUNDING else int(-np.floor(np.log10(error)) - 1)
        found = int(np.clip(allowed, LEAST_DECIMALS, found))
    while found < MOST_DECIMALS and any(_is_lost(line[1], line[2], found, marks) for line in lines):
        found += 1
    return found


def _is_lost(lower: float, upper: float, decimals: int, marks: Sequence[float]) -> bool:
    """Whether so many decimals hide that an interval has a width, or where it ends."""
    if upper - lower > ROUNDING and rounded(lower, decimals) == rounded(upper, decimals):
        return True
    return any(
        ROUNDING < abs(end - mark) < 0.5 * 10**-decimals for end in (lower, upper) for mark in marks
    )


def gap(middle: float, lower: float, upper: float) -> str:
    """Write a difference with its interval, so that it shows whether the interval holds 0.

    Examples
    --------
    >>> gap(0.2, -0.001, 0.4), gap(0.2, 0.1, 0.4)
    ('0.200 (-0.001 to 0.400)', '0.20 (0.10 to 0.40)')
    """
    if not np.isfinite([lower, upper]).all():
        return interval(middle, lower, upper)
    return interval(middle, lower, upper, decimals_beside(lower, upper, [0.0]))


def interval(middle: float, lower: float, upper: float, decimals: int | None = None) -> str:
    """Write an estimate with its interval, or that it has none.

    A mean that a few draws far away pull out of its interval is no estimate to start with: the
    interval comes first, and the mean is named as such.

    Examples
    --------
    >>> interval(0.581, 0.462, 0.699)
    '0.58 (0.46 to 0.70)'
    >>> interval(0.012, 0.02, 0.02)
    '0.02 to 0.02 (mean 0.01)'
    >>> interval(0.393, float("nan"), float("nan"))
    '0.39 (no interval)'
    >>> interval(float("nan"), 0.0, 1.0)
    'undefined'
    """
    if not np.isfinite(middle):
        return UNDEFINED
    if not np.isfinite([lower, upper]).all():
        n = LEAST_DECIMALS if decimals is None else decimals
        return f"{rounded(middle, n)} (no interval)"
    n = decimals_for(lower, upper) if decimals is None else decimals
    mid, ends = rounded(middle, n), f"{rounded(lower, n)} to {rounded(upper, n)}"
    return f"{mid} ({ends})" if is_inside(middle, lower, upper, n) else f"{ends} (mean {mid})"


def is_inside(middle: float, lower: float, upper: float, decimals: int) -> bool:
    """Whether an interval holds a number, as both are written with so many decimals.

    Examples
    --------
    >>> is_inside(0.019, 0.02, 0.02, 2), is_inside(0.019, 0.02, 0.02, 3)
    (True, False)
    """
    mid, low, high = (float(rounded(value, decimals)) for value in (middle, lower, upper))
    return low <= mid <= high


def intervals(
    table: pd.DataFrame,
    columns: Sequence[str] = ("mean", "lower", "upper"),
    *,
    draws: float | None = None,
    marks: Sequence[float] = (),
) -> list[str]:
    """Write the estimate of each line of a table with its interval, with as many decimals each.

    Parameters
    ----------
    table : DataFrame
    columns : sequence of str
        Of the estimate and of the ends of its interval.
    draws : float, optional
        How many independent draws the numbers are worth; with a column ``sd`` they limit the
        decimals.
    marks : sequence of float
        As for :func:`column_decimals`.

    Examples
    --------
    >>> intervals(pd.DataFrame({"mean": [0.581], "lower": [0.462], "upper": [0.699]}))
    ['0.58 (0.46 to 0.70)']
    """
    numbers = table[list(columns)].to_numpy(float)
    spread = next((table[c].tolist() for c in ("sd", f"{columns[0]}_sd") if c in table), None)
    decimals = column_decimals(numbers, sd=spread, draws=draws, marks=marks)
    return [interval(line[0], line[1], line[2], decimals) for line in numbers]


def marked(table: pd.DataFrame, notes: dict[str, str], *, draws: float | None = None) -> list[str]:
    """Write each line's estimate and interval, with a mark where its ``doubt`` says why.

    Parameters
    ----------
    table : DataFrame
    notes : dict of str to str
        The mark of each doubt; new doubts are added.

    Examples
    --------
    >>> notes = {}
    >>> line = {"mean": [0.5], "lower": [0.4], "upper": [0.6], "doubt": ["empty class"]}
    >>> marked(pd.DataFrame(line), notes), notes_said(notes)
    (['0.50 (0.40 to 0.60)*'], ' * empty class.')
    """
    return [
        text + (mark_of(doubt, notes) if doubt else "")
        for text, doubt in zip(intervals(table, draws=draws), table["doubt"], strict=True)
    ]


def mark_of(text: str, notes: dict[str, str]) -> str:
    """Return the mark of a note, which is added to the notes if it is new."""
    return notes.setdefault(text, "*" * (len(notes) + 1))


def notes_said(notes: Mapping[str, str], before: str = " ") -> str:
    """Say what the marks of a table mean, each after some sign."""
    stop = "." if before == " " else ""
    return "".join(f"{before}{mark} {text}{stop}" for text, mark in notes.items())


def with_undefined(texts: Iterable[str], shares: Iterable[float]) -> list[str]:
    """Add to each number in which share of the draws it is undefined, unless in none or in all.

    Examples
    --------
    >>> with_undefined(["0.58", "0.58", "undefined"], [0.0, 0.125, 1.0])
    ['0.58', '0.58 [undefined in 12.5%]', 'undefined']
    """
    pairs = zip(texts, shares, strict=True)
    return [f"{text} [undefined in {tenths(u)}]" if 0 < u < 1 else text for text, u in pairs]


def tenths(share: float) -> str:
    """Write a share in tenths of a percent; what is not none or all does not look so.

    Examples
    --------
    >>> [tenths(share) for share in (0.25, 0.0002, 0.9998, 1.0)]
    ['25.0%', '<0.1%', '>99.9%', '100.0%']
    """
    if share in (0, 1):
        return f"{share:.1%}"
    return {"0.0%": "<0.1%", "100.0%": ">99.9%"}.get(words := f"{share:.1%}", words)


def rounded(value: float, decimals: int) -> str:
    """Write a number with so many decimals; one that rounds to -0 is 0.

    Examples
    --------
    >>> rounded(-0.001, 2), rounded(0.125, 3)
    ('0.00', '0.125')
    """
    # Adding 0.0 turns -0 into 0.
    return f"{round(float(value), decimals) + 0.0:.{decimals}f}"


def percent(level: float) -> str:
    """Write the probability of an interval.

    Examples
    --------
    >>> percent(0.95), percent(0.995)
    ('95%', '99.5%')
    """
    return f"{100 * level:g}%"


def fixed(number: float, decimals: int) -> str:
    """Write a number with so many decimals, without a sign where all of them are zero.

    Examples
    --------
    >>> fixed(0.15, 3), fixed(-0.0001, 3), fixed(float("nan"), 3)
    ('0.150', '0.000', 'undefined')
    """
    return rounded(number, decimals) if np.isfinite(number) else UNDEFINED


def chance_cell(p: float) -> str:
    """Write a probability in a table: two decimals, which a thousand draws can tell.

    Examples
    --------
    >>> [chance_cell(p) for p in (0.5, 0.9951, 0.0002, float("nan"))]
    ['0.50', '>0.99', '<0.01', 'undefined']
    """
    if not np.isfinite(p):
        return UNDEFINED
    return {"1.00": ">0.99", "0.00": "<0.01"}.get(words := f"{p:.2f}", words)


def probability(p: float) -> str:
    """Write a probability; draws cannot tell the last thousandth from certainty.

    Examples
    --------
    >>> [probability(p) for p in (0.5, 0.9995, 0.0002, float("nan"))]
    ['0.500', '>0.999', '<0.001', 'undefined']
    """
    if not np.isfinite(p):
        return UNDEFINED
    return {"1.000": ">0.999", "0.000": "<0.001"}.get(words := f"{p:.3f}", words)


def lines_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the lines of a frame, column names to cells."""
    return [{str(k): v for k, v in line.items()} for line in frame.to_dict("records")]

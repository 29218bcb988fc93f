"""Numbers, counts, verbs and lists as text."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay._util.plain_text import plain
from assay._util.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

SIBILANTS = ("s", "x", "z", "ch", "sh")
VOWELS = tuple("aeiou")
IRREGULAR = {"have": "has", "are": "is", "do": "does", "were": "was"}


def some(names: Sequence[str], limit: int = 5) -> str:
    """List the first names, and the number of the others: ``a, b and 1 more``."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(str(n) for n in names[:limit]) + more


def listed(names: Sequence[str], limit: int = 20) -> str:
    """List the first names, with ``...`` if there are more."""
    return ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")


def first_names(names: Sequence[str], limit: int = 5, longest: int = 40) -> str:
    """List the first names with ``...``; names may be whole questions, so long ones are cut."""
    cut = [n if len(n) <= longest else f"{n[: longest - 3].rstrip()}..." for n in names]
    return listed(cut, limit)


def counted(count: int, word: str, verb: str = "") -> str:
    """Write a count with its noun and verb: ``2 items have``."""
    return f"{count} {word if count == 1 else plural(word)}{f' {does(count, verb)}' * bool(verb)}"


def plural(noun: str) -> str:
    """Return the plural of a noun: ``guesses``, ``queries``, ``rows``."""
    if noun.endswith(SIBILANTS):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in VOWELS:
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def does(count: int, verb: str) -> str:
    """Return a verb in the form for this count: ``gives`` or ``give``."""
    if count != 1:
        return verb
    return IRREGULAR.get(verb, plural(verb))


def sentence(text: str) -> str:
    """Capitalise a finding and end it with a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


FOLDERS = re.compile(r"(?<![\w.])(?:~|[A-Za-z]:)?[/\\](?:[^\s'\"/\\]+[/\\])*(?=[^\s'\"/\\])")
"""The folders of an absolute path, before its last part."""
UNDEFINED = "undefined"
LEAST_DECIMALS, MOST_DECIMALS = 2, 4
ROUNDING = 1e-12
"""Bound of the rounding error of sums in another order."""


def called(rater: str) -> str:
    """Start a sentence with the name of a rater.

    >>> called("anna"), called("rater 2")
    ('Rater anna', 'Rater 2')
    """
    return f"Rater {rater.removeprefix('rater ')}"


def without_folders(text: str) -> str:
    """Reduce absolute paths to their last part, for privacy."""
    return FOLDERS.sub("", text)


def printable(value: object) -> str:
    """Return text without control characters, which could garble a terminal."""
    return plain(str(value), kept="")


def decimals_for(lower: float, upper: float) -> int:
    """Return the decimals of an interval: two digits of its width, from 2 to 4."""
    width = upper - lower
    if width <= ROUNDING:
        return LEAST_DECIMALS
    return int(np.clip(1 - np.floor(np.log10(width)), LEAST_DECIMALS, MOST_DECIMALS))


def decimals_beside(lower: float, upper: float, marks: Sequence[float]) -> int:
    """Return decimals that show on which side of ``marks`` an interval ends: at most 4.

    An end that differs from a mark is not rounded to it, so a reader sees whether it is inside.
    """
    n = decimals_for(lower, upper)
    while n < MOST_DECIMALS and _is_lost(lower, upper, n, marks):
        n += 1
    return n


TAIL_ERROR = 2.7
"""Monte Carlo error of a 95 % interval's end / that of the mean, for a normal posterior."""


def column_decimals(
    numbers: Floats,
    *,
    sd: Sequence[float] | None = None,
    draws: float | None = None,
    marks: Sequence[float] = (),
) -> int:
    """Return the decimals of a column of estimates (line; estimate, lower, upper): 2 to 4, as the
    largest Monte Carlo error allows. No interval collapses; ends stay on their side of ``marks``.
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
    """Whether so many decimals hide an interval's width, or on which side of a mark it ends."""
    if upper - lower > ROUNDING and rounded(lower, decimals) == rounded(upper, decimals):
        return True
    return any(
        ROUNDING < abs(end - mark) < 0.5 * 10**-decimals for end in (lower, upper) for mark in marks
    )


def gap(middle: float, lower: float, upper: float) -> str:
    """Write a difference with its interval, so that it shows whether 0 is inside."""
    if not np.isfinite([lower, upper]).all():
        return interval(middle, lower, upper)
    return interval(middle, lower, upper, decimals_beside(lower, upper, [0.0]))


def interval(middle: float, lower: float, upper: float, decimals: int | None = None) -> str:
    """Write an estimate with its interval: ``0.58 (0.46 to 0.70)``.

    A few extreme draws can pull the mean out of its interval. Then the interval comes first.
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
    """Whether an interval contains a number, both rounded to so many decimals."""
    mid, low, high = (float(rounded(value, decimals)) for value in (middle, lower, upper))
    return low <= mid <= high


def intervals(
    table: "pd.DataFrame",
    columns: Sequence[str] = ("mean", "lower", "upper"),
    *,
    draws: float | None = None,
    marks: Sequence[float] = (),
) -> list[str]:
    """Write estimate and interval of each line, all with the same decimals (`column_decimals`).
    ``draws`` (effective number) limits them where there is a column of SDs.
    """
    decimals = decimals_of(table, columns, draws=draws, marks=marks)
    numbers = table[list(columns)].to_numpy(float)
    return [interval(line[0], line[1], line[2], decimals) for line in numbers]


def decimals_of(
    table: "pd.DataFrame",
    columns: Sequence[str] = ("mean", "lower", "upper"),
    *,
    draws: float | None = None,
    marks: Sequence[float] = (),
) -> int:
    """Return the decimals with which `intervals` writes all lines."""
    spread = next((table[c].tolist() for c in ("sd", f"{columns[0]}_sd") if c in table), None)
    numbers = table[list(columns)].to_numpy(float)
    return column_decimals(numbers, sd=spread, draws=draws, marks=marks)


def marked(
    table: "pd.DataFrame",
    notes: dict[str, str],
    *,
    draws: float | None = None,
    marks: Sequence[float] = (),
) -> list[str]:
    """Write estimate and interval of each line, marked if it has a ``doubt``, which joins
    ``notes``.
    """
    return [
        text + (mark_of(doubt, notes) if doubt else "")
        for text, doubt in zip(
            intervals(table, draws=draws, marks=marks), table["doubt"], strict=True
        )
    ]


def mark_of(text: str, notes: dict[str, str]) -> str:
    """Return the mark of a note, which joins ``notes`` if new."""
    return notes.setdefault(text, "*" * (len(notes) + 1))


def notes_said(notes: Mapping[str, str]) -> str:
    """Explain the marks of a table."""
    return "".join(f" {mark} {text}." for text, mark in notes.items())


def with_undefined(texts: Iterable[str], shares: Iterable[float]) -> list[str]:
    """Add the share of undefined draws to each number, unless 0 or 1."""
    pairs = zip(texts, shares, strict=True)
    return [f"{text} [undefined in {tenths(u)}]" if 0 < u < 1 else text for text, u in pairs]


def tenths(share: float) -> str:
    """Write a share in tenths of a percent; only 0 and 1 look like none and all."""
    if share in (0, 1):
        return f"{share:.1%}"
    return {"0.0%": "<0.1%", "100.0%": ">99.9%"}.get(words := f"{share:.1%}", words)


def rounded(value: float, decimals: int) -> str:
    """Write a number with so many decimals; -0 becomes 0."""
    return f"{round(float(value), decimals) + 0.0:.{decimals}f}"


def percent(level: float) -> str:
    """Write a level in percent: ``95%``."""
    return f"{100 * level:g}%"


def fixed(number: float, decimals: int) -> str:
    """Write a number with so many decimals, or that it is undefined."""
    return rounded(number, decimals) if np.isfinite(number) else UNDEFINED


def chance_cell(p: float, level: float = 0.95) -> str:
    """Write a probability as `chance_cells` does."""
    return chance_cells([p], level)[0]


def chance_cells(chances: Iterable[float], level: float = 0.95) -> list[str]:
    """Write probabilities with equal decimals: two, the precision of a thousand draws, but up to
    four where one is near the ends of ``level``, above or below which a result is clear.
    """
    chances = list(chances)
    ends, decimals = ((1 + level) / 2, (1 - level) / 2), LEAST_DECIMALS
    while decimals < MOST_DECIMALS and any(
        abs(p - end) < 0.5 * 10**-decimals - ROUNDING for p in chances for end in ends
    ):
        decimals += 1
    return [probability(p, decimals) for p in chances]


def probability(p: float, decimals: int = 3) -> str:
    """Write a probability; draws cannot show more than three decimals."""
    if not np.isfinite(p):
        return UNDEFINED
    least = 10**-decimals
    ends = {rounded(0, decimals): f"<{least}", rounded(1, decimals): f">{1 - least}"}
    return ends.get(words := rounded(p, decimals), words)


def lines_of(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the lines of a frame as dicts."""
    return [{str(k): v for k, v in line.items()} for line in frame.to_dict("records")]

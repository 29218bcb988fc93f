"""How many comparisons stand side by side, and how many would seem clear by chance alone."""

import numpy as np
import pandas as pd

from assay._util.text import counted, percent


def without_mirrors(lines: pd.DataFrame, column: str) -> pd.DataFrame:
    """Leave out a contrast that is an earlier one with the sign turned: of two classes, one."""
    seen: set[tuple[str, str, float]] = set()
    kept = []
    for a, b, value in zip(lines["a"], lines["b"], lines[column].round(9), strict=True):
        kept.append(value == 0 or (a, b, -value) not in seen)
        seen.add((a, b, value))
    return lines[np.array(kept, bool)]


def expected_false(pairs: pd.DataFrame) -> tuple[int, float]:
    """Count the comparisons, and how many intervals exclude 0 by chance if no systems differ.

    Parameters
    ----------
    pairs : pandas.DataFrame
        Lines of :attr:`assay.comparison.Comparison.pairs`.

    Examples
    --------
    >>> lines = pd.DataFrame({"a": "A", "b": list("BCDE"), "difference": 0.1, "level": 0.95})
    >>> count, expected = expected_false(lines)
    >>> count, round(expected, 3)
    (4, 0.2)
    """
    told = without_mirrors(pairs[pairs["difference"].notna()], "difference")
    return len(told), float((1 - told["level"]).sum())


def by_chance(pairs: pd.DataFrame) -> str:
    """Say how many of several comparisons would seem clear by chance; nothing of a single one.

    Examples
    --------
    >>> lines = pd.DataFrame({"a": "A", "b": list("BCDE"), "difference": 0.1, "level": 0.95})
    >>> print(by_chance(lines).strip())
    Among 4 comparisons, up to 0.2 intervals (95%) exclude 0 by chance if no systems differ.
    >>> by_chance(lines[:1])
    ''
    """
    count, expected = expected_false(pairs)
    if count < 2:
        return ""
    return (
        f" Among {counted(count, 'comparison')}, up to {expected:.2g} intervals "
        f"({percent(pairs['level'].iloc[0])}) exclude 0 by chance if no systems differ."
    )

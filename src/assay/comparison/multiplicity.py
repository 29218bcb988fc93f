"""The number of comparisons, and of those that would seem clear by chance."""

import numpy as np
import pandas as pd

from assay._util.text import counted, percent


def without_mirrors(lines: pd.DataFrame, column: str) -> pd.DataFrame:
    """Leave out contrasts that equal an earlier one with the opposite sign."""
    seen: set[tuple[str, str, float]] = set()
    kept = []
    for a, b, value in zip(lines["a"], lines["b"], lines[column].round(9), strict=True):
        kept.append(value == 0 or (a, b, -value) not in seen)
        seen.add((a, b, value))
    return lines[np.array(kept, bool)]


def expected_false(pairs: pd.DataFrame) -> tuple[int, float]:
    """Return the number of comparisons, and of intervals that exclude 0 by chance."""
    told = without_mirrors(pairs[pairs["difference"].notna()], "difference")
    return len(told), float((1 - told["level"]).sum())


def by_chance(pairs: pd.DataFrame) -> str:
    """State how many of several comparisons would seem clear by chance; empty for a single one."""
    count, expected = expected_false(pairs)
    if count < 2:
        return ""
    return (
        f" Among {counted(count, 'comparison')}, up to {expected:.2g} intervals "
        f"({percent(pairs['level'].iloc[0])}) exclude 0 by chance if no systems differ."
    )

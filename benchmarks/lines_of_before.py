"""Lines of a written table that have not been made again."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd


def lines_of_before(path: Path, made: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Read the lines of a written table, if there is one, that are of none of those made."""
    if not path.exists():
        return pd.DataFrame()
    before = pd.read_csv(path)
    keys = [key for key in keys if key in before]
    if not len(made):
        return before
    old, new = (pd.MultiIndex.from_frame(table[keys].fillna("")) for table in (before, made))
    return before[~old.isin(new)]

"""The direction of differences, the same in all text, tables and figures of a report."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay.comparison.contrasts import SIGNS, contrast, pair_table
from assay.comparison.systems import Comparison

CONTRAST_STEMS = ("difference", "mean")
ENDS = ("lower", "upper")


def leading_first(systems: pd.DataFrame) -> list[str]:
    """Order systems by the average rank of their means, the best first: on metrics with a
    direction, without doubt if possible. Else the mean of the first metric decides.
    """
    directed = systems[systems["better"].isin(SIGNS)]
    sure = directed[directed["doubt"] == ""]
    chosen = next((part for part in (sure, directed) if len(part)), None)
    if chosen is None:
        chosen = systems[systems["metric"] == systems["metric"].iloc[0]]
    values = chosen["mean"] * chosen["better"].map(SIGNS).fillna(1)
    ranks = values.groupby(chosen["metric"]).rank(ascending=False)
    places = ranks.groupby(chosen["system"], sort=False).mean()
    return [str(name) for name in places.sort_values(kind="stable").index]


def oriented(found: Comparison, order: Sequence[str]) -> Comparison:
    """Return a comparison whose pairs are the earlier system of an order minus the later one."""
    places = {name: place for place, name in enumerate(order)}
    lines = found.pairs.drop_duplicates(["a", "b"])
    pairs = [tuple(sorted(pair, key=places.__getitem__)) for pair in lines[["a", "b"]].to_numpy()]
    said = found.pairs.drop_duplicates("metric")
    better = dict(zip(said["metric"].astype(str), said["better"].astype(str), strict=True))
    level = float(found.pairs["level"].iloc[0])
    table = pair_table(found.draws, better, pairs, level=level, rope=None)
    kept = [c for c in found.pairs if c == "doubt" or c not in table]
    return replace(found, pairs=table.assign(**found.pairs[kept]))


def turned(table: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Write each contrast (``a``, ``b``) of a table as the earlier system of an order minus the
    later.

    Lines of single systems stay unchanged.
    """
    places = {name: place for place, name in enumerate(order)}
    back = np.array([_is_back(a, b, places) for a, b in zip(table["a"], table["b"], strict=True)])
    if not back.any():
        return table
    found, old = table.copy(), table[back]
    new = {"a": old["b"], "b": old["a"]} | _negated(old)
    if "quantity" in table:
        pairs = zip(old["b"], old["a"], strict=True)
        new["quantity"] = pd.Series([contrast(*pair) for pair in pairs], old.index)
    for name, values in new.items():
        found.loc[back, name] = values
    return found


def _is_back(a: str, b: str, places: Mapping[str, int]) -> bool:
    return a in places and b in places and places[a] > places[b]


def _negated(old: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the columns of b - a that differ from those of a - b."""
    new: dict[str, pd.Series] = {}
    for stem in CONTRAST_STEMS:
        prefix = "" if stem == "mean" else f"{stem}_"
        if stem in old:
            new |= {stem: -old[stem], f"{prefix}lower": -old[f"{prefix}upper"]}
            new[f"{prefix}upper"] = -old[f"{prefix}lower"]
    if "p_greater" in old:
        new["p_greater"] = 1 - old["p_greater"] - old.get("p_equal", 0.0)
    return new

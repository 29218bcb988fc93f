"""Differences, ratios and ranks of systems, draw by draw."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.arrays import divided
from assay._util.errors import ArgumentError, ModelError, UnknownNameError, nearest, suggest
from assay._util.intervals import tails
from assay._util.typing import Floats
from assay._util.validation import is_number, written
from assay.fits.summary import summarize

Rope = float | Sequence[float] | None
SAMPLE = ("chain", "draw")
NEEDS_QUOTES = r"""[\s"'“”<>=≥≤*\[\]]"""
"""Characters that a name without quotes cannot contain."""
TIE = 1e-12
"""Metrics that differ by less are equal: the order of a sum changes as much."""


def require_two(systems: Sequence[str]) -> None:
    """Refuse a comparison of fewer than two systems."""
    if len(systems) < 2:
        seen = f"only {systems[0]}" if systems else "none"
        raise ModelError(
            f"a comparison needs at least two systems, but the ratings name {seen}. Name the "
            "column of systems with `system=` when reading",
            code="too-few-systems",
        )


def pairs_of(systems: Sequence[str], baseline: str | None = None) -> list[tuple[str, str]]:
    """Return the pairs to compare: all pairs, or each system with the baseline."""
    if baseline is None:
        return list(combinations(systems, 2))
    if not isinstance(baseline, str) or baseline not in systems:
        raise UnknownNameError(
            f"`baseline={written(baseline)}` is no system; {suggest(baseline, list(systems))}",
            code="unknown-system",
            go_on={"baseline": nearest(baseline, list(systems))},
        )
    return [(system, baseline) for system in systems if system != baseline]


def contrast(a: str, b: str, factor: float = 1.0) -> str:
    """Write a difference of two systems; names are quoted where claims need quotes."""
    times = "" if factor == 1 else f"{factor:g} * "
    return f"{_quoted(a)} - {times}{_quoted(b)}"


def _quoted(name: str) -> str:
    if not re.search(NEEDS_QUOTES, name):
        return name
    return f"'{name}'" if '"' in name else f'"{name}"'


def rope_ends(rope: Rope) -> tuple[float, float] | None:
    """Return the ends of the region of practical equivalence; one number means both sides of 0."""
    if rope is None:
        return None
    ends: Any = (-rope, rope) if is_number(rope) else rope  # type: ignore[operator]
    if (
        not isinstance(ends, Sequence | np.ndarray)
        or len(ends) != 2
        or not all(is_number(end) and np.isfinite(end) for end in ends)
        or ends[0] > ends[1]
    ):
        raise ArgumentError(
            f"`rope={written(rope)}`; it must be the largest negligible difference, such as 0.02, "
            "or the lower and the upper end of negligible differences",
            code="rope-argument",
        )
    return float(ends[0]), float(ends[1])


def difference_draws(
    data: xr.Dataset, metrics: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> xr.Dataset:
    """Return draws of first minus second, (pair, chain, draw); NaN where either is undefined."""
    first, second = ([pair[n] for pair in pairs] for n in (0, 1))
    differences = {
        name: xr.DataArray(
            _values(data[name], first) - _values(data[name], second),
            dims=("pair", *SAMPLE),
            attrs=data[name].attrs,
        )
        for name in metrics
    }
    return xr.Dataset(differences, coords={"pair": np.arange(len(pairs))}, attrs=data.attrs)


def pair_table(
    data: xr.Dataset,
    directions: Mapping[str, str],
    pairs: Sequence[tuple[str, str]],
    *,
    level: float,
    rope: tuple[float, float] | None,
) -> pd.DataFrame:
    """Return :attr:`assay.comparison.Comparison.pairs` from draws (chain, draw, system).

    ``directions`` maps each metric to ``higher``, ``lower`` or ``neither``.
    """
    differences = difference_draws(data, list(directions), pairs)
    lines = summarize(differences, level=level)
    said = ["mean", "sd", "lower", "upper"]
    lines = lines.rename(columns=dict(zip(said, DIFFERENCE, strict=True)))
    lines["a"], lines["b"] = zip(*(pairs[n] for n in lines["pair"]), strict=True)
    extra = [
        _extra(*_values(data[name], pair).reshape(2, -1), level=level, rope=rope)
        for name in directions
        for pair in pairs
    ]
    lines = pd.concat([lines, pd.DataFrame(extra)], axis=1)
    lines["better"] = lines["metric"].map(dict(directions))
    lines["rope_lower"], lines["rope_upper"] = rope or (np.nan, np.nan)
    return lines[list(PAIR_COLUMNS)]


DIFFERENCE = ("difference", "difference_sd", "difference_lower", "difference_upper")
RATIO = ("ratio", "ratio_lower", "ratio_upper", "ratio_undefined")
CHANCES = ("p_greater", "p_equal", "p_rope")
PAIR_COLUMNS = (
    "metric", "estimand", "better", "a", "b", *DIFFERENCE, *RATIO, *CHANCES,
    "rope_lower", "rope_upper", "undefined", "level", "reference", "doubt",
)  # fmt: skip


def _values(variable: xr.DataArray, systems: Sequence[str]) -> Floats:
    chosen = variable.sel(system=list(systems)).transpose("system", *SAMPLE)
    return np.asarray(chosen.to_numpy(), dtype=float)


def _extra(
    a: Floats, b: Floats, *, level: float, rope: tuple[float, float] | None
) -> dict[str, float]:
    """Return ratio and probabilities of one pair, over the draws in which they are defined."""
    ratio = divided(a, b)
    ratio = ratio[~np.isnan(ratio)]
    defined = (a - b)[~np.isnan(a - b)]
    ends = np.quantile(ratio, (0.5, *tails(level))) if ratio.size else [np.nan] * 3
    chances = [
        np.mean(part) if defined.size else np.nan
        for part in (defined > TIE, np.abs(defined) <= TIE, _inside(defined, rope))
    ]
    values = [*ends, len(a) - ratio.size, *chances]
    return dict(zip((*RATIO, *CHANCES), values, strict=True))


def _inside(difference: Floats, rope: tuple[float, float] | None) -> Floats:
    """Return 1 in the region of practical equivalence, 0 outside; NaN without a region."""
    if rope is None:
        return np.full_like(difference, np.nan)
    return ((difference >= rope[0] - TIE) & (difference <= rope[1] + TIE)).astype(float)


SIGNS = {"higher": 1, "lower": -1}
"""Sign that makes larger values better; a metric without a direction has none."""


def rank_probabilities(values: Floats) -> Floats:
    """Return the probability of each rank, (system, rank), from draws (draw, system) without NaN.

    Larger values are better; ties share their ranks evenly.
    """
    places = np.arange(values.shape[1])
    ahead = np.zeros(values.shape, np.int64)
    level = np.zeros(values.shape, np.int64)
    for other in places:
        gap = values[:, [other]] - values
        ahead += gap > TIE
        level += np.abs(gap) <= TIE
    last = ahead + level
    holds = (places >= ahead[..., None]) & (places < last[..., None])
    return np.asarray((holds / level[..., None]).mean(axis=0))


def expected_loss(values: Floats) -> Floats:
    r"""Return :math:`L_s = \mathrm E[\max_r m_r - m_s]`, (system,), the expected loss of choosing
    :math:`s`, from draws (draw, system) without NaN of which larger ones are better.
    """
    return np.asarray((values.max(axis=1, keepdims=True) - values).mean(axis=0))


def rank_table(values: Floats, better: str) -> pd.DataFrame:
    """Return ``p_best``, ``expected_loss``, ``unranked`` (the share of draws with a NaN, left out)
    and rank probabilities, a line per system; NaN without a direction.
    """
    systems = values.shape[1]
    complete = values[~np.isnan(values).any(axis=1)]
    table = np.full((systems, systems + 1), np.nan)
    if better in SIGNS and len(complete):
        upward = SIGNS[better] * complete
        table = np.column_stack([expected_loss(upward), rank_probabilities(upward)])
    ranks = pd.DataFrame(table[:, 1:], columns=[f"p_rank_{n + 1}" for n in range(systems)])
    front = pd.DataFrame(
        {
            "p_best": table[:, 1],
            "expected_loss": table[:, 0],
            "unranked": 1 - len(complete) / len(values),
        }
    )
    return pd.concat([front, ranks], axis=1)

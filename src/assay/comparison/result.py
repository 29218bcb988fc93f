"""Comparison: what the draws of a metric say about systems, as tables and in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.validation import require_number
from assay._util.words import lines_of
from assay.comparison.multiplicity import by_chance
from assay.comparison.pairs import Rope, pair_table, pairs_of, require_two, rope_ends
from assay.comparison.ranks import SIGNS, rank_table
from assay.comparison.words import best_sentence, pair_sentence
from assay.evaluation.registry import check_direction
from assay.fits.summary import summarize


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """What draws of metrics say about systems.

    Attributes
    ----------
    pairs : pandas.DataFrame
        A line per metric and pair: ``metric``, ``estimand``, ``better`` (which values are:
        ``higher``, ``lower`` or ``neither``), ``a``, ``b``; the difference a - b:
        ``difference`` (posterior mean), ``difference_sd``, ``difference_lower``,
        ``difference_upper``; the ratio a / b: ``ratio`` (median), ``ratio_lower``,
        ``ratio_upper``, ``ratio_undefined`` (number of draws without one);
        ``p_greater`` = P(a > b), ``p_equal``, ``p_rope`` (of a difference from ``rope_lower``
        to ``rope_upper``; NaN without), ``undefined`` (share of the draws in
        which a or b is; all else leaves them out), ``level``, ``reference``, ``doubt`` (why
        the metric may mislead; ``""`` if nothing speaks for it), and from a fit
        ``shared_clusters``.
    systems : pandas.DataFrame
        A line per metric and system: ``metric``, ``estimand``, ``better``, ``system``, ``mean``,
        ``sd``, ``lower``, ``upper``, ``p_best``, ``expected_loss``, ``p_rank_1``, ...,
        ``undefined``, ``unranked`` (share of the draws in which some system is undefined, left
        out of the ranks), ``level``, ``reference``, ``doubt``. On a metric that is better neither
        way no system is the best: ranks and expected loss are NaN.
    draws : xarray.Dataset
        The draws (chain, draw, system) of every metric, from which all numbers come.

    Notes
    -----
    ``print(found)`` writes the sentences.
    """

    pairs: pd.DataFrame
    systems: pd.DataFrame
    draws: xr.Dataset

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> list[str]:
        """Say each pair in a sentence; with more than two systems, which to choose as well.

        Nothing is to be chosen on a metric that is better neither way. The last sentence says
        how many of several comparisons would seem clear by chance.
        """
        said = []
        for metric, lines in self.systems.groupby("metric", sort=False):
            if len(lines) > 2 and lines["expected_loss"].notna().all():
                said.append(best_sentence(lines))
            mine = self.pairs[self.pairs["metric"] == metric]
            said += [pair_sentence(line) for line in lines_of(mine)]
        return [*said, *filter(None, [by_chance(self.pairs).strip()])]

    def clearly_worse(self, p: float = 0.99) -> pd.DataFrame:
        """Mark the systems that are worse than the apparent best one with probability above p.

        Parameters
        ----------
        p : float
            Probability, between 0.5 and 1.

        Returns
        -------
        pandas.DataFrame
            ``metric``, ``system``, ``best`` (the system with the best mean), ``p_worse``,
            ``clearly_worse``, ``comparisons`` (pairs among which the best was looked for) and
            ``expected_false`` (how many of these would be beyond p by chance, at most, if no
            systems differ); metrics that are better neither way are left out.

        Raises
        ------
        ModelError
            If ``p`` is out of range.
        """
        require_number(
            "p", p, lambda x: 0.5 <= x < 1,
            allowed="a probability from 0.5 to below 1, such as 0.99",
        )  # fmt: skip
        parts = [self._behind(metric) for metric in self.draws.data_vars]
        table = pd.concat([pd.DataFrame(columns=list(BEHIND)), *parts], ignore_index=True)
        doubted = set(self.systems.loc[self.systems["doubt"] != "", "metric"])
        worse = (table["p_worse"].astype(float) > p) & ~table["metric"].isin(doubted)
        expected = 2 * (1 - p) * table["comparisons"].astype(float)
        return table.assign(clearly_worse=worse, expected_false=expected)

    def _behind(self, metric: object) -> pd.DataFrame:
        lines = self.systems[self.systems["metric"] == metric]
        better = lines["better"].iloc[0]
        if better not in SIGNS or lines["mean"].isna().all():
            return pd.DataFrame(columns=list(BEHIND))
        sign = SIGNS[better]
        best = lines["system"].iloc[int(np.nanargmax(sign * lines["mean"]))]
        draws = self.draws[metric] * sign
        gaps = draws.sel(system=best) - draws.sel(system=lines["system"].to_numpy())
        behind = (gaps > 0).where(gaps.notnull()).mean(dim=("chain", "draw"))
        columns = [metric, lines["system"].to_numpy(), best, behind.to_numpy(), comb(len(lines), 2)]
        return pd.DataFrame(dict(zip(BEHIND, columns, strict=True)))


BEHIND = ("metric", "system", "best", "p_worse", "comparisons")


def compare_draws(
    draws: xr.Dataset,
    better: Mapping[str, str],
    *,
    level: float = 0.95,
    rope: Rope = None,
    baseline: str | None = None,
) -> Comparison:
    """Compare systems on draws of their metrics.

    Parameters
    ----------
    draws : xarray.Dataset
        A variable (chain, draw, system) per metric, as :func:`assay.metrics` gives them; NaN
        where a metric is undefined. Systems are compared draw by draw, so whatever pairs them
        (shared clusters, shared parameters) has to be in the draws.
    better : mapping of str to {"higher", "lower", "neither"}
        Which values of each metric are better.
    level : float
        Probability of the intervals.
    rope : float or (float, float), optional
        Differences that do not matter.
    baseline : str, optional
        Compare each system with this one only.

    Returns
    -------
    Comparison

    Raises
    ------
    ModelError, FitError, UnknownNameError
        As :func:`assay.compare`; ModelError also if ``better`` is no such choice.
    """
    for name, direction in better.items():
        check_direction(name, direction)
    systems = _systems(draws)
    pairs = pairs_of(systems, baseline)
    table = pair_table(draws, better, pairs, level=level, rope=rope_ends(rope))
    return Comparison(pairs=table, systems=_system_table(draws, better, level), draws=draws)


def _systems(draws: xr.Dataset) -> list[str]:
    names = [str(s) for s in draws["system"].to_numpy()] if "system" in draws.dims else []
    require_two(names)
    return names


def _system_table(draws: xr.Dataset, better: Mapping[str, str], level: float) -> pd.DataFrame:
    lines = summarize(draws, level=level)
    lines["better"] = lines["metric"].map(dict(better))
    values = [draws[name].transpose("chain", "draw", "system").to_numpy() for name in better]
    ranks = [
        rank_table(array.reshape(-1, array.shape[-1]), direction)
        for array, direction in zip(values, better.values(), strict=True)
    ]
    lines = pd.concat([lines, pd.concat(ranks, ignore_index=True)], axis=1)
    places = [c for c in lines.columns if str(c).startswith("p_rank_")]
    front = ["metric", "estimand", "better", "system", "mean", "sd", "lower", "upper"]
    back = ["undefined", "unranked", "level", "reference", "doubt"]
    return lines[[*front, "p_best", "expected_loss", *places, *back]]

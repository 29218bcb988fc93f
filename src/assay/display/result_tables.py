"""Tables of metrics, comparisons and labels, for the terminal, the report and notebooks."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from assay._util.text import (
    chance_cells,
    fixed,
    intervals,
    lines_of,
    mark_of,
    percent,
    tenths,
    with_undefined,
)
from assay.comparison import Comparison
from assay.comparison.contrasts import contrast
from assay.comparison.groups import MEAN_OF_GROUPS
from assay.comparison.multiplicity import by_chance
from assay.display.notes import estimand_words, estimands_said, panels_said
from assay.display.table import Table, table_of
from assay.evaluation.estimands import is_modelled
from assay.evaluation.titles import metric_titles, titles_with_names

UNTITLED: Mapping[str, str] = MappingProxyType({})
MANY_SHARES = 3
"""Shares of undefined draws that have a mark each; more share one."""
MANY_CLASSES = 4
"""Classes that have a column each in a table of labels."""
NEITHER = "Better is neither: the task does not say that higher or lower values of it are good."
ALIKE = (
    "Model-based: the model assumes the same difference between systems in all strata. To compare "
    "strata, use --estimand finite."
)
MEAN = "(mean)"
"""Name of the mean of the groups, in the column of groups."""


def metrics_table(
    summaries: Mapping[str, pd.DataFrame],
    titles: Mapping[str, str] = UNTITLED,
    *,
    vote: pd.DataFrame | None = None,
    weights: Sequence[float] = (),
    panels: str = "",
    draws: float | None = None,
) -> Table:
    """Return a table of metrics: a column per estimand (and the majority ``vote``), a line per
    metric and system.

    ``weights`` are the items' design weights, ``panels`` the words of
    :func:`assay.display.notes.panels_said`; the effective number of ``draws`` limits the decimals.
    """
    first = next(iter(summaries.values()))
    marks: dict[str, str] = {}
    keys = ["metric", "system"]
    cells = {
        name: pd.Series(
            _estimates(frame, marks, estimand=name, draws=draws),
            index=pd.MultiIndex.from_frame(frame[keys]),
        )
        for name, frame in summaries.items()
    }
    parts = list(summaries.values())
    heads = {name: name.capitalize() for name in summaries}
    if vote is not None:
        vote = vote.rename(columns={"value": "mean"})
        naive = with_undefined(intervals(vote), vote["undefined"])
        cells["naive"] = pd.Series(naive, index=pd.MultiIndex.from_frame(vote[keys]))
        heads = {name: f"Model, {name}" for name in summaries} | {"naive": "Majority vote"}
        parts.append(vote.assign(estimand="vote"))
    joined = pd.DataFrame(cells).reset_index().rename(columns=dict(enumerate(keys)))
    joined["metric"] = [titles.get(name, name) for name in joined["metric"]]
    shown, under = by_metric(joined, heads)
    about = estimands_said(summaries, weights)
    return table_of(
        "metrics",
        f"Metrics: posterior mean ({percent(first['level'].iloc[0])} interval)",
        joined,
        shown,
        under=under,
        note=f"Estimand {about}. Reference: {first['reference'].iloc[0]}.{panels}",
        marks=marks,
        export=pd.concat(parts, ignore_index=len(parts) == 1),
    )


def by_metric(cells: pd.DataFrame, shown: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Return columns and heading column of a table by metric and system, for :func:`table_of`.

    Lines of systems stand under their metric; without systems, metrics are lines.
    """
    if cells["system"].eq("").all():
        return {"metric": "Metric", **shown}, ""
    return {"system": "System", **shown}, "metric"


def _estimates(
    frame: pd.DataFrame,
    marks: dict[str, str],
    columns: Sequence[str] = ("mean", "lower", "upper"),
    *,
    estimand: str | None = None,
    draws: float | None = None,
    zero: bool = False,
) -> list[str]:
    """Write each line's estimate, with marks for another estimand, undefined draws and doubts.

    ``zero`` keeps the ends of intervals on their side of 0.
    """
    texts = intervals(frame, columns, draws=draws, marks=[0.0] * zero)
    shares = _undefined(frame["undefined"].tolist())
    told = []
    for text, line, share in zip(texts, lines_of(frame), shares, strict=True):
        other = estimand is not None and line["estimand"] != estimand
        said = [str(line["estimand"])] * other + [share] + [line["doubt"]]
        told.append(text + ",".join(mark_of(words, marks) for words in said if words))
    return told


def _undefined(shares: Sequence[float]) -> list[str]:
    """State, for each line, in which share of the draws its number is undefined."""
    some = sorted({share for share in shares if 0 < share < 1})
    words = list(dict.fromkeys(map(tenths, some)))
    if len(words) > MANY_SHARES:
        words = [f"{words[0]} to {words[-1]}"]
    of = {tenths(s): tenths(s) if len(words) > 1 else words[0] for s in some}
    end = "of the draws, which are left out"
    return [f"undefined in {of[tenths(s)]} {end}" if 0 < s < 1 else "" for s in shares]


def pairs_table(
    found: Comparison,
    titles: Mapping[str, str] = UNTITLED,
    *,
    draws: float | None = None,
    differences: bool = True,
    ratios: bool = False,
    most: int | None = None,
    leading: str = "",
) -> Table:
    """Return a table of pairs of systems: a line per metric and pair, ``most`` lines at most. If
    there are more, those of pairs with the ``leading`` system are shown.
    """
    pairs, n_draws = found.pairs, found.draws.sizes["chain"] * found.draws.sizes["draw"]
    marks: dict[str, str] = {}
    quotients = intervals(pairs, _ends("ratio"), marks=[1.0])
    words = pairs.assign(
        metric=[titles.get(name, name) for name in pairs["metric"]],
        pair=list(map(contrast, pairs["a"], pairs["b"])),
        gap=_estimates(pairs, marks, _ends("difference"), draws=draws, zero=True),
        quotient=with_undefined(quotients, pairs["ratio_undefined"] / n_draws),
        chance=chance_cells(pairs["p_greater"]),
        near=chance_cells(pairs["p_rope"]),
    )
    if most is not None and len(words) > most:
        of_leading = (pairs["a"] == leading) | (pairs["b"] == leading)
        words = (words[of_leading] if of_leading.any() else words).head(most)
    shown = {"pair": "Systems"}
    shown |= {"gap": "Difference"} if differences else {}
    shown |= {"quotient": "Ratio"} if ratios else {}
    shown |= {"chance": "P(1st > 2nd)"} if differences else {}
    shown |= {"near": "P(in rope)"} if pairs["p_rope"].notna().any() else {}
    under = "metric"
    if not differences and not pairs.duplicated("metric").any():
        shown, under = {"metric": f"Metric, {words['pair'].iloc[0]}"} | shown, ""
        del shown["pair"]
    if ratios and under:  # a narrow page has no room for a column of one word
        told = zip(words["metric"], words["better"], strict=True)
        words = words.assign(metric=[f"{name} (better is {better})" for name, better in told])
    else:
        shown |= {"better": "Better is"}
    what = " and ".join(["differences"] * differences + ["ratios"] * ratios).capitalize()
    mean = " or ".join(["mean"] * differences + ["median"] * ratios)
    left = len(pairs) - len(words)
    neither = bool((pairs["better"] == "neither").any())
    return table_of(
        "comparisons",
        f"{what} of systems: posterior {mean} ({percent(pairs['level'].iloc[0])} interval)",
        words,
        shown,
        under=under,
        note=f"Estimand {estimand_words(pairs)}. Reference: {pairs['reference'].iloc[0]}."
        f"{panels_said(found.draws)}{f' {NEITHER}' * neither}{by_chance(pairs)}"
        + f" {left} more pairs: `tables=`."
        * (left > 0),
        marks=marks,
        export=pairs,
    )


def _ends(name: str) -> tuple[str, str, str]:
    return name, f"{name}_lower", f"{name}_upper"


def ranks_table(systems: pd.DataFrame, titles: Mapping[str, str]) -> Table:
    """Return P(best) and expected loss of each system, on metrics that are better one way."""
    ranked = systems[systems["better"] != "neither"]
    marks: dict[str, str] = {}
    heads = [
        f"{titles[name]} (better is {better}){mark_of(doubt, marks) if doubt else ''}"
        for name, better, doubt in ranked[["metric", "better", "doubt"]].to_numpy(object)
    ]
    words = ranked.assign(
        metric=heads,
        p_best=chance_cells(ranked["p_best"]),
        expected_loss=[fixed(loss, 3) for loss in ranked["expected_loss"]],
    )
    shown = {
        "system": "System",
        "p_best": "P(best)",
        "expected_loss": "Expected loss of choosing it",
    }
    return table_of(
        "ranks", "Which system is best", words, shown, under="metric",
        note=_note_of_ranks(systems), marks=marks, export=systems,
    )  # fmt: skip


def best_table(systems: pd.DataFrame, titles: Mapping[str, str]) -> Table:
    """Return :func:`ranks_table` with a line per system and a column per metric."""
    ranked = systems[systems["better"] != "neither"]
    cells = ranked.assign(
        told=[
            f"{chance} ({fixed(loss, 3)})"
            for chance, loss in zip(
                chance_cells(ranked["p_best"]), ranked["expected_loss"], strict=True
            )
        ]
    ).pivot_table(index="system", columns="metric", values="told", aggfunc="first", sort=False)
    return table_of(
        "ranks",
        "P(best), with the expected loss of choosing the system in brackets",
        cells.reset_index(),
        {"system": "System"} | {name: titles[name] for name in cells.columns},
        note=_note_of_ranks(systems),
        export=systems,
    )


def _note_of_ranks(systems: pd.DataFrame) -> str:
    ranked = systems[systems["better"] != "neither"]
    note = f"Estimand {estimand_words(ranked)}. Reference: {systems['reference'].iloc[0]}."
    if len(ranked) < len(systems):
        note += " Metrics without a better direction have no best system."
    return note


def comparison_tables(found: Comparison, draws: float | None = None) -> list[Table]:
    """Return tables of a comparison: the pairs, and the systems where there are more than two.

    A metric that is better neither way has no best system, and is not in the second table.
    """
    parts = [pairs_table(found, titles_with_names(found.draws), draws=draws)]
    systems = found.systems
    if systems["system"].nunique() > 2 and (systems["better"] != "neither").any():
        parts.append(ranks_table(systems, metric_titles(found.draws)))
    return parts


def groups_table(
    groups: pd.DataFrame, titles: Mapping[str, str] = UNTITLED, draws: float | None = None
) -> Table:
    """Return :func:`assay.compare_groups` as a table: under each metric and pair, the groups."""
    marks: dict[str, str] = {}
    told = groups.assign(undefined=groups["undefined"].where(groups["undefined"] < 1, 0.0))
    asked = _first_word(groups["estimand"].iloc[-1])
    estimands = told["estimand"].map(lambda text: asked if text == _first_word(text) else text)
    whole = groups["group"] == MEAN_OF_GROUPS
    own = _estimates(
        told.assign(doubt="", estimand=asked), {}, _ends("difference"), draws=draws, zero=True
    )
    marked = _estimates(
        told.assign(estimand=estimands),
        marks,
        _ends("pooled"),
        estimand=asked,
        draws=draws,
        zero=True,
    )
    words = groups.assign(
        head=[
            f"{titles.get(metric, metric)}: {contrast(str(a), str(b))}"
            for metric, a, b in groups[["metric", "a", "b"]].to_numpy(object)
        ],
        group=[MEAN if one else name for one, name in zip(whole, groups["group"], strict=True)],
        own=["" if one else text for one, text in zip(whole, own, strict=True)],
        pooled=marked,
        chance=chance_cells(groups["pooled_p_greater"]),
    )
    alike = f" {ALIKE}" * bool(groups["estimand"].map(is_modelled).any())
    return table_of(
        "groups",
        f"Systems within each stratum: difference ({percent(groups['level'].iloc[0])} interval)",
        words,
        {"group": "Group", "clusters": "Clusters", "own": "On its own", "pooled": "Pooled",
         "chance": "P(1st > 2nd)"},
        under="head",
        # The last line is the mean of the groups; a group that lacks a system has no estimand.
        note=f"Estimand {asked}. Reference: {groups['reference'].iloc[0]}. Clusters with either "
        f"system. Pooled and P: shrunk towards the {MEAN} of the groups, more so if the groups "
        f"differ little.{alike}",
        marks=marks,
        export=groups,
    )  # fmt: skip


def _first_word(estimand: Any) -> str:
    """Return the requested estimand, without the explanation in brackets."""
    return str(estimand).split(" ", 1)[0]


def labels_table(frame: pd.DataFrame, total: int, *, export: pd.DataFrame) -> Table:
    """Return lines of :func:`labels_frame` (``total`` in all) with the probabilities of classes.

    Where there are many classes, only the two most likely ones are shown.
    """
    chances = [str(c) for c in frame.columns if str(c).startswith("p[")]
    shown = {"item": "Item", "label": "Label", "class": "Most likely"}
    if len(chances) <= MANY_CLASSES:
        words = frame.assign(**{c: frame[c].map(_chance) for c in chances})
        shown |= {c: f"P({c[2:-1]})" for c in chances}
    else:
        table = frame[chances].fillna(0.0).to_numpy(float)
        second = np.argsort(table, axis=1, kind="stable")[:, -2]
        words = frame.assign(
            first=frame["probability"].map(_chance),
            then=[f"{chances[k][2:-1]}: {p[k]:.2f}" for k, p in zip(second, table, strict=True)],
        )
        shown |= {"first": "P", "then": "Next"}
    return table_of(
        "labels",
        f"Labels: posterior probability, the {len(frame)} least certain of {total}",
        words,
        shown,
        note=f"Estimand: these items. Reference: {frame['reference'].iloc[0]}.",
        export=export,
        is_cut=len(frame) < len(export),
    )


def _chance(p: float) -> str:
    return "" if p != p else f"{p:.2f}"

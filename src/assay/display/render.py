"""Results as tables for the terminal, a function each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from assay._util.words import (
    fixed,
    gap,
    interval,
    lines_of,
    mark_of,
    notes_said,
    percent,
    printable,
    probability,
)
from assay.checks.findings import Check
from assay.comparison import Comparison
from assay.comparison.groups import MEAN_OF_GROUPS
from assay.comparison.multiplicity import by_chance
from assay.comparison.pairs import contrast
from assay.display.notes import estimand_words, estimands_said, left_out_words
from assay.display.terminal import frame_table, indented, make_table
from assay.evaluation.estimands import is_modelled
from assay.raters.agreements import Agreement

ALIKE = (
    "Model-based: by the model systems differ alike in all strata, so that these lines do not tell "
    "how strata differ; --estimand finite does, of these items."
)

MEAN = "(mean)"
"""The mean of the groups, in the column of groups."""


def metrics_table(
    summaries: Mapping[str, pd.DataFrame], weights: Sequence[float] = (), panels: str = ""
) -> Group:
    """Return a table of metrics: a column per estimand, a line per metric and system.

    Parameters
    ----------
    summaries : mapping of str to DataFrame
        From :func:`assay.summarize`, by estimand.
    weights : sequence of float
        Design weights of the items.
    panels : str
        What :func:`assay.display.notes.panels_said` says of them.
    """
    first = next(iter(summaries.values()))
    notes: dict[str, str] = {}
    share = left_out_words(pd.concat([s["undefined"] for s in summaries.values()]))
    cells = {
        name: [_metric_cell(line, name, notes, share) for line in lines_of(summary)]
        for name, summary in summaries.items()
    }
    rows: list[list[str]] = []
    for n, (metric, system) in enumerate(zip(first["metric"], first["system"], strict=True)):
        if system and [metric] not in rows:
            rows.append([metric])
        head = f"  {system}" if system else metric
        rows.append([head, *(column[n] for column in cells.values())])
    level, reference = first["level"].iloc[0], first["reference"].iloc[0]
    about = estimands_said(summaries, weights)
    marks = notes_said(notes, "\n")
    return make_table(
        f"Metrics: posterior mean ({percent(level)} interval)",
        ["metric", *summaries],
        rows,
        caption=f"Estimand {about}. Reference: {reference}.{panels}{marks}",
    )


def _metric_cell(line: Mapping[str, Any], name: str, notes: dict[str, str], share: str) -> str:
    """Write one estimate, marked where its estimand is another or draws are undefined."""
    said = []
    if line["estimand"] != name:
        said.append(str(line["estimand"]))
    if line["undefined"] > 0:
        said.append(share)
    if line["doubt"]:
        said.append(line["doubt"])
    marks = ",".join(mark_of(text, notes) for text in said)
    return interval(line["mean"], line["lower"], line["upper"]) + marks


def labels_table(frame: pd.DataFrame, total: int, votes: Sequence[str] | None = None) -> Group:
    """Return lines of :func:`labels_frame` with the two likeliest classes.

    Parameters
    ----------
    frame : DataFrame
        At least one line.
    total : int
        How many lines there are in all.
    votes : sequence of str, optional
        What the majority says, a column more.
    """
    chance = frame.filter(regex=r"^p\[").fillna(0.0)
    names = [str(c)[2:-1] for c in chance.columns]
    second = np.argsort(chance.to_numpy(), axis=1, kind="stable")[:, -2]
    other = [f"{names[k]}: {p[k]:.2f}" for k, p in zip(second, chance.to_numpy(), strict=True)]
    first = [f"{k}: {p:.2f}" for k, p in zip(frame["class"], frame["probability"], strict=True)]
    columns = [frame["item"], frame["label"], first, other, *([votes] if votes is not None else [])]
    heads = ["item", "label", "most likely", "then"] + ["majority vote"] * (votes is not None)
    return make_table(
        f"Labels: posterior probability, the {len(frame)} least certain of {total}",
        heads,
        list(zip(*columns, strict=True)),
        caption=f"Estimand: these items. Reference: {frame['reference'].iloc[0]}.",
    )


def check_parts(report: Check) -> list[Text | Padding | Group]:
    """Return a check's findings, a topic a block, and its tables."""
    blocks: list[Text | Padding | Group] = [Text(printable(report.summary), "bold")]
    for topic in dict.fromkeys(f.topic for f in report.findings):
        found = [str(f) for f in report.findings if f.topic == topic]
        blocks += [Text(f"\n{topic}"), indented(found)]
    for name, table in report.tables.items():
        if len(table):
            blocks += [Text(), frame_table(name, table)]
    return blocks


def comparison_parts(found: Comparison, panels: str = "") -> list[Group]:
    """Return tables of a comparison: the pairs, and the systems where there are more than two.

    A metric that is better neither way has no best system, and is not in the second table.

    Parameters
    ----------
    found : Comparison
    panels : str
        What :func:`assay.display.notes.panels_said` says of the draws.
    """
    parts = [_pairs_table(found.pairs, panels)]
    systems = found.systems
    if systems["system"].nunique() > 2 and (systems["better"] != "neither").any():
        parts.append(_ranks_table(systems))
    return parts


def _pairs_table(pairs: pd.DataFrame, panels: str) -> Group:
    rows: list[list[str]] = []
    notes: dict[str, str] = {}
    share = left_out_words(pairs["undefined"])
    for metric, part in pairs.groupby("metric", sort=False):
        rows.append([str(metric)])
        for line in lines_of(part):
            size = gap(*(line[f"difference{end}"] for end in ("", "_lower", "_upper")))
            said = [share] * (line["undefined"] > 0) + [line["doubt"]] * (line["doubt"] != "")
            size += ",".join(mark_of(text, notes) for text in said)
            near = [probability(line["p_rope"])] if np.isfinite(line["p_rope"]) else []
            chance = probability(line["p_greater"])
            rows.append([f"  {contrast(line['a'], line['b'])}", size, chance, *near])
    heads = ["metric, systems", "difference", "P(1st > 2nd)"]
    heads += ["P(in rope)"] * bool(pairs["p_rope"].notna().any())
    return make_table(
        f"Systems compared: posterior mean ({percent(pairs['level'].iloc[0])} interval)",
        heads,
        rows,
        caption=(
            f"Estimand {estimand_words(pairs)}. Reference: {pairs['reference'].iloc[0]}.{panels}"
            + by_chance(pairs)
            + notes_said(notes, "\n")
        ),
        right=heads[2:],
    )


def _ranks_table(systems: pd.DataFrame) -> Group:
    rows: list[list[str]] = []
    ranked = systems[systems["better"] != "neither"]
    notes: dict[str, str] = {}
    for metric, part in ranked.groupby("metric", sort=False):
        doubt = part["doubt"].iloc[0]
        mark = mark_of(doubt, notes) if doubt else ""
        rows.append([f"{metric} (better is {part['better'].iloc[0]}){mark}"])
        rows += [
            [f"  {line['system']}", probability(line["p_best"]), fixed(line["expected_loss"], 4)]
            for line in lines_of(part)
        ]
    heads = ["metric, system", "P(best)", "expected loss"]
    caption = f"Estimand {estimand_words(ranked)}. Reference: {systems['reference'].iloc[0]}."
    if len(ranked) < len(systems):
        caption += " Metrics that are better neither way have no best system."
    caption += notes_said(notes, "\n")
    return make_table("Which system is best", heads, rows, caption=caption, right=heads[1:])


def groups_table(groups: pd.DataFrame) -> Group:
    """Return :func:`assay.group_contrasts` as tables: one per metric and pair, a line per group.

    Names of metrics and systems stand above the tables: in a column they would fold the intervals.
    """
    notes: dict[str, str] = {}
    heads = ["group", "clusters", "on its own", "pooled", "P(1st > 2nd)"]
    parts = [
        make_table(
            printable(f"{metric}: {contrast(str(a), str(b))}"),
            heads,
            [_group_row(line, notes) for line in lines_of(lines)],
            right=["clusters", heads[-1]],
        )
        for (metric, a, b), lines in groups.groupby(["metric", "a", "b"], sort=False)
    ]
    level = percent(groups["level"].iloc[0])
    title = Text(f"Systems within each stratum: difference ({level} interval)", "bold")
    caption = Text(_groups_caption(groups, notes))
    spaced: list[Text | Group] = [title, Text()]
    for part in parts:
        spaced += [part, Text()]
    return Group(*spaced, caption)


def _groups_caption(groups: pd.DataFrame, notes: Mapping[str, str]) -> str:
    """Say what the lines of all groups are about, and what their marks mean."""
    share = groups["undefined"]
    left_out = left_out_words(share[share < 1])  # a line without a number says so itself
    alike = f" {ALIKE}" * bool(groups["estimand"].map(is_modelled).any())
    marks = notes_said(notes, "\n")
    return (
        # The last line is of the groups together; one that lacks a system has no estimand.
        f"Estimand {_first_word(groups['estimand'].iloc[-1])}. Reference: "
        f"{groups['reference'].iloc[0]}. Clusters with either system. Pooled, and P: drawn towards "
        f"the {MEAN} of the groups the more, the less they differ.{alike}{marks}"
        + f"\nsome are {left_out}"
        * bool(left_out)
    )


def _group_row(line: Mapping[str, Any], notes: dict[str, str]) -> list[str]:
    """Write a group's contrast by itself and pooled, marked where its estimand is another."""
    own, pooled = (
        gap(*(line[f"{name}{end}"] for end in ("", "_lower", "_upper")))
        for name in ("difference", "pooled")
    )
    mark, estimand, group = "", str(line["estimand"]), line["group"]
    if estimand != _first_word(estimand):
        mark = mark_of(estimand, notes)
    if group == MEAN_OF_GROUPS:
        own, group = "", MEAN  # it is of the groups together
    if line["doubt"]:
        mark += ("," if mark else "") + mark_of(line["doubt"], notes)
    chance = probability(line["pooled_p_greater"])
    return [f"{group}{mark}", str(line["clusters"]), own, pooled, chance]


def _first_word(estimand: str) -> str:
    """Give the estimand that was asked for: what is said in brackets is how it was come by."""
    return str(estimand).split(" ", 1)[0]


def agreement_table(found: Agreement) -> Group:
    """Return the table of an agreement, with what the model expects where it was asked."""
    table = found.table
    fitted = bool(table["expected"].notna().any())
    rows: list[list[str]] = []
    for label, part in table.groupby("label", sort=False):
        rows.append([str(label)])
        for line in lines_of(part):
            told = [interval(line["value"], line["lower"], line["upper"])]
            if fitted:
                ends = (line["expected"], line["expected_lower"], line["expected_upper"])
                told.append(interval(*ends))
            rows.append([f"  {line['statistic']}", *told, str(line["n_items"])])
    heads = ["label, coefficient", "observed", *["expected by the model"] * fitted, "items"]
    notes = "; ".join(dict.fromkeys(text for text in table["note"] if text))
    return make_table(
        f"Agreement between raters ({percent(found.level)} interval, cluster bootstrap)",
        heads,
        rows,
        caption=notes,
        right=["items"],
    )

"""Results as text tables for the terminal. Only `cli` prints."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console, Group
from rich.padding import Padding
from rich.segment import Segment
from rich.text import Text

from assay._util.plain_text import plain
from assay._util.text import (
    chance_cell,
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
from assay.comparison.contrasts import contrast
from assay.comparison.groups import MEAN_OF_GROUPS
from assay.comparison.multiplicity import by_chance
from assay.data.task import Label
from assay.display.notes import estimand_words, estimands_said, left_out_words
from assay.display.table import Table, make_table, table_of
from assay.evaluation.estimands import is_modelled
from assay.evaluation.titles import metric_titles, titles_with_names


def binary_heading(label: Label) -> str:
    """Name a binary label, with its positive class unless that is yes."""
    positive = label.classes[1]
    return label.name if positive == "yes" else f"{label.name} (positive: {positive})"


SHOWN_LINES = 12
UNFOLDED = 100_000
"""Characters of a line where no width is known."""


class PlainConsole(Console):
    """A console that shows no control characters except its own colours.

    Names from files occur in sentences, titles and cells.
    """

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(
            part if part.control else Segment(plain(part.text), part.style) for part in buffer
        )


def make_console() -> Console:
    """Return a console that prints text unchanged: no markup, no colours for numbers.

    Outside a terminal, and without ``COLUMNS``, lines are not wrapped.
    """
    as_it_is: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False}
    console = PlainConsole(**as_it_is)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return PlainConsole(width=UNFOLDED, **as_it_is)


def print_parts(console: Console, parts: Sequence[Any]) -> None:
    """Print tables and words; in a file or a pipe, without blanks at the ends of lines."""
    with console.capture() as caught:
        for part in parts:
            console.print(part)
    lines = caught.get().splitlines()
    text = "\n".join(lines if console.is_terminal else map(str.rstrip, lines))
    console.file.write(f"{text}\n")


def indented(lines: Sequence[str]) -> Padding:
    """Return lines indented by two spaces, including wrapped ones."""
    return Padding(Text("\n".join(map(printable, lines))), (0, 0, 0, 2), expand=False)


def frame_table(title: str, frame: pd.DataFrame) -> Table:
    """Return the first lines of a data frame as a table."""
    more = len(frame) - SHOWN_LINES
    heads = {c: str(c).replace("_", " ") for c in frame.columns}
    numbers = [head for c, head in heads.items() if pd.api.types.is_numeric_dtype(frame[c])]
    rows = [[_short(cell) for cell in row] for row in frame.head(SHOWN_LINES).to_numpy(object)]
    caption = f"{more} more lines: see --json" if more > 0 else ""
    return make_table(title, list(heads.values()), rows, note=caption, right=numbers)


def _short(cell: object) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


ALIKE = (
    "Model-based: the model assumes the same difference between systems in all strata. To compare "
    "strata, use --estimand finite."
)
MEAN = "(mean)"
"""Name of the mean of the groups, in the column of groups."""


def metrics_table(
    summaries: Mapping[str, pd.DataFrame], weights: Sequence[float] = (), panels: str = ""
) -> Table:
    """Return a table of metrics: a column per estimand, a line per metric and system.

    ``weights`` are the design weights of the items, ``panels`` the words of
    :func:`assay.display.notes.panels_said`.
    """
    first = next(iter(summaries.values()))
    notes: dict[str, str] = {}
    share = left_out_words(pd.concat([s["undefined"] for s in summaries.values()]))
    cells = {
        name: [_metric_cell(line, name, notes, share) for line in lines_of(summary)]
        for name, summary in summaries.items()
    }
    rows: list[list[str]] = []
    names = first["metric"]
    if "title" in first:
        names = first["title"] + " (" + first["metric"] + ")"
    for n, (metric, system) in enumerate(zip(names, first["system"], strict=True)):
        if system and [metric] not in rows:
            rows.append([metric])
        head = system or metric
        rows.append([head, *(column[n] for column in cells.values())])
    level, reference = first["level"].iloc[0], first["reference"].iloc[0]
    about = estimands_said(summaries, weights)
    marks = notes_said(notes, "\n")
    return make_table(
        f"Metrics: posterior mean ({percent(level)} interval)",
        ["metric", *summaries],
        rows,
        note=f"Estimand {about}. Reference: {reference}.{panels}{marks}",
    )


def _metric_cell(line: Mapping[str, Any], name: str, notes: dict[str, str], share: str) -> str:
    """Write an estimate, with marks for another estimand, undefined draws and doubts."""
    said = []
    if line["estimand"] != name:
        said.append(str(line["estimand"]))
    if line["undefined"] > 0:
        said.append(share)
    if line["doubt"]:
        said.append(line["doubt"])
    marks = ",".join(mark_of(text, notes) for text in said)
    return interval(line["mean"], line["lower"], line["upper"]) + marks


def labels_table(frame: pd.DataFrame, total: int, votes: Sequence[str] | None = None) -> Table:
    """Return lines of :func:`labels_frame` (``total`` in all) with the two most likely classes.

    ``votes`` of the majority are a further column.
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
        note=f"Estimand: these items. Reference: {frame['reference'].iloc[0]}.",
    )


def check_parts(report: Check) -> list[Text | Padding | Table]:
    """Return the findings of a check by topic, and its tables."""
    blocks: list[Text | Padding | Table] = [Text(printable(report.summary), "bold")]
    for topic in dict.fromkeys(f.topic for f in report.findings):
        found = [str(f) for f in report.findings if f.topic == topic]
        blocks += [Text(f"\n{topic}"), indented(found)]
    for name, table in report.tables.items():
        if len(table):
            blocks += [Text(), frame_table(name, table)]
    return blocks


def comparison_parts(found: Comparison, panels: str = "") -> list[Table]:
    """Return tables of a comparison: the pairs, and the systems where there are more than two.

    A metric that is better neither way has no best system, and is not in the second table.

    Parameters
    ----------
    found : Comparison
    panels : str
        What :func:`assay.display.notes.panels_said` says of the draws.
    """
    parts = [_pairs_table(found.pairs, panels, titles_with_names(found.draws))]
    systems = found.systems
    if systems["system"].nunique() > 2 and (systems["better"] != "neither").any():
        parts.append(ranks_table(systems, metric_titles(found.draws)))
    return parts


def _pairs_table(pairs: pd.DataFrame, panels: str, titles: Mapping[str, str]) -> Table:
    rows: list[list[str]] = []
    notes: dict[str, str] = {}
    share = left_out_words(pairs["undefined"])
    for metric, part in pairs.groupby("metric", sort=False):
        rows.append([titles[str(metric)]])
        for line in lines_of(part):
            size = gap(*(line[f"difference{end}"] for end in ("", "_lower", "_upper")))
            said = [share] * (line["undefined"] > 0) + [line["doubt"]] * (line["doubt"] != "")
            size += ",".join(mark_of(text, notes) for text in said)
            near = [probability(line["p_rope"])] if np.isfinite(line["p_rope"]) else []
            chance = probability(line["p_greater"])
            rows.append([contrast(line["a"], line["b"]), size, chance, *near])
    heads = ["metric, systems", "difference", "P(1st > 2nd)"]
    heads += ["P(in rope)"] * bool(pairs["p_rope"].notna().any())
    return make_table(
        f"Systems compared: posterior mean ({percent(pairs['level'].iloc[0])} interval)",
        heads,
        rows,
        note=(
            f"Estimand {estimand_words(pairs)}. Reference: {pairs['reference'].iloc[0]}.{panels}"
            + by_chance(pairs)
            + notes_said(notes, "\n")
        ),
        right=heads[2:],
    )


def ranks_table(systems: pd.DataFrame, titles: Mapping[str, str]) -> Table:
    """Return P(best) and expected loss of each system, on metrics that are better one way."""
    ranked = systems[systems["better"] != "neither"]
    notes: dict[str, str] = {}
    heads = [
        f"{titles[name]} (better is {better}){mark_of(doubt, notes) if doubt else ''}"
        for name, better, doubt in ranked[["metric", "better", "doubt"]].to_numpy(object)
    ]
    words = ranked.assign(
        metric=heads,
        p_best=ranked["p_best"].map(chance_cell),
        expected_loss=[fixed(loss, 3) for loss in ranked["expected_loss"]],
    )
    shown = {
        "system": "System",
        "p_best": "P(best)",
        "expected_loss": "Expected loss of choosing it",
    }
    note = f"Estimand {estimand_words(ranked)}. Reference: {systems['reference'].iloc[0]}."
    if len(ranked) < len(systems):
        note += " Metrics without a better direction have no best system."
    return table_of(
        "ranks", "Which system is best", words, shown, under="metric",
        note=note + notes_said(notes, "\n"), export=systems,
    )  # fmt: skip


def groups_table(groups: pd.DataFrame) -> Group:
    """Return :func:`assay.group_contrasts` as tables: one per metric and pair, a line per group.

    Names of metrics and systems are above the tables: in a column they would wrap the intervals.
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
    spaced: list[Text | Table] = [title, Text()]
    for part in parts:
        spaced += [part, Text()]
    return Group(*spaced, caption)


def _groups_caption(groups: pd.DataFrame, notes: Mapping[str, str]) -> str:
    """Describe the lines of all groups, and explain their marks."""
    share = groups["undefined"]
    left_out = left_out_words(share[share < 1])  # lines without a number are not counted
    alike = f" {ALIKE}" * bool(groups["estimand"].map(is_modelled).any())
    marks = notes_said(notes, "\n")
    return (
        # The last line is the mean of the groups; a group that lacks a system has no estimand.
        f"Estimand {_first_word(groups['estimand'].iloc[-1])}. Reference: "
        f"{groups['reference'].iloc[0]}. Clusters with either system. Pooled and P: shrunk towards "
        f"the {MEAN} of the groups, more so if the groups differ little.{alike}{marks}"
        + f"\nsome are {left_out}"
        * bool(left_out)
    )


def _group_row(line: Mapping[str, Any], notes: dict[str, str]) -> list[str]:
    """Write a group's own and pooled contrast, with a mark for another estimand."""
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
    """Return the requested estimand, without the explanation in brackets."""
    return str(estimand).split(" ", 1)[0]

"""Read a column for each rater and question: a row for each rating, a column for each question."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import Note, RatingsError
from assay._util.text import counted, listed
from assay.io.arguments import Arguments
from assay.io.cells import empty_cells
from assay.io.formats import Export
from assay.io.rater_names import LABEL, RATER, few_values, parts_of
from assay.io.reshaping import free_name, with_items
from assay.io.tables import Table


def raters_apart(export: Export, given: Arguments) -> tuple[Export, Arguments]:
    """Give each rating a row, if ``wide=`` is a pattern of names with a rater and a label.

    Columns of few values become labels, unless the caller names some.
    """
    pattern = given.wide if isinstance(given.wide, str) else (given.wide or [""])[0]
    if not given.wide or RATER not in pattern or LABEL not in pattern:
        return export, given
    table = export.table
    places = parts_of([str(c) for c in table.frame.columns], pattern)
    if not places:
        raise RatingsError.of(
            "unknown-column",
            f"no column is called like {pattern}",
            table.source,
            mend=f"columns: {listed([str(c) for c in table.frame.columns])}",
            go_on={"wide": None},
        )
    table, roles = with_items(table, list(places.values()), given)
    raters = list(dict.fromkeys(rater for rater, _ in places))
    labels = list(dict.fromkeys(label for _, label in places))
    rest = table.frame[[c for c in table.frame.columns if c not in places.values()]]
    names = {label: free_name(label, rest) for label in labels}
    answers = [label for label in labels if _few_of(table.frame, places, label)] or labels
    table, kept = _melted(table, rest, places, raters, names, answers)
    who = str(table.frame.columns[len(rest.columns)])
    note = Note(
        f"{counted(len(places), 'column')} were read as the answers of "
        f"{counted(len(raters), 'rater')} ({listed(raters)}) to "
        f"{counted(len(labels), 'question')} ({listed(labels)})"
        + (f"; {counted(kept, 'pair')} of item and rater without an answer: left out" * bool(kept)),
        code="columns-read", level="note",
        numbers={"columns": len(places), "empty": kept},
    )  # fmt: skip
    made = replace(
        export, table=table, roles={**export.roles, **roles, "rater": (who,)},
        notes=(*export.notes, note), title="a column for each rater and question",
    )  # fmt: skip
    asked = given.labels if given.labels is not None else {n: names[n] for n in answers}
    return made, replace(given, wide=None, labels=asked)


def _few_of(frame: pd.DataFrame, places: Mapping[tuple[str, str], str], label: str) -> bool:
    """Whether the columns of a question have few values."""
    return all(few_values(frame[column]) for (_, name), column in places.items() if name == label)


def _melted(
    table: Table,
    rest: pd.DataFrame,
    places: Mapping[tuple[str, str], str],
    raters: Sequence[str],
    names: Mapping[str, str],
    answers: Sequence[str],
) -> tuple[Table, int]:
    """Return a row for each item and rater with an answer, and the number of those without."""
    rows = len(rest)
    order = np.repeat(np.arange(rows), len(raters))
    frame = rest.take(order).reset_index(drop=True)
    frame[free_name("rater", frame)] = pd.Series(
        np.tile(np.array(raters, object), rows), dtype="str"
    )
    nothing = pd.Series("", index=table.frame.index, dtype="str")
    for label, name in names.items():
        columns = [places.get((rater, label)) for rater in raters]
        held = [nothing if c is None else table.frame[c] for c in columns]
        frame[name] = pd.Series(np.column_stack(held).ravel(), dtype="str")
    said = frame[[names[label] for label in answers]]
    empty = np.all([empty_cells(said[c]) for c in said], axis=0)
    frame = frame[~empty].reset_index(drop=True)
    return replace(table, frame=frame, lines=table.lines[order][~empty]), int(empty.sum())

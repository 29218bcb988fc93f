"""Columns of one mark or nothing: a column for each option of a multiple choice."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.text import listed
from assay.data.class_words import canonical
from assay.io.arguments import Arguments
from assay.io.cells import EMPTY
from assay.io.columns import ColumnFinder
from assay.io.formats import Export
from assay.io.likely_columns import mark_columns
from assay.io.silent_rows import note_silent

FEWEST = 2
"""Fewest options of a question."""


def with_marks(export: Export, given: Arguments) -> Export:
    """Read marks as yes where the caller names several labels of them; what is beside is no.

    A row without any mark answers nothing, since the question may not have been asked.
    """
    named = given.labels
    columns = list(named.values()) if isinstance(named, Mapping) else []
    finder = ColumnFinder([str(c) for c in export.table.frame.columns])
    marks = mark_columns(export.table.frame, finder.all_of(columns))
    if len(marks) < FEWEST or not isinstance(named, Mapping):
        return export
    frame = export.table.frame
    marked = np.column_stack([~_empty(frame[c]) for c in marks])
    any_mark = marked.any(axis=1)
    words = {
        column: pd.Series(np.where(marked[:, n], "yes", np.where(any_mark, "no", "")), dtype="str")
        for n, column in enumerate(marks)
    }
    notes = [
        Note(
            f"a mark in {listed(marks)} is read as yes, and an empty cell beside a mark as no",
            code="marks-read", level="note", numbers={"columns": len(marks)},
        )
    ]  # fmt: skip
    labels = [label for label, column in named.items() if finder.get(column) in marks]
    notes += note_silent(int((~any_mark).sum()), listed(marks), labels, given.classes)
    table = replace(export.table, frame=frame.assign(**words), notes=(*export.table.notes, *notes))
    return replace(export, table=table)


def _empty(column: "pd.Series[str]") -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    return np.array([canonical(str(word)) in EMPTY for word in column], bool)

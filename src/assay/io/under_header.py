"""Rows under the header that say what columns are, as Qualtrics writes them."""

from dataclasses import replace

from assay._util.errors import Note
from assay._util.text import counted
from assay.io.tables import Table

IMPORT = '{"ImportId"'
"""How the cells of the last such row begin."""
MOST_ROWS = 3
"""Rows that may stand between the header and the answers."""


def without_import_rows(table: Table) -> Table:
    """Leave out the rows of questions and of identifiers under the header of a Qualtrics export."""
    head = table.frame.head(MOST_ROWS)
    starts = head.apply(lambda cells: cells.str.startswith(IMPORT)).sum(axis=1).to_numpy()
    found = (2 * starts > head.shape[1]).nonzero()[0]
    if not len(found):
        return table
    rows = int(found[-1]) + 1
    note = Note(
        f"{counted(rows, 'row', 'are')} left out under the header, with the questions and "
        "identifiers of Qualtrics",
        code="title-rows", level="note", numbers={"rows": rows},
    )  # fmt: skip
    frame = table.frame.iloc[rows:].reset_index(drop=True)
    return replace(table, frame=frame, lines=table.lines[rows:], notes=(*table.notes, note))

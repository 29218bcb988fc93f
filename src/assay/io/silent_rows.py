"""Rows that choose none of several options: no answer, unless the caller says that they mean no."""

import json
from collections.abc import Mapping, Sequence

from assay._util.errors import Note
from assay._util.text import counted

MOST = 12
"""Most labels that the note names; others are left out."""


def note_silent(
    rows: int, question: str, labels: Sequence[str], words: Mapping[str, Mapping[str, str]] | None
) -> list[Note]:
    """Note how many rows choose nothing, and the argument that reads them as no.

    Nothing if there are none, or if ``words`` of the caller explain an empty cell.
    """
    if not rows or not labels or any("" in said for said in (words or {}).values()):
        return []
    no = json.dumps({label: {"": "no"} for label in labels[:MOST]}, ensure_ascii=False)
    note = Note(
        f"{counted(rows, 'rating', 'choose')} no option of {question}, which is read as no answer; "
        f"if it means that none applies, give `classes={no}`",
        code="no-option-chosen", level="note", numbers={"ratings": rows},
    )  # fmt: skip
    return [note]

"""Columns with the status of a response: drafts and discarded responses have no answer."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.text import counted
from assay._util.typing import Bools
from assay.io.names import FLAGS, WORDS, bare, squash
from assay.io.reading_log import Ledger

GIVEN = frozenset(WORDS["given"])
WITHDRAWN = frozenset(WORDS["withdrawn"])
JUDGED = frozenset({"reject", "rejected"})
"""Withdrawn, of a response; elsewhere possibly an answer."""
OF_RESPONSES = ("response", "assignment", "annotation", "submission", "answer")
"""Parts of names of columns about responses."""
SUBMISSION = frozenset({"accept", "reject", "ignore"})
"""Values of Prodigy's column ``answer``; for choices, the column ``accept`` has the answer."""
CHOICES = "accept"
FIRST_CELLS = 100
FINISHED = ("finished", "isfinished", "completed", "iscompleted", "iscomplete")
"""Squashed names of flags of responses that were finished."""
NOT = ("false", "0", "no")


def says_submission(column: "pd.Series[str]") -> bool:
    """Whether a column only says that tasks were accepted, rejected or ignored."""
    words = {squash(str(word)) for word in pd.unique(column)} - {""}
    return bool(words) and words <= SUBMISSION


def find_status(
    free: list[str], read: list[str], item: "pd.Series[str]", ledger: Ledger
) -> tuple[str, Bools]:
    """Return the column of the status among ``free`` ones, if any, and withdrawn rows; note them.

    A column that is constant within items is no status of responses.
    """
    frame = ledger.table.frame
    for column in (c for c in free if squash(c) in FINISHED):
        unfinished = frame[column].str.strip().str.casefold().isin(NOT)
        if unfinished.any() and not unfinished.all():
            ledger.note(
                f"by column {column}, {counted(int(unfinished.sum()), 'row')} are of responses "
                "that were not finished; their answers count like the others",
                code="unfinished-responses",
                rows=int(unfinished.sum()),
            )
    for column in sorted(free, key=lambda c: ("response" not in squash(c), free.index(c))):
        if not _is_status(column, read):
            # A column of any name may only have words for given and withdrawn responses.
            first = {squash(str(word)) for word in pd.unique(frame[column].head(FIRST_CELLS))}
            whole = first <= GIVEN | WITHDRAWN | {""}
            said = {squash(str(word)) for word in pd.unique(frame[column]) if whole} - {""}
            if not (said <= GIVEN | WITHDRAWN and said & GIVEN and said & WITHDRAWN):
                continue
        code, distinct = pd.factorize(frame[column])
        names = np.array([squash(str(word)) for word in distinct], object)
        withdrawn = np.isin(names, list(_withdrawn(column, set(names) - {""})))
        rows = withdrawn[code]
        if not rows.any():
            _note_unused(column, [str(w) for w in distinct], names, ledger)
            continue
        words = names[code]
        counts = ", ".join(f"{w} {n}" for w, n in frame[column][rows].value_counts().items())
        pairs = pd.DataFrame({"item": item, "word": words}).drop_duplicates()
        if len(pairs) == item.nunique() < len(item):  # the same within items of several rows
            ledger.note(
                f"column {column} ({counts}) is not used: it is the same in all ratings of an item",
                code="status-of-items",
            )
            continue
        verb = "are" if rows.sum() > 1 else "is"
        ledger.note(
            f"{counted(int(rows.sum()), 'response')} {verb} read as no answer, as column {column} "
            f"says ({counts}); without this column all responses count",
            code="status-read",
            responses=int(rows.sum()),
        )
        return column, rows
    return "", np.zeros(len(frame), bool)


def _note_unused(column: str, words: list[str], names: NDArray[np.object_], ledger: Ledger) -> None:
    """Note a status column that mixes known and unknown words."""
    pairs = list(zip(words, names, strict=True))
    found = [word for word, name in pairs if name in WITHDRAWN]
    others = [word for word, name in pairs if name not in WITHDRAWN | GIVEN | {""}]
    if found and others:
        ledger.note(
            f"column {column} says {', '.join(found)} of some rows, and {', '.join(others[:3])}: "
            "it is not used. Leave out the rows that hold no answer",
            code="status-unclear",
        )


def _is_status(column: str, read: list[str]) -> bool:
    """Whether the name of a column is that of a status."""
    name, choices = squash(column), CHOICES in {squash(c) for c in read}
    flag = name in FLAGS or bare(column) in FLAGS
    return flag or name.endswith(("status", "state")) or (name == "answer" and choices)


def _withdrawn(column: str, words: set[str]) -> frozenset[str]:
    """Return the words of a column for responses that do not count."""
    name = squash(column)
    if name in FLAGS or bare(column) in FLAGS:
        flags = words <= {"true", "false", "1", "0", "yes", "no"}
        return frozenset({"true", "1", "yes"}) if flags else frozenset()
    if name == "answer":
        return frozenset({"reject", "ignore"})
    of_responses = any(part in name for part in OF_RESPONSES) or bool(words & WITHDRAWN)
    known = WITHDRAWN | (JUDGED if of_responses else frozenset())
    return known if words <= GIVEN | known else frozenset()

"""Read documents or queries: texts with ids, from any tabular format that ratings may have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from assay._util.errors import Problem, RatingsError, suggest
from assay._util.text import counted, some
from assay._util.validation import argument
from assay.io.files.opening import open_source
from assay.io.names import squash
from assay.io.tables import Table

ID_NAMES = {
    "document": (
        "document_id", "doc_id", "paragraph_id", "passage_id", "chunk_id", "id", "_id", "docno",
    ),
    "query": ("query_id", "question_id", "qid", "topic_id", "id", "_id"),
}  # fmt: skip
TEXT_NAMES = {
    "document": ("document", "paragraph", "passage", "chunk", "text", "content", "contents", "doc"),
    "query": ("query", "question", "text", "query_text", "question_text"),
}
"""Names by which columns are recognised, the most certain first."""


@dataclass(frozen=True, kw_only=True)
class Texts:
    """Texts with their ids; ``frame`` has all columns of their table, as text."""

    ids: list[str]
    texts: list[str]
    frame: pd.DataFrame

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Sequence[int]) -> "Texts":
        """Return the texts at these rows, in this order."""
        return Texts(
            ids=[self.ids[row] for row in rows],
            texts=[self.texts[row] for row in rows],
            frame=self.frame.iloc[list(rows)].reset_index(drop=True),
        )


def read_texts(
    source: object, what: str, *, id: str | None = None, text: str | None = None
) -> Texts:
    """Read documents or queries (``what``), or raise all problems of the table at once."""
    plural = {"document": "documents", "query": "queries"}[what]
    table = open_source(source, what=f"the {plural}").plain_table()
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for role, given, names in (("id", id, ID_NAMES[what]), ("text", text, TEXT_NAMES[what])):
        try:
            taken = list(found.values())
            found[role] = _column(table, what, role, given, names, taken)
        except LookupError as error:
            problems.append(error.args[0])
    if not problems:
        problems = _cell_problems(table, plural, found["id"], found["text"])
    if problems:
        raise RatingsError(problems, table.source)
    frame = table.frame.reset_index(drop=True)
    return Texts(
        ids=frame[found["id"]].str.strip().tolist(),
        texts=frame[found["text"]].tolist(),
        frame=frame,
    )


def _column(
    table: Table, what: str, role: str, given: str | None, names: Sequence[str], taken: list[str]
) -> str:
    """Return the column given by argument or found by name; LookupError holds the problem."""
    columns = [str(column) for column in table.frame.columns if column not in taken]
    name = f"{what}_{role}"
    if given is not None:
        if isinstance(given, str) and given in columns:
            return given
        raise LookupError(
            Problem(
                code="texts-column",
                what=f"{argument(name, given)} is no column",
                mend=suggest(given, columns),
            )
        )
    by_name = {squash(column): column for column in reversed(columns)}
    for known in names:
        if squash(known) in by_name:
            return by_name[squash(known)]
    raise LookupError(
        Problem(
            code="texts-column",
            what=f"no column is recognised as the {role} of the {what}",
            mend=f"name one of {some(columns)}: `{name}=`",
        )
    )


def _cell_problems(table: Table, plural: str, id: str, text: str) -> list[Problem]:
    """Return the problems of ids and texts: empty cells and repeated ids."""
    problems = []
    if table.frame.empty:
        problems.append(Problem(code="empty-file", what=f"there are no {plural}"))
    for column in (id, text):
        empty = (table.frame[column].str.strip() == "").to_numpy(bool)
        if empty.any():
            problems.append(
                Problem(
                    code="texts-empty",
                    what=f"{counted(int(empty.sum()), 'cell', 'are')} empty",
                    where=table.where(empty, column),
                    mend=f"fill them, or remove these {plural}",
                    numbers={"cells": int(empty.sum())},
                )
            )
    names = table.frame[id].str.strip()
    again = (names.duplicated() & (names != "")).to_numpy(bool)
    if again.any():
        shown = some(list(dict.fromkeys(names[again])))
        problems.append(
            Problem(
                code="texts-repeated",
                what=f"{counted(int(again.sum()), 'row')} repeat the id of an earlier row: {shown}",
                where=table.where(np.flatnonzero(again), id),
                mend=f"give each of the {plural} an id of its own",
                numbers={"rows": int(again.sum())},
            )
        )
    return problems

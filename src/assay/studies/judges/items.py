"""Items for a language model: their texts, and the columns that the ratings keep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from assay._util.errors import Problem, RatingsError, suggest
from assay._util.text import counted, some
from assay.data.task import Task
from assay.io.files.opening import open_source
from assay.io.names import RECOGNISED, TRUTH_NAMES, squash
from assay.io.tables import Table
from assay.studies.judges.prompts import Prompt
from assay.studies.texts import read_texts

OF_RATERS = ("rater", "group")
"""Roles whose columns are never sent."""
OF_RATINGS = (*OF_RATERS, "replicate", "session", "seconds")
"""Roles of columns that belong to a rating, not to its item."""
SCORE_NAMES = ("score", "confidence", "audit")
DEFINITION = "definition"


@dataclass(frozen=True, kw_only=True)
class Items:
    """Items to ask about.

    values : the text of each slot of the prompt, by item
    kept : columns that the table of ratings keeps (item)
    cluster : query of each item; the items of a query are ordered together
    sent : column that fills each slot
    """

    names: list[str]
    values: list[dict[str, str]]
    kept: pd.DataFrame
    cluster: list[str]
    sent: dict[str, str]


def read_items(
    source: object,
    task: Task,
    prompt: Prompt,
    *,
    item: str | Sequence[str] | None = None,
    slots: Mapping[str, str] | None = None,
    texts: Sequence[str] | None = None,
    definitions: object = None,
) -> Items:
    """Read the items of a table, each once; raise all problems at once."""
    table = open_source(source, what="the items").plain_table()
    finder = _Finder(table, task)
    key = finder.key(item)
    sent = finder.slots(prompt, dict(slots or {}))
    shown = finder.texts(prompt, texts)
    cluster = finder.cluster()
    finder.raise_problems()
    unlike = _unlike(table, key, [*sent.values(), *shown])
    if unlike:
        raise RatingsError(unlike, table.source)
    frame = table.frame.drop_duplicates(key).reset_index(drop=True)
    values = [
        {slot: row[column] for slot, column in sent.items()}
        | {"texts": "\n\n".join(f"{column}:\n{row[column]}" for column in shown)}
        for row in frame.to_dict("records")
    ]
    if DEFINITION in prompt.used:
        for value, said in zip(
            values, _definitions(definitions, frame, cluster, table), strict=True
        ):
            value[DEFINITION] = said
        sent = sent | {DEFINITION: DEFINITION}
    empty = [n for n, value in enumerate(values) if any(not value[s].strip() for s in sent)]
    if empty:
        raise RatingsError.of(
            "texts-empty",
            f"{counted(len(empty), 'item', 'have')} an empty text in {some(list(sent.values()))}",
            table.source,
            mend="fill the cells, or remove the items",
        )
    clusters = frame[cluster].tolist() if cluster else [""] * len(frame)
    return Items(
        names=[" | ".join(row) for row in frame[key].to_numpy()],
        values=values,
        kept=frame[finder.kept(key, sent, shown)],
        cluster=clusters,
        sent=sent | {column: column for column in shown},
    )


def _unlike(table: Table, key: list[str], columns: Sequence[str]) -> list[Problem]:
    """Return a problem if rows of one item have different texts."""
    several = table.frame.groupby(key, sort=False)[list(dict.fromkeys(columns))].nunique()
    apart = several.index[(several > 1).any(axis=1)].tolist()
    if not apart:
        return []
    return [
        Problem(
            code="texts-repeated",
            what=f"{counted(len(apart), 'item', 'have')} rows with different texts: "
            f"{some([str(name) for name in apart])}",
            mend="give each item a name of its own, or name all columns of the key: `item=`",
            numbers={"items": len(apart)},
        )
    ]


def _definitions(source: object, frame: pd.DataFrame, cluster: str, table: Table) -> list[str]:
    """Return the definition of each item's query."""
    if source is None:
        if DEFINITION in frame.columns:
            return [str(text) for text in frame[DEFINITION]]
        raise RatingsError.of(
            "texts-column",
            "the prompt needs a definition for each query, but the items have no column definition",
            table.source,
            mend="give a file with a definition for each query: `definitions=`",
        )
    if not cluster:
        raise RatingsError.of(
            "texts-column",
            "the items have no column of their query, such as query_id",
            table.source,
        )
    found = read_texts(source, "query", text=DEFINITION)
    by_query = dict(zip(found.ids, found.texts, strict=True))
    queries = frame[cluster].str.strip()
    if lacking := sorted(set(queries) - by_query.keys()):
        raise RatingsError.of(
            "definitions-missing",
            f"{len(lacking)} of the queries lack a definition: {some(lacking)}",
            table.source,
            mend="add them to the file of definitions",
        )
    return [by_query[query] for query in queries]


class _Finder:
    """Finds the columns of a table and collects problems."""

    def __init__(self, table: Table, task: Task) -> None:
        self.table, self.task = table, task
        self.columns = [str(column) for column in table.frame.columns]
        self.by_name = {squash(column): column for column in reversed(self.columns)}
        self.problems: list[Problem] = []

    def raise_problems(self) -> None:
        if self.table.frame.empty:
            self.problems.append(Problem(code="empty-file", what="there are no items"))
        if self.problems:
            raise RatingsError(self.problems, self.table.source)

    def key(self, given: str | Sequence[str] | None) -> list[str]:
        """Return the columns that name an item."""
        if given is not None:
            return [
                self._there("item", name) for name in ([given] if isinstance(given, str) else given)
            ]
        if name := self.by_name.get("item"):
            return [name]
        of_task = list(self.task.columns.get("item", ()))
        if of_task and all(name in self.columns for name in of_task):
            return of_task
        if name := self.by_name.get("itemid"):
            return [name]
        self._problem("no column names the item", "name it, or the columns of its key: `item=`")
        return []

    def slots(self, prompt: Prompt, given: dict[str, str]) -> dict[str, str]:
        """Return the column that fills each slot."""
        if unknown := [name for name in given if name not in prompt.columns]:
            self._problem(
                f"the prompt has no slot {unknown[0]}", suggest(unknown[0], prompt.columns)
            )
        found = {}
        for slot in prompt.columns:
            names = (slot, *prompt.slots.get(slot, ()))
            column = given.get(slot) or next(
                (self.by_name[squash(n)] for n in names if squash(n) in self.by_name), None
            )
            if column is None:
                self._problem(
                    f"no column fills the slot {{{slot}}} of the prompt",
                    f"say which: `slots={{{slot!r}: {self.columns[0]!r}}}`" if self.columns else "",
                )
            else:
                found[slot] = self._sendable(self._there("slots", column))
        return found

    def texts(self, prompt: Prompt, given: Sequence[str] | None) -> list[str]:
        """Return the columns of the slot ``{texts}``."""
        if "texts" not in prompt.used:
            if given:
                self._problem("the prompt has no slot {texts}", "leave `texts=` out")
            return []
        if not given:
            self._problem(
                f"the prompt {prompt.name} shows the columns that you name",
                "name the columns that hold the texts of an item: `texts=`",
            )
        return [self._sendable(self._there("texts", column)) for column in given or ()]

    def cluster(self) -> str:
        """Return the column of the query; empty if there is none."""
        names = (*self.task.columns.get("cluster", ()), "query_id", *RECOGNISED["cluster"])
        return next((self.by_name[squash(n)] for n in names if squash(n) in self.by_name), "")

    def kept(self, key: list[str], sent: Mapping[str, str], shown: Sequence[str]) -> list[str]:
        """Return the columns that the table of ratings keeps: no texts, no earlier ratings."""
        out = {squash(name) for role in OF_RATINGS for name in RECOGNISED[role]}
        out |= {squash(name) for name in SCORE_NAMES} | TRUTH_NAMES
        for name in self.task.label_names:
            out |= {squash(name)}
            out |= {
                squash(form)
                for kind in SCORE_NAMES
                for form in (f"{name}_{kind}", f"{kind}_{name}")
            }
        texts = {*sent.values(), *shown, DEFINITION}
        return [c for c in self.columns if c in key or not (c in texts or squash(c) in out)]

    def _there(self, argument: str, column: str) -> str:
        if column not in self.columns:
            self._problem(
                f"`{argument}=` names {column!r}, which is no column", suggest(column, self.columns)
            )
        return column

    def _sendable(self, column: str) -> str:
        """Report a column of rater names: these are never sent."""
        names = {squash(name) for role in OF_RATERS for name in RECOGNISED[role]}
        if squash(column) in names:
            self._problem(
                f"column {column} names raters, and names of raters are never sent",
                "name another column, or rename it if it holds texts",
            )
        return column

    def _problem(self, what: str, mend: str) -> None:
        self.problems.append(Problem(code="texts-column", what=what, mend=mend))

"""pragmata's annotation export: a folder with a CSV for each task, or one CSV."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from assay._util.errors import RatingsError, as_code
from assay._util.text import counted
from assay._util.typing import Bools
from assay.data.task import Task
from assay.io.files.sources import FolderSource, Source
from assay.io.formats import Export
from assay.io.identifiers import clean_ids, joined_ids
from assay.io.names import Roles
from assay.io.reading_log import Ledger

TITLE, RECOGNISED_BY = (
    "pragmata export",
    "the columns `response_status` and `constraint_violated`, also in files of a folder",
)

MARKS = ("response_status", "constraint_violated")
ITEM_KEY = "record_uuid"
WARNED = frozenset({"evidence_sufficient", "misleading"})
SYSTEMS_FILE = "systems.csv"
RESERVED = ("task", "query")
"""Columns with misleading names: ``query`` holds a text."""
WHAT = "the columns response_status and constraint_violated"


def is_export(columns: Sequence[str]) -> bool:
    """Whether a table has the columns that only this export has."""
    return all(mark in columns for mark in MARKS)


def export_responses(task: Task, asked: Mapping[str, str]) -> dict[str, str]:
    """Return the tool's response to rules, unless the caller gives it.

    The tool warns if evidence is called both sufficient and misleading; it blocks other violations.
    """
    return {
        rule.name: "warn"
        for rule in task.rules
        if frozenset(task.expression(rule.expression).labels) == WARNED
        and rule.response == "block"
        and not {rule.name, rule.expression} & asked.keys()
    }


def discarded_rows(ledger: Ledger) -> Bools:
    """Return rows that raters discarded; set rows aside that are not submitted."""
    frame = ledger.table.frame
    status = frame["response_status"].str.strip().str.casefold()
    discarded = np.asarray(status == "discarded", bool)
    other = np.asarray(status != "submitted", bool) & ~discarded
    words = ("response_status " + status.where(status != "", "is empty")).to_numpy()
    ledger.set_aside(other, "not submitted", words)
    if total := int(discarded.sum()):
        reasons = frame.get("discard_reason", status)[discarded]
        counts = clean_ids(reasons.reset_index(drop=True)).value_counts()
        shown = ", ".join(f"{reason or 'no reason'} {count}" for reason, count in counts.items())
        ledger.note(
            f"{counted(total, 'rating', 'were')} discarded by the rater: {shown}",
            code="ratings-withdrawn",
            ratings=total,
        )
    return discarded


def note_traps(ledger: Ledger, roles: Roles) -> None:
    """Note what the export does not tell."""
    frame = ledger.table.frame
    violated = np.asarray(frame["constraint_violated"].str.strip().str.casefold() == "true", bool)
    if total := int(violated.sum()):
        marked = f"{counted(total, 'rating', 'are')} marked"
        ledger.note(
            f"{marked} constraint_violated by the tool", code="constraint-violated", ratings=total
        )
    if "created_at" in frame:
        ledger.note(
            "created_at is the record's time, not the answer's: it cannot show drift",
            code="times-of-records",
        )
    if "n_retrieved_chunks" in frame and "item" in roles:
        # Compare the number of listed chunks with that of retrieved ones.
        panel = frame[ITEM_KEY]
        sizes = pd.to_numeric(frame["n_retrieved_chunks"].str.strip(), errors="coerce")
        item = joined_ids(frame, roles["item"].columns)
        listed = item.where(item != "", None).groupby(panel).nunique()
        stated = sizes.groupby(panel).max()
        unknown = int(((stated < 0) | stated.isna()).sum())
        short = int((listed < stated).sum())
        if unknown:
            ledger.note(
                f"{unknown} panels do not say how many chunks were retrieved (-1 or empty)",
                code="panels-of-unknown-size",
                panels=unknown,
            )
        if short:
            ledger.note(
                f"{short} panels list fewer chunks than were retrieved; `panels=` can name the "
                "others",
                code="panels-incomplete",
                panels=short,
            )


def detect(source: Source) -> str:
    """Claim tables with the export's columns, or folders with such a table."""
    if source.kind == "table":
        return WHAT if is_export(source.columns) else ""
    if isinstance(source, FolderSource):
        return f"files with {WHAT}" if exported(source) else ""
    return ""


def exported(folder: FolderSource) -> list[str]:
    """Return the names, without suffix, of the exports in a folder."""
    tables = [file for file in folder.files if file.endswith(".csv")]
    return [f.removesuffix(".csv") for f in tables if is_export(folder.member(f).columns)]


def read(source: Source, task: Task | None) -> Export:
    """Read the table of a task, with the table of systems beside it."""
    panels = None
    if isinstance(source, FolderSource):
        name = _one_of(exported(source), source) if task is None else task.name
        panels = source.path / SYSTEMS_FILE if SYSTEMS_FILE in source.files else None
        table = source.plain_table(name)
    else:
        table = source.plain_table()
    keyed = ITEM_KEY in table.frame.columns
    return Export(
        table=table,
        roles={"panel": (ITEM_KEY,)} if keyed else {},
        fallbacks={"cluster": (ITEM_KEY,)} if keyed else {},
        options={} if panels is None else {"panels": panels},
        reserved=RESERVED,
    )


def _one_of(names: Sequence[str], folder: FolderSource) -> str:
    """Return the only task in a folder; refuse several."""
    if len(names) > 1:
        raise RatingsError.of(
            "several-tasks",
            f"the folder has the ratings of {counted(len(names), 'task')}: {', '.join(names)}",
            folder.name,
            mend=f"name one of them, such as {as_code({'task': names[0]})}",
            go_on={"task": names[0]},
        )
    return names[0]

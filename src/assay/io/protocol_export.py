"""The annotation export of the protocol tool: its status column, its traps, what it blocks."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from assay._util.text import counted
from assay.data.task import Task
from assay.io.columns import Roles
from assay.io.identifiers import clean_ids, joined_ids
from assay.io.reading_log import Ledger, Mask
from assay.io.tables import Table

MARKS = ("response_status", "constraint_violated")
ITEM_KEY = "record_uuid"
WARNED = frozenset({"evidence_sufficient", "misleading"})
SYSTEMS_FILE = "systems.csv"


def is_export(columns: Sequence[str]) -> bool:
    """Whether a table has the columns that only the protocol's export has."""
    return all(mark in columns for mark in MARKS)


def export_roles(columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the roles of the export's columns that their names alone would not give.

    The column ``query`` holds a text: the query's name is known from a joined table only.
    """
    if not is_export(columns) or ITEM_KEY not in columns:
        return {}
    cluster = "query_id" if "query_id" in columns else ITEM_KEY
    return {"panel": (ITEM_KEY,), "cluster": (cluster,)}


def export_reserved(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the export's columns whose names say something else than what they hold."""
    return ("task", "query") if is_export(columns) else ()


def export_responses(task: Task, asked: Mapping[str, str]) -> dict[str, str]:
    """Return the response strengths that the tool is known to have had, unless the caller knows.

    It warns when evidence is called sufficient and misleading at once, and blocks the rest.
    """
    return {
        rule.name: "warn"
        for rule in task.rules
        if frozenset(task.expression(rule.expression).labels) == WARNED
        and rule.response == "block"
        and not {rule.name, rule.expression} & asked.keys()
    }


def discarded_rows(ledger: Ledger) -> Mask:
    """Return which rows the raters discarded; rows of any other status but submitted go aside."""
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
        ledger.note(f"{counted(total, 'rating', 'were')} discarded by the rater: {shown}")
    return discarded


def note_traps(ledger: Ledger, roles: Roles) -> None:
    """Say what the export does not tell."""
    frame = ledger.table.frame
    violated = np.asarray(frame["constraint_violated"].str.strip().str.casefold() == "true", bool)
    if total := int(violated.sum()):
        marked = f"{counted(total, 'rating', 'are')} marked"
        ledger.note(f"{marked} constraint_violated by the tool")
    if "created_at" in frame:
        ledger.note("created_at is the record's time, not the answer's: it cannot show drift")
    if "n_retrieved_chunks" in frame and "item" in roles:
        _note_incomplete(ledger, frame, roles)


def _note_incomplete(ledger: Ledger, frame: pd.DataFrame, roles: Roles) -> None:
    """Compare the chunks listed with the number that was retrieved."""
    panel = frame[ITEM_KEY]
    sizes = pd.to_numeric(frame["n_retrieved_chunks"].str.strip(), errors="coerce")
    item = joined_ids(frame, roles["item"].columns)
    listed = item.where(item != "", None).groupby(panel).nunique()
    stated = sizes.groupby(panel).max()
    unknown = int(((stated < 0) | stated.isna()).sum())
    short = int((listed < stated).sum())
    if unknown:
        ledger.note(f"{unknown} panels do not say how many chunks were retrieved (-1 or empty)")
    if short:
        ledger.note(
            f"{short} panels list fewer chunks than were retrieved; `panels=` can name the others"
        )


def systems_file(table: Table) -> "str | None":
    """Return the path of the table of systems beside an export that was read from a folder."""
    if table.folder is None or not is_export(list(table.frame.columns)):
        return None
    path = table.folder / SYSTEMS_FILE
    return str(path) if path.is_file() else None

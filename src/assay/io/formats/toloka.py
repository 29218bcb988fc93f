"""Toloka's assignments as TSV, a row for each task."""

from dataclasses import replace

from assay._util.text import listed
from assay.data.task import Label, Task
from assay.data.task_files import load_task
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.likely_columns import has_few
from assay.io.tables import reader_note

TITLE, RECOGNISED_BY = "Toloka assignments", "the columns `ASSIGNMENT:worker_id` and `OUTPUT:...`"

WORKER, TASK, STATUS = "ASSIGNMENT:worker_id", "ASSIGNMENT:task_id", "ASSIGNMENT:status"
INPUT, OUTPUT, GOLDEN = "INPUT:", "OUTPUT:", "GOLDEN:"
UNFINISHED = {"ACTIVE": "draft"}
"""Statuses renamed to those of other formats."""


def detect(source: Source) -> str:
    """Claim tables with the worker's column and results."""
    if source.kind != "table" or WORKER not in source.columns:
        return ""
    results = any(column.startswith(OUTPUT) for column in source.columns)
    return f"the columns {WORKER} and {OUTPUT}..." if results else ""


def read(source: Source, task: Task | None) -> Export:
    """Read each result of few values as a label."""
    table = source.plain_table()
    columns = [str(c) for c in table.frame.columns]
    results = {c.removeprefix(OUTPUT): c for c in columns if c.startswith(OUTPUT)}
    chosen = {name: c for name, c in results.items() if has_few(table.frame[c])} or results
    own = load_task("single")
    if len(chosen) != 1:
        several = tuple(Label(name=name, classes=()) for name in chosen)
        own = replace(own, name="toloka", labels=several)
    labels = {name: c for name, c in chosen.items() if task is None or name in task.label_names}
    if len(chosen) == 1:
        names = (task or own).label_names
        labels = dict(zip(names, chosen.values(), strict=False))
    gold = {
        name: g
        for name, c in labels.items()
        if (g := GOLDEN + c.removeprefix(OUTPUT)) in table.frame
        and (table.frame[g].str.strip() != "").any()
    }
    inputs = tuple(c for c in columns if c.startswith(INPUT))
    roles = {"item": (TASK,) if TASK in columns else inputs, "rater": (WORKER,)}
    left = [c for c in results.values() if c not in chosen.values()]
    text = f"{listed(left)} hold too many values to be classes, and are left out"
    if STATUS in table.frame:
        words = table.frame[STATUS].str.strip().replace(UNFINISHED)
        table = replace(table, frame=table.frame.assign(**{STATUS: words}))
    return Export(
        table=table,
        roles={role: found for role, found in roles.items() if found},
        options={"labels": labels, **({"truth": gold} if gold else {})},
        task=own,
        notes=(reader_note(text, code="results-left-out"),) if left else (),
    )

"""peerannot's ``answers.json``: the label of each worker, by task."""

from collections.abc import Mapping
from dataclasses import replace

from assay.data.task import Task
from assay.io.files.json_records import COLUMN_NAMES, FEWEST_NAMES
from assay.io.files.sources import Source
from assay.io.formats import Export
from assay.io.formats.annotations import Study
from assay.io.names import squash
from assay.io.tables import reader_note
from assay.io.wide_tables import names_people

TITLE, RECOGNISED_BY = "peerannot answers", "`{task: {worker: label}}`"

LABEL = "label"
MANY = 3
"""Inner names for each outer one from which the outer ones are the raters, unless the inner are
called like people.
"""


def detect(source: Source) -> str:
    """Claim an object of objects with words and numbers only."""
    if len(source.first_json) != 1:
        return ""
    held = list(source.first[0].values())
    plain = all(
        isinstance(said, Mapping) and all(isinstance(v, int | str) for v in said.values())
        for said in held
    )
    keys = source.first[0]
    if sum(squash(key) in COLUMN_NAMES for key in keys) >= FEWEST_NAMES:
        return ""  # the entries are columns
    if not plain or len(held) < 2 or not any(held):
        return ""
    return "a task's labels by worker in each entry" if _by_worker(held) else ""


def _by_worker(held: list[Mapping[str, object]]) -> bool:
    """Whether the inner keys are workers: numbers, or names that are not column names."""
    names = {str(name) for said in held for name in said}
    if sum(squash(name) in COLUMN_NAMES for name in names) >= FEWEST_NAMES:
        return False
    if all(name.lstrip("-").isdigit() for name in names):
        return True
    classes = {str(value) for said in held for value in said.values()}
    return len(classes) * 2 <= sum(map(len, held))


def read(source: Source, task: Task | None) -> Export:
    """Read each worker as a rater of each task."""
    study = Study(source=source, unit="task", item="task")
    for _, record in source.each():
        for item, said in record.items():
            if not isinstance(said, Mapping):
                study.fault("{n} task{s} without labels by worker", item)
                continue
            for worker, answer in said.items():
                study.add(item, worker, [(LABEL, str(answer))], place=item)
    found = study.export("peerannot", task)
    frame = found.table.frame
    outer, inner = frame["task"].nunique(), frame["rater"].nunique()
    if inner <= MANY * outer or any(map(names_people, frame["rater"].unique())):
        return found
    note = reader_note(
        f"the {outer} outer names are read as raters, and the {inner} inner ones as items; if it "
        "is the other way round, give `item='rater'` and `rater='task'`",
        code="outer-names",
        items=inner,
        raters=outer,
    )
    turned = frame.rename(columns={"task": "rater", "rater": "task"})
    return replace(found, table=replace(found.table, frame=turned), notes=(*found.notes, note))

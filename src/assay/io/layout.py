"""The table of ratings, its side tables, the roles of its columns, and the keys of its rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import RatingsError
from assay._util.text import counted, does
from assay._util.typing import Bools
from assay.data.ratings import RETRIEVER_SCORE, Accounting
from assay.data.task import Task
from assay.io.answers import AnswerColumns
from assay.io.arguments import BY_ROW, Arguments, ColumnArg
from assay.io.cells import classes_from_data
from assay.io.class_orders import in_order
from assay.io.columns import find_roles, require, roles_table
from assay.io.files.opening import read_beside
from assay.io.formats import Export, pragmata
from assay.io.identifiers import (
    clean_ids,
    codes_of,
    joined_ids,
    keys_of,
    require_apart,
    same_groups,
)
from assay.io.items import Places
from assay.io.names import Role, columns_of
from assay.io.reading_log import Ledger
from assay.io.scores import AuditColumns, ScoreColumns
from assay.io.sessions import Sessions, find_sessions, replicate_order
from assay.io.statuses import find_status
from assay.io.tables import Table, reader_note
from assay.io.truth import TruthSource

SEPARATOR = "\x1f"
WITHOUT_PANELS = {"panels": None}
"""Arguments to continue with if the table of panels cannot be used."""


def join_table(table: Table, side: Table) -> Table:
    """Put the columns of a side table before those of a table, joined on all that both have."""
    shared = {c: table.finder.get(c) for c in side.frame.columns}
    keys = {c: mine for c, mine in shared.items() if mine is not None}
    added = [c for c in side.frame.columns if c not in keys]
    if not keys:
        raise RatingsError.of(
            "panels-key",
            "the table of panels has no column in common with the ratings",
            side.source,
            where=f"its columns: {', '.join(side.frame.columns)}",
            mend="give it the column that names a rating's panel",
            go_on=WITHOUT_PANELS,
        )
    side_key, key = (
        reduce(lambda one, other: one + SEPARATOR + other, map(clean_ids, cells))
        for cells in ([side.frame[c] for c in keys], [table.frame[c] for c in keys.values()])
    )
    rows = pd.DataFrame({c: clean_ids(side.frame[c]) for c in added}).assign(key=side_key)
    rows = rows.drop_duplicates()
    twice = rows["key"].duplicated(keep=False)
    if twice.any():
        raise RatingsError.of(
            "panels-repeat",
            f"{rows['key'][twice].nunique()} keys stand in several different rows",
            side.source,
            where=side.where(rows.index[twice].to_numpy(), ", ".join(keys)),
            mend="keep one row for each, or add the item's column",
            go_on=WITHOUT_PANELS,
            numbers={"keys": rows["key"][twice].nunique()},
        )
    mine, names = codes_of(key)
    position = pd.Index(rows["key"]).get_indexer(names)
    if not (position >= 0).any():
        raise RatingsError.of(
            "panels-values",
            f"no value of {', '.join(keys)} is one of the ratings' values",
            side.source,
            mend="the table must name them as the ratings do",
            go_on=WITHOUT_PANELS,
        )
    found = np.where(mine >= 0, position[mine], -1)
    frame = table.frame.copy()
    for place, column in enumerate(added):
        words = pd.Series([*rows[column], ""], dtype="str")
        frame.insert(place, column, pd.Series(words.array.take(found), index=frame.index))
    text = f"{', '.join(added) or 'nothing'} joined from {side.source} by {', '.join(keys)}"
    notes = [reader_note(text, code="table-joined", columns=len(added))]
    missing = int((position < 0).sum())
    if missing:
        values = f"{missing} of {counted(len(names), 'value')} of {', '.join(keys)}"
        text = f"{values} {does(missing, 'are')} not in that table"
        numbers = {"values": missing, "of": len(names)}
        notes.append(reader_note(text, code="table-lacks-values", **numbers))
    return table.noted(*notes, frame=frame)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The table, the roles of its columns, and the keys of its rows."""

    table: Table
    roles: dict[str, Role]
    answers: AnswerColumns
    scores: ScoreColumns
    audits: AuditColumns
    sessions: Sessions
    item_names: "pd.Series[str]"
    rater_names: "pd.Series[str]"
    order: NDArray[Any]
    by_row: bool
    withdrawn: Bools
    status: str = ""
    ledger: Ledger

    @property
    def item_columns(self) -> tuple[str, ...]:
        """Columns that name the item."""
        return self.roles["item"].columns if "item" in self.roles else ()

    @property
    def told_apart(self) -> str:
        """What distinguishes a rater's ratings of one item: a role, ``"row"``, or ``""``."""
        by_column = next((r for r in ("replicate", "session") if r in self.roles), "")
        return BY_ROW if self.by_row else by_column


def find_tables(
    table: Table, task: Task, panels: object, item: ColumnArg
) -> tuple[Table, "Table | None"]:
    """Return the table of ratings with joined columns, and the table of places, if any."""
    if panels is None:
        return table, None
    side = read_beside(panels, name="panels", what="panels")
    columns = columns_of(find_roles(table, task, {"item": item}, Ledger(table)), "item")
    whole = bool(columns) and len(side.finder.all_of(columns)) == len(columns)
    if whole or side.finder.get("item") is not None:
        text = f"{side.source} is read beside the ratings: the places of the items in panels"
        return table.noted(reader_note(text, code="table-joined", places=len(side.frame))), side
    return join_table(table, side), None


def find_layout(
    table: Table,
    task: Task,
    given: Arguments,
    answers: AnswerColumns,
    scores: ScoreColumns,
    audits: AuditColumns,
    ledger: Ledger,
    export: Export,
) -> Layout:
    """Find the role of every column and the keys of every row."""
    asked, evidence = given.roles, f"the format: {export.title}"
    taken = (*answers.columns, *scores.columns, *audits.columns, *export.reserved)
    defaults, fallbacks = (
        {role: Role(columns=columns, evidence=evidence) for role, columns in known.items()}
        for known in (export.roles, export.fallbacks)
    )
    roles = find_roles(
        table, task, asked, ledger, taken=taken, question=answers.question, defaults=defaults,
        fallbacks=fallbacks,
    )  # fmt: skip
    if (
        given.sessions is None
        and asked.get("session") is None
        and {"session", "rater"} <= set(roles)
    ):
        # If sessions and raters are one to one, the session only names the rater.
        session, rater = (keys_of(table.frame, roles[r].columns) for r in ("session", "rater"))
        if session.max() > 0 and same_groups(session, rater):
            del roles["session"]
    for role in ("item", "rater"):
        require(role, roles, task, ledger, answers=answers.columns)
    blank = pd.Series("", table.frame.index, dtype="str")
    names = {
        role: joined_ids(table.frame, roles[role].columns) if role in roles else blank
        for role in ("item", "rater", "replicate")
    }
    for role, found in roles.items():
        require_apart(role, ledger, (table, found.columns))
    periods = find_sessions(table, roles, given.sessions, ledger)
    order = replicate_order(names["replicate"]) if "replicate" in roles else periods.code
    used = {*taken, *columns_of(roles, *roles)}
    free = [c for c in table.frame.columns if c not in used]
    status, withdrawn = find_status(free, answers.columns, names["item"], ledger)
    return Layout(
        table=table, roles=roles, answers=answers, scores=scores, audits=audits, sessions=periods,
        item_names=names["item"], rater_names=names["rater"], order=order, by_row=given.by_row,
        withdrawn=withdrawn, status=status, ledger=ledger,
    )  # fmt: skip


def without_nameless(layout: Layout, task: Task) -> Layout:
    """Empty the answers of rows without an item or a rater, such as a line of totals.

    Such rows are set aside, so that their words are no classes.
    """
    nameless = ((layout.item_names == "") | (layout.rater_names == "")).to_numpy(bool)
    open_labels = [label.name for label in task.labels if not label.classes]
    columns = dict.fromkeys(filter(None, map(layout.answers.of, open_labels)))
    if not columns or not nameless.any() or nameless.all():
        return layout
    frame = layout.table.frame
    table = replace(
        layout.table, frame=frame.assign(**{c: frame[c].mask(nameless, "") for c in columns})
    )
    layout.ledger.table = table
    return replace(layout, table=table)


def fill_classes(task: Task, layout: Layout, gold: "TruthSource | None", ledger: Ledger) -> Task:
    """Take classes that the task leaves open from the answers and the truth."""
    frame = layout.table.frame
    found, named = layout.answers, layout.answers.of_each(task)
    labels = []
    for label in task.labels:
        labels.append(label)
        if label.classes:
            continue
        columns = [frame[named[label.name]]] if label.name in named else []
        if gold is not None and label.name in gold.by_label:
            columns.append(gold.table.frame[gold.by_label[label.name]])
        if columns:
            classes = classes_from_data(
                columns, label, ledger, named=found.evidence.startswith("named by")
            ) or ("no", "yes")
            known = layout.table.ordered.get(named.get(label.name, ""), ())
            labels[-1] = in_order(replace(label, classes=classes), known, ledger)
        elif label.name in (*layout.scores.score, *layout.scores.confidence):
            labels[-1] = replace(label, classes=("no", "yes"))
            ledger.note(
                f"{label.name} has scores but no answers, so its classes are no and yes",
                code="classes-of-scores",
            )
        elif found.columns:
            ledger.problem(
                "no-classes",
                f"label {label.name} takes its classes from the data, but no column holds them",
                mend="name its column with `labels=`, or write its classes into the task file",
                go_on={"task": None, "label": None, "value": None},
            )
    return replace(task, labels=tuple(labels))


def account_for(
    layout: Layout,
    gold: "TruthSource | None",
    places: "Places | None",
    covariates: Sequence[str] = (),
) -> Accounting:
    """Account for every row and every column, of a table of panels too."""
    table, ledger = layout.table, layout.ledger
    extra = {**layout.answers.roles, **layout.scores.roles, **layout.audits.roles}
    if gold is not None and gold.ledger is ledger:
        named = "named by `truth=`"
        extra |= {c: (f"truth of {label}", named) for label, c in gold.by_label.items()}
    finder, answers = table.finder, layout.answers.columns
    options = [c for c in finder.columns if any(a.startswith(f"{c}: ") for a in answers)]
    extra |= dict.fromkeys(options, ("options", "each option in its cells is a label"))
    extra |= dict.fromkeys(finder.all_of(covariates), ("covariate", "named by `covariates=`"))
    if RETRIEVER_SCORE in covariates:
        extra[RETRIEVER_SCORE] = ("covariate", "its name, or named by `covariates=`")
    if layout.status:
        extra[layout.status] = ("status", "it says which responses were withdrawn")
    if pragmata.is_export(list(table.frame.columns)):
        extra["response_status"] = ("status", f"the format: {pragmata.TITLE}")
    roles = roles_table(list(table.frame.columns), layout.roles, extra)
    beside = []
    if places is not None:
        lines = roles_table(list(places.table.frame.columns), places.roles, {})
        name = Path(places.table.source).name
        beside.append(lines.assign(column=[f"{name}: {c}" for c in lines["column"]]))
    return Accounting(
        rows_read=len(table.frame) + len(table.lost),
        rows_used=int(ledger.kept.sum()),
        set_aside=ledger.aside(layout.item_names, layout.rater_names),
        roles=pd.concat([*beside, roles], ignore_index=True),
        notes=tuple(ledger.notes),
        source=table.source,
        sha256=table.sha256,
    )

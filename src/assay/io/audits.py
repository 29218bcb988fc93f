"""Audits: which answers were checked, and whether they were found right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import Codes
from assay._util.plurals import counted, does
from assay.data.class_words import FOREIGN, canonical
from assay.data.ratings import AUDITED_RIGHT, AUDITED_WRONG, NOT_AUDITED, SOME_WRONG
from assay.data.states import Vectors
from assay.data.task import Task
from assay.io.answer_columns import AnswerColumns
from assay.io.columns import ColumnFinder
from assay.io.label_columns import PerLabel, column_of_each, one_column, recognised_of_each
from assay.io.ledger import Ledger
from assay.io.tables import Table
from assay.io.values import EMPTY

Marks = NDArray[np.int8]
RIGHT = ("right", "correct", "yes", "y", "true", "t", "1", "ok", "pass", "passed", "agree")
WRONG = ("wrong", "incorrect", "no", "n", "false", "f", "0", "fail", "failed", "disagree")
ELSEWHERE = {word: AUDITED_RIGHT if code else AUDITED_WRONG for word, code in FOREIGN.items()}
ELSEWHERE |= dict.fromkeys(
    ("richtig", "korrekt", "juste", "correcto", "corretto", "goed", "rätt"), AUDITED_RIGHT
)
ELSEWHERE |= dict.fromkeys(
    ("incorrecto", "sbagliato", "errado", "fout", "forkert", "feil", "fel"), AUDITED_WRONG
)
"""Right and wrong in other languages, beside their words for yes and no; a note says so."""
MARKS = ELSEWHERE | dict.fromkeys(EMPTY, NOT_AUDITED)
MARKS |= dict.fromkeys(RIGHT, AUDITED_RIGHT) | dict.fromkeys(WRONG, AUDITED_WRONG)
UNKNOWN = -9
SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class AuditColumns:
    """Where audits are: a column for each label, or one for the whole rating or row."""

    by_label: Mapping[str, str] = field(default_factory=dict)
    whole: str = ""
    evidence: str = ""

    @property
    def columns(self) -> list[str]:
        """All columns of audits."""
        return [*self.by_label.values(), *([self.whole] if self.whole else [])]

    @property
    def roles(self) -> dict[str, tuple[str, str]]:
        """Role and evidence of each of these columns."""
        named = {c: (f"audit of {label}", self.evidence) for label, c in self.by_label.items()}
        return named | ({self.whole: ("audit", self.evidence)} if self.whole else {})


def find_audits(
    table: Table,
    task: Task,
    answers: AnswerColumns,
    audit: PerLabel,
    taken: Sequence[str],
    ledger: Ledger,
) -> AuditColumns:
    """Find the columns of audits, by argument, else by a name."""
    finder = ColumnFinder(list(table.frame.columns))
    if audit is None:
        used = {*answers.columns, *taken}
        free = ColumnFinder([c for c in finder.columns if c not in used])
        found = {} if answers.question else recognised_of_each("audit", free, task)
        whole = "" if found else free.get("audit") or ""
        return AuditColumns(by_label=found, whole=whole, evidence="its name is recognised")
    if isinstance(audit, str):
        whole = one_column("audit", audit, finder, ledger) if audit else ""
        return AuditColumns(whole=whole, evidence="named by audit=")
    if answers.question:
        ledger.problem(
            "argument-type",
            f"audit= must be one column where each row answers one label, not {audit!r}",
        )
        return AuditColumns()
    found = column_of_each("audit", audit, finder, task, ledger)
    return AuditColumns(by_label=found, evidence="named by audit=")


@dataclass(frozen=True, kw_only=True)
class RowAudits:
    """What audits found: of the answers of every row (row, label), or of the whole row (row,)."""

    cells: Marks
    whole: Marks


def read_audits(
    columns: AuditColumns, question: Codes | None, task: Task, ledger: Ledger
) -> RowAudits:
    """Read the audits of every row; a word that is no result of one is a problem."""
    rows, labels = len(ledger.table.frame), len(task.labels)
    cells = np.full((rows, labels), NOT_AUDITED, np.int8)
    whole = np.full(rows, NOT_AUDITED, np.int8)
    for n, label in enumerate(task.labels):
        if label.name in columns.by_label:
            cells[:, n] = _marks(columns.by_label[label.name], ledger)
    if columns.whole and question is not None:
        known = np.flatnonzero(question >= 0)
        cells[known, question[known]] = _marks(columns.whole, ledger)[known]
    elif columns.whole:
        whole = _marks(columns.whole, ledger)
    return RowAudits(cells=cells, whole=whole)


def rating_audits(
    cells: Marks, whole: Marks, answers: Vectors, task: Task, ledger: Ledger
) -> Marks:
    """Return what was found of each answer: (rating, label).

    Where the rating was judged as a whole, "right" is right of each of its answers, and "wrong"
    is wrong of its only answer, or ``SOME_WRONG`` of each.
    """
    given = answers >= 0
    several = given.sum(axis=1) > 1
    vague = several & (whole == AUDITED_WRONG)
    said = np.where(vague, SOME_WRONG, whole)
    marks = np.where((cells == NOT_AUDITED) & given, said[:, None], cells)
    if total := int(vague.sum()):
        ledger.note(
            f"{counted(total, 'rating')} of several answers {does(total, 'were')} audited and "
            "found wrong, without a word on which: wrong as a rating, and as wrong for no label; "
            f'give a column for each label: audit={{"{task.label_names[0]}": "..."}}'
        )
    lost = (whole != NOT_AUDITED) & ~given.any(axis=1)
    idle = int(((marks != NOT_AUDITED) & ~given).sum() + lost.sum())
    if idle:
        ledger.note(f"{counted(idle, 'audit', 'are')} of answers that are not there: left out")
    return np.where(given, marks, NOT_AUDITED).astype(np.int8)


def _marks(column: str, ledger: Ledger) -> Marks:
    raw, distinct = pd.factorize(ledger.table.frame[column])
    codes = np.array([MARKS.get(canonical(str(v)), UNKNOWN) for v in distinct], np.int8)
    words = dict.fromkeys(w for w in map(canonical, map(str, distinct)) if w in ELSEWHERE)
    if words:
        said = (f"{w} is {'right' if ELSEWHERE[w] == AUDITED_RIGHT else 'wrong'}" for w in words)
        ledger.note(f"audits in column {column}: {', '.join(said)}")
    unknown = np.flatnonzero(codes == UNKNOWN)
    if len(unknown):
        rows = np.flatnonzero(np.isin(raw, unknown))
        shown = ", ".join(repr(str(distinct[n])[:40]) for n in unknown[:SHOWN])
        ledger.problem(
            "audit-words",
            f"{counted(len(rows), 'cell', 'are')} no result of an audit: {shown}",
            where=ledger.table.where(rows, column),
            allowed="right or wrong (also correct/incorrect, yes/no, true/false, 1/0), or empty",
            mend="write these words in the file, empty where nothing was checked; if the column "
            'is no audit, leave it out: audit=""',
            numbers={"cells": len(rows)},
        )
    return codes[raw]

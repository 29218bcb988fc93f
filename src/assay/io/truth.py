"""Known truth and audits: by item, or in columns of the ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import Note, nearest, suggest
from assay._util.grouping import first_rows
from assay._util.text import counted, does
from assay._util.typing import Ints
from assay.data.class_words import FOREIGN, canonical
from assay.data.ratings import AUDITED_RIGHT, AUDITED_WRONG, NOT_AUDITED, SOME_WRONG
from assay.data.states import MISSING, Vectors, vector_name
from assay.data.task import Task
from assay.io.answer_words import Words, apply_words, words_said
from assay.io.answers import AnswerColumns, LabelsArg, find_answers
from assay.io.cells import decode
from assay.io.columns import ColumnFinder, PerLabel, column_of_each, one_column, recognised_of_each
from assay.io.empty_words import EMPTY
from assay.io.files.opening import as_pandas, read_beside
from assay.io.identifiers import codes_of, folded, joined_ids
from assay.io.key_tables import require_apart
from assay.io.list_cells import single_elements
from assay.io.names import RECOGNISED, TRUTH_NAMES, squash
from assay.io.reading_log import Ledger
from assay.io.skip_logic import admitted, apply_gates
from assay.io.tables import Table

Marks = NDArray[np.int8]
WITHOUT_TRUTH = {"truth": None}
"""Arguments to continue with if the truth cannot be used."""
RIGHT = ("right", "correct", "yes", "y", "true", "t", "1", "ok", "pass", "passed", "agree")
WRONG = ("wrong", "incorrect", "no", "n", "false", "f", "0", "fail", "failed", "disagree")
ELSEWHERE = {word: AUDITED_RIGHT if code else AUDITED_WRONG for word, code in FOREIGN.items()}
ELSEWHERE |= dict.fromkeys(
    ("richtig", "korrekt", "juste", "correcto", "corretto", "goed", "rätt"), AUDITED_RIGHT
)
ELSEWHERE |= dict.fromkeys(
    ("incorrecto", "sbagliato", "errado", "fout", "forkert", "feil", "fel"), AUDITED_WRONG
)
"""Right and wrong in other languages, also as yes and no; a note names them."""
MARKS = ELSEWHERE | dict.fromkeys(EMPTY, NOT_AUDITED)
MARKS |= dict.fromkeys(RIGHT, AUDITED_RIGHT) | dict.fromkeys(WRONG, AUDITED_WRONG)
UNKNOWN = -9
SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class AuditColumns:
    """Columns of audits: one for each label, or one for the whole rating or row."""

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
    """Find the columns of audits by argument, else by name."""
    finder = ColumnFinder(table.frame.columns)
    if audit is None:
        used = {*answers.columns, *taken}
        free = ColumnFinder([c for c in finder.columns if c not in used])
        found = {} if answers.question else recognised_of_each("audit", free, task)
        whole = "" if found else free.get("audit") or ""
        return AuditColumns(by_label=found, whole=whole, evidence="its name is recognised")
    if isinstance(audit, str):
        whole = one_column("audit", audit, finder, ledger) if audit else ""
        return AuditColumns(whole=whole, evidence="named by `audit=`")
    if answers.question:
        ledger.problem(
            "argument-type",
            f"`audit=` must be one column where each row answers one label, not {audit!r}",
            go_on={"audit": None},
        )
        return AuditColumns()
    found = column_of_each("audit", audit, finder, task, ledger)
    return AuditColumns(by_label=found, evidence="named by `audit=`")


def read_audits(
    columns: AuditColumns, question: Ints | None, task: Task, ledger: Ledger
) -> tuple[Marks, Marks]:
    """Return the audits of each answer (row, label) and of the whole row (row,).

    Unknown words are a problem.
    """
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
    return cells, whole


def rating_audits(
    cells: Marks, whole: Marks, answers: Vectors, task: Task, ledger: Ledger
) -> Marks:
    """Return the audit of each answer, (rating, label).

    Of ratings judged as a whole, "right" holds for each answer; "wrong" holds for the only answer,
    or is ``SOME_WRONG`` for each of several.
    """
    given = answers >= 0
    several = given.sum(axis=1) > 1
    vague = several & (whole == AUDITED_WRONG)
    said = np.where(vague, SOME_WRONG, whole)
    marks = np.where((cells == NOT_AUDITED) & given, said[:, None], cells)
    if total := int(vague.sum()):
        ledger.note(
            f"{counted(total, 'rating')} of several answers {does(total, 'were')} audited and "
            "found wrong without saying which answer is wrong. They count as wrong ratings, but "
            "not as wrong answers to a label. Give a column for each label: "
            f'`audit={{"{task.label_names[0]}": "..."}}`',
            code="audits-of-several",
            ratings=total,
        )
    lost = (whole != NOT_AUDITED) & ~given.any(axis=1)
    idle = int(((marks != NOT_AUDITED) & ~given).sum() + lost.sum())
    if idle:
        ledger.note(
            f"{counted(idle, 'audit', 'are')} left out, because their answers are missing",
            code="audits-without-answer",
            audits=idle,
        )
    return np.where(given, marks, NOT_AUDITED).astype(np.int8)


def _marks(column: str, ledger: Ledger) -> Marks:
    raw, distinct = pd.factorize(ledger.table.frame[column])
    codes = np.array([MARKS.get(canonical(str(v)), UNKNOWN) for v in distinct], np.int8)
    words = dict.fromkeys(w for w in map(canonical, map(str, distinct)) if w in ELSEWHERE)
    if words:
        said = (f"{w} is {'right' if ELSEWHERE[w] == AUDITED_RIGHT else 'wrong'}" for w in words)
        ledger.note(
            f"audits in column {column}: {', '.join(said)}",
            code="audits-translated",
            words=len(words),
        )
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
            'is no audit, leave it out: `audit=""`',
            go_on={"audit": ""},
            numbers={"cells": len(rows)},
        )
    return codes[raw]


TruthArg = pd.DataFrame | str | Path | Mapping[str, str] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class TruthSource:
    """The truth: its table, item names there, and label columns.

    ``said`` has its words, by label, before explained words are replaced.
    """

    table: Table
    names: "pd.Series[str]"
    columns: AnswerColumns
    ledger: Ledger
    said: Mapping[str, set[str]] = field(default_factory=dict)

    @property
    def by_label(self) -> Mapping[str, str]:
        """Column of each label with known truth."""
        return self.columns.by_label


def find_truth(
    truth: TruthArg,
    *,
    table: Table,
    item: "pd.Series[str]",
    item_columns: tuple[str, ...],
    task: Task,
    labels: LabelsArg,
    words: Words,
    ledger: Ledger,
) -> TruthSource | None:
    """Find the table and columns of the truth; errors become problems."""
    if truth is None:
        return None
    finder = ColumnFinder(table.frame.columns)
    if isinstance(truth, Mapping) or (isinstance(truth, str) and finder.get(truth) is not None):
        by_label = column_of_each("truth", truth, finder, task, ledger)
        columns = AnswerColumns(by_label=by_label, evidence="named by `truth=`")
        found = TruthSource(table=table, names=item, columns=columns, ledger=ledger)
        return _in_classes(found, words)
    truth = as_pandas(truth)
    if not isinstance(truth, pd.DataFrame | str | Path):
        ledger.problem(
            "argument-type",
            f"`truth=` must be a table, a path or a column, not {type(truth).__name__}",
            go_on=WITHOUT_TRUTH,
        )
        return None
    if isinstance(truth, str) and not Path(truth).exists():
        ledger.problem(
            "truth-not-found",
            f"`truth={truth!r}` is neither a column nor a file",
            mend=suggest(truth, finder.columns),
            go_on={"truth": nearest(truth, finder.columns)},
        )
        return None
    side = single_elements(read_beside(truth, name=f"truth_{task.name}", what="the truth"))
    other = _from_table(side, table, item_columns, task, labels, ledger)
    return None if other is None else _in_classes(other, words)


def _in_classes(source: TruthSource, words: Words) -> TruthSource:
    """Replace explained words."""
    said = words_said(source.table, source.columns, words)
    return replace(source, table=apply_words(source.table, source.columns, words), said=said)


def _from_table(
    side: Table,
    table: Table,
    item_columns: tuple[str, ...],
    task: Task,
    labels: LabelsArg,
    ledger: Ledger,
) -> TruthSource | None:
    """Take the truth from a table whose columns have the names of those of the ratings."""
    finder = ColumnFinder(side.frame.columns)
    keys = finder.all_of(item_columns)
    if len(keys) < len(item_columns):
        keys = finder.all_of(RECOGNISED["item"][:2])[:1]
    else:
        require_apart("item", ledger, (table, item_columns), (side, keys))
    aside = Ledger(side)
    if not keys:
        if item_columns:  # else the missing column of the item is already a problem
            ledger.problem(
                "truth-items",
                f"the truth has no column {' or '.join(item_columns)} for its items",
                where=f"its columns: {', '.join(finder.columns)}",
                go_on=WITHOUT_TRUTH,
            )
        return None
    rest = replace(side, frame=side.frame[[c for c in finder.columns if c not in keys]])
    named = _columns_of(labels)
    others = ColumnFinder(rest.frame.columns)
    usual = labels if named and all(others.get(c) is not None for c in named) else None
    columns = find_answers(rest, task, labels=usual, label=None, value=None, ledger=aside)
    columns = columns if columns.by_label else _named_truth(rest, task)
    one = len(task.labels) == 1
    if columns.question or not columns.by_label:
        ledger.problem(
            "truth-labels",
            f"the truth has no column for a label of task {task.name}",
            where=f"{side.source}: {', '.join(finder.columns)}",
            allowed=", ".join(dict.fromkeys([*named, *task.label_names]))
            + ("; of one label also one column called gold, truth or the like" if one else ""),
            go_on=WITHOUT_TRUTH,
        )
        return None
    return TruthSource(
        table=side, names=joined_ids(side.frame, keys), columns=columns, ledger=aside
    )


def _named_truth(rest: Table, task: Task) -> AnswerColumns:
    """Take a column called gold, truth or the like as the truth of the only label."""
    named = [column for column in rest.frame.columns if squash(column) in TRUTH_NAMES]
    if len(named) != 1 or len(task.labels) != 1:
        return AnswerColumns()
    return AnswerColumns(
        by_label={task.labels[0].name: named[0]}, evidence="its name is recognised"
    )


def _columns_of(labels: LabelsArg) -> list[str]:
    """Return the columns that ``labels=`` names."""
    names = [labels] if isinstance(labels, str) else labels or []
    listed = list(names.values()) if isinstance(names, Mapping) else list(names)
    return [column for column in listed if isinstance(column, str)]


def known_truth(
    source: TruthSource | None, *, names: "pd.Index[str]", task: Task, ledger: Ledger
) -> Vectors:
    """Return the truth of each item as class codes (see ``Ratings.truth``)."""
    truth = np.full((len(names), len(task.labels)), MISSING, np.int16)
    if source is None:
        return truth
    keys, known = codes_of(source.names)
    position = names.get_indexer(known)
    _report_unmatched(source, position, names, known, ledger)
    owner = np.append(position, -1)[keys]  # an item without a name has the key -1
    for column, label in enumerate(task.labels):
        if label.name in source.by_label:
            cells = decode(source.table.frame[source.by_label[label.name]], label, source.ledger)
            truth[:, column] = _constant(cells, owner, names, label.name, source)
    if source.ledger is not ledger:
        ledger.problems += source.ledger.problems
        ledger.notes += [
            Note(f"truth: {n}", code=n.code, level=n.level, numbers=n.numbers)
            for n in source.ledger.notes
        ]
    return _admissible(task, truth, names, ledger)


def _constant(
    cells: NDArray[np.int16], owner: Ints, names: "pd.Index[str]", label: str, source: TruthSource
) -> NDArray[np.int16]:
    """Return the known class of each item; two different ones are a problem."""
    owner = np.where(cells >= 0, owner, -1)
    first = first_rows(owner, len(names))
    values = np.where(first >= 0, cells[first], MISSING).astype(np.int16)
    clash = np.flatnonzero((owner >= 0) & (cells != values[owner]))
    if len(clash):
        source.ledger.problem(
            "truth-conflict",
            f"the truth of {label} has two values for item {names[owner[clash[0]]]!r}",
            where=source.table.where(clash, source.by_label[label]),
            go_on=WITHOUT_TRUTH,
        )
    return values


def _report_unmatched(
    source: TruthSource,
    position: NDArray[np.intp],
    names: "pd.Index[str]",
    known: "pd.Index[str]",
    ledger: Ledger,
) -> None:
    unmatched = int((position < 0).sum())
    near = _near(names, known[position < 0]) if unmatched else ""
    if unmatched == len(position):
        named = f", e.g. {known[0]!r}" if len(known) else ", whose items have no names"
        ledger.problem(
            "truth-unmatched",
            "no item of the truth is an item of the ratings",
            where=f"{source.table.source}{named}",
            mend=f"use the same names of items in both{near}",
            go_on=WITHOUT_TRUTH,
        )
    elif unmatched and source.ledger is not ledger:
        idle = f"{counted(unmatched, 'item')} of the truth {does(unmatched, 'are')}"
        ledger.note(
            f"{idle} not among the ratings' items{near}", code="truth-of-others", items=unmatched
        )


def _near(names: "pd.Index[str]", unmatched: "pd.Index[str]") -> str:
    """Say how many unmatched names nearly match an item of the ratings."""
    alike = {folded(str(name)): str(name) for name in names}
    pairs = [(str(n), alike[folded(str(n))]) for n in unmatched if folded(str(n)) in alike]
    if not pairs:
        return ""
    one, other = pairs[0]
    return f"; {counted(len(pairs), 'name')} nearly match, such as {one!r} and {other!r}"


def _admissible(task: Task, truth: Vectors, names: "pd.Index[str]", ledger: Ledger) -> Vectors:
    """Apply the gates to the truth; refuse truth that no state admits."""
    gated = apply_gates(task, truth)
    impossible = (gated.contradicts >= 0) | ~admitted(task, gated.answers)
    wrong = np.flatnonzero(impossible)
    if len(wrong):
        ledger.problem(
            "truth-impossible",
            f"the truth of {counted(len(wrong), 'item')} breaks the hard rules or gates of task "
            f"{task.name}",
            where=f"first: item {names[wrong[0]]!r}: {vector_name(task, truth[wrong[0]])}",
            mend="correct it, or soften the rule in the task file",
            go_on=WITHOUT_TRUTH,
            numbers={"items": len(wrong)},
        )
    return gated.answers

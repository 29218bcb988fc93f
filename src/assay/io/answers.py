"""Columns of answers, and words that stand for classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import nearest, suggest
from assay._util.typing import Ints
from assay.data.task import Label, Task
from assay.io.arguments import Arguments, LabelsArg, names_in
from assay.io.likely_columns import (
    FIRST_ROWS,
    IDENTIFIER,
    are_numbers,
    has_few,
)
from assay.io.list_cells import MOST_OPTIONS, joined_answers, lists_of
from assay.io.names import (
    ANSWER_COLUMNS,
    MADE,
    QUESTION_COLUMNS,
    RECOGNISED,
    REMARKS,
    SUMMARIES,
    TRUTH_NAMES,
    VALUE_COLUMNS,
    WORKPLACE,
    ColumnFinder,
    names_measure,
    question_column,
    squash,
    values_beside,
    words_in,
)
from assay.io.reading_log import Ledger
from assay.io.share_tables import number_column, share_columns
from assay.io.statuses import CHOICES, says_submission
from assay.io.tables import Table

MOST_LISTED = 64
"""Most different elements of lists for them to be options, and no names or words of texts."""
MOST_SHOWN = 10
"""Names that are no label, of which each is a problem of its own."""
LEFT_OUT: dict[str, Any] = {"labels": None, "label": None, "value": None}
"""Arguments with which reading goes on where ``labels=`` is wrong."""


FIRST_CELLS = 5
"""Cells by which columns of lists are known."""
MOST_NAMED_CLASSES = 5
"""Items up to which each may have an answer of its own by chance."""


@dataclass(frozen=True, kw_only=True)
class AnswerColumns:
    """The columns of the answers.

    by_label : column of each label, in tables with a column for each
    question, value : columns of label and answer, in tables with a row for each answer; no
        ``value`` if rows hold scores only
    """

    by_label: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    value: str = ""
    evidence: str = ""

    @property
    def by_name(self) -> bool:
        """Whether a single column of answers was found by its name, and not by an argument."""
        return len(self.columns) == 1 and not self.evidence.startswith("named by")

    def of(self, label: str) -> str:
        """Return the column with the answers to a label, and perhaps to others; "" if none is."""
        return self.by_label.get(label, self.value)

    def of_each(self, task: Task) -> dict[str, str]:
        """Return the column of each label of a task that no other label shares."""
        shared = "" if len(task.labels) > 1 else self.value
        found = {name: self.by_label.get(name, shared) for name in task.label_names}
        return {name: column for name, column in found.items() if column}

    @property
    def columns(self) -> list[str]:
        """All these columns."""
        return [c for c in (*self.by_label.values(), self.question, self.value) if c]

    @property
    def roles(self) -> dict[str, tuple[str, str]]:
        """Role and evidence of each of these columns."""
        named = {c: (f"label {label}", self.evidence) for label, c in self.by_label.items()}
        if self.question:
            named[self.question] = ("name of the label", self.evidence)
        if self.value:
            named[self.value] = ("answer", self.evidence)
        return named


def find_answers(
    table: Table, task: Task, given: Arguments, ledger: Ledger, scored: Sequence[str] = ()
) -> AnswerColumns:
    """Find the columns of answers by argument, else by name; ``scored`` columns are excluded."""
    finder, frame = table.finder, table.frame
    labels, label, value = given.labels, given.label, given.value
    if labels is not None:
        return _asked_labels(labels, task, finder, ledger)
    if len(task.labels) == 1 and (label is None) != (value is None):
        return _asked_labels(label or value, task, finder, ledger)
    if label is not None or value is not None:
        return _asked_long(label, value, finder, ledger, scored)
    finder = ColumnFinder([c for c in finder.columns if c not in scored])
    found = {name: finder.get(name) for name in task.label_names}
    by_label = {name: column for name, column in found.items() if column is not None}
    if len(task.labels) == 1 and not any(len(words_in(frame[c])) > 1 for c in by_label.values()):
        columns, choices = [*by_label.values(), *finder.all_of(ANSWER_COLUMNS)], finder.get(CHOICES)
        if choices and columns and choices not in columns and says_submission(frame[columns[0]]):
            return AnswerColumns(
                by_label={task.label_names[0]: choices},
                evidence=f"it holds the choices, and {columns[0]} says whether they were submitted",
            )
        columns = [c for c in columns if len(words_in(frame[c])) > 1] or columns
        # Texts, such as the answers that are rated, are left out if others have few values.
        classes = [
            c for c in columns
            if (has_few(frame[c]) or are_numbers(frame[c])) and not _is_rated_text(frame, finder, c)
        ]  # fmt: skip
        if classes or (len(classes) < len(columns) and free_columns(frame, columns)):
            columns = classes
        if columns and columns[0] not in by_label.values():
            why = f", and {by_label[task.label_names[0]]} has one value" if by_label else ""
            return AnswerColumns(
                by_label={task.label_names[0]: columns[0]}, evidence=f"its name is recognised{why}"
            )
    if by_label:
        return AnswerColumns(by_label=by_label, evidence="it has the name of the label")
    known = {squash(name) for name in task.label_names}
    for question in finder.all_of(QUESTION_COLUMNS):  # a row has one answer
        asked = {squash(v) for v in pd.unique(frame[question])} - {""}
        answers = [c for c in values_beside(question, frame) if c not in scored]
        if asked & known and (answers or scored or finder.all_of(("score",))):
            return AnswerColumns(
                question=question,
                value=answers[0] if answers else "",
                evidence="its values are the labels' names",
            )
    return AnswerColumns()


def _is_rated_text(frame: pd.DataFrame, finder: ColumnFinder, column: str) -> bool:
    """Whether a column has another value for each item, and one value in all rows of an item."""
    item = [c for c in finder.all_of(RECOGNISED["item"]) if c != column][:1]
    if not item or not has_few(frame[column]):
        return False
    items, values = frame[item[0]], frame[column]
    pairs = len(frame[[item[0], column]].drop_duplicates())
    return pairs == items.nunique() == values.nunique() < len(frame) and pairs > MOST_NAMED_CLASSES


def free_columns(frame: pd.DataFrame, taken: Sequence[str] = ()) -> list[str]:
    """Return columns of few values without another role; those of shares are no answers."""
    free = without_role(ColumnFinder(frame.columns), [*taken, question_column(frame)])
    shares = share_columns(frame)
    number = number_column(frame) if shares else None
    if any(frame[c].head(FIRST_CELLS).str.startswith("[").any() for c in free):
        free = [c for c in free if not IDENTIFIER.search(c)]  # lists have the answers
    return [c for c in free if has_few(frame[c]) and c not in (*shares, number)]


def question_columns(frame: pd.DataFrame, taken: Sequence[str] = ()) -> list[str]:
    """Return free columns of few values, or of multiple choices."""
    free = without_role(ColumnFinder(frame.columns), taken)
    return [c for c in free if has_few(frame[c]) or has_options(frame[c])]


def without_role(finder: ColumnFinder, taken: Sequence[str] = ()) -> list[str]:
    """Return the columns that are not recognised as anything else than answers."""
    roles = [c for names in RECOGNISED.values() for c in finder.all_of(names)]
    free = [c for c in finder.columns if c not in {*roles, *taken}]
    others = TRUTH_NAMES | SUMMARIES | REMARKS | WORKPLACE
    free = [c for c in free if squash(c) not in others and c not in MADE]
    return [c for c in free if not names_measure(c)] or free


def has_options(cells: "pd.Series[str]") -> bool:
    """Whether cells hold several of a few options."""
    lists = lists_of(cells.head(FIRST_ROWS)).values()
    if max(map(len, lists), default=0) > 1:
        return len({str(one) for chosen in lists for one in chosen}) <= MOST_LISTED
    words = [str(word) for word in pd.unique(cells.head(FIRST_ROWS))]
    found = joined_answers(words, Label(name="label", classes=()))
    return found is not None and len(found.options) <= MOST_OPTIONS


def _asked_labels(
    labels: LabelsArg, task: Task, finder: ColumnFinder, ledger: Ledger
) -> AnswerColumns:
    pairs: Mapping[str, str] = {}
    if isinstance(labels, Mapping):
        pairs = labels
    elif len(names := names_in(labels)) == len(task.labels):
        pairs = dict(zip(task.label_names, names, strict=True))
    else:
        ledger.problem(
            "labels-count",
            f"`labels=` names {len(names)} columns for the {len(task.labels)} labels of "
            f"{task.name}",
            allowed=f"one column each for {', '.join(task.label_names)}, or a dict of some of them",
            numbers={"columns": len(names), "labels": len(task.labels)},
            go_on=LEFT_OUT,
        )
    by_label: dict[str, str] = {}
    for name, column in pairs.items():
        if name not in task.label_names:
            ledger.unknown_label("labels", name, task, go_on=LEFT_OUT)
        elif not isinstance(column, str) or finder.get(column) is None:
            go_on = LEFT_OUT | _nearly(pairs, finder.columns)
            ledger.unknown_column("labels", column, finder.columns, go_on=go_on)
        else:
            by_label[name] = str(finder.get(column))
    columns = list(by_label.values())
    for column in sorted({c for c in columns if columns.count(c) > 1}):
        ledger.problem(
            "shared-column", f"`labels=` gives the column {column!r} to several labels",
            go_on=LEFT_OUT,
        )  # fmt: skip
        ledger.raise_problems()  # further problems of such answers would mislead
    if not pairs and not ledger.problems:
        ledger.problem("empty-labels", "`labels=` names no column", go_on=LEFT_OUT)
    return AnswerColumns(by_label=by_label, evidence="named by `labels=`")


def _nearly(pairs: Mapping[str, object], columns: Sequence[str]) -> dict[str, Any]:
    """Name the columns that are nearly called so; nothing if one has none."""
    near = {n: get_close_matches(str(c), columns, n=1) for n, c in pairs.items()}
    found = {name: names[0] for name, names in near.items() if names}
    if len(found) < len(near) or len({*found.values()}) < len(found):
        return {}
    return {"labels": found if len(found) > 1 else next(iter(found.values()))}


def _asked_long(
    label: str | None,
    value: str | None,
    finder: ColumnFinder,
    ledger: Ledger,
    scored: Sequence[str],
) -> AnswerColumns:
    question = _one(label, "label", QUESTION_COLUMNS, finder, ledger)
    names = [c for c in VALUE_COLUMNS if c not in (question, *scored)]
    if value is None and scored and not finder.all_of(names):
        answer = ""
    else:
        answer = _one(value, "value", names, finder, ledger)
    if not question or not (answer or scored):
        return AnswerColumns()
    return AnswerColumns(question=question, value=answer, evidence="named by `label=` and `value=`")


def _one(
    asked: str | None, role: str, names: Sequence[str], finder: ColumnFinder, ledger: Ledger
) -> str:
    if asked is not None:
        found = finder.get(asked) if isinstance(asked, str) else None
        if found is None:
            ledger.problem(
                "unknown-column",
                f"`{role}={asked!r}` is no column",
                mend=suggest(str(asked), finder.columns),
                go_on={role: nearest(asked, finder.columns)},
            )
        return found or ""
    candidates = finder.all_of(names)
    if not candidates:
        ledger.problem(
            "no-answers", f"no column holds the {role}s", mend=f'name it: `{role}="..."`'
        )
    return candidates[0] if candidates else ""


def question_codes(table: Table, task: Task, column: str, ledger: Ledger) -> Ints:
    """Return the label that each row answers, as a position; -1 if unknown."""
    raw, distinct = pd.factorize(table.frame[column])
    known = {squash(name): n for n, name in enumerate(task.label_names)}
    codes = np.array([known.get(squash(v), -1) for v in distinct], np.int64)
    unknown = np.flatnonzero(codes < 0)
    for n in unknown if ledger.lenient else unknown[:MOST_SHOWN]:
        ledger.row_problem(
            raw == n,
            "no label of the task",
            "unknown-label",
            f"{distinct[n]!r} is no label of task {task.name}",
            where=table.where(raw == n, column),
            allowed=", ".join(task.label_names),
            mend=suggest(distinct[n], task.label_names),
        )
    return codes[raw]

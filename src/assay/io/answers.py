"""Columns of answers, and words that stand for classes."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import as_code, nearest, suggest
from assay._util.text import does, listed
from assay._util.typing import Ints
from assay.data.class_words import canonical
from assay.data.task import Label, Task
from assay.io.arguments import Arguments, LabelsArg, names_in
from assay.io.cells import are_decimals, as_scores
from assay.io.class_columns import (
    report_classes,
    report_one_hot,
    report_votes,
)
from assay.io.derived_columns import derived_columns
from assay.io.likely_columns import (
    FIRST_ROWS,
    are_numbers,
    has_few,
    left_out,
    likely_answers,
    likely_columns,
    likely_key,
    mark_columns,
    once_each,
    repeats_names,
    within_states,
)
from assay.io.list_cells import MOST_OPTIONS, joined_answers, lists_of
from assay.io.name_patterns import find_grid
from assay.io.names import (
    ANSWER_COLUMNS,
    EMPTY,
    KEY_PARTS,
    MADE,
    QUESTION_COLUMNS,
    RECOGNISED,
    REMARKS,
    SUMMARIES,
    TRUTH_NAMES,
    VALUE_COLUMNS,
    WORKPLACE,
    ColumnFinder,
    empty_cells,
    names_rater,
    names_sureness,
    names_system,
    own_columns,
    question_column,
    squash,
    words_in,
    words_of,
)
from assay.io.reading_log import Ledger
from assay.io.share_tables import number_column, share_columns
from assay.io.statuses import CHOICES, says_submission
from assay.io.tables import Table
from assay.io.told_columns import say_unclear, told_columns
from assay.io.wide_tables import (
    MOSTLY,
    answer_columns,
    are_criteria,
    are_systems,
    item_of,
    report_systems,
    report_wide,
    rows_are_items,
)

MOST_LISTED = 64
"""Most different elements of lists for them to be options, and no names or words of texts."""
MOST_SHOWN = 10
"""Names that are no label, of which each is a problem of its own."""
LEFT_OUT: dict[str, Any] = {"labels": None, "label": None, "value": None}
"""Arguments with which reading goes on where ``labels=`` is wrong."""


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
        classes = [c for c in columns if has_few(frame[c]) or are_numbers(frame[c])]
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
        answers = [c for c in finder.all_of(VALUE_COLUMNS) if c != question]
        if asked & known and (answers or scored or finder.all_of(("score",))):
            return AnswerColumns(
                question=question,
                value=answers[0] if answers else "",
                evidence="its values are the labels' names",
            )
    return AnswerColumns()


def require_answers(
    found: AnswerColumns,
    scored: Sequence[str],
    task: Task,
    ledger: Ledger,
    *,
    taken: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    named: Sequence[str],
) -> None:
    """Add a problem if there are neither answers nor scores; ``taken`` have other roles.

    ``roles`` are known before names are looked at; the caller names those in ``named``.
    """
    if ledger.problems:
        return
    frame, finder, one = ledger.table.frame, ledger.table.finder, len(task.labels) == 1
    if found.columns or scored:
        nobody = not roles.get("rater") and not finder.all_of(RECOGNISED["rater"])
        if one and nobody and found.by_name and report_votes(found.columns, frame, ledger):
            ledger.raise_problems()
        if _describes_items(found, frame, taken):
            several = replace(task, labels=(Label(name="label", classes=()),))
            report_wide(several, ledger, taken)
            ledger.raise_problems()
        return
    free = _without_role(finder, [*taken, question_column(frame)])
    sure = [c for c in free if names_sureness(c)]
    free = [c for c in free if c not in sure] or free
    few = [c for c in free if has_few(frame[c])]
    known = {
        role: list(roles.get(role, ())) or finder.all_of(RECOGNISED[role])[:1]
        for role in ("item", "rater", "system")
    }
    told = told_columns(frame, free, known)
    keys = [list(roles[role]) for role in ("item", "rater") if role in named]
    rated = any(frame.duplicated(key).mean() > 1 - MOSTLY for key in keys)
    if (report_one_hot(frame, ledger) if rated and one else report_classes(task, ledger)) or (
        not rated
        and not told.named
        and (not told.unclear or find_grid(frame, [c for c in free if c not in taken]))
        and report_wide(task, ledger, taken)
    ):
        ledger.raise_problems()
    likely, said = {}, ""
    for name in task.label_names:
        ending = [c for c in free if squash(c).endswith(squash(name))]
        # A column may be called like the last word of a label: relevant, topically_relevant.
        ending = ending or [c for c in few if words_of(c) == words_of(name)[-1:]]
        if len(ending) == 1:
            likely[name] = ending[0]
    if not likely and one and told.clear:
        likely = {c: c for c in within_states(frame, told.answers)}
        said = "; " * bool(left := left_out(told.answers, list(likely))) + left
    if told.alone(list(likely)) and are_systems(list(likely), told.raters[0], frame):
        report_systems(list(likely), told.items[0], told.raters[0], ledger)
        ledger.raise_problems()
    if not likely and one and say_unclear(told, ledger):
        ledger.raise_problems()
    if not likely and one:
        likely = _likely_one(free, few, task, frame, known)
    if not likely and one:
        others = [c for c in few if not names_rater(c) and not names_system(c)]
        likely = {c: c for c in within_states(frame, others or few)}
    if not likely and one:
        likely, said = _unusual(free, taken, [known["item"], known["rater"]], frame)
    if not likely and one:  # fractions of one column, from 0 to 1
        found_scores = {c: _scores_of([c], frame) for c in free}
        unit = [c for c, made in found_scores.items() if made and "score_range" not in made]
        likely = {c: c for c in unit} if len(unit) == 1 else {}
    scores = _scores_of(list(likely.values()), frame)
    # A column of all chosen options is left out where each of them has a column of its own.
    parts = {c: (f"{c}/", f"{c}___") for c in likely.values()}
    likely = {n: c for n, c in likely.items() if not any(o.startswith(parts[c]) for o in parts)}
    answers: LabelsArg = next(iter(likely.values())) if len(likely) == 1 and one else likely
    others_task = not likely and task.name != "single"
    if scores:
        mend = f"its fractions are scores: {as_code({'score': scores['score']})}, if that is right"
    elif likely:
        mend = f"name them: {as_code({'labels': answers})}, if that is right"
    else:
        mend = "name them with `labels=`" + (f"; of few values: {listed(few)}" if few else "")
    if len(likely) > 1 and one and Path(ledger.table.source).is_file():
        more = {role: list(roles[role]) for role in named}
        draft = f"assay task init {shlex.quote(ledger.table.source)}"
        options = f" {as_code(more)}" if more else ""
        mend += f"; or draft a task with a label for each of them: {draft}{options}"
    elif others_task:
        mend += "; `task=` is left out, so that these columns are labels of their own"
    if set(free).isdisjoint(sure) and sure:
        said += f"; {listed(sure)} {does(len(sure), 'tell')} how sure raters were"
    ledger.problem(
        "no-answers",
        f"no column holds answers to a label of task {task.name} ({', '.join(task.label_names)})"
        f"{said}",
        where=f"columns: {listed(own_columns(finder.columns))}",
        mend=mend,
        go_on=scores
        if scores
        else {"labels": answers}
        if likely
        else {"task": None}
        if others_task
        else {},
    )


def _scores_of(columns: Sequence[str], frame: pd.DataFrame) -> dict[str, Any]:
    """Return the arguments that read a column of many fractions as scores; else nothing."""
    words = (
        [str(w).strip() for c in columns for w in pd.unique(frame[c])] if len(columns) == 1 else []
    )
    given = [word for word in words if canonical(word) not in EMPTY]
    return as_scores(frame[columns[0]]) if are_decimals(given) else {}


def _unusual(
    free: Sequence[str],
    taken: Sequence[str],
    keys: Sequence[Sequence[str]],
    frame: pd.DataFrame,
) -> tuple[dict[str, str], str]:
    """Return columns of one mark or nothing, or else one of many values; and words about them.
    Without ``free`` columns, those may have misleading names, such as topic.
    """
    if not free and all(keys):
        rest = [str(c) for c in frame.columns if c not in {*taken, *keys[0], *keys[1]}]
        free = likely_answers(frame, rest, *keys)
    marks = mark_columns(frame, free)
    if len(marks) > 1:
        return {c: c for c in marks}, f"; {listed(marks)} hold one mark or nothing, as options do"
    several = [c for c in free if has_few(frame[c]) or repeats_names(frame[c])]
    if all(keys):
        several = likely_answers(frame, several, *keys)
    sizes = {c: frame[c].nunique() for c in several}
    if not sizes:
        return {}, ""
    one = min(sizes, key=lambda c: sizes[c])
    many = f"; column {one} has {sizes[one]} values, more than answers usually have"
    return {one: one}, "" if has_few(frame[one]) else many


def _describes_items(found: AnswerColumns, frame: pd.DataFrame, taken: Sequence[str]) -> bool:
    """Whether the column of answers only has their name: columns of raters stand beside it.

    Each row is then another item, no column names the rater, and other columns share their values,
    or have it as their majority.
    """
    finder = ColumnFinder(frame.columns)
    item = [c for c in [item_of(finder.columns)] if c]
    if not found.by_name or taken or finder.all_of(RECOGNISED["rater"]):
        return False
    if item and not rows_are_items(frame, item):
        return False
    raters = answer_columns(frame, Label(name="label", classes=()), found.columns)
    own, said = words_in(frame[found.columns[0]]), {w for c in raters for w in words_in(frame[c])}
    is_other = bool(item) and len(raters) > 1 and own.isdisjoint(said)
    is_other = is_other or bool(derived_columns(frame, [*raters, *found.columns]))
    return is_other and not are_criteria(raters)


def free_columns(frame: pd.DataFrame, taken: Sequence[str] = ()) -> list[str]:
    """Return columns of few values without another role; those of shares are no answers."""
    free = _without_role(ColumnFinder(frame.columns), [*taken, question_column(frame)])
    shares = share_columns(frame)
    number = number_column(frame) if shares else None
    return [c for c in free if has_few(frame[c]) and c not in (*shares, number)]


def question_columns(frame: pd.DataFrame, taken: Sequence[str] = ()) -> list[str]:
    """Return free columns of few values, or of multiple choices."""
    free = _without_role(ColumnFinder(frame.columns), taken)
    return [c for c in free if has_few(frame[c]) or has_options(frame[c])]


def _without_role(finder: ColumnFinder, taken: Sequence[str] = ()) -> list[str]:
    roles = [c for names in RECOGNISED.values() for c in finder.all_of(names)]
    free = [c for c in finder.columns if c not in {*roles, *taken}]
    others = TRUTH_NAMES | SUMMARIES | REMARKS | WORKPLACE
    return [c for c in free if squash(c) not in others and c not in MADE]


def _likely_one(
    free: Sequence[str],
    few: Sequence[str],
    task: Task,
    frame: pd.DataFrame,
    named: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    """Return the likeliest column of one label; several if all of them vary within items."""
    finder = ColumnFinder(frame.columns)
    guess = likely_columns(frame, free, {k: v for k, v in named.items() if v})
    few = [c for c in few if not names_rater(c) and not names_system(c)] or few
    known = {role: list(named[role]) for role in ("item", "rater")}
    if not known["item"] and "item" not in guess and known["rater"]:
        parts = [c for role in KEY_PARTS for c in finder.all_of(RECOGNISED[role])[:1]]
        known["item"] = likely_key(frame, free, parts, known["rater"])
    filled = [c for c in few if 2 * empty_cells(frame[c]).sum() < len(frame)]  # unlike remarks
    answers = [c for c in free if c in filled or has_options(frame[c])]
    if not known["rater"] and len(answers) > 1 and rows_are_items(frame, known["item"]):
        return {c: c for c in within_states(frame, answers)}
    keys = [known[role] or [guess[role]] for role in known if known[role] or role in guess]
    if "system" in guess:
        keys[0] = [*keys[0], guess["system"]]
    several = likely_answers(frame, answers, *keys) if len(keys) == len(known) else []
    several = [c for c in several if not any(c in key for key in keys)]
    several = [c for c in several if not (names_rater(c) and once_each(frame, [*keys[0], c]))]
    several = within_states(frame, several)
    if len(several) > 1:
        return {c: c for c in several}
    one = next(iter(several), None) or guess.get("answer") or (few[0] if len(few) == 1 else None)
    return {} if one is None else {task.label_names[0]: one}


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

"""From a table of known shape and task to Ratings, step by step."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import TaskError, as_code
from assay.data.directions import direction_problem
from assay.data.ratings import RETRIEVER_SCORE, Ratings
from assay.data.states import state_space
from assay.data.task import Task
from assay.io.answer_words import (
    apply_words,
    check_words,
    note_idle_words,
    note_missing_words,
    with_words,
    words_for_nothing,
    words_said,
    words_with_points,
    words_written,
)
from assay.io.answers import AnswerColumns, find_answers, require_answers
from assay.io.arguments import Arguments
from assay.io.assembling import assemble
from assay.io.columns import ColumnFinder, named_columns
from assay.io.formats import Export
from assay.io.identifiers import codes_of, joined_ids, note_nameless, note_near_names
from assay.io.layout import Layout, fill_classes, find_layout, find_tables, without_nameless
from assay.io.list_cells import (
    explode_ratings,
    named_by_lists,
    require_plain,
    single_elements,
    without_nested,
    without_uneven_lists,
)
from assay.io.multi_select import require_one_answer
from assay.io.number_scales import with_scales
from assay.io.reading_log import Ledger
from assay.io.replicates import BY_ROW
from assay.io.rows import Rows, apply_export, decode_rows, join_ratings, read_extras
from assay.io.scores import find_scores
from assay.io.skip_logic import fill_settled
from assay.io.tables import Table
from assay.io.task_choice import labels_within_reach
from assay.io.truth import find_audits, find_truth
from assay.io.truth_words import match_truth

DECISIVE = ("too-many-classes", "too-many-states")
"""Problems beside which others would mislead."""


def read_rows(
    table: Table,
    task: Task,
    given: Arguments,
    export: Export | None = None,
    *,
    guess_order: bool = False,
) -> Ratings:
    """Read a table with a row for each rating or answer; raise all problems at once.

    ``guess_order`` says whether numbers may be read as a scale although nobody says so.
    """
    if given.replicate is None and task.columns.get("replicate") == (BY_ROW,):
        given = replace(given, replicate=BY_ROW)
    asked, response = given.roles, given.responses
    base = task.with_responses(response)
    table, side = find_tables(table, base, given.panels, given.item)
    table = single_elements(table)
    if given.set_aside:
        table = without_uneven_lists(table, given.rater)
    table = explode_ratings(table, given.rater)
    table = named_by_lists(table, asked)
    ledger = Ledger(table, lenient=given.set_aside)
    finder = ColumnFinder(table.frame.columns)
    named = named_columns(finder, given.score, given.confidence, given.audit)
    taken = named_columns(finder, given.audit, given.truth, *asked.values(), *base.columns.values())
    found = find_answers(
        table,
        base,
        labels=given.labels,
        label=given.label,
        value=given.value,
        ledger=ledger,
        scored=named,
    )
    scores = find_scores(
        table, base, found, score=given.score, confidence=given.confidence,
        score_range=given.score_range, taken=taken, ledger=ledger,
    )  # fmt: skip
    audits = find_audits(table, base, found, given.audit, [*taken, *scores.columns], ledger)
    own = {role: columns for role in asked if (columns := named_columns(finder, asked[role]))}
    roles = own | ({} if export is None else dict(export.roles))
    require_answers(found, scores.alone, base, ledger, taken=taken, roles=roles, named=list(own))
    said_words = check_words(given.classes, base, ledger)
    silent = words_for_nothing(table, found, base, said_words)
    note_missing_words(table, found, base, said_words, silent, ledger)
    words = with_words(said_words, silent, words_with_points(table, found, base, ledger))
    said = words_said(table, found, said_words)
    table = ledger.table = apply_words(table, found, words)
    layout = find_layout(
        table, base, asked, found, scores, audits, ledger,
        sessions=given.sessions, by_row=given.by_row, export=export,
    )  # fmt: skip
    layout = without_nameless(_single(layout, base, ledger), base)
    gold = find_truth(
        given.truth, table=table, item=layout.item_names, item_columns=layout.item_columns,
        task=base, labels=found.by_label if given.labels is None else given.labels, words=words,
        ledger=ledger,
    )  # fmt: skip
    note_idle_words(said_words, [said, {} if gold is None else gold.said], ledger)
    gold = match_truth(gold, layout, base, said_words, ledger)
    found_in_data = [label.name for label in base.labels if not label.classes]
    base = fill_classes(base, layout, gold, ledger)
    _require_states(base, found, ledger)
    if any(problem.code in DECISIVE for problem in ledger.problems):
        ledger.raise_problems()
    base, discarded = apply_export(layout, base, response)
    rows = decode_rows(layout, base)
    _note_near_names(layout, rows, base, found_in_data, ledger)
    written = words_written(layout.table, found, found_in_data)
    base = with_scales(
        base, found_in_data, written, rows.item, rows.answers.astype(np.int64), ledger,
        asked=given.ordered, guess=guess_order,
    )  # fmt: skip
    for wrong in filter(None, map(direction_problem, base.labels)):
        ledger.problem("label-direction", wrong[0], mend=wrong[1])
    extras = read_extras(layout, rows.question, base)
    ledger.raise_problems()
    joined = join_ratings(layout, base, rows, discarded)
    if given.partial == "lost" and not table.part:
        joined = fill_settled(joined, base, ledger)
    ledger.raise_problems()
    return assemble(
        layout, base, rows, joined, extras, side=side, gold=gold, group=given.group, asked=asked,
        covariates=_covariates(given, layout), partial=given.partial, resolve=given.resolve,
    )  # fmt: skip


def _covariates(given: Arguments, layout: Layout) -> list[str]:
    """Return the named covariates, and the retriever's score where each item has one."""
    named, frame = given.covariate_columns, layout.table.frame
    if RETRIEVER_SCORE in named or RETRIEVER_SCORE not in frame:
        return named
    score = pd.to_numeric(frame[RETRIEVER_SCORE], errors="coerce")
    once = score.groupby(layout.item_names.to_numpy()).nunique().eq(1).all()
    return [*named, RETRIEVER_SCORE] if score.notna().all() and once else named


def _note_near_names(
    layout: Layout, rows: Rows, task: Task, found_in_data: Sequence[str], ledger: Ledger
) -> None:
    """Note nearly matching names of items, raters and the like, and of open classes."""
    for role, names, codes in (
        ("item", rows.items, rows.item), ("rater", rows.raters, rows.rater),
    ):  # fmt: skip
        note_near_names(role, names, codes, ledger)
        note_nameless(role, names, codes, ledger)
    for role in ("system", "cluster", "group"):
        if role in layout.roles and layout.roles[role].columns != layout.item_columns:
            codes, names = codes_of(joined_ids(layout.table.frame, layout.roles[role].columns))
            note_near_names(role, names, codes, ledger)
    for n, label in enumerate(task.labels):
        if label.name in found_in_data:
            names = pd.Index(label.classes, dtype="str")
            note_near_names("class", names, rows.answers[:, n], ledger)


def _single(layout: Layout, task: Task, ledger: Ledger) -> Layout:
    """Refuse cells with several values, before other problems that would mislead.

    Where rows that cannot be read are set aside, so are those of lists and dicts.
    """
    found = layout.answers
    answers = [*found.by_label.values(), *([found.value] if found.value else [])]
    if ledger.lenient:
        table = replace(layout.table, frame=without_nested(layout.table.frame, answers, ledger))
        ledger.table = table
        layout = replace(layout, table=table)
    columns = {**found.by_label, **found.of_each(task)}
    labels = {label.name: label for label in task.labels}
    read = [*found.columns, *(c for role in layout.roles.values() for c in role.columns)]
    if require_one_answer(columns, labels, layout.roles, ledger) or require_plain(
        read, answers, ledger
    ):
        ledger.raise_problems()
    return layout


def _require_states(task: Task, answers: AnswerColumns, ledger: Ledger) -> None:
    """Add a problem if a task has too many states; it ends with the labels that fit.

    Other faults of the task, such as rules that contradict each other, are raised as they are.
    """
    if ledger.problems or ledger.table.part:
        return
    try:
        state_space(task)
    except TaskError as error:
        if error.code != "too-many-states":
            raise
        found = [label for label in task.labels if label.name in answers.by_label]
        columns = {one.name: answers.by_label[one.name] for one in labels_within_reach(found)}
        labels = columns if len(columns) > 1 else next(iter(columns.values()), None)
        ledger.problem(
            "too-many-states",
            f"the {len(task.labels)} labels have more than {task.max_states:,} combinations of "
            "classes, too many to be modelled together",
            mend="read fewer labels"
            + (f": {as_code({'labels': labels})} are those of the fewest classes" * bool(columns))
            + "; or raise max_states in a task file",
            numbers={"most": task.max_states},
            go_on={"task": None, "label": None, "value": None, "labels": labels} if columns else {},
        )

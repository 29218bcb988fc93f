"""What is proposed if no column holds the answers."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from assay._util.errors import as_code
from assay._util.text import does, listed
from assay.data.class_words import canonical
from assay.data.task import Label, Task
from assay.io.answers import AnswerColumns, has_options, without_role
from assay.io.arguments import LabelsArg
from assay.io.cells import are_decimals, as_scores
from assay.io.class_columns import report_classes, report_one_hot, report_votes
from assay.io.derived_columns import derived_columns
from assay.io.likely_columns import (
    IDENTIFIER,
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
from assay.io.list_cells import lists_of, longest
from assay.io.name_patterns import find_grid
from assay.io.names import (
    EMPTY,
    KEY_PARTS,
    RECOGNISED,
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
from assay.io.told_columns import Told, say_unclear, told_columns
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
    free = without_role(finder, [*taken, question_column(frame)])
    sure = [c for c in free if names_sureness(c)]
    free = [c for c in free if c not in sure] or free
    few = [c for c in free if has_few(frame[c])]
    if any(longest(lists_of(frame[c])) > 1 for c in free):
        few = [c for c in few if not IDENTIFIER.search(c)]
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
    likely, said = _likely(task, free, few, told, known, taken, ledger)
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


def _likely(
    task: Task,
    free: Sequence[str],
    few: Sequence[str],
    told: Told,
    known: Mapping[str, Sequence[str]],
    taken: Sequence[str],
    ledger: Ledger,
) -> tuple[dict[str, str], str]:
    """Return the likeliest column of each label, and words about them.

    Columns that seem to be systems, or whose meaning is not clear, are raised as problems.
    """
    frame, one = ledger.table.frame, len(task.labels) == 1
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
    if not likely and one and not few:  # lists of the answers of raters without names
        lists = [c for c in free if longest(lists_of(frame[c])) > 1 and has_options(frame[c])]
        likely = {c: c for c in lists} if len(lists) == 1 else {}
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
    return likely, said


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


def _scores_of(columns: Sequence[str], frame: pd.DataFrame) -> dict[str, Any]:
    """Return the arguments that read a column of many fractions as scores; else nothing."""
    words = (
        [str(w).strip() for c in columns for w in pd.unique(frame[c])] if len(columns) == 1 else []
    )
    given = [word for word in words if canonical(word) not in EMPTY]
    return as_scores(frame[columns[0]]) if are_decimals(given) else {}


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

"""Multiple choices: options in a cell, in columns of marks or in rows; a yes-no label for each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.grouping import unique_rows
from assay._util.text import counted, listed
from assay._util.typing import Bools
from assay.data.class_words import canonical
from assay.data.questions import Column, Control, label_columns, task_of, within_reach
from assay.data.task import Label, Task
from assay.io.answers import find_answers
from assay.io.arguments import Arguments
from assay.io.columns import find_roles
from assay.io.formats import Export
from assay.io.identifiers import keys_of
from assay.io.likely_columns import mark_columns
from assay.io.list_cells import chosen_options
from assay.io.names import (
    BESIDE,
    EMPTY,
    RECOGNISED,
    WORDS,
    columns_of,
    empty_cells,
    words_in,
)
from assay.io.reading_log import Ledger
from assay.io.tables import reader_note

OPTIONS = "options"
"""Name of the resulting task, and value of ``replicate=`` for rows of options."""
MOST_NAMED = 12
"""Most labels that the note names; others are left out."""
NONE_OF = tuple(WORDS["none_of"])
NONE_WORDS = frozenset({"none", "keine", "keines", "keins"})
"""Such an option in one word."""
Chosen = Mapping[str, Sequence[str]]
"""Options of each distinct cell; a cell that is missing answers nothing."""


def with_options(export: Export, task: Task, given: Arguments) -> Export | None:
    """Make a yes-no label of each option of multiple choices; None if all answers are single.

    The new task also has the labels with single answers.
    """
    found = find_answers(export.table, task, given, Ledger(export.table))
    places = {} if found.question else dict(found.by_label)
    chosen = _choices(export, places, given)
    if not chosen:
        return None
    frame = export.table.frame
    options = {
        label: {o for said in cells.values() for o in said} for label, cells in chosen.items()
    }
    controls = {
        label: Control(name=label, kind="choices", options=tuple(sorted(options[label])))
        if label in chosen
        else Control(name=label, kind="choice", options=tuple(sorted(words_in(frame[column]))))
        for label, column in places.items()
    }
    labels = label_columns(controls.values())
    counts = {label: frame[places[label]].value_counts() for label in chosen}
    uses = {
        one.name: sum(
            int(counts[one.control][cell])
            for cell, said in chosen[one.control].items()
            if one.option in said
        )
        for one in labels
        if one.option
    }
    kept = within_reach(labels, controls, uses)
    own = {label: [one.name for one in kept if one.control == label] for label in chosen}
    notes = [
        reader_note(
            f"several options of {places[label]} can be chosen, so each is a label of no and "
            f"yes ({listed(names)})",
            code="options-are-labels",
            labels=len(names),
        )
        for label, names in own.items()
    ]
    if left := [one.name for one in labels if one not in kept]:
        text = (
            f"{counted(len(labels), 'label', 'are')} too many to be modelled together, so that "
            f"the rarest are left out: {listed(left)}"
        )
        notes.append(reader_note(text, code="labels-left-out", labels=len(left)))
    made, where, silent = _with_columns(export, places, places, kept, chosen, given, notes)
    for label, rows in silent.items():
        empty = int((empty_cells(frame[places[label]]) & ~rows).sum())
        notes += _note_silent(empty, places[label], own[label], given.classes)
    return replace(
        made,
        notes=(*export.notes, *notes),
        options={**export.options, "labels": where},
        task=task_of(OPTIONS, controls, kept),
        reason=f"several options of {listed([places[label] for label in chosen])} can be chosen, "
        "and each is a label",
    )


def with_named_options(export: Export, task: Task, given: Arguments) -> Export | None:
    """Find labels of a named task among the options of multiple-choice columns.

    None if every label has a column, or if no column has the missing options.
    """
    finder = export.table.finder
    own = {name: column for name in task.label_names if (column := finder.get(name)) is not None}
    lacking = [name for name in task.label_names if name not in own]
    if not lacking or len(task.labels) < 2 or given.labels is not None or given.value:
        return None
    known = {c for names in RECOGNISED.values() for c in finder.all_of(names)} | {*own.values()}
    free = {column: column for column in finder.columns if column not in known}
    chosen = _choices(export, free, given)
    found = [
        Column(name=name, control=question, option=option)
        for name in lacking
        for question, cells in chosen.items()
        for option in dict.fromkeys(o for options in cells.values() for o in options)
        if name in (option, f"{question}: {option}")
    ]
    if {column.name for column in found} != set(lacking):
        return None
    asked = {**own, **{one.control: one.control for one in found}}
    notes, used = [*export.notes], {name: chosen[name] for name in asked if name in chosen}
    made, where, _ = _with_columns(export, free, asked, found, used, given, notes)
    options = {**export.options, "labels": own | where}
    return replace(made, notes=tuple(notes), options=options)


def _choices(export: Export, places: Mapping[str, str], given: Arguments) -> dict[str, Chosen]:
    """Return the options of each cell, for multiple-choice questions."""
    raters = _raters(export, given)
    found = {}
    for label, column in places.items():
        open_label = Label(name=label, classes=())
        cells = chosen_options(export.table, column, open_label, has_rater=bool(raters))
        if cells:
            found[label] = _without_none(cells)
    return found


def _raters(export: Export, given: Arguments) -> list[str]:
    """Return the columns of the rater, named or recognised."""
    named = given.rater or export.roles.get("rater") or RECOGNISED["rater"]
    return export.table.finder.all_of(named)


def _silent(export: Export, places: Mapping[str, str], label: str, given: Arguments) -> Bools:
    """Return rows that choose no option but answer another question, by raters who choose
    elsewhere.
    """
    frame = export.table.frame
    empty = {name: empty_cells(frame[column]) for name, column in places.items()}
    others = [rows for name, rows in empty.items() if name != label]
    if not others:
        return np.zeros(len(frame), bool)
    silent = empty[label] & ~np.logical_and.reduce(others)
    raters = _raters(export, given)[:1]
    known = {who for column in raters for who in frame.loc[~empty[label], column]}
    if raters:
        silent &= frame[raters[0]].isin(known).to_numpy(bool)
    return np.asarray(silent, bool)


def _note_silent(
    rows: int, question: str, labels: Sequence[str], words: Mapping[str, Mapping[str, str]] | None
) -> list[Note]:
    """Note how many rows choose nothing, and the argument that reads them as no.

    Nothing if there are none, or if ``words`` of the caller explain an empty cell.
    """
    if not rows or not labels or any("" in said for said in (words or {}).values()):
        return []
    no = json.dumps({label: {"": "no"} for label in labels[:MOST_NAMED]}, ensure_ascii=False)
    text = (
        f"{counted(rows, 'rating', 'choose')} no option of {question}, which is read as no answer; "
        f"if it means that none applies, give `classes={no}`"
    )
    return [reader_note(text, code="no-option-chosen", ratings=rows)]


def _without_none(cells: Chosen) -> Chosen:
    """Let an option like "none of these" choose nothing; drop empty cells."""
    said = {cell: options for cell, options in cells.items() if options}
    beside = {option for options in said.values() if len(options) > 1 for option in options}
    alone = {options[0]: options[0].casefold().strip(" .") for options in said.values()}
    nothing = {o for o, word in alone.items() if word in NONE_WORDS or word.startswith(NONE_OF)}
    nothing -= beside
    return {cell: [o for o in options if o not in nothing] for cell, options in said.items()}


def _with_columns(
    export: Export,
    places: Mapping[str, str],
    asked: Mapping[str, str],
    labels: Sequence[Column],
    chosen: Mapping[str, Chosen],
    given: Arguments,
    notes: list[Note],
) -> tuple[Export, dict[str, str], dict[str, Bools]]:
    """Add a yes-no column for each option; return also the columns of labels, and silent rows.

    These choose nothing, but answer another of the questions that are ``asked``: a note is added.
    """
    frame, where, words = export.table.frame, {}, {}
    silent = {label: _silent(export, asked, label, given) for label in chosen}
    for one in labels:
        column = places[one.control]
        where[one.name] = f"{column}: {one.option}" if one.option else column
        if one.option:
            cells = chosen[one.control]
            said = {cell: "yes" if one.option in cells[cell] else "no" for cell in cells}
            column_words = frame[column].map(said).fillna("").mask(silent[one.control], "no")
            words[where[one.name]] = column_words.astype("str")
    for label, rows in silent.items():
        if total := int(rows.sum()):
            text = (
                f"{counted(total, 'rating', 'choose')} none of the options of {label}, "
                "which is read as no to each"
            )
            notes.append(reader_note(text, code="nothing-chosen", ratings=total))
    frame = pd.concat([frame, pd.DataFrame(words)], axis=1)
    return replace(export, table=replace(export.table, frame=frame)), where, silent


def with_marks(export: Export, given: Arguments) -> Export:
    """Read marks as yes where the caller names several labels of them; what is beside is no.

    A row without any mark answers nothing, since the question may not have been asked.
    """
    named, finder, frame = given.labels, export.table.finder, export.table.frame
    if not isinstance(named, Mapping):
        return export
    marks = mark_columns(frame, finder.all_of(list(named.values())))
    if len(marks) < 2:
        return export
    marked = np.column_stack([~empty_cells(frame[c]) for c in marks])
    any_mark = marked.any(axis=1)
    words = {
        column: pd.Series(np.where(marked[:, n], "yes", np.where(any_mark, "no", "")), dtype="str")
        for n, column in enumerate(marks)
    }
    note = reader_note(
        f"a mark in {listed(marks)} is read as yes, and an empty cell beside a mark as no",
        code="marks-read",
        columns=len(marks),
    )
    labels = [label for label, column in named.items() if finder.get(column) in marks]
    silent = _note_silent(int((~any_mark).sum()), listed(marks), labels, given.classes)
    return replace(export, table=export.table.noted(note, *silent, frame=frame.assign(**words)))


def gather_options(export: Export, task: Task, given: Arguments) -> Export:
    """Join the rows of a rater and item into one, with a list of the chosen options.

    Unchanged if no column of answers, items or raters is found, which reading reports.
    """
    table = export.table
    one = Task(name=task.name, labels=(Label(name="label", classes=()),), columns=task.columns)
    told = replace(given, labels=given.labels if isinstance(given.labels, str) else None)
    asked = task if len(task.labels) == 1 else one
    answers = list(find_answers(table, asked, told, Ledger(table)).by_label.values())
    roles = find_roles(table, task, given.roles, Ledger(table), taken=answers)
    if len(answers) != 1 or not {"item", "rater"} <= set(roles):
        return export
    keys = columns_of(roles, "item", *BESIDE)
    first, group = unique_rows(*(keys_of(table.frame, [key]) for key in keys))
    order = np.argsort(first)
    place = np.argsort(order)[group]
    chosen: list[list[str]] = [[] for _ in first]
    for at, word in zip(place, table.frame[answers[0]], strict=True):
        if canonical(str(word)) not in EMPTY and word not in chosen[at]:
            chosen[at].append(str(word))
    cells = [json.dumps(options, ensure_ascii=False) if options else "" for options in chosen]
    note = reader_note(
        f"{counted(len(table.frame), 'row')} hold an option each, and are the options that were "
        f"chosen in {counted(len(first), 'rating')}",
        code="options-gathered",
        rows=len(table.frame),
        ratings=len(first),
    )
    gathered = table.taking(first[order], **{answers[0]: pd.Series(cells, dtype="str")})
    return replace(export, table=gathered, notes=(*export.notes, note))

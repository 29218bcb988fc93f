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
from assay.io.names import BESIDE, EMPTY, RECOGNISED, ColumnFinder, empty_cells, words_in
from assay.io.reading_log import Ledger
from assay.io.tables import Table

OPTIONS = "options"
"""Name of the resulting task, and value of ``replicate=`` for rows of options."""
MOST_NAMED = 12
"""Most labels that the note names; others are left out."""
NONE_OF = (
    "none of", "none apply", "no issue", "no problem", "nothing", "keine der", "keines der",
    "keiner der", "keins davon", "nichts davon",
)  # fmt: skip
"""Beginnings of an option that excludes all others."""
NONE_WORDS = frozenset({"none", "keine", "keines", "keins"})
"""Such an option in one word."""
Chosen = Mapping[str, Sequence[str]]
"""Options of each distinct cell; a cell that is missing answers nothing."""


def with_options(export: Export, task: Task, given: Arguments) -> Export | None:
    """Make a yes-no label of each option of multiple choices; None if all answers are single.

    The new task also has the labels with single answers.
    """
    places = _answers(export.table, task, given)
    chosen = _choices(export, places, given)
    if not chosen:
        return None
    controls = {
        label: _control(label, export.table.frame[column], chosen.get(label))
        for label, column in places.items()
    }
    labels = label_columns(controls.values())
    uses = _uses(export.table, places, labels, chosen)
    kept = within_reach(labels, controls, uses)
    silent = {label: _silent(export, places, label, given) for label in chosen}
    made, where = _with_columns(export, places, kept, chosen, silent)
    several = [places[label] for label in chosen]
    return replace(
        made,
        notes=(
            *export.notes,
            *_notes(places, chosen, labels, kept),
            *_silent_notes(silent),
            *_empty_notes(export.table.frame, places, kept, silent, given),
        ),
        options={**export.options, "labels": where},
        task=task_of(OPTIONS, controls, kept),
        reason=f"several options of {listed(several)} can be chosen, and each is a label",
    )


def with_named_options(export: Export, task: Task, given: Arguments) -> Export | None:
    """Find labels of a named task among the options of multiple-choice columns.

    None if every label has a column, or if no column has the missing options.
    """
    finder = ColumnFinder(export.table.frame.columns)
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
    silent = {label: _silent(export, asked, label, given) for label in chosen}
    made, where = _with_columns(export, free, found, chosen, silent)
    made = replace(made, notes=(*export.notes, *_silent_notes(silent)))
    return replace(made, options={**export.options, "labels": own | where})


def _answers(table: Table, task: Task, given: Arguments) -> dict[str, str]:
    """Return the column of each label; empty if rows answer one label each."""
    found = find_answers(
        table, task, labels=given.labels, label=given.label, value=given.value,
        ledger=Ledger(table),
    )  # fmt: skip
    return {} if found.question else dict(found.by_label)


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
    return ColumnFinder(export.table.frame.columns).all_of(named)


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


def _silent_notes(silent: Mapping[str, Bools]) -> list[Note]:
    return [
        Note(
            f"{counted(int(rows.sum()), 'rating', 'choose')} none of the options of {label}, "
            "which is read as no to each",
            code="nothing-chosen", level="note", numbers={"ratings": int(rows.sum())},
        )
        for label, rows in silent.items()
        if rows.any()
    ]  # fmt: skip


def _empty_notes(
    frame: pd.DataFrame,
    places: Mapping[str, str],
    kept: Sequence[Column],
    silent: Mapping[str, Bools],
    given: Arguments,
) -> list[Note]:
    """Note rows that choose nothing and answer nothing else."""
    notes: list[Note] = []
    for label, rows in silent.items():
        empty = empty_cells(frame[places[label]]) & ~rows
        names = [one.name for one in kept if one.control == label]
        notes += _note_silent(int(empty.sum()), places[label], names, given.classes)
    return notes


def _note_silent(
    rows: int, question: str, labels: Sequence[str], words: Mapping[str, Mapping[str, str]] | None
) -> list[Note]:
    """Note how many rows choose nothing, and the argument that reads them as no.

    Nothing if there are none, or if ``words`` of the caller explain an empty cell.
    """
    if not rows or not labels or any("" in said for said in (words or {}).values()):
        return []
    no = json.dumps({label: {"": "no"} for label in labels[:MOST_NAMED]}, ensure_ascii=False)
    note = Note(
        f"{counted(rows, 'rating', 'choose')} no option of {question}, which is read as no answer; "
        f"if it means that none applies, give `classes={no}`",
        code="no-option-chosen", level="note", numbers={"ratings": rows},
    )  # fmt: skip
    return [note]


def _without_none(cells: Chosen) -> Chosen:
    """Let an option like "none of these" choose nothing; drop empty cells."""
    said = {cell: options for cell, options in cells.items() if options}
    beside = {option for options in said.values() if len(options) > 1 for option in options}
    nothing = {
        options[0] for options in said.values() if len(options) == 1 and _is_none(options[0])
    } - beside
    return {cell: [o for o in options if o not in nothing] for cell, options in said.items()}


def _is_none(option: str) -> bool:
    word = option.casefold().strip(" .")
    return word in NONE_WORDS or word.startswith(NONE_OF)


def _control(label: str, cells: "pd.Series[str]", chosen: Chosen | None) -> Control:
    """Return a question with its options, or with the classes in its cells."""
    if chosen is not None:
        names = {option for options in chosen.values() for option in options}
        return Control(name=label, kind="choices", options=tuple(sorted(names)))
    return Control(name=label, kind="choice", options=tuple(sorted(words_in(cells))))


def _uses(
    table: Table,
    places: Mapping[str, str],
    labels: Sequence[Column],
    chosen: Mapping[str, Chosen],
) -> dict[str, int]:
    """Return how often each option is chosen."""
    counts = {label: table.frame[places[label]].value_counts() for label in chosen}
    return {
        one.name: sum(
            int(counts[one.control][cell])
            for cell, options in chosen[one.control].items()
            if one.option in options
        )
        for one in labels
        if one.option
    }


def _with_columns(
    export: Export,
    places: Mapping[str, str],
    labels: Sequence[Column],
    chosen: Mapping[str, Chosen],
    silent: Mapping[str, Bools],
) -> tuple[Export, dict[str, str]]:
    """Add a yes-no column for each option; return also the column of each label."""
    frame, where, words = export.table.frame, {}, {}
    for one in labels:
        column = places[one.control]
        where[one.name] = f"{column}: {one.option}" if one.option else column
        if one.option:
            cells = chosen[one.control]
            said = {cell: "yes" if one.option in cells[cell] else "no" for cell in cells}
            column_words = frame[column].map(said).fillna("").mask(silent[one.control], "no")
            words[where[one.name]] = column_words.astype("str")
    frame = pd.concat([frame, pd.DataFrame(words)], axis=1)
    return replace(export, table=replace(export.table, frame=frame)), where


def _notes(
    places: Mapping[str, str],
    chosen: Mapping[str, Chosen],
    labels: Sequence[Column],
    kept: Sequence[Column],
) -> list[Note]:
    """Note the labels made of options, and those left out."""
    notes = []
    for label in chosen:
        names = [one.name for one in kept if one.control == label]
        notes.append(
            Note(
                f"several options of {places[label]} can be chosen, so each is a label of no and "
                f"yes ({listed(names)})",
                code="options-are-labels", level="note", numbers={"labels": len(names)},
            )
        )  # fmt: skip
    left = [one.name for one in labels if one not in kept]
    if left:
        notes.append(
            Note(
                f"{counted(len(labels), 'label', 'are')} too many to be modelled together, so that "
                f"the rarest are left out: {listed(left)}",
                code="labels-left-out", level="note", numbers={"labels": len(left)},
            )
        )  # fmt: skip
    return notes


def with_marks(export: Export, given: Arguments) -> Export:
    """Read marks as yes where the caller names several labels of them; what is beside is no.

    A row without any mark answers nothing, since the question may not have been asked.
    """
    named = given.labels
    columns = list(named.values()) if isinstance(named, Mapping) else []
    finder = ColumnFinder(export.table.frame.columns)
    marks = mark_columns(export.table.frame, finder.all_of(columns))
    if len(marks) < 2 or not isinstance(named, Mapping):
        return export
    frame = export.table.frame
    marked = np.column_stack([~empty_cells(frame[c]) for c in marks])
    any_mark = marked.any(axis=1)
    words = {
        column: pd.Series(np.where(marked[:, n], "yes", np.where(any_mark, "no", "")), dtype="str")
        for n, column in enumerate(marks)
    }
    notes = [
        Note(
            f"a mark in {listed(marks)} is read as yes, and an empty cell beside a mark as no",
            code="marks-read", level="note", numbers={"columns": len(marks)},
        )
    ]  # fmt: skip
    labels = [label for label, column in named.items() if finder.get(column) in marks]
    notes += _note_silent(int((~any_mark).sum()), listed(marks), labels, given.classes)
    table = replace(export.table, frame=frame.assign(**words), notes=(*export.table.notes, *notes))
    return replace(export, table=table)


def gather_options(export: Export, task: Task, given: Arguments) -> Export:
    """Join the rows of a rater and item into one, with a list of the chosen options.

    Unchanged if no column of answers, items or raters is found, which reading reports.
    """
    table = export.table
    finder = ColumnFinder(table.frame.columns)
    one = Task(name=task.name, labels=(Label(name="label", classes=()),), columns=task.columns)
    told = given.labels if isinstance(given.labels, str) else None
    asked = task if len(task.labels) == 1 else one
    found = find_answers(
        table, asked, labels=told, label=given.label, value=given.value, ledger=Ledger(table)
    )
    answers = list(found.by_label.values())
    roles = find_roles(
        finder, table.frame, task=task, asked=given.roles, defaults={}, taken=answers,
        ledger=Ledger(table),
    )  # fmt: skip
    if len(answers) != 1 or not {"item", "rater"} <= set(roles):
        return export
    keys = [c for role in ("item", *BESIDE) if role in roles for c in roles[role].columns]
    return _gathered(export, answers[0], keys)


def _gathered(export: Export, column: str, keys: Sequence[str]) -> Export:
    """Put the answers of all rows with the same key into a list."""
    table = export.table
    codes = [keys_of(table.frame, [key]) for key in keys]
    first, group = unique_rows(*codes)
    order = np.argsort(first)
    place = np.argsort(order)[group]
    chosen: list[list[str]] = [[] for _ in first]
    for at, word in zip(place, table.frame[column], strict=True):
        if canonical(str(word)) not in EMPTY and word not in chosen[at]:
            chosen[at].append(str(word))
    rows = first[order]
    cells = [json.dumps(options, ensure_ascii=False) if options else "" for options in chosen]
    frame = table.frame.iloc[rows].reset_index(drop=True)
    frame[column] = pd.Series(cells, dtype="str")
    note = Note(
        f"{counted(len(table.frame), 'row')} hold an option each, and are the options that were "
        f"chosen in {counted(len(rows), 'rating')}",
        code="options-gathered", level="note",
        numbers={"rows": len(table.frame), "ratings": len(rows)},
    )  # fmt: skip
    return replace(
        export, table=replace(table, frame=frame, lines=table.lines[rows]),
        notes=(*export.notes, note),
    )  # fmt: skip

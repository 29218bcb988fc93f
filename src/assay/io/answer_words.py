"""Words in answers: explained ones, those for nothing, decimal commas, and numbers of a scale."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import nearest, suggest
from assay._util.text import counted, listed
from assay._util.typing import Bools
from assay.data.class_words import NUMBER, canonical
from assay.data.task import Task
from assay.io.answers import AnswerColumns
from assay.io.cells import DECIMAL_COMMA, negates
from assay.io.class_orders import known_order
from assay.io.names import EMPTY, MARKS, NO_ANSWER, squash
from assay.io.reading_log import Ledger
from assay.io.statuses import SUBMISSION
from assay.io.tables import Table

WITHOUT_WORDS = {"classes": None}
"""Arguments to continue with if ``classes=`` is wrong."""
Words = Mapping[str, Mapping[str, str]]
Counts = Mapping[str, "pd.Series[int]"]
"""How often each word answers a label, by label."""
MOST_UNSAID = 0.2
"""Largest share of answers that may mean none beside a single class."""
OPEN = "..."
"""Placeholder in proposals for a class that the user must fill in."""
CODE = "-1"
"""Value of abstentions in label matrices."""
FILLERS = frozenset({"9", "77", "88", "98", "99", "777", "888", "998", "999"})
"""Codes of no answer in questionnaires, with either sign."""
LARGEST_SCALE = 20
"""Beside codes up to this, 99 and the like mean no answer."""


def check_words(given: object, task: Task, ledger: Ledger) -> Words:
    """Return the class of each word, by label; errors become problems.

    An empty class means no answer.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(v, Mapping) for v in given.values()):
        ledger.problem(
            "argument-type",
            f"`classes=` must be a dict like {{label: {{word: class}}}}, not {given!r}",
            go_on=WITHOUT_WORDS,
        )
        return {}
    found: dict[str, dict[str, str]] = {}
    by_name = {label.name: label for label in task.labels}
    for label, words in given.items():
        if label not in by_name:
            ledger.unknown_label("classes", label, task, go_on=WITHOUT_WORDS)
            continue
        classes, found[label] = by_name[label].classes, {}
        known = {canonical(c): c for c in classes}
        for word, name in words.items():
            text = "" if name is None else str(name).strip()
            if text == OPEN:
                ledger.problem(
                    "unknown-class",
                    f"`classes=` leaves open what {word!r} means",
                    mend=f"write the class of {label} in the place of {OPEN}",
                    go_on={"classes": {label: {word: ""}}},
                )
            elif text and known and canonical(text) not in known:
                ledger.problem(
                    "unknown-class",
                    f"`classes=` turns {word!r} into {text!r}, which is no class of {label}",
                    mend=suggest(text, classes),
                    go_on={"classes": {label: {word: nearest(text, classes) or ""}}},
                )
            else:
                found[label][canonical(str(word))] = known.get(canonical(text), text)
    return found


def note_idle_words(words: Words, said: Sequence[Mapping[str, set[str]]], ledger: Ledger) -> None:
    """Note given words that neither the answers nor the truth (``said``) contain."""
    for label, classes in words.items():
        found = [part[label] for part in said if label in part]
        idle = [word for word in classes if found and word not in set().union(*found)]
        if idle:
            ledger.note(
                f"`classes=` names {', '.join(idle)}, which no answer to {label} says",
                code="idle-words",
                words=len(idle),
            )


def words_written(
    table: Table, columns: AnswerColumns, labels: Sequence[str]
) -> dict[str, list[str]]:
    """Return the words in the columns of these labels, as the file writes them."""
    return {
        label: [str(word).strip() for word in pd.unique(table.frame[column])]
        for label in labels
        if (column := columns.of(label))
    }


def _rows_of(label: str, table: Table, columns: AnswerColumns) -> Bools:
    """Return the rows that may answer a label."""
    if not columns.question:
        return np.ones(len(table.frame), bool)
    asked = table.frame[columns.question].map(squash)
    return np.asarray(asked == squash(label), bool)


def words_said(table: Table, columns: AnswerColumns, words: Words) -> dict[str, set[str]]:
    """Return the words in the columns of these labels, in canonical form."""
    found = {}
    for label in words:
        if column := columns.of(label):
            cells = table.frame[column][_rows_of(label, table, columns)]
            found[label] = {canonical(str(word)) for word in pd.unique(cells)}
    return found


def apply_words(table: Table, columns: AnswerColumns, words: Words) -> Table:
    """Replace words in the columns of answers."""
    if not words:
        return table
    frame = table.frame.copy()
    for label, classes in words.items():
        if column := columns.of(label):
            raw, distinct = pd.factorize(frame[column])
            new = np.array([classes.get(canonical(str(w)), w) for w in distinct], object)
            rows = _rows_of(label, table, columns)
            frame[column] = frame[column].where(~rows, pd.Series(new[raw], dtype="str"))
    return replace(table, frame=frame)


def words_for_nothing(
    table: Table, columns: AnswerColumns, task: Task, given: Words, ledger: Ledger
) -> Words:
    """Return words read as no answer, by label, unless ``given``; note those and others that may
    mean none.
    """
    counts = _counts(table, columns, task)
    _note_empty_words(counts, given, ledger)
    unexplained = _unexplained(counts, given)
    found = _silent_words(unexplained)
    _note_missing_words(unexplained, found, table, columns, ledger)
    return found


def _silent_words(unexplained: Counts) -> Words:
    """Return words that are no answers: -1 beside classes 0, ..., K - 1 (K >= 3; else see
    :func:`_note_missing_words`), *ignore* beside *accept* and *reject*, and a dot or a star
    beside numbers.
    """
    found: dict[str, dict[str, str]] = {}
    for label, counts in unexplained.items():
        words = set(counts.index)
        if CODE in words and _counts_from_zero(words - {CODE}) > 2:
            found[label] = {CODE: ""}
        elif words == SUBMISSION:
            found[label] = {"ignore": ""}
        elif len(words - MARKS) > 1 and all(map(NUMBER.fullmatch, words - MARKS)):
            found[label] = dict.fromkeys(sorted(words & MARKS), "")
    return found


def _note_missing_words(
    unexplained: Counts, taken: Words, table: Table, columns: AnswerColumns, ledger: Ledger
) -> None:
    """Note words that may mean no answer; -1 beside 0 and 1 is a problem."""
    for label, counts in unexplained.items():
        for word in taken.get(label, {}):
            ledger.note(
                f"{counted(int(counts[word]), 'answer')} {word} to {label} "
                f"{'are' if counts[word] > 1 else 'is'} read as no answer, beside the classes "
                f"{', '.join(sorted(set(counts.index) - {word})[:5])}; "
                f"{_said(label, {word: word})} makes it a class",
                code="no-answer-words",
                answers=int(counts[word]),
            )
        words = set(counts.index) - set(taken.get(label, {}))
        if known_order(sorted(words)) is not None:
            continue  # none, some, all
        if CODE in words and _counts_from_zero(words - {CODE}) == 2 and not table.part:
            ledger.problem(
                "minus-one",
                f"-1 beside 0 and 1 is a class of {label}, or means no answer "
                f"({counted(int(counts[CODE]), 'cell')})",
                where=f"column {columns.of(label)}",
                mend=f"say which: {_said(label, {CODE: ''})} if it means no answer, "
                f"{_said(label, {CODE: CODE})} if it is a class",
                numbers={"cells": int(counts[CODE])},
                go_on={"classes": {label: {CODE: ""}}},
            )
            continue
        odd = [word for word in counts.index if word in words and _may_be_missing(word, words)]
        odd = [word for word in odd if not negates(word, words)]
        if len(words) == len(odd) + 1 and counts[odd].sum() > MOST_UNSAID * counts.sum():
            continue  # what else would the other class be told from?
        if odd and len(words) > len(odd):
            shown = ", ".join(f"{word} ({counted(int(counts[word]), 'answer')})" for word in odd)
            ledger.note(
                f"classes of {label} may mean no answer: {shown}; if they do, give "
                f"{_said(label, dict.fromkeys(odd, ''))}",
                code="words-of-no-answer",
                words=len(odd),
            )


def _note_empty_words(by_label: Counts, given: Words, ledger: Ledger) -> None:
    """Note the words that always mean no answer, such as NA: a country may be called so."""
    found: dict[str, int] = {}
    labels = []
    for label, counts in by_label.items():
        names = [str(w) for w in counts.index if w and canonical(str(w)) in EMPTY - {"[]"}]
        names = [w for w in names if canonical(w) not in given.get(label, {})]
        labels += [label] * bool(names)
        for word in names:
            found[word] = found.get(word, 0) + int(counts[word])
    if not found:
        return
    words = ", ".join(f"{word} ({counted(n, 'cell')})" for word, n in found.items())
    first = next(iter(found))
    text = (
        f"{words} in {listed(labels, 5)} {'is' if len(found) == 1 else 'are'} read as no answer; "
        f"if it is a class, name it: {_said(labels[0], {first: f'class {first}'})}"
    )
    ledger.note(text, code="empty-words", cells=sum(found.values()))


def _counts(table: Table, columns: AnswerColumns, task: Task) -> Counts:
    """Count the words of each label whose classes come from the data."""
    named = columns.of_each(task)
    return {
        one.name: table.frame[named[one.name]].str.strip().value_counts()
        for one in task.labels
        if one.name in named and not one.classes
    }


def _unexplained(by_label: Counts, given: Words) -> Counts:
    """Return the counts of words that neither the caller explains nor mean nothing."""
    found = {}
    for label, counts in by_label.items():
        explained = EMPTY | set(given.get(label, {}))
        found[label] = counts[[canonical(str(word)) not in explained for word in counts.index]]
    return found


def _counts_from_zero(words: set[str]) -> int:
    """Return K if words are the numbers 0, ..., K - 1, else 0."""
    return len(words) if words == {str(n) for n in range(len(words))} else 0


def _may_be_missing(word: str, words: set[str]) -> bool:
    """Whether a word, among all words of a label, may mean no answer."""
    text = canonical(word)
    if text in NO_ANSWER:
        return not (text in "-\u2013\u2014" and "+" in words)
    if text.lstrip("-") not in FILLERS and text != CODE:
        return False
    others = [float(w) for w in words if w != word and NUMBER.fullmatch(w)]
    others = [n for n in others if str(int(abs(n))) not in FILLERS]
    if len(others) < 2 or max(others) > LARGEST_SCALE:
        return False
    return min(others) >= 0 if text.startswith("-") else float(text) > max(others) + 1


def _said(label: str, words: Mapping[str, str]) -> str:
    """Write the argument that explains words."""
    return f"`classes={json.dumps({label: dict(words)}, ensure_ascii=False)}`"


def with_words(*parts: Words) -> Words:
    """Merge explanations of words; earlier ones win."""
    merged: dict[str, dict[str, str]] = {}
    for part in parts:
        for label, words in part.items():
            merged[label] = {**words, **merged.get(label, {})}
    return merged


def words_with_points(
    table: Table, columns: AnswerColumns, task: Task, ledger: Ledger
) -> dict[str, dict[str, str]]:
    """Return answers with decimal commas, by label, with the points that they stand for.

    All answers are numbers then, and those with a comma cannot be two options each, as ``1,2`` may.
    """
    found: dict[str, dict[str, str]] = {}
    classes = {label.name: label.classes for label in task.labels}
    for label, column in columns.of_each(task).items():
        words = [str(word).strip() for word in pd.unique(table.frame[column])]
        commas = [word for word in words if DECIMAL_COMMA.fullmatch(word)]
        others = [w for w in words if w not in commas and canonical(w) not in EMPTY]
        parts = [word.strip("+-%").split(",") for word in commas]
        clear = any(len(after) > 1 or int(after) <= int(before) for before, after in parts)
        named = any("," in name for name in classes[label])
        if clear and not named and all(map(NUMBER.fullmatch, others)):
            found[label] = {word: word.replace(",", ".") for word in commas}
            ledger.note(f"column {column} has decimal commas", code="decimal-commas")
    return found

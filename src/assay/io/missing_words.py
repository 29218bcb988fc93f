"""Words that may mean no answer, where the classes come from the data."""

import json
from collections.abc import Mapping, Sequence

import pandas as pd

from assay._util.errors import Note
from assay._util.text import counted, listed
from assay.data.class_words import NUMBER, canonical
from assay.data.task import Task
from assay.io.answer_words import Words
from assay.io.answers import AnswerColumns
from assay.io.cells import EMPTY, NO_ANSWER
from assay.io.reading_log import Ledger
from assay.io.statuses import SUBMISSION
from assay.io.tables import Table

CODE = "-1"
"""Value of abstentions in label matrices."""
FILLERS = frozenset({"9", "77", "88", "98", "99", "777", "888", "998", "999"})
"""Codes of no answer in questionnaires, with either sign."""
LARGEST_SCALE = 20
"""Beside codes up to this, 99 and the like mean no answer."""


def words_for_nothing(table: Table, columns: AnswerColumns, task: Task, given: Words) -> Words:
    """Return words read as no answer, by label, unless ``given``.

    They are -1 beside classes 0, ..., K - 1 (K >= 3), and *ignore* beside *accept* and *reject*.
    Beside 0 and 1, -1 is ambiguous: see :func:`note_missing_words`.
    """
    found: dict[str, dict[str, str]] = {}
    for label, counts in _counts(table, columns, task, given).items():
        words = set(counts.index)
        if CODE in words and _counts_from_zero(words - {CODE}) > 2:
            found[label] = {CODE: ""}
        elif words == SUBMISSION:
            found[label] = {"ignore": ""}
    return found


def note_missing_words(
    table: Table, columns: AnswerColumns, task: Task, given: Words, taken: Words, ledger: Ledger
) -> None:
    """Note words that may mean no answer (not those ``given``); -1 beside 0 and 1 is a problem.

    Words that always mean no answer, such as NA, are named: a country may be called so.
    """
    _note_empty_words(table, columns, task, given, ledger)
    for label, counts in _counts(table, columns, task, given).items():
        for word in taken.get(label, {}):
            ledger.note(
                f"{counted(int(counts[word]), 'answer')} {word} to {label} "
                f"{'are' if counts[word] > 1 else 'is'} read as no answer, beside the classes "
                f"{', '.join(sorted(set(counts.index) - {word})[:5])}; "
                f"{_said(label, {word: word})} makes it a class"
            )
        words = set(counts.index) - set(taken.get(label, {}))
        if CODE in words and _counts_from_zero(words - {CODE}) == 2 and not table.part:
            ledger.problem(
                "minus-one",
                f"-1 beside 0 and 1 is a class of {label}, or means no answer "
                f"({counted(int(counts[CODE]), 'cell')})",
                where=f"column {columns.by_label.get(label, columns.value)}",
                mend=f"say which: {_said(label, {CODE: ''})} if it means no answer, "
                f"{_said(label, {CODE: CODE})} if it is a class",
                numbers={"cells": int(counts[CODE])},
                go_on={"classes": {label: {CODE: ""}}},
            )
            continue
        odd = [word for word in counts.index if word in words and _may_be_missing(word, words)]
        if odd and len(words) > len(odd):
            shown = ", ".join(f"{word} ({counted(int(counts[word]), 'answer')})" for word in odd)
            ledger.note(
                f"classes of {label} may mean no answer: {shown}; if they do, give "
                f"{_said(label, dict.fromkeys(odd, ''))}"
            )


def _note_empty_words(
    table: Table, columns: AnswerColumns, task: Task, given: Words, ledger: Ledger
) -> None:
    """Note the words that are read as no answer, in all labels whose classes are the data's."""
    found: dict[str, int] = {}
    labels = []
    for label in task.labels:
        column = columns.by_label.get(label.name, columns.value if len(task.labels) == 1 else "")
        if label.classes or not column:
            continue
        counts = table.frame[column].str.strip().value_counts()
        names = [str(w) for w in counts.index if w and canonical(str(w)) in EMPTY - {"[]"}]
        names = [w for w in names if canonical(w) not in given.get(label.name, {})]
        labels += [label.name] * bool(names)
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
    ledger.note(
        Note(text, code="empty-words", level="note", numbers={"cells": sum(found.values())})
    )


def _counts(
    table: Table, columns: AnswerColumns, task: Task, given: Words
) -> "dict[str, pd.Series[int]]":
    """Count the unexplained words of each label whose classes come from the data."""
    found = {}
    for label in task.labels:
        column = columns.by_label.get(label.name, columns.value if len(task.labels) == 1 else "")
        if label.classes or not column:
            continue
        counts = table.frame[column].str.strip().value_counts()
        explained = EMPTY | set(given.get(label.name, {}))
        found[label.name] = counts[[canonical(str(word)) not in explained for word in counts.index]]
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
    labels: Sequence[str] = list(dict.fromkeys(label for part in parts for label in part))
    merged: dict[str, dict[str, str]] = {label: {} for label in labels}
    for part in reversed(parts):
        for label, words in part.items():
            merged[label] |= words
    return merged

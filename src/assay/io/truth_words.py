"""Match the words of the truth with those of the answers, where the data define the classes."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.text import counted
from assay.data.class_words import BINARY_SPELLINGS, FOREIGN, canonical
from assay.data.task import Label, Task
from assay.io.answer_words import CODE, OPEN, Words, apply_words
from assay.io.empty_words import EMPTY, NO_ANSWER
from assay.io.layout import Layout
from assay.io.list_cells import lists_of
from assay.io.multi_select import joined_answers
from assay.io.reading_log import Ledger
from assay.io.truth import TruthSource

SHOWN = 5
FEWEST_ITEMS = 3
"""Fewest items with a word of the truth for the answers to define it."""
CLEAR = 0.55
"""Smallest share of the most common answer for it to define a word of the truth."""
MOSTLY = 0.5
"""Share of cells of the truth with words that no answer uses, above which words are asked for."""
BINARY = FOREIGN | BINARY_SPELLINGS


def match_truth(
    gold: TruthSource | None, layout: Layout, task: Task, words: Words, ledger: Ledger
) -> TruthSource | None:
    """Return the truth in the words of the answers; unmatched words are a problem.

    No and yes match in any spelling. Words in ``words`` are explained. Cells with several values
    are a problem. A part of a data set is not checked, since other parts may use the words.
    """
    for label in task.labels:
        if gold is None or label.name not in gold.by_label:
            continue
        if _several(gold, label):
            continue
        column = layout.answers.of(label.name)
        if (
            layout.table.part
            or label.classes
            or not column
            or (len(task.labels) > 1 and layout.answers.question)
        ):
            continue
        said = _words(layout.table.frame[column])
        known = _words(gold.table.frame[gold.by_label[label.name]])
        explained = set(map(canonical, words.get(label.name, {}).values()))
        if explained & set(map(canonical, known)):
            continue
        if said and known and _mostly_foreign(gold, label, said):
            gold = _translated(gold, label, said, known, layout, column, ledger)
        elif said:
            _note_unknown(gold, label, said, ledger)
    return gold


def _words(column: "pd.Series[str]") -> list[str]:
    """Return the words of a column, the most common first."""
    found = column.str.strip().value_counts().index
    return [str(w) for w in found if canonical(str(w)) not in EMPTY]


def _mostly_foreign(gold: TruthSource, label: Label, said: Sequence[str]) -> bool:
    """Whether most cells of the truth have words that no answer uses."""
    words = gold.table.frame[gold.by_label[label.name]].str.strip().value_counts()
    answers = set(map(canonical, said))
    filled = {str(w): int(n) for w, n in words.items() if canonical(str(w)) not in EMPTY}
    foreign = sum(n for word, n in filled.items() if canonical(word) not in answers)
    return foreign > MOSTLY * sum(filled.values())


def _several(gold: TruthSource, label: Label) -> bool:
    """Add a problem for cells of the truth with several values."""
    column = gold.by_label[label.name]
    cells = gold.table.frame[column]
    found = joined_answers(_words(cells), label)
    lists = lists_of(cells)
    odd = list(found.cells) if found else [cell for cell, items in lists.items() if len(items) > 1]
    if not odd:
        return False
    rows = np.flatnonzero(cells.isin(odd))
    example = odd[0].replace("\n", "\\n")[:60]
    gold.ledger.problem(
        "truth-several",
        f"{counted(len(rows), 'cell')} of the truth of {label.name} hold several values, such as "
        f"{example!r}: an item has one true class",
        where=gold.table.where(rows, column),
        mend="leave such cells empty, which means that their truth is not known",
        go_on={"truth": None},
        numbers={"cells": len(rows)},
    )
    return True


def _translated(
    gold: TruthSource,
    label: Label,
    said: Sequence[str],
    known: Sequence[str],
    layout: Layout,
    column: str,
    ledger: Ledger,
) -> TruthSource:
    """Translate the truth if it is no and yes in other words; else ask for the meaning."""
    codes = {BINARY.get(canonical(word)): word for word in reversed(said)}
    others = [BINARY.get(canonical(word)) for word in known]
    if None not in codes and None not in others and len(codes) == 2:
        words = {canonical(word): codes[code] for word, code in zip(known, others, strict=True)}
        pairs = ", ".join(f"{word} is {words[canonical(word)]}" for word in known)
        ledger.note(
            f"the truth of {label.name} uses other words than the answers: {pairs}",
            code="truth-translated",
            words=len(known),
        )
        table = apply_words(gold.table, gold.columns, {label.name: words})
        return replace(gold, table=table)
    answers = set(map(canonical, said))
    known = [word for word in known if canonical(word) not in answers]
    proposed = _commonest(gold, label, known, layout, column)
    written = json.dumps({label.name: proposed}, ensure_ascii=False)
    place = gold.by_label[label.name]
    gold.ledger.problem(
        "truth-vocabulary",
        f"the truth of {label.name} says {_listed(known)}, but no answer does: answers say "
        f"{_listed(said)}",
        where=gold.table.where(
            np.flatnonzero(gold.table.frame[place].str.strip().isin(known)), place
        ),
        mend=f"say what the words of the truth mean: `classes={written}`; a word that stands for "
        "itself stays a class",
        go_on={} if OPEN in proposed.values() else {"classes": {label.name: proposed}},
    )
    return gold


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return ", ".join(word[:40] for word in words[:SHOWN]) + more


def _commonest(
    gold: TruthSource, label: Label, known: Sequence[str], layout: Layout, column: str
) -> dict[str, str]:
    """Propose for each word of the truth the answer that is clearly the most common with it.

    If two words would get the same answer, all are left open.
    """
    truth = gold.table.frame[gold.by_label[label.name]].str.strip()
    filled = (truth != "").to_numpy(bool)
    by_item = pd.Series(truth.to_numpy()[filled]).groupby(gold.names.to_numpy()[filled]).first()
    answers = layout.table.frame[column].str.strip()
    of_row = pd.Series(layout.item_names.map(by_item).fillna("").to_numpy())
    table = pd.crosstab(of_row, answers.to_numpy())
    table = table.drop(columns=[c for c in table.columns if canonical(str(c)) in EMPTY])
    there = [w for w in known if w in table.index and table.loc[w].sum()]
    pairs = {w: str(table.loc[w].idxmax()) for w in there}
    clear = len(set(pairs.values())) == len(pairs)
    clear &= bool((by_item.value_counts().reindex(there) >= FEWEST_ITEMS).all())
    clear &= all(table.loc[w].max() > CLEAR * table.loc[w].sum() for w in there)
    open_words = {word: pairs.get(word, OPEN) if clear else OPEN for word in known}
    return open_words | {word: "" for word in known if _may_be_unknown(word)}


def _may_be_unknown(word: str) -> bool:
    """Whether a word of the truth may mean that it is not known."""
    return canonical(word) in NO_ANSWER or canonical(word) == CODE


def _note_unknown(gold: TruthSource, label: Label, said: Sequence[str], ledger: Ledger) -> None:
    """Note words of the truth that no answer uses and that may mean unknown."""
    answers = set(map(canonical, said))
    words = _words(gold.table.frame[gold.by_label[label.name]])
    odd = [word for word in words if canonical(word) not in answers and _may_be_unknown(word)]
    if odd:
        written = json.dumps({label.name: dict.fromkeys(odd, "")}, ensure_ascii=False)
        ledger.note(
            f"the truth of {label.name} says {_listed(odd)}, but no answer does. It counts as a "
            f"class, unless it means that the truth is not known: `classes={written}`",
            code="truth-class-unsaid",
            words=len(odd),
        )

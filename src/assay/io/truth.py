"""Known truth: by item or in columns of the ratings, in the words of the answers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import Note, nearest, suggest
from assay._util.grouping import first_rows
from assay._util.text import counted, does
from assay.data.class_words import BINARY_SPELLINGS, FOREIGN, canonical
from assay.data.states import MISSING, Vectors, vector_name
from assay.data.task import Label, Task
from assay.io.answer_words import CODE, OPEN, Words, apply_words, words_said
from assay.io.answers import AnswerColumns, find_answers
from assay.io.arguments import Arguments, LabelsArg, TruthArg, names_in
from assay.io.cells import decode
from assay.io.columns import column_of_each
from assay.io.files.opening import as_pandas, read_beside
from assay.io.identifiers import codes_of, folded, joined_ids, require_apart
from assay.io.list_cells import joined_answers, lists_of, single_elements
from assay.io.names import EMPTY, NO_ANSWER, RECOGNISED, TRUTH_NAMES, ColumnFinder, squash
from assay.io.reading_log import Ledger
from assay.io.skip_logic import admitted, apply_gates
from assay.io.tables import Table

WITHOUT_TRUTH = {"truth": None}
"""Arguments to continue with if the truth cannot be used."""
UNKNOWN = -9
SHOWN = 5


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

    def cells(self, label: str) -> "pd.Series[str]":
        """Return the cells of a label."""
        return self.table.frame[self.by_label[label]]


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
    finder = table.finder
    if isinstance(truth, Mapping) or (isinstance(truth, str) and finder.get(truth) is not None):
        by_label = column_of_each("truth", truth, finder, task, ledger)
        columns = AnswerColumns(by_label=by_label, evidence="named by `truth=`")
        found: TruthSource | None = TruthSource(
            table=table, names=item, columns=columns, ledger=ledger
        )
    else:
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
                mend=_mend_absent(truth, finder, item_columns, task),
                go_on={"truth": nearest(truth, finder.columns)},
            )
            return None
        side = single_elements(read_beside(truth, name=f"truth_{task.name}", what="the truth"))
        found = _from_table(side, table, item_columns, task, labels, ledger)
    if found is None:
        return None
    said = words_said(found.table, found.columns, words)  # before explained words are replaced
    return replace(found, table=apply_words(found.table, found.columns, words), said=said)


def _mend_absent(
    truth: str, finder: ColumnFinder, item_columns: tuple[str, ...], task: Task
) -> str:
    """Say which columns a file of the truth has, or which columns the ratings have."""
    if not Path(truth).suffix:
        return suggest(truth, finder.columns)
    wanted = (*(item_columns or ("item",)), *task.label_names)
    return f"write this file, with the columns {', '.join(wanted)}, or name the right one"


def _from_table(
    side: Table,
    table: Table,
    item_columns: tuple[str, ...],
    task: Task,
    labels: LabelsArg,
    ledger: Ledger,
) -> TruthSource | None:
    """Take the truth from a table whose columns have the names of those of the ratings."""
    finder = side.finder
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
    listed = list(labels.values()) if isinstance(labels, Mapping) else names_in(labels)
    named = [column for column in listed if isinstance(column, str)]
    others = ColumnFinder(rest.frame.columns)
    usual = labels if named and all(others.get(c) is not None for c in named) else None
    columns = find_answers(rest, task, Arguments(labels=usual), aside)
    one = len(task.labels) == 1
    # A column called gold, truth or the like is the truth of the only label.
    gold = [column for column in rest.frame.columns if squash(column) in TRUTH_NAMES]
    if not columns.by_label and one and len(gold) == 1:
        by_label = {task.labels[0].name: gold[0]}
        columns = AnswerColumns(by_label=by_label, evidence="its name is recognised")
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


def known_truth(
    source: TruthSource | None, *, names: "pd.Index[str]", task: Task, ledger: Ledger
) -> Vectors:
    """Return the truth of each item as class codes (see ``Ratings.truth``).

    Two different classes of an item are a problem.
    """
    truth = np.full((len(names), len(task.labels)), MISSING, np.int16)
    if source is None:
        return truth
    keys, known = codes_of(source.names)
    position = names.get_indexer(known)
    _report_unmatched(source, position, names, known, ledger)
    item = np.append(position, -1)[keys]  # an item without a name has the key -1
    for column, label in enumerate(task.labels):
        if label.name not in source.by_label:
            continue
        cells = decode(source.cells(label.name), label, source.ledger)
        owner = np.where(cells >= 0, item, -1)
        first = first_rows(owner, len(names))
        truth[:, column] = np.where(first >= 0, cells[first], MISSING)
        clash = np.flatnonzero((owner >= 0) & (cells != truth[owner, column]))
        if len(clash):
            source.ledger.problem(
                "truth-conflict",
                f"the truth of {label.name} has two values for item {names[owner[clash[0]]]!r}",
                where=source.table.where(clash, source.by_label[label.name]),
                go_on=WITHOUT_TRUTH,
            )
    if source.ledger is not ledger:
        ledger.problems += source.ledger.problems
        ledger.notes += [
            Note(f"truth: {n}", code=n.code, level=n.level, numbers=n.numbers)
            for n in source.ledger.notes
        ]
    return _admissible(task, truth, names, ledger)


def _report_unmatched(
    source: TruthSource,
    position: NDArray[np.intp],
    names: "pd.Index[str]",
    known: "pd.Index[str]",
    ledger: Ledger,
) -> None:
    """Report items of the truth that the ratings lack, and names that nearly match."""
    unmatched, near = known[position < 0], ""
    if len(unmatched):
        alike = {folded(str(name)): str(name) for name in names}
        pairs = [(str(n), alike[folded(str(n))]) for n in unmatched if folded(str(n)) in alike]
        if pairs:
            said = counted(len(pairs), "name")
            near = f"; {said} nearly match, such as {pairs[0][0]!r} and {pairs[0][1]!r}"
    if len(unmatched) == len(position):
        named = f", e.g. {known[0]!r}" if len(known) else ", whose items have no names"
        ledger.problem(
            "truth-unmatched",
            "no item of the truth is an item of the ratings",
            where=f"{source.table.source}{named}",
            mend=f"use the same names of items in both{near}",
            go_on=WITHOUT_TRUTH,
        )
    elif len(unmatched) and source.ledger is not ledger:
        idle = f"{counted(len(unmatched), 'item')} of the truth {does(len(unmatched), 'are')}"
        text = f"{idle} not among the ratings' items{near}"
        ledger.note(text, code="truth-of-others", items=len(unmatched))


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


FEWEST_ITEMS = 3
"""Fewest items with a word of the truth for the answers to define it."""
CLEAR = 0.55
"""Smallest share of the most common answer for it to define a word of the truth."""
MOSTLY = 0.5
"""Share of cells of the truth with words that no answer uses, above which words are asked for."""
BINARY = FOREIGN | BINARY_SPELLINGS


def match_truth(
    gold: TruthSource | None,
    table: Table,
    answers: AnswerColumns,
    items: "pd.Series[str]",
    task: Task,
    words: Words,
    ledger: Ledger,
) -> TruthSource | None:
    """Return the truth in the words of the answers; unmatched words and cells of several values are
    a problem.

    A part of a data set is not checked, since other parts may use the words.
    """
    for label in task.labels:
        if gold is None or label.name not in gold.by_label or _several(gold, label):
            continue
        column = answers.of(label.name)
        shared = len(task.labels) > 1 and answers.question
        if table.part or label.classes or not column or shared:
            continue
        cells, counts = table.frame[column], _counts(gold.cells(label.name))
        said = list(_counts(cells))
        explained = set(map(canonical, words.get(label.name, {}).values()))
        if explained & set(map(canonical, counts)):
            continue
        used = set(map(canonical, said))
        foreign = [word for word in counts if canonical(word) not in used]
        if said and sum(counts[word] for word in foreign) > MOSTLY * sum(counts.values()):
            gold = _translated(gold, label, said, list(counts), cells, items, ledger)
        elif said and (odd := list(filter(_may_be_unknown, foreign))):
            written = json.dumps({label.name: dict.fromkeys(odd, "")}, ensure_ascii=False)
            ledger.note(
                f"the truth of {label.name} says {_listed(odd)}, but no answer does. It counts as "
                f"a class, unless it means that the truth is not known: `classes={written}`",
                code="truth-class-unsaid",
                words=len(odd),
            )
    return gold


def _counts(column: "pd.Series[str]") -> dict[str, int]:
    """Return how often a column has each word, the most common first."""
    found = column.str.strip().value_counts().items()
    return {str(word): int(n) for word, n in found if canonical(str(word)) not in EMPTY}


def _several(gold: TruthSource, label: Label) -> bool:
    """Add a problem for cells of the truth with several values."""
    column = gold.by_label[label.name]
    cells = gold.table.frame[column]
    found = joined_answers(list(_counts(cells)), label)
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
    cells: "pd.Series[str]",
    items: "pd.Series[str]",
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
    proposed = _commonest(gold, label, known, cells, items)
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
    gold: TruthSource,
    label: Label,
    known: Sequence[str],
    cells: "pd.Series[str]",
    items: "pd.Series[str]",
) -> dict[str, str]:
    """Propose for each word of the truth the answer that is clearly the most common with it.

    If two words would get the same answer, all are left open.
    """
    truth = gold.cells(label.name).str.strip()
    filled = (truth != "").to_numpy(bool)
    by_item = pd.Series(truth.to_numpy()[filled]).groupby(gold.names.to_numpy()[filled]).first()
    of_row = pd.Series(items.map(by_item).fillna("").to_numpy())
    table = pd.crosstab(of_row, cells.str.strip().to_numpy())
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

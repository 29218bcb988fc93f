"""Rows that each hold one of several chosen options, not repeated ratings."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay._util.grouping import unique_rows
from assay._util.text import counted
from assay._util.typing import Floats, Ints
from assay.data.states import Vectors
from assay.data.task import Task
from assay.io.item_keys import clashing
from assay.io.layout import Layout
from assay.io.multi_select import MOST_OPTIONS
from assay.io.replicates import BY_ROW

FEWEST_PAIRS = 10
"""Fewest pairs of rater and item for answers that never repeat to be options."""


def require_one_choice(
    layout: Layout,
    task: Task,
    keys: Sequence[NDArray[np.integer]],
    answers: Vectors,
    scores: Floats,
) -> bool:
    """Add a problem if rows are the options that a rater chose; return whether they are.

    They are if rows of a rater and item share an index label, as after ``DataFrame.explode``, or if
    they never repeat an answer, which repeated ratings would sometimes do. ``keys`` are item and
    rater, (row,).
    """
    if len(task.labels) > 1 or layout.told_apart not in ("", BY_ROW):
        return False
    rows = np.flatnonzero(layout.ledger.kept)
    clash = rows[clashing(keys, answers, scores, rows)]
    if not len(clash):
        return False
    _, group = unique_rows(*[key[clash] for key in keys])
    pairs = int(group.max()) + 1
    if _exploded(layout, clash, group):
        why = "some of them come from one row of a larger table"
    elif _never_alike(task, keys, answers, rows, pairs):
        why = "never the same one twice"
    else:
        return False
    _report(layout, task, clash, pairs, why)
    return True


def _exploded(layout: Layout, clash: Ints, group: Ints) -> bool:
    """Whether neighbouring rows of one rater and item have the same index label."""
    order = np.argsort(clash)
    rows, group = clash[order], group[order]
    lines = layout.table.lines[rows]
    beside = (np.diff(rows) == 1) & (np.diff(group) == 0)
    return layout.table.unit == "row" and bool((beside & (lines[1:] == lines[:-1])).any())


def _never_alike(
    task: Task, keys: Sequence[NDArray[np.integer]], answers: Vectors, rows: Ints, pairs: int
) -> bool:
    """Whether no rater gives an item the same answer twice, in many repeats."""
    distinct, _ = unique_rows(*[key[rows] for key in keys], answers[rows, 0])
    several = 2 < len(task.labels[0].classes) <= MOST_OPTIONS
    return several and pairs >= FEWEST_PAIRS and len(distinct) == len(rows)


def _report(layout: Layout, task: Task, clash: Ints, pairs: int, why: str) -> None:
    label = task.labels[0]
    column = layout.answers.of(label.name)
    layout.ledger.problem(
        "multi-select-rows",
        f"{counted(len(clash), 'row')} hold different answers of one rater to one item, and {why} "
        f"({counted(pairs, 'pair')} of rater and item). They look like the chosen options of one "
        "question",
        where=layout.table.where(np.sort(clash), column),
        mend="if they are, give `replicate='options'`, and each option is a label; if raters rated "
        'again, name the column that numbers their ratings: `replicate="..."`',
        numbers={"rows": len(clash), "pairs": pairs},
        go_on={"replicate": "options", "task": None},
    )

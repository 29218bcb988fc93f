"""read_ratings: from a file or table to Ratings, step by step."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from assay.errors import RatingsError, TaskError, suggest
from assay.ratings import PARTIAL, RESOLVE, Partial, Ratings, Resolve
from assay.reading.answer_columns import LabelsArg, find_answers
from assay.reading.assembly import assemble
from assay.reading.columns import ColumnArg
from assay.reading.layout import fill_classes, find_layout, find_tables
from assay.reading.ledger import Ledger
from assay.reading.repeats import (
    BY_ROW,
)
from assay.reading.rows import apply_export, decode_rows, join_ratings
from assay.reading.truth import TruthArg, find_truth
from assay.task import Task, load_task

GroupArg = ColumnArg | Mapping[str, str]


def read_ratings(
    source: str | Path | pd.DataFrame,
    *,
    task: str | Path | Task,
    item: ColumnArg = None,
    rater: ColumnArg = None,
    labels: LabelsArg = None,
    label: str | None = None,
    value: str | None = None,
    cluster: ColumnArg = None,
    rank: ColumnArg = None,
    system: ColumnArg = None,
    panel: ColumnArg = None,
    group: GroupArg = None,
    truth: TruthArg = None,
    weight: ColumnArg = None,
    stratum: ColumnArg = None,
    replicate: ColumnArg = None,
    panels: str | Path | pd.DataFrame | None = None,
    response: Mapping[str, str] | None = None,
    partial: Partial = "lost",
    resolve: Resolve = "retry",
) -> Ratings:
    """Read ratings from a file, a folder or a table.

    Columns are found by argument, else by the task's ``columns``, else by a name that is
    recognised; ``ratings.accounting`` says which, and what became of every row.

    Parameters
    ----------
    source : str, path or DataFrame
        CSV or TSV (UTF-8, also ``.gz``; separated by comma, semicolon or tab), Parquet, a folder
        that holds ``<task>.csv`` (an export of the protocol tool), or a table.
    task : str, path or Task
        A shipped task's name, a TOML file, or a task.
    item, rater, cluster, rank, system, panel, weight, stratum : str or list of str, optional
        Columns; several make a key of several parts, joined by ``/``; ``""`` means none.
    labels : dict, list or str, optional
        The column of each label: a dict from label to column, a list in the order of the labels,
        or one column for a task of one label.
    label, value : str, optional
        If each row answers one label: the columns of the label's name and of the answer.
    group : str, list of str or dict, optional
        The column of the rater's group, or a dict from rater to group.
    truth : DataFrame, path, str or dict, optional
        Known truth: a table keyed by the item's columns, or the column (a dict from label to
        column) of the ratings that holds it. It may be partial.
    replicate : str or list of str, optional
        What tells a rater's ratings of one item apart; ``"row"`` numbers them in file order.
    panels : DataFrame or path, optional
        A table that is joined by the columns it shares (e.g. a panel's system), or, if it has the
        item's columns, that lists each place of an item in a panel, unrated items too.
    response : mapping of str to str, optional
        What the interface did with answers that break a rule: ``{rule: "block" | "warn" | "off"}``.
    partial : {"lost", "draft"}
        How partly answered ratings came about.
    resolve : {"retry", "repair"}
        How a rater resolves a blocked answer.

    Returns
    -------
    Ratings

    Raises
    ------
    RatingsError
        With every problem of the input, at once.
    TaskError, UnknownNameError
        If the task, or a rule named in ``response``, does not exist.

    Examples
    --------
    >>> table = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": ["x", "y", "x"]})
    >>> read_ratings(table, task="single")
    <assay.Ratings of task single: 3 ratings, 2 items, 2 raters>
    """
    _check_words(partial, resolve)
    base = _load(task).with_responses(_responses(response))
    asked: dict[str, ColumnArg] = {
        "item": item, "rater": rater, "cluster": cluster, "panel": panel, "rank": rank,
        "system": system, "weight": weight, "stratum": stratum,
        "group": None if isinstance(group, Mapping) else group,
        "replicate": None if replicate == BY_ROW else replicate,
    }  # fmt: skip
    table, side = find_tables(source, base, panels, item)
    ledger = Ledger(table)
    found = find_answers(table, base, labels=labels, label=label, value=value, ledger=ledger)
    layout = find_layout(table, base, asked, found, ledger, by_row=replicate == BY_ROW)
    gold = find_truth(
        truth, table=table, item=layout.item_names, item_columns=layout.item_columns,
        task=base, labels=labels, ledger=ledger,
    )  # fmt: skip
    base = fill_classes(base, layout, gold, ledger)
    base, discarded = apply_export(layout, base, response or {})
    rows = decode_rows(layout, base)
    ledger.raise_problems()
    joined = join_ratings(layout, base, rows, discarded)
    ledger.raise_problems()
    return assemble(
        layout, base, joined, side=side, gold=gold, group=group, asked=asked,
        partial=partial, resolve=resolve,
    )  # fmt: skip


def _check_words(partial: str, resolve: str) -> None:
    for name, given, allowed in (("partial", partial, PARTIAL), ("resolve", resolve, RESOLVE)):
        if given not in allowed:
            raise RatingsError(
                f"{name}={given!r}; {suggest(str(given), allowed)}", "the call of read_ratings"
            )


def _load(task: object) -> Task:
    if not isinstance(task, str | Path | Task):
        raise TaskError(f"task= must be a name, a path or a Task, not {type(task).__name__}")
    return load_task(task)


def _responses(response: object) -> Mapping[str, str]:
    if response is None:
        return {}
    if not isinstance(response, Mapping):
        raise TaskError(f'response= must be a dict like {{rule: "warn"}}, not {response!r}')
    return response

"""An argument that names a column for each label, for scores, confidences and audits."""

from collections.abc import Mapping

from assay._util.errors import suggest
from assay.data.task import Task
from assay.io.columns import ColumnFinder
from assay.io.ledger import Ledger

PerLabel = str | Mapping[str, str] | None


def named_columns(finder: ColumnFinder, *arguments: object) -> list[str]:
    """Return the columns that arguments name; what they say wrongly is reported elsewhere."""
    listed: list[object] = []
    for argument in arguments:
        if isinstance(argument, Mapping):
            listed += argument.values()
        else:
            listed += argument if isinstance(argument, list | tuple) else [argument]
    return finder.all_of([name for name in listed if isinstance(name, str) and name])


def column_of_each(
    role: str, given: PerLabel, finder: ColumnFinder, task: Task, ledger: Ledger
) -> dict[str, str]:
    """Return the column that an argument names for each label; what is wrong is a problem.

    One column is that of the one label of a task; for a task of several labels it must be a
    dict. ``""`` names no column.
    """
    if given is None or given == "":
        return {}
    first = task.label_names[0]
    if isinstance(given, str) and len(task.labels) > 1:
        ledger.problem(
            "one-column-several-labels",
            f"{role}={given!r} is one column, but task {task.name} has {len(task.labels)} labels",
            mend=f'give a dict from label to column: {role}={{"{first}": "..."}}',
            numbers={"labels": len(task.labels)},
        )
        return {}
    if not isinstance(given, str | Mapping):
        ledger.problem(
            "argument-type",
            f"{role}= must be a column or a dict from label to column, not {given!r}",
        )
        return {}
    pairs = {first: given} if isinstance(given, str) else given
    found = {}
    for label, column in pairs.items():
        if label not in task.label_names:
            ledger.problem(
                "unknown-label",
                f"{role}= names {label!r}, which is no label of task {task.name}",
                mend=suggest(str(label), task.label_names),
            )
            continue
        mine = one_column(role, column, finder, ledger)
        if mine:
            found[label] = mine
    return found


def one_column(role: str, given: object, finder: ColumnFinder, ledger: Ledger) -> str:
    """Return the column that an argument names; ``""``, and a problem, if there is none."""
    mine = finder.get(given) if isinstance(given, str) else None
    if mine is None:
        ledger.problem(
            "unknown-column",
            f"{role}= names {given!r}, which is no column",
            mend=suggest(str(given), finder.columns),
        )
    return mine or ""


def recognised_of_each(kind: str, free: ColumnFinder, task: Task) -> dict[str, str]:
    """Return the columns called ``<label>_<kind>`` or ``<kind>_<label>``, by label.

    In a task of one label, a column called ``<kind>`` is that label's.
    """
    found = {}
    alone = (kind,) if len(task.labels) == 1 else ()
    for name in task.label_names:
        columns = free.all_of((f"{name}_{kind}", f"{kind}_{name}", *alone))
        if columns:
            found[name] = columns[0]
    return found

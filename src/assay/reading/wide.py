"""Tables with a column for each rater: what they look like, and how to turn them round."""

from collections.abc import Sequence

import pandas as pd

from assay.plurals import listed
from assay.reading.ledger import Ledger
from assay.reading.names import COUNT_NAMES, squash
from assay.reading.values import EMPTY, canonical, spellings
from assay.task import Label, Task

FEWEST_COLUMNS = 2
MOST_CLASSES = 12
SHOWN = 4


def rater_columns(frame: pd.DataFrame, label: Label) -> list[str]:
    """Return the columns that hold nothing but classes of a label, if there are several.

    Where the label leaves its classes to the data, the columns must share their values: each of
    them has all the values, or some of those that another one has.

    Examples
    --------
    >>> frame = pd.DataFrame({"case": ["1", "2"], "Ann": ["yes", "no"], "Ben": ["no", ""]})
    >>> rater_columns(frame, Label(name="ill"))
    ['Ann', 'Ben']
    """
    columns = [str(c) for c in frame.columns if squash(str(c)) not in COUNT_NAMES]
    held = {c: {canonical(str(v)) for v in pd.unique(frame[c])} - EMPTY for c in columns}
    if label.classes:
        words = {canonical(word) for word in spellings(label)}
        found = [c for c, values in held.items() if values and values <= words]
    else:
        few = {c: v for c, v in held.items() if 1 <= len(v) <= MOST_CLASSES < len(frame)}
        found = max(([d for d in few if few[d] <= few[c]] for c in few), key=len, default=[])
    return found if len(found) >= FEWEST_COLUMNS else []


def report_wide(task: Task, ledger: Ledger) -> bool:
    """Add a problem if the table seems to have a column for each rater, and say whether."""
    if len(task.labels) != 1 or ledger.problems:
        return False
    frame, label = ledger.table.frame, task.labels[0]
    columns = rater_columns(frame, label)
    if not columns:
        return False
    ledger.problem(
        f"no column names the rater, and {len(columns)} columns hold classes of {label.name}: "
        f"{listed(columns, SHOWN)}",
        allowed="a row for each rating: the item, the rater, the answer",
        mend="if these columns are raters, turn the table round, in Python: "
        + _turned(frame, columns, label.name),
        role="rater",
    )
    return True


def _turned(frame: pd.DataFrame, columns: Sequence[str], label: str) -> str:
    """Write the call that gives each answer a row; items that have no name get a number.

    Of grouped answers each pattern of answers has a row, with the number of its items.
    """
    rest = [str(c) for c in frame.columns if c not in columns]
    counts = [c for c in rest if squash(c) in COUNT_NAMES]
    rest = [c for c in rest if c not in counts]
    start = f"frame.loc[frame.index.repeat(frame[{counts[0]!r}])]" if counts else "frame"
    if not rest or counts:
        again = f".drop(columns={counts!r}).reset_index(drop=True)" if counts else ""
        start += f"{again}.rename_axis('item').reset_index()"
        rest = ["item", *rest]
    return (
        f"{start}.melt({rest!r}, var_name='rater', value_name={label!r}).dropna(subset={label!r})"
    )

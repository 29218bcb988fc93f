"""Labels with more combinations of classes than a model can hold."""

from math import prod

from assay._util.errors import TaskError, as_code
from assay.data.states import state_space
from assay.data.task import Task
from assay.io.answers import AnswerColumns
from assay.io.reading_log import Ledger


def require_states(task: Task, answers: AnswerColumns, ledger: Ledger) -> None:
    """Add a problem if a task has too many states; it ends with the labels that fit.

    Other faults of the task, such as rules that contradict each other, are raised as they are.
    """
    if ledger.problems or ledger.table.part:
        return
    try:
        state_space(task)
    except TaskError as error:
        if error.code != "too-many-states":
            raise
        columns = {name: answers.by_label[name] for name in _fitting(task, answers)}
        labels = columns if len(columns) > 1 else next(iter(columns.values()), None)
        ledger.problem(
            "too-many-states",
            f"the {len(task.labels)} labels have more than {task.max_states:,} combinations of "
            "classes, too many to be modelled together",
            mend="read fewer labels"
            + (f": {as_code({'labels': labels})} are those of the fewest classes" * bool(columns))
            + "; or raise max_states in a task file",
            numbers={"most": task.max_states},
            go_on={"task": None, "label": None, "value": None, "labels": labels} if columns else {},
        )


def _fitting(task: Task, answers: AnswerColumns) -> list[str]:
    """Return the labels of the fewest classes that fit together, in their order."""
    sizes = {one.name: len(one.classes) for one in task.labels if one.name in answers.by_label}
    order = sorted(sizes, key=lambda name: sizes[name])
    most = Task.max_states
    kept = [name for n, name in enumerate(order, 1) if prod(sizes[k] for k in order[:n]) <= most]
    return [name for name in sizes if name in kept]

"""Which metrics a task reports, and which of them are asked for by name."""

from collections.abc import Sequence

from assay._util.errors import ModelError, UnknownNameError, suggest
from assay._util.validation import names_given
from assay.data.task import Task
from assay.evaluation.prevalence import prevalence_metrics, telling_shares
from assay.evaluation.registry import Metric, metrics_of_task, registered


def metrics_for(task: Task) -> tuple[Metric, ...]:
    """Return the metrics that a task reports.

    Parameters
    ----------
    task : Task
        With the classes of every label known.

    Returns
    -------
    tuple of Metric
        Those that the task file names, then the others registered for the task or for every task.
        If it names none, the prevalence of each class of each label; of no and yes that of yes,
        as the other is what is left.

    Raises
    ------
    UnknownNameError
        If the task file names a metric that is not registered.
    ModelError
        If it names one that needs labels which the task does not have.

    Examples
    --------
    >>> from assay.data.task_files import load_task
    >>> [m.name for m in metrics_for(load_task("ais"))]
    ['flag_rate', 'interpretable_rate', 'attributable_rate']
    >>> [m.name for m in metrics_for(load_task("relevance"))][-1]
    'prevalence[relevance=yes]'
    """
    named = [_usable(registered(name), task) for name in task.metrics]
    others = [m for m in metrics_of_task(task) if m not in named and not m.lacks(task)]
    return (*(named or telling_shares(task)), *others)


def choose_metrics(task: Task, names: Sequence[str] | str | None = None) -> tuple[Metric, ...]:
    """Return the named metrics; those that the task reports if none is named.

    Besides the registered metrics that suit the task, ``prevalence[<label>=<class>]`` can be named
    in any task, and ``prevalence[<label>!=<class>]`` for all other classes of a label.

    Raises
    ------
    UnknownNameError
        If no metric has the name; the message shows the nearest ones.
    ModelError
        If a metric needs labels which the task does not have, or no name is given.
    """
    default = metrics_for(task)
    if names is None:
        return default
    reported = "None for those that the task reports"
    wanted = names_given("metric", names, what="metric", otherwise=reported)
    generic = {
        m.name: m for m in [*prevalence_metrics(task), *prevalence_metrics(task, other=True)]
    }
    free = {m.name: m for m in metrics_of_task(task)}
    known = {m.name: m for m in default} | free | generic
    for name in wanted:
        if name not in known:
            raise UnknownNameError(
                f"task {task.name} has no metric called {name!r}; {suggest(name, list(known))}",
                code="unknown-metric",
            )
    return tuple(_usable(known[name], task) for name in wanted)


def _usable(found: Metric, task: Task) -> Metric:
    if lacks := found.lacks(task):
        raise ModelError(
            f"metric {found.name!r} needs the labels {', '.join(lacks)}, which task {task.name} "
            f"does not have; its labels: {', '.join(task.label_names)}",
            code="metric-unavailable",
        )
    return found

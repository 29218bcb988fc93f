"""The registry of metrics: functions of an array of labels, found by name."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError, UnknownNameError, suggest
from assay._util.typing import Bools, Floats
from assay._util.validation import argument, names_given, require_choice, require_flag
from assay.data.metric_names import SHIPPED, remember
from assay.data.task import Task
from assay.evaluation.shares import share

Kind = Literal["per_panel", "ratio"]
KINDS = ("per_panel", "ratio")
Better = Literal["higher", "lower", "neither"]
BETTER = ("higher", "lower", "neither")
EVEN = 0.5
"""Prior share of a metric that is not one of three or more classes."""
MetricFunction = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric: a function of labels, and how its values over panels become one number.

    function : ``f(y, mask)`` with ``y`` class codes (..., panel, position, label) and ``mask``
        (panel, position); returns (..., panel), or two such arrays for a ratio
    kind : ``per_panel``, the mean of the panels' values, or ``ratio``, the panels' summed
        numerators over their summed denominators
    task : the task it is for; None for every task that has the labels
    labels : the labels that the function sees, in its order; None for all labels of the task
    limits : smallest and largest possible value; at a limit in all data, no event was seen
    better : whether a higher or a lower value is better; ``neither`` ranks no system
    additive : whether a panel's value is the mean over its items (of a ratio: sums over them), so
        that design weights within a panel can count
    prior_share : share of events in the prior of the population; 1/K for one of K classes, so that
        the mean shares of all classes sum to 1
    pooled : whether the function also takes ``pool`` (panel, position): ``y`` then also holds the
        other items of the panel's cluster, at positions where ``mask`` is false
    """

    name: str
    function: MetricFunction
    kind: Kind = "per_panel"
    task: str | None = None
    labels: tuple[str, ...] | None = None
    description: str = ""
    limits: tuple[float, float] = (0.0, 1.0)
    better: Better = "higher"
    additive: bool = False
    title: str = ""
    unit: str = ""
    pooled: bool = False
    prior_share: float = EVEN

    @property
    def shown_title(self) -> str:
        """Title in displays, made of the name if none is given."""
        words = self.name.replace("_at_k", "@k").replace("_", " ")
        return self.title or words[:1].upper() + words[1:]

    @property
    def shown_unit(self) -> str:
        """Unit of the values; ``share`` by default for means over items from 0 to 1."""
        return self.unit or ("share" if self.additive and self.limits == (0.0, 1.0) else "")

    def columns(self, task: Task) -> list[int]:
        """Return the positions in ``task`` of the labels that the function sees."""
        names = list(task.label_names)
        return [names.index(label) for label in self.labels or names]

    def lacks(self, task: Task) -> list[str]:
        """Return the labels that the function needs and ``task`` does not have."""
        return [label for label in self.labels or () if label not in task.label_names]


_METRICS: dict[str, Metric] = {}


def metric(
    name: str,
    *,
    task: str | None = None,
    labels: Sequence[str] | str | None = None,
    kind: Kind = "per_panel",
    description: str = "",
    limits: tuple[float, float] = (0.0, 1.0),
    better: Better = "higher",
    additive: bool = False,
    title: str = "",
    unit: str = "",
) -> Callable[[MetricFunction], MetricFunction]:
    """Register a metric: a decorator for a function of labels.

    Parameters
    ----------
    name : str
        Under which results report it.
    task : str, optional
        The task it is for; every task that has the labels if not given.
    labels : str or sequence of str, optional
        The labels that the function sees, in that order: ``y[..., 0]`` is the first of them. All
        labels of the task, in its order, if not given.
    kind : {"per_panel", "ratio"}
        Whether the function returns one value for each panel, or a numerator and a denominator.
        The metric is the mean of the values, or the ratio of the totals.
    description : str, optional
        One line; the first line of the docstring if not given.
    limits : tuple of float
        Smallest and largest possible value; a metric that is always at a limit saw no event.
    better : {"higher", "lower", "neither"}
        Whether higher or lower values are better. With ``neither``, systems are compared and none
        is called the best.
    additive : bool
        Whether a panel's value is the mean of its items' values, as for shares but not for rank
        metrics. (Of a ratio: whether totals are sums over items.) Design weights that differ within
        a panel can count only in such a metric.
    title : str
        What displays call it; made of the name if not given.
    unit : str
        What its values count, such as "share" or "points".

    Returns
    -------
    callable
        The decorator; it leaves the function as it is.

    Raises
    ------
    ModelError
        If an argument does not describe a metric, or another function has registered the name.

    Notes
    -----
    The function gets ``y`` (..., panel, position, label) and ``mask`` (panel, position). ``y``
    holds class codes: 1 is yes in a binary label, -2 a label that does not apply. Position ``p``
    holds the item of rank ``p + 1``; where a panel has none, ``mask`` is false and ``y`` is 0. No
    panel is empty. A panel whose value is NaN or infinite is undefined, and that draw leaves it out
    of every mean and total.

    Examples
    --------
    >>> @metric("doctest_first_hit", task="of a doctest", labels=["evidence_sufficient"])
    ... def first_hit(y, mask):
    ...     "Share of queries whose first chunk suffices."
    ...     return y[..., 0, 0] == 1
    >>> registered("doctest_first_hit").description
    'Share of queries whose first chunk suffices.'
    """
    _check(name, task, kind, limits, better)
    require_flag(f"metric {name!r}: additive", additive)
    seen = None if labels is None else tuple(names_given("labels", labels, what="label"))

    def register(function: MetricFunction) -> MetricFunction:
        before = _METRICS.get(name)
        if before is not None and _origin(before.function) != _origin(function):
            raise ModelError(
                f"a metric called {name!r} exists already ({before.description}); choose a new "
                "name",
                code="metric-registration",
            )
        remember(name, seen)
        _METRICS[name] = Metric(
            name=name,
            function=function,
            kind=kind,
            task=task,
            labels=seen,
            description=description or _first_line(function),
            limits=limits,
            better=better,
            additive=additive,
            title=title,
            unit=unit,
        )
        return function

    return register


def register_rates(task: str, descriptions: Mapping[str, str], *, lower: Sequence[str]) -> None:
    """Register the share of yes of each shipped metric's label, with its description."""

    def rate(y: NDArray[np.integer], mask: Bools) -> Floats:
        return share(y[..., 0] == 1, mask)

    for name, description in descriptions.items():
        better: Better = "lower" if name in lower else "higher"
        metric(
            name, task=task, labels=SHIPPED[name], description=description, better=better,
            additive=True,
        )(rate)  # fmt: skip


def _check(name: object, task: object, kind: object, limits: object, better: object) -> None:
    """Refuse arguments that do not describe a metric."""
    if not isinstance(name, str) or not name:
        raise ModelError(
            f"{argument('name', name)}; it must be the name of the metric",
            code="metric-registration",
        )
    if not isinstance(task, str | None):
        raise ModelError(
            f"{argument(f'metric {name!r}: task', task)}; it must be the name of a task",
            code="metric-registration",
        )
    require_choice(f"metric {name!r}: kind", kind, KINDS)
    ends = limits if isinstance(limits, Sequence) and len(limits) == 2 else ()
    numbers = [end for end in ends if isinstance(end, Real)]
    if len(numbers) < 2 or not numbers[0] < numbers[1]:
        raise ModelError(
            f"{argument(f'metric {name!r}: limits', limits)}; they must be the smallest and the "
            "largest value, such as (0, 1)",
            code="metric-registration",
        )
    check_direction(name, better)


def check_direction(name: object, better: object) -> None:
    """Refuse a direction that is not one of ``BETTER``."""
    require_choice(f"metric {name!r}: better", better, BETTER)


def registered(name: str) -> Metric:
    """Return the registered metric of that name."""
    if name not in _METRICS:
        raise UnknownNameError(
            f"no metric is called {name!r}; {suggest(name, sorted(_METRICS))}",
            code="unknown-metric",
        )
    return _METRICS[name]


def metrics_of_module(module: str) -> tuple[Metric, ...]:
    """Return the registered metrics whose functions stand in a module, in their order."""
    return tuple(m for m in _METRICS.values() if m.function.__module__ == module)


def metrics_of_task(task: Task) -> tuple[Metric, ...]:
    """Return the registered metrics that are for a task or for every task, in their order."""
    return tuple(m for m in _METRICS.values() if m.task in (None, task.name))


def _origin(function: MetricFunction) -> tuple[str, str]:
    """Return where a function was defined: a notebook cell that runs again redefines its metric."""
    return function.__module__, function.__qualname__


def _first_line(function: MetricFunction) -> str:
    lines = (inspect.getdoc(function) or "").splitlines()
    return lines[0] if lines else ""

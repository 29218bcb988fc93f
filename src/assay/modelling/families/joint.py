"""Answers of a rating that depend on each other beyond the truth: halo, and slips together."""

from collections.abc import Iterable, Mapping
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay.data.states import Vectors, state_space
from assay.data.task import Task
from assay.modelling.confusion import Tilt
from assay.modelling.families.family import Owner, WholeFamily
from assay.modelling.families.hierarchical import (
    BY_GROUP,
    lean_prior,
    logit_parameters,
    pooled_logits,
)
from assay.modelling.families.lean import LeanPrior
from assay.modelling.interface_rules import Menu
from assay.modelling.parameters import Parameter, offsets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Joint(WholeFamily):
    r"""Hierarchical confusions, with the answers to each pair of labels associated.

    .. math::

        p(y \mid s) \propto \prod_l \theta_{jl}[s_l, y_l] \exp\Bigl(\sum_{l < l'}
            h_{g l l'}\, x_l(y) x_{l'}(y) + v_{g l l'}\, e_l(s, y) e_{l'}(s, y)\Bigr)

    over the answers that the interface admits. :math:`x = \pm\tfrac12` is the answer, :math:`e =
    \tfrac12` a wrong and :math:`-\tfrac12` a right one, and 0 where there is none; a label without
    order has an :math:`x` for each class. For binary labels the log odds ratio of two answers is
    :math:`h + v` where both truths are alike and :math:`h - v` where they differ: a halo :math:`h`
    is there whatever is true, while slips :math:`v` come together or apart. On items where a share
    :math:`w_l` of the answers are no guesses, slips are :math:`\sqrt{w_l w_{l'}}` times as strong.

    A full table of states by answer vectors would have 992 unknowns a group with five binary
    labels; two for each pair of labels are 20, and ratings tell about them.
    """

    name: ClassVar[str] = "joint"
    by_owner: ClassVar[Mapping[str, Owner]] = {
        **BY_GROUP,
        "halo_sd": "group",
        "slip_sd": "group",
    }

    def __post_init__(self) -> None:
        """Refuse a task with one label."""
        super().__post_init__()
        task = self.layout.task
        if len(task.labels) < 2:
            raise ModelError(
                f"joint is about answers to several labels; task {task.name} has one. Use "
                "`raters='hierarchical'`",
                code="family-unfit",
            )

    def parameters(self) -> list[Parameter]:
        """Logits of the confusions; association of each pair of labels, by group."""
        columns = self._columns(np.zeros((1, len(self.layout.classes)), np.int16))
        halo = tuple(name for name, _ in _pairs(columns))
        names = self.layout.task.label_names
        coords = {
            "group": self.raters.groups,
            "halo_pair": halo,
            "slip_pair": tuple(f"{a}:{b}" for a, b in combinations(names, 2)),
        }
        found = logit_parameters(self)
        for kind in ("halo", "slip"):
            sd, dims = f"{kind}_sd", ("group", f"{kind}_pair")
            group = np.arange(len(self.raters.groups))[:, None]
            found += [
                Parameter(name=sd, dims=("group",), prior=self.joined(sd), coords=coords),
                offsets(f"{kind}_offset", dims, coords, spread=sd, at=group),
            ]
        return found

    def lean_prior(self) -> LeanPrior | None:
        """Prior of the mean lean of all raters, on binary labels."""
        return lean_prior(self)

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Softmax of the raters' logits, as if each label were answered alone."""
        return self.layout.from_logits(pooled_logits(self, values), xp)

    def residual(
        self, values: Mapping[str, Any], unit_rater: Ints, tilt: Tilt | None, menu: Menu, xp: Any
    ) -> Any:
        """Association of the answers: (..., unit, state, option).

        Pairs with an unanswered label have none: what a rater has not answered yet, or was not
        asked, cannot colour the other answers.
        """
        group = self.raters.group[unit_rater]
        states = state_space(self.layout.task).states
        alike = np.stack([x for _, x in _pairs(self._columns(menu.options))])
        slips = np.stack([x for _, x in _pairs(_errors(self.layout.task, states, menu.options))])
        halo = xp.matmul(self._strength(values, "halo"), alike)[..., group, :]
        strength = self._strength(values, "slip")[..., group, :]
        if tilt is not None and tilt.guessing is not None:
            strength = strength * xp.exp(self._of_pairs(tilt.guessing, xp) * -1.0)
        slip = xp.matmul(strength, slips.reshape(len(slips), -1))
        lead = [slip.shape[n] for n in range(slip.ndim - 1)]
        both = slip.reshape((*lead, len(states), len(menu.options)))
        return both + halo[..., None, :]

    def _of_pairs(self, guessing: Any, xp: Any) -> Any:
        """Mean of what two labels have in their rows: (..., unit, pair)."""
        labels = np.array(self.layout.labels)
        pairs = combinations(range(len(self.layout.classes)), 2)
        mean = np.stack([np.isin(labels, pair) / 2 for pair in pairs], axis=-1)
        return xp.matmul(guessing, mean / self.layout.row_classes[:, None])

    def _strength(self, values: Mapping[str, Any], kind: str) -> Any:
        return values[f"{kind}_sd"][..., None] * values[f"{kind}_offset"]

    def _columns(self, options: Vectors) -> dict[str, list[tuple[str, Floats]]]:
        """Coded answers of each label, by name: ndarray (option,), 0 where there is none."""
        found: dict[str, list[tuple[str, Floats]]] = {}
        for n, label in enumerate(self.layout.task.labels):
            code, top = options[:, n], len(label.classes) - 1
            if top == 1 or label.ordered:
                found[label.name] = [(label.name, np.where(code >= 0, code / top - 0.5, 0.0))]
            else:
                found[label.name] = [
                    (f"{label.name}={name}", np.where(code >= 0, (code == k) - 1 / (top + 1), 0.0))
                    for k, name in enumerate(label.classes)
                ]
        return found


def _errors(task: Task, states: Vectors, options: Vectors) -> dict[str, list[tuple[str, Floats]]]:
    """1/2 for a wrong, -1/2 for a right answer, 0 where there is none: (state, option)."""
    found = {}
    for n, label in enumerate(task.labels):
        true, said = states[:, n][:, None], options[:, n][None, :]
        error = np.where(true == said, -0.5, 0.5)
        found[label.name] = [(label.name, np.where((true >= 0) & (said >= 0), error, 0.0))]
    return found


def _pairs(columns: Mapping[str, list[tuple[str, Floats]]]) -> Iterable[tuple[str, Floats]]:
    """Products of the columns of each pair of labels, by name."""
    for first, second in combinations(columns.values(), 2):
        for (a, x), (b, y) in product(first, second):
            yield f"{a}:{b}", x * y

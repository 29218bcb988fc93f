"""Dependence between the answers of a rating given the truth: halo, and joint slips."""

from collections.abc import Iterable, Mapping
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np

from assay._util.errors import ModelError
from assay._util.typing import Floats, Ints
from assay.data.states import Vectors, state_space
from assay.data.task import Task
from assay.modelling.confusion import Tilt
from assay.modelling.families.family import Owner, WholeFamily
from assay.modelling.families.hierarchical import BY_GROUP, Hierarchical
from assay.modelling.interface_rules import AdmissibleResponses
from assay.modelling.parameters import Parameter, offsets


class Joint(Hierarchical, WholeFamily):
    r"""Hierarchical confusions, with an association between the answers to each pair of labels.

    .. math::

        p(y \mid s) \propto \prod_l \theta_{jl}[s_l, y_l] \exp\Bigl(\sum_{l < l'}
            h_{g l l'}\, x_l(y) x_{l'}(y) + v_{g l l'}\, e_l(s, y) e_{l'}(s, y)\Bigr)

    over the answers that the interface allows. :math:`x = \pm\tfrac12` is the answer, :math:`e =
    \tfrac12` a wrong and :math:`-\tfrac12` a right one, 0 without an answer; an unordered label has
    an :math:`x` for each class. If a share :math:`w_l` of the answers are not guesses, slips
    :math:`v` are :math:`\sqrt{w_l w_{l'}}` times as strong.
    """

    name: ClassVar[str] = "joint"
    by_owner: ClassVar[Mapping[str, Owner]] = {
        **BY_GROUP,
        "halo_sd": "group",
        "slip_sd": "group",
    }

    def __post_init__(self) -> None:
        """Raise ModelError for a task with one label."""
        super().__post_init__()
        task = self.layout.task
        if len(task.labels) < 2:
            raise ModelError(
                f"joint needs answers to several labels, but task {task.name} has one. Use "
                "`raters='hierarchical'`",
                code="family-unfit",
            )

    def parameters(self) -> list[Parameter]:
        """Return the logits, and the association of each pair of labels by group."""
        columns = self._columns(np.zeros((1, len(self.layout.classes)), np.int16))
        halo = tuple(name for name, _ in _pairs(columns))
        names = self.layout.task.label_names
        coords = {
            "group": self.raters.groups,
            "halo_pair": halo,
            "slip_pair": tuple(f"{a}:{b}" for a, b in combinations(names, 2)),
        }
        found = super().parameters()
        for kind in ("halo", "slip"):
            sd, dims = f"{kind}_sd", ("group", f"{kind}_pair")
            group = np.arange(len(self.raters.groups))[:, None]
            found += [
                Parameter(name=sd, dims=("group",), prior=self.joined(sd), coords=coords),
                offsets(f"{kind}_offset", dims, coords, spread=sd, at=group),
            ]
        return found

    def residual(
        self,
        values: Mapping[str, Any],
        unit_rater: Ints,
        tilt: Tilt | None,
        menu: AdmissibleResponses,
        xp: Any,
    ) -> Any:
        """Return the association of the answers, (..., unit, state, option).

        Pairs with an unanswered label have none.
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
        """Return the mean over the rows of two labels, (..., unit, pair)."""
        labels = np.array(self.layout.labels)
        pairs = combinations(range(len(self.layout.classes)), 2)
        mean = np.stack([np.isin(labels, pair) / 2 for pair in pairs], axis=-1)
        return xp.matmul(guessing, mean / self.layout.row_classes[:, None])

    def _strength(self, values: Mapping[str, Any], kind: str) -> Any:
        return values[f"{kind}_sd"][..., None] * values[f"{kind}_offset"]

    def _columns(self, options: Vectors) -> dict[str, list[tuple[str, Floats]]]:
        """Return the coded answers of each label by name, (option,), 0 without an answer."""
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
    """Return 1/2 for a wrong answer, -1/2 for a right one, 0 for none, (state, option)."""
    found = {}
    for n, label in enumerate(task.labels):
        true, said = states[:, n][:, None], options[:, n][None, :]
        error = np.where(true == said, -0.5, 0.5)
        found[label.name] = [(label.name, np.where((true >= 0) & (said >= 0), error, 0.0))]
    return found


def _pairs(columns: Mapping[str, list[tuple[str, Floats]]]) -> Iterable[tuple[str, Floats]]:
    """Yield the products of the columns of each pair of labels, with names."""
    for first, second in combinations(columns.values(), 2):
        for (a, x), (b, y) in product(first, second):
            yield f"{a}:{b}", x * y

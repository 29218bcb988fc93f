"""The interface of prevalence models: parameters, and the table of state probabilities."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import helmert

from assay._util.errors import ModelError
from assay._util.typing import Floats
from assay.data.rules import NOT_ASKED
from assay.data.states import StateSpace
from assay.data.task import Task
from assay.modelling.parameters import Parameter
from assay.modelling.prevalence.design import PrevalenceDesign
from assay.modelling.priors import Prior

MAX_TABLE = 5_000_000
"""Largest size of the table (context, node, state)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Prevalence(ABC):
    """The joint prior of an item's labels, by context: parameters and one formula for NumPy and
    PyTensor.

    Default priors are in ``models/prevalence/<name>.toml``.
    """

    name: ClassVar[str]
    task: Task
    space: StateSpace
    design: PrevalenceDesign
    priors: Mapping[str, Prior]

    @abstractmethod
    def parameters(self) -> list[Parameter]:
        """Return the unknowns, each with dims, coords and prior."""

    @abstractmethod
    def table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return state probabilities (..., context, node, state), for leading axes of draws."""

    @property
    def has_clusters(self) -> bool:
        """Whether there is a cluster effect."""
        return False

    @property
    def has_panels(self) -> bool:
        """Whether systems have effects within clusters."""
        return self.has_clusters and self.design.panel is not None

    def mixing(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return probabilities of a panel's node given its cluster's, (..., node, node).

        Empty without effects of systems within clusters.
        """
        return np.zeros((0, 0))

    @property
    def log_weight(self) -> Floats:
        """Log weights of the quadrature nodes; one node without a cluster effect."""
        return self.design.log_weight if self.has_clusters else np.zeros(1)

    def check_size(self, formula: str) -> None:
        """Raise ModelError if a formula makes the table too large."""
        contexts = self.design.contexts
        if contexts * len(self.log_weight) * len(self.space.states) > MAX_TABLE:
            raise ModelError(
                f"`formula={formula!r}` distinguishes {contexts:,} kinds of items, too many for a "
                "table of prevalences. Round its columns, or combine their values into classes",
                code="too-many-contexts",
                numbers={"contexts": contexts},
            )

    def marginal(self, table: Any, xp: Any) -> Any:
        """Average the table over cluster effects and systems' places, (..., [system,] state)."""
        by_context = (table * np.exp(self.log_weight)[:, None]).sum(axis=-2)
        by_system = xp.matmul(self.design.system_share, by_context)
        return by_system if self.design.systems else by_system[..., 0, :]


def main_columns(task: Task, space: StateSpace) -> tuple[Floats, tuple[str, ...]]:
    """Return the columns of the main effects (state, term), and their names.

    Classes are corners of a regular simplex with edges of length 1; a label that does not apply is
    0.
    """
    columns, names = [], []
    for label, codes in zip(task.labels, space.states.T, strict=True):
        corners = -helmert(len(label.classes)).T / np.sqrt(2)
        padded = np.concatenate([corners, np.zeros((1, corners.shape[1]))])
        columns.append(padded[np.where(codes == NOT_ASKED, -1, codes)])
        single = corners.shape[1] == 1
        names += [
            label.name if single else f"{label.name}[{n + 1}]" for n in range(corners.shape[1])
        ]
    return np.concatenate(columns, axis=1), tuple(names)

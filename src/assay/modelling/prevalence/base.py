"""What a prevalence is: parameters with priors, and the table of state probabilities."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

from assay._util.errors import ModelError
from assay.data.rules import NOT_ASKED
from assay.data.states import StateSpace
from assay.data.task import Task
from assay.modelling.parameters import Parameter
from assay.modelling.prevalence.design import Design
from assay.modelling.priors import Prior

MAX_TABLE = 5_000_000
"""Numbers in a table, by context, node and state, beyond which it is refused."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Prevalence(ABC):
    """The joint prior of the labels of an item: a distribution over states by context.

    A prevalence is a short file: its parameters, and one formula that NumPy and PyTensor both
    run. Default priors stand in ``models/prevalence/<name>.toml``.
    """

    name: ClassVar[str]
    task: Task
    space: StateSpace
    design: Design
    priors: Mapping[str, Prior]

    @abstractmethod
    def parameters(self) -> list[Parameter]:
        """Return the unknowns, each with dims, coords and prior."""

    @abstractmethod
    def table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the probabilities of the states: (..., context, node, state).

        ``values`` has the parameters by name, with any leading axes of draws.
        """

    @property
    def has_clusters(self) -> bool:
        """Whether the table depends on a cluster effect."""
        return False

    @property
    def has_panels(self) -> bool:
        """Whether each system has a cluster effect of its own."""
        return self.has_clusters and self.design.panel is not None

    def mixing(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return chances of a panel's node given its cluster's: (..., node, node).

        Without nodes if the effect of a cluster is that of its panels.
        """
        return np.zeros((0, 0))

    @property
    def log_weight(self) -> NDArray[np.float64]:
        """Log weights of the table's nodes; one node without a cluster effect."""
        return self.design.log_weight if self.has_clusters else np.zeros(1)

    def check_size(self, formula: str) -> None:
        """Refuse a formula that makes the table too large.

        Raises
        ------
        ModelError
            If it tells too many kinds of items apart.
        """
        contexts = self.design.contexts
        if contexts * len(self.log_weight) * len(self.space.states) > MAX_TABLE:
            raise ModelError(
                f"`formula={formula!r}` tells {contexts:,} kinds of items apart, too many for one "
                "table of prevalences; round or cut its columns, so that items share their values",
                code="too-many-contexts",
                numbers={"contexts": contexts},
            )

    def marginal(self, table: Any, xp: Any) -> Any:
        """Average the table over the cluster effect and over each system's places.

        Returns
        -------
        (..., system, state), or (..., state) without systems
        """
        by_context = (table * np.exp(self.log_weight)[:, None]).sum(axis=-2)
        by_system = xp.matmul(self.design.system_share, by_context)
        return by_system if self.design.systems else by_system[..., 0, :]


def main_columns(task: Task, space: StateSpace) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Columns of the main effects (state, term) and their names.

    Classes are the corners of a regular simplex with edges of length 1 (a binary label: -1/2 and
    1/2); a label that does not apply has 0.

    Examples
    --------
    >>> from assay.data.states import state_space
    >>> from assay.data.task_files import load_task
    >>> task = load_task("retrieval")
    >>> main_columns(task, state_space(task))[0].shape
    (5, 3)
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

"""How states are coded by their labels: columns of main effects."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

from assay.data.rules import NOT_ASKED
from assay.data.states import StateSpace
from assay.data.task import Task


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

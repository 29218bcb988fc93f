"""What a rater family is: parameters with priors, and the log confusions that follow from them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.arrays import NEVER, append_constant, merge_axes
from assay.confusion import ConfusionLayout
from assay.priors import Parameter, Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class Raters:
    """Who rated: names, and the group of each as a position in ``groups``."""

    names: tuple[str, ...]
    groups: tuple[str, ...]
    group: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Family(ABC):
    """A family of rater models over a layout of confusions.

    A family is a short file: its parameters, and one formula that NumPy and PyTensor both run.
    Default priors stand in ``models/raters/<name>.toml``.
    """

    name: ClassVar[str]
    shared: ClassVar[bool] = False
    """Whether all raters have one confusion."""
    layout: ConfusionLayout
    raters: Raters
    priors: Mapping[str, Prior]

    @abstractmethod
    def parameters(self) -> list[Parameter]:
        """Return the unknowns, each with dims, coords and prior."""

    @abstractmethod
    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log P(reported class | true class): (..., rater, asked row, class).

        ``values`` has the parameters by name, with any leading axes of draws; the rater axis may
        have length 1 if all raters are alike. Padding is ``NEVER``.
        """

    def rater_coords(self) -> dict[str, tuple[str, ...]]:
        """Return the coords that parameters of raters use."""
        return {
            "rater": self.raters.names,
            "group": self.raters.groups,
            "row": tuple(self.layout.row_names),
            "cell": tuple(self.layout.cell_names),
        }


def confusion_rows(
    family: Family, prior: Prior, dims: tuple[str, ...]
) -> tuple[list[Parameter], dict[str, NDArray[np.int64]]]:
    """Dirichlet parameters for whole rows, one block for each number of classes.

    Returns
    -------
    parameters : list of Parameter
        ``confusion_K`` with dims (*dims, row_K, class_K).
    rows : dict of str to ndarray
        Which asked rows each block holds.
    """
    layout, blocks, rows = family.layout, [], {}
    for classes in sorted(set(layout.row_classes.tolist())):
        here = np.flatnonzero(layout.row_classes == classes)
        counts = layout.prior_counts(here, correct=prior.values[0], total=prior.values[1])
        name = f"confusion_{classes}"
        coords = family.rater_coords() | {
            f"row_{classes}": tuple(layout.row_names[r] for r in here),
            f"class_{classes}": tuple(str(k) for k in range(classes)),
        }
        blocks.append(
            Parameter(
                name=name,
                dims=(*dims, f"row_{classes}", f"class_{classes}"),
                prior=Prior(name="Dirichlet", values=(counts,)),
                coords=coords,
            )
        )
        rows[name] = here
    return blocks, rows


def rows_to_table(
    family: Family, blocks: Mapping[str, Any], rows: Mapping[str, Any], xp: Any
) -> Any:
    """Put blocks of rows (..., rater, row, class) into one padded table of logarithms."""
    layout = family.layout
    where = np.full((layout.asked_rows, layout.width), -1)
    flat, offset = [], 0
    for name, block in blocks.items():
        classes = int(layout.row_classes[rows[name][0]])
        for n, row in enumerate(rows[name]):
            where[row, :classes] = offset + n * classes + np.arange(classes)
        flat.append(merge_axes(xp.log(block), 2))
        offset += len(rows[name]) * classes
    table = append_constant(xp.concatenate(flat, axis=-1), [NEVER], xp)
    return table[..., np.where(where < 0, offset, where)]

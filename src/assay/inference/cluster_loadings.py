"""The sign of the cluster loadings, which the data do not tell."""

import numpy as np
from numpy.typing import NDArray

from assay.inference.density import Density
from assay.inference.peaks import Mode

Floats = NDArray[np.float64]


def align_loadings(values: dict[str, Floats], density: Density, mode: Mode) -> dict[str, Floats]:
    """Give the cluster loadings of every draw the sign they have at the mode.

    The likelihood does not change if all of them change sign; nothing else depends on it.
    """
    if "cluster_loading" not in values:
        return values
    ahead = density.constrain(mode.x)["cluster_loading"]
    flip = np.where(values["cluster_loading"] @ ahead < 0, -1.0, 1.0)
    return values | {"cluster_loading": values["cluster_loading"] * flip[:, None]}

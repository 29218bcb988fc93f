"""The data as arrays for the compiled functions."""

from typing import NamedTuple

import numpy as np


class Data(NamedTuple):
    """Arrays for the compiled functions, see :class:`assay.likelihood.collapse.Pattern`."""

    cell_context: np.ndarray
    cell_mask: np.ndarray
    view_start: np.ndarray
    view_layer: np.ndarray
    row_start: np.ndarray
    rows: np.ndarray
    masks: np.ndarray
    panel_start: np.ndarray
    panel_cells: np.ndarray
    panel_counts: np.ndarray
    bundle_start: np.ndarray
    bundle_cells: np.ndarray
    bundle_counts: np.ndarray
    bundle_weight: np.ndarray
    reading_start: np.ndarray
    reading_bundle: np.ndarray
    reading_kind: np.ndarray

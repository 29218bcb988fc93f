"""Test for raters who judge one kind of items differently: are they other raters there?"""

from dataclasses import replace

import numpy as np

from assay._util.typing import Floats
from assay.checks.departures.null_model import LabelRows, NullFit, climb, codes, confusions

CLIMBS = 48
"""Passes of EM from the null model to raters who differ between kinds."""


def split_gains(rows: LabelRows, fit: NullFit) -> Floats:
    """Return the log likelihood gained by a confusion for each rater and kind, per item.

    (set, division into kinds). Items without a kind are a kind of their own.
    """
    before = climb(rows, confusions, fit.posterior, CLIMBS).evidence()
    gains = []
    for _, kind in rows.kinds:
        of_item = kind + 1
        cell = codes(rows.rater * (int(of_item.max()) + 1) + of_item[rows.item])
        apart = replace(rows, rater=cell, n_raters=int(cell.max()) + 1)
        gains.append(climb(apart, confusions, fit.posterior, CLIMBS).evidence() - before)
    return np.stack(gains, axis=-1) / len(rows.truth)

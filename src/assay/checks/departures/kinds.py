"""Test for raters who judge one kind of items differently: are they other raters there?"""

from dataclasses import replace

from assay._util.typing import Floats, Ints
from assay.checks.departures.null_model import LabelRows, NullFit, climb, codes, confusions

PASSES = 48


def split_gain(rows: LabelRows, fit: NullFit, kind: Ints) -> Floats:
    """Return the log likelihood gained by a confusion for each rater and kind, per item, (set,).

    Negative codes of ``kind`` (item,) mean no kind, which is a kind of its own here.
    """
    of_item = kind + 1
    cell = codes(rows.rater * (int(of_item.max()) + 1) + of_item[rows.item])
    apart = replace(rows, rater=cell, n_raters=int(cell.max()) + 1)
    before, after = (climb(one, confusions, fit.posterior, PASSES) for one in (rows, apart))
    return (after.evidence() - before.evidence()) / len(rows.truth)

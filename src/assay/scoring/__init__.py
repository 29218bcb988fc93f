"""Scored raters and rankings, held against draws of the truth.

``truths`` and ``scores`` read the two sides, ``classes`` says what is positive. ``runs`` puts tied
items together; ``decisions``, ``calibration``, ``discrimination``, ``rankings`` and
``correlation`` are the measures on arrays, ``block`` counts for them, ``measures`` finds them by
name. ``rater``, ``table`` and ``sweep`` are the public functions, ``weights`` their estimands.
"""

from assay.scoring.measures import MEASURES, Measure
from assay.scoring.rater import score_rater
from assay.scoring.sweep import threshold_sweep
from assay.scoring.table import score_table

__all__ = ["MEASURES", "Measure", "score_rater", "score_table", "threshold_sweep"]

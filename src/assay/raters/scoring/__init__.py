"""Scores and rankings, compared with draws of the truth."""

from assay.raters.scoring.measures import MEASURES, Measure
from assay.raters.scoring.rater_scores import score_rater, score_table
from assay.raters.scoring.thresholds import threshold_sweep

__all__ = ["MEASURES", "Measure", "score_rater", "score_table", "threshold_sweep"]

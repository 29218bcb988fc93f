"""Metrics of label draws, the variance of these metrics, and their population."""

from assay.evaluation import ais, generation, grounding, retrieval
from assay.evaluation.fitted import metrics
from assay.evaluation.known_labels import majority_metrics, metrics_of_labels
from assay.evaluation.prior import prior_metrics
from assay.evaluation.registry import Metric, metric
from assay.evaluation.select import load_metrics, metrics_for
from assay.evaluation.variance import variance_budget
from assay.evaluation.widths import expected_width

__all__ = [
    "Metric",
    "ais",
    "expected_width",
    "generation",
    "grounding",
    "load_metrics",
    "majority_metrics",
    "metric",
    "metrics",
    "metrics_for",
    "metrics_of_labels",
    "prior_metrics",
    "retrieval",
    "variance_budget",
]

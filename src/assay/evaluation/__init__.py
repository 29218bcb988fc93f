"""Metrics: a function each, found by name, applied to every draw of the labels.

``registry`` holds the metrics; ``retrieval``, ``grounding``, ``generation``, ``ais`` and
``prevalence`` are the shipped ones. ``panels`` says where each item stands, ``estimands`` how much
each cluster weighs, ``events`` whether the data can tell, ``draws`` joins them on arrays.
``fitted`` is for a fit, ``known`` for labels that are known, ``baseline`` for the majority vote.
"""

from assay.evaluation import ais, generation, grounding, retrieval
from assay.evaluation.baseline import majority_metrics
from assay.evaluation.fitted import metrics
from assay.evaluation.known import metrics_of_labels
from assay.evaluation.registry import Metric, metric, metrics_for

__all__ = [
    "Metric",
    "ais",
    "generation",
    "grounding",
    "majority_metrics",
    "metric",
    "metrics",
    "metrics_for",
    "metrics_of_labels",
    "retrieval",
]

"""Metrics: a function each, found by name, applied to every draw of the labels.

``registry`` holds the metrics; ``retrieval``, ``grounding``, ``generation``, ``ais`` and
``prevalence`` are the shipped ones, and ``choosing`` says which of them a task reports. ``panels``
says where each item stands, ``estimands`` how much each cluster weighs, ``discordance`` which
clusters the prior adds to them, ``draws`` and ``population`` join them on arrays. ``fitted`` is
for a fit (its draws come from ``stream``), ``prior`` for what is believed before, ``known`` for
labels that are known,
``baseline`` for the majority vote. ``metric_files`` reads metrics of the user's own. ``budget``
says where the variance of a metric comes from (``components``), ``effective`` how many draws
correlated ones are worth, ``widths`` what more data would make of it (``pre_posterior``).
``kept_draws`` holds draws of a fit while a report is made of it.
"""

from assay.evaluation import ais, generation, grounding, retrieval
from assay.evaluation.baseline import majority_metrics
from assay.evaluation.budget import variance_budget
from assay.evaluation.choosing import metrics_for
from assay.evaluation.fitted import metrics
from assay.evaluation.known import metrics_of_labels
from assay.evaluation.metric_files import load_metrics
from assay.evaluation.prior import prior_metrics
from assay.evaluation.registry import Metric, metric
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

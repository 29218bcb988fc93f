"""Metrics of the task: whether they exist and have the labels that they need."""

from assay.checks.findings import Part, findings_on
from assay.data.metric_names import lacking_labels, unknown_metrics
from assay.data.ratings import Ratings

finding = findings_on("metrics")


def check_metric_names(ratings: Ratings) -> Part:
    """Report metrics of the task that cannot be computed."""
    own = ". To use a metric of your own, register it first: load_metrics(...), or --metric-file"
    said = [text + own for text in unknown_metrics(ratings.task)] + lacking_labels(ratings.task)
    return Part(
        findings=tuple(
            finding(
                "problem",
                f"task {ratings.task.name} cannot be reported: {text}",
                code="metric-unavailable",
            )
            for text in said
        )
    )

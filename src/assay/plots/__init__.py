"""Figures: functions that return a matplotlib figure and show nothing."""

from assay.plots.agreement import plot_agreement
from assay.plots.budget import plot_budget
from assay.plots.comparison import plot_comparison
from assay.plots.labels import plot_labels
from assay.plots.metrics import plot_metrics
from assay.plots.raters import plot_confusions, plot_raters
from assay.plots.scores import plot_calibration
from assay.plots.sessions import plot_drift

__all__ = [
    "plot_agreement",
    "plot_budget",
    "plot_calibration",
    "plot_comparison",
    "plot_confusions",
    "plot_drift",
    "plot_labels",
    "plot_metrics",
    "plot_raters",
]

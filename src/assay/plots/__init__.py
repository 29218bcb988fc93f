"""Figures: functions that return matplotlib axes and show nothing."""

from assay.plots.labels import plot_agreement, plot_labels
from assay.plots.metrics import plot_budget, plot_comparison, plot_metrics
from assay.plots.raters import plot_calibration, plot_confusions, plot_drift, plot_raters

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

"""Figures: functions that return a matplotlib figure and show nothing.

``plot_*`` takes a fit (or a result of its own kind) and is for users; ``draw_*`` takes the tables
that a caller has already, and is what the report uses. ``forest`` is the shape most of them have,
``style`` their palette.
"""

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

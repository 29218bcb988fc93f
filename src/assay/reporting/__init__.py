"""The report: what a fit means, as one HTML file that people read."""

from assay.reporting.writing import report

__all__ = ["report"]

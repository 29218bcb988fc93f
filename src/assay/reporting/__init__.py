"""The report: the results of a fit as one HTML file."""

from assay.reporting.writing import report

__all__ = ["report"]

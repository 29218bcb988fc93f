"""Checks before fitting: what the data can tell, and what they cannot."""

from assay.checking.check import check
from assay.checking.result import Check, Finding

__all__ = ["Check", "Finding", "check"]

"""Checks before fitting: what ratings can tell, and what they cannot."""

from assay.checks.findings import Check, Finding
from assay.checks.run_checks import check

__all__ = ["Check", "Finding", "check"]

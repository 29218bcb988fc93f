"""Checks before fitting: what the ratings can and cannot identify."""

from assay.checks.findings import Check, Finding
from assay.checks.run_checks import check

__all__ = ["Check", "Finding", "check"]

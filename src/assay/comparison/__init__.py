"""Comparison of systems on joint draws, and claims about systems."""

from assay.comparison.baselines import SideBySide, compare_baselines
from assay.comparison.claim_tests import ClaimResult, check_claim
from assay.comparison.claims import Claim, parse_claim
from assay.comparison.counts import compare_counts
from assay.comparison.groups import compare_groups
from assay.comparison.launch import Decision, decide
from assay.comparison.systems import Comparison, compare, compare_draws

__all__ = [
    "Claim",
    "ClaimResult",
    "Comparison",
    "Decision",
    "SideBySide",
    "check_claim",
    "compare",
    "compare_baselines",
    "compare_counts",
    "compare_draws",
    "compare_groups",
    "decide",
    "parse_claim",
]

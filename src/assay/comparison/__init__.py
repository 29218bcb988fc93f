"""Comparison of systems on joint draws, and claims about systems."""

from assay.comparison.baselines import SideBySide, side_by_side
from assay.comparison.claim_tests import ClaimResult, check_claim
from assay.comparison.claims import Claim, parse_claim
from assay.comparison.counts import compare_counts
from assay.comparison.groups import group_contrasts
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
    "compare_counts",
    "compare_draws",
    "decide",
    "group_contrasts",
    "parse_claim",
    "side_by_side",
]

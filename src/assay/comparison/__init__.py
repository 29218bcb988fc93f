"""Comparisons: systems on joint draws, claims about them, and what would change the conclusion.

``comparing`` compares the systems of a fit, ``counts`` published counts; ``pairs``, ``ranks`` and
``result`` are their parts. ``settled`` is the one rule for what an interval settles. ``claims`` is
the language of claims, ``verdicts`` checks one and ``deciding`` says what would decide it.
``sides`` sets the majority vote (``naive``) and people's ratings alone beside the model.
``robustness`` refits (``refitting``) under other assumptions (``variants``); ``views`` are what is
read off each refit; ``equal_difficulty`` refits without a difficulty. ``groups`` contrasts systems
within strata, pooled by ``pooling``.
"""

from assay.comparison.claims import Claim, parse_claim
from assay.comparison.comparing import compare
from assay.comparison.counts import compare_counts
from assay.comparison.groups import group_contrasts
from assay.comparison.result import Comparison, compare_draws
from assay.comparison.robustness import stability, stability_tables
from assay.comparison.sides import SideBySide, side_by_side
from assay.comparison.verdicts import ClaimResult, check_claim

__all__ = [
    "Claim",
    "ClaimResult",
    "Comparison",
    "SideBySide",
    "check_claim",
    "compare",
    "compare_counts",
    "compare_draws",
    "group_contrasts",
    "parse_claim",
    "side_by_side",
    "stability",
    "stability_tables",
]

"""Findings of the check that a fit has resolved."""

from assay.checks.double_sampling import is_followed
from assay.checks.findings import Check, Finding, Proposal
from assay.fits.view import Fit, FitView
from assay.inference.data_doubts import has_part_for

OF_ORDERS = ("ordinal", "scored")
"""Families that model ordered classes."""


def still_true(checked: Check, fit: Fit) -> list[Finding]:
    """Return the findings of a check without those that this fit has resolved."""
    view = FitView.of(fit)
    parts = set(view.spec.rater_parts)
    followed: dict[Proposal | None, bool] = {
        "reference": view.spec.reference is not None,
        "order": not parts.isdisjoint(OF_ORDERS),
        "system_bias": is_followed(parts, view.spec.prevalence),
    }
    return [
        f
        for f in checked.findings
        if not (followed.get(f.proposes) or has_part_for(f.code, view.spec))
    ]

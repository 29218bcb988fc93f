"""Agreement between raters: coefficients with intervals, and their expectation under a model."""

from assay.raters.agreements.coefficients import WHOLE
from assay.raters.agreements.leave_one_out import rater_agreement
from assay.raters.agreements.tables import Agreement, agreement

__all__ = ["WHOLE", "Agreement", "agreement", "rater_agreement"]

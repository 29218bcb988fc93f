"""Agreement between raters: the usual coefficients, with intervals, beside what a model expects."""

from assay.raters.agreements.coefficients import WHOLE
from assay.raters.agreements.leave_one_out import rater_agreement
from assay.raters.agreements.tables import Agreement, agreement

__all__ = ["WHOLE", "Agreement", "agreement", "rater_agreement"]

"""Agreement between raters: the usual coefficients, with intervals, beside what a model expects.

``design`` says who rated what and with whom, ``columns`` what was said, ``tallies`` what has to be
counted, ``statistics`` what the counts amount to, ``bootstrap`` how sure that is, ``expected`` what
a fitted model would have produced, ``tables`` how it is reported; ``leave_one_out``
how far each rater agrees with the others.
"""

from assay.agreements.columns import WHOLE
from assay.agreements.leave_one_out import rater_agreement
from assay.agreements.tables import Agreement, agreement

__all__ = ["WHOLE", "Agreement", "agreement", "rater_agreement"]

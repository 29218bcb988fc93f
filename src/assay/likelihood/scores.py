"""Positive unknowns from their normal scores, under an exponential distribution."""

import math

from assay.likelihood.compiling import compiled


@compiled()
def log_of_score(score):  # type: ignore[no-untyped-def]
    r"""Logarithm of the quantile of a score, its slope, and that of the slope's logarithm.

    .. math:: \log q, \quad q = -\log \Phi(-v), \qquad
              \frac{\mathrm d \log q}{\mathrm d v} = \frac{h}{q}, \quad
              h = \frac{\varphi(v)}{\Phi(-v)}, \qquad
              \frac{\mathrm d}{\mathrm d v} \log \frac{h}{q} = h - v - \frac{h}{q}.
    """
    above = 0.5 * math.erfc(score * math.sqrt(0.5))
    if score < 0:
        quantile = -math.log1p(-0.5 * math.erfc(-score * math.sqrt(0.5)))
    else:
        quantile = -math.log(above)
    hazard = math.exp(-0.5 * score * score) / math.sqrt(2 * math.pi) / above
    slope = hazard / quantile
    return math.log(quantile), slope, hazard - score - slope

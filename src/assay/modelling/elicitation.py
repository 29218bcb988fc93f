"""Expert opinions as priors, ``"about 85 % accurate, 90 % between 70 and 95"``: a mean and the mass
of an interval determine a distribution with two parameters.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import betainc, expit, logit, ndtr

from assay._util.errors import ModelError
from assay._util.validation import cut

MAX_CHARACTERS = 200
EXAMPLE = "about 85 % accurate, 90 % between 70 and 95"
_NUMBER = r"(\d*\.?\d+)\s*(%?)"
_FORM = re.compile(
    rf"about\s+{_NUMBER}(?:\s+(?:accurate|right|correct))?\s*,?\s*"
    rf"{_NUMBER}\s+between\s+{_NUMBER}\s+and\s+{_NUMBER}",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """An opinion on a probability: its mean, and the probability ``mass`` of an interval."""

    mean: float
    mass: float
    lower: float
    upper: float

    @classmethod
    def parse(cls, text: str, *, where: str = "prior") -> Self:
        """Read an opinion from text or raise ModelError. Numbers are in per cent if one is above 1
        or has the sign; likewise the probability.
        """
        found = _FORM.fullmatch(text.strip()) if len(text) <= MAX_CHARACTERS else None
        if found is None:
            raise ModelError(
                f"{where}: {cut(text)} is not an opinion. Write e.g. {EXAMPLE!r}",
                code="prior-syntax",
            )
        numbers, signs = [float(n) for n in found.groups()[::2]], found.groups()[1::2]
        mean, lower, upper = _fractions([numbers[0], *numbers[2:]], [signs[0], *signs[2:]])
        (mass,) = _fractions(numbers[1:2], signs[1:2])
        if not (0 <= lower < mean < upper <= 1 and 0 < mass < 1):
            raise ModelError(
                f"{where}: {text!r} is impossible. The mean must lie inside the interval, and the "
                "interval between 0 and 100 %. Its probability must be above 0 and below 100 %, as "
                f"in {EXAMPLE!r}",
                code="opinion-impossible",
            )
        return cls(mean=mean, mass=mass, lower=lower, upper=upper)

    def __str__(self) -> str:
        """Write the opinion in per cent."""
        mean, mass, lower, upper = (
            f"{100 * x:.12g}" for x in (self.mean, self.mass, self.lower, self.upper)
        )
        return f"about {mean} %, {mass} % between {lower} and {upper}"


def _fractions(numbers: Sequence[float], signs: Sequence[str]) -> list[float]:
    """Divide numbers by 100 if one of them has a per cent sign or is above 1."""
    scale = 100 if any(signs) or max(numbers) > 1 else 1
    return [number / scale for number in numbers]


def opinion_beta(opinion: Opinion) -> tuple[float, float]:
    r"""Return alpha and beta of the beta distribution with the opinion's mean and mass, or raise
    ModelError: :math:`\alpha = m n`, :math:`\beta = (1 - m) n`.
    """

    def mass(log_total: float) -> float:
        a, b = opinion.mean * np.exp(log_total), (1 - opinion.mean) * np.exp(log_total)
        return float(betainc(a, b, opinion.upper) - betainc(a, b, opinion.lower))

    total = float(np.exp(_solve(mass, opinion, np.log(1e8), np.log(1e-4))))
    return opinion.mean * total, (1 - opinion.mean) * total


def opinion_logit_normal(opinion: Opinion) -> tuple[float, float]:
    r"""Return mean and SD of normal log odds with the opinion's mean and mass, or raise ModelError.

    Each SD determines the mean by :math:`E[\operatorname{expit}(\mu + \sigma z)] = m`.
    """
    z = np.linspace(-9, 9, 801)
    weight = np.exp(-0.5 * z * z)
    weight /= weight.sum()
    ends = logit(np.array([opinion.lower, opinion.upper]))

    def centre(sigma: float) -> float:
        def excess(mu: float) -> float:
            return float(weight @ expit(mu + sigma * z)) - opinion.mean

        return _root(excess, -50 - 50 * sigma, 50 + 50 * sigma)

    def mass(log_sigma: float) -> float:
        sigma = float(np.exp(log_sigma))
        lower, upper = ndtr((ends - centre(sigma)) / sigma)
        return float(upper - lower)

    sigma = float(np.exp(_solve(mass, opinion, np.log(1e-4), np.log(30.0))))
    return centre(sigma), sigma


def _solve(mass: Callable[[float], float], opinion: Opinion, narrow: float, wide: float) -> float:
    """Return the spread at which the interval has the opinion's mass."""
    if mass(wide) > opinion.mass:
        raise ModelError(
            f"'{opinion}' is impossible: with this mean, the interval always holds more than "
            f"{mass(wide):.0%}. Give a higher probability, or a narrower interval",
            code="opinion-impossible",
            numbers={"mass": mass(wide)},
        )
    return _root(lambda x: mass(x) - opinion.mass, narrow, wide)


def _root(function: Callable[[float], float], start: float, end: float) -> float:
    # Imported here, as the import is slow and few models need it.
    from scipy.optimize import brentq

    try:
        return float(brentq(function, start, end, xtol=1e-12))
    except ValueError:  # no change of sign: no distribution of this kind is so extreme
        raise ModelError(
            "no distribution has the mean and the interval of this opinion. Give a wider interval, "
            "or a mean further from its ends",
            code="opinion-impossible",
        ) from None

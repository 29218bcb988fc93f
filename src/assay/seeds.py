"""What may be given as ``rng=``: a seed, or a generator."""

import numpy as np

from assay.errors import FitError


def seed_of(rng: object) -> int:
    """Return the seed that is meant: a whole number itself, or one drawn by a generator.

    Raises
    ------
    FitError
        If it is neither.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**31))
    if not isinstance(rng, int | np.integer) or rng < 0:
        raise FitError(
            f"rng={rng!r}; it must be a whole number of at least 0, or a numpy.random.Generator"
        )
    return int(rng)


def generator_of(rng: object) -> np.random.Generator:
    """Return the generator that is meant: itself, or a new one with the seed.

    Raises
    ------
    FitError
        If it is neither.

    Examples
    --------
    >>> bool(generator_of(7).integers(10) == np.random.default_rng(7).integers(10))
    True
    """
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed_of(rng))

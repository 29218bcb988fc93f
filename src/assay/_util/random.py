"""What may be given as ``rng=``: a seed, or a generator."""

import numpy as np

from assay._util.validation import require_count


def seed_of(rng: object) -> int:
    """Return the seed that is meant: a whole number itself, or one drawn by a generator.

    Raises
    ------
    ArgumentError
        If it is neither.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**31))
    return require_count("rng", rng, least=0, otherwise="a numpy.random.Generator")


def generator_of(rng: object) -> np.random.Generator:
    """Return the generator that is meant: itself, or a new one with the seed.

    Raises
    ------
    ArgumentError
        If it is neither.

    Examples
    --------
    >>> bool(generator_of(7).integers(10) == np.random.default_rng(7).integers(10))
    True
    """
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed_of(rng))

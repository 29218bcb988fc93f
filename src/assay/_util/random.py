"""The argument ``rng``: a seed, or a generator."""

import numpy as np

from assay._util.validation import require_count


def seed_of(rng: object) -> int:
    """Return a seed: the given whole number, or one drawn by the given generator."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**31))
    return require_count("rng", rng, least=0, otherwise="a numpy.random.Generator")


def generator_of(rng: object) -> np.random.Generator:
    """Return the given generator, or a new one with the given seed."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed_of(rng))

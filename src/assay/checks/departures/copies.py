"""Raters who err together, as copies of one another."""

from collections.abc import Mapping, Sequence

import numpy as np

from assay.checks.departures.search import search
from assay.data.ratings import UNNAMED, Ratings


def found_copies(ratings: Ratings) -> dict[str, str]:
    """Return a source for each rater who errs with another, by the test of dependent raters.

    Slots are no raters, so none of them copies.
    """
    if UNNAMED in set(ratings.raters["group"]):
        return {}
    count = np.bincount(ratings.rater, minlength=len(ratings.raters)).tolist()
    names = (str(name) for name in ratings.raters.index)
    size = dict(zip(names, count, strict=True))
    return as_copies([sorted(pair, key=lambda name: -size[name]) for pair in search(ratings).pairs])


def as_copies(pairs: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return a source for raters in ``pairs``, without circles.

    The first of a pair is the source. If the other has a source already, the pair is turned round,
    or left out. Which of two is the source matters little.

    >>> as_copies([("a", "b"), ("b", "c"), ("a", "c")])
    {'b': 'a', 'c': 'b'}
    """
    found: dict[str, str] = {}
    for source, copier in pairs:
        if origin_of(found, source) == origin_of(found, copier):
            continue
        if copier in found:
            source, copier = copier, source
        if copier not in found:
            found[copier] = source
    return found


def origin_of(copies: Mapping[str, str], name: str) -> str:
    """Return the rater at the start of a chain of copies."""
    while name in copies:
        name = copies[name]
    return name

"""Confidence from the probabilities of the tokens at the place of the class."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

LEADING = " \t\n\r*_`'\"<>()[]:.▁Ġ"
"""Characters before a word, including signs by which some vocabularies write a blank."""


def class_probabilities(
    tokens: Sequence[Mapping[str, Any]], start: int, classes: Sequence[str]
) -> list[float] | None:
    """Return the probability of each class at place ``start`` of the joined tokens, or None.

    Those of tokens that begin this class alone, whatever their case, are summed and normalised.
    """
    place = 0
    for one in tokens:
        place += len(str(one.get("token", "")))
        if place > start:
            return _normalised(_listed(one), classes)
    return None


def _listed(token: Mapping[str, Any]) -> dict[str, float]:
    """Return the log probability of each token listed at a place, including the one written."""
    found = [*(token.get("top_logprobs") or ()), token]
    return {
        str(one["token"]): float(one["logprob"])
        for one in found
        if isinstance(one.get("logprob"), int | float) and "token" in one
    }


def _normalised(listed: Mapping[str, float], classes: Sequence[str]) -> list[float] | None:
    sums = [0.0] * len(classes)
    for token, logarithm in listed.items():
        word = token.strip(LEADING).casefold()
        of = [n for n, name in enumerate(classes) if word and name.casefold().startswith(word)]
        if len(of) == 1:
            sums[of[0]] += math.exp(min(logarithm, 0.0))
    total = math.fsum(sums)
    return [one / total for one in sums] if total > 0 else None

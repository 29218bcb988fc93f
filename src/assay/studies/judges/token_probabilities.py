"""Confidence from the probabilities of tokens: how sure a model was when it wrote the class."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

LEADING = " \t\n\r*_`'\"<>()[]:.▁Ġ"
"""Marks before a word, and the signs by which some vocabularies write a blank."""


def class_probabilities(
    tokens: Sequence[Mapping[str, Any]], start: int, classes: Sequence[str]
) -> list[float] | None:
    r"""Return the probability of each class at the place where the class was written.

    Parameters
    ----------
    tokens : sequence of dict
        As endpoints return them: ``token``, ``logprob`` and ``top_logprobs``, a list of the
        likeliest tokens there with theirs.
    start : int
        Where the class begins in the joined tokens.
    classes : sequence of str

    Returns
    -------
    list of float or None
        They sum to 1. None if no token there is the beginning of a single class.

    Notes
    -----
    A token counts for a class if it is the beginning of this class and of no other, whatever its
    case. The probabilities of such tokens are added and normalised over the classes. A class that
    is not among the likeliest tokens gets 0.

    Examples
    --------
    >>> tops = [{"token": "Yes", "logprob": -0.5}, {"token": " no", "logprob": -1.5}]
    >>> tokens = [{"token": "Yes", "logprob": -0.5, "top_logprobs": tops}]
    >>> [round(p, 3) for p in class_probabilities(tokens, 0, ["no", "yes"])]
    [0.269, 0.731]
    """
    place = 0
    for one in tokens:
        place += len(str(one.get("token", "")))
        if place > start:
            return _normalised(_listed(one), classes)
    return None


def _listed(token: Mapping[str, Any]) -> dict[str, float]:
    """Return the log probability of each token at a place; the one that was written is one."""
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

"""What the default model adds for departures that the tests find."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.checks.departures.search import BY_SYSTEM, search
from assay.data.misread_clusters import rows_with_readings
from assay.data.overlap import groups_identify_truth
from assay.data.ratings import UNNAMED, Ratings, ratings_by_rater

LAYER_OF = {
    **dict.fromkeys(sorted(BY_SYSTEM), "system_bias"), "rater-by-cluster": "misreading",
}  # fmt: skip
"""Layer that models what a test finds, by the code of the finding."""
MOST_ROWS = 200_000
"""Rows of the likelihood above which the default leaves ``misreading`` out, as it takes long."""


def with_found_layers(ratings: Ratings, recipe: str | Mapping[str, str]) -> str | Mapping[str, str]:
    """Return a recipe with the layers for what the tests find."""
    layers = "".join(f" + {name}" for name in found_layers(ratings))
    if isinstance(recipe, str):
        return recipe + layers
    return {group: own if group == UNNAMED else own + layers for group, own in recipe.items()}


def found_layers(ratings: Ratings) -> list[str]:
    """Return the layers for what the tests find, if some raters are known."""
    if not is_named(ratings):
        return []
    codes = {one.code for one in search(ratings).found}
    found = list(dict.fromkeys(layer for code, layer in LAYER_OF.items() if code in codes))
    named = (ratings.raters["group"] != UNNAMED).to_numpy()
    if "misreading" in found and rows_with_readings(ratings, named) > MOST_ROWS:
        found.remove("misreading")
    return found


def is_named(ratings: Ratings) -> bool:
    """Return whether some raters are known, and not only slots."""
    return set(ratings.raters["group"]) != {UNNAMED}


def found_copies(ratings: Ratings) -> dict[str, str]:
    """Return a source for each rater who errs with another, by the test of dependent raters."""
    if not may_copy(ratings):
        return {}
    size = ratings_by_rater(ratings)
    return as_copies([sorted(pair, key=lambda name: -size[name]) for pair in search(ratings).pairs])


LEAST_OTHERS = 3
"""Least number of raters who err with nobody, beside those who err together."""


def may_copy(ratings: Ratings) -> bool:
    """Return whether copies are the remedy for raters who err together.

    At least three raters, and as many as err together, have to err with nobody: nothing tells which
    of two blocs is right. Misread clusters, slots, and three groups (``reference="groups"``) have
    other remedies.
    """
    if any(one.code == "rater-by-cluster" for one in search(ratings).found):
        return False
    together = len({name for pair in search(ratings).pairs for name in pair})
    others = len(np.unique(ratings.rater)) - together
    if others < max(LEAST_OTHERS, together):
        return False
    return UNNAMED not in set(ratings.raters["group"]) and not groups_identify_truth(ratings)


def as_copies(pairs: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return a source for raters in ``pairs``, without circles: the first of a pair, or else the
    other. Which of two is the source matters little.

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


def apart_by_kind(column: str, ratings: Ratings) -> dict[str, Any]:
    """Return how to read a column of kinds in which raters differ; empty if it cannot be read."""
    if not ratings.sessions:
        return {"session": column}
    raters = ratings.accounting.columns_of("rater")
    return {"rater": [*raters, column]} if raters else {}


def origin_of(copies: Mapping[str, str], name: str) -> str:
    """Return the rater at the start of a chain of copies."""
    while name in copies:
        name = copies[name]
    return name

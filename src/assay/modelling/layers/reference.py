"""The reference, which defines the truth: rater groups with a perception layer, and its data."""

from collections.abc import Collection, Mapping

import numpy as np

from assay._util.errors import ModelError, suggest
from assay._util.text import counted, does
from assay._util.typing import Bools
from assay.data.overlap import (
    LAYER_ITEMS,
    MIN_GROUPS,
    first_meetings,
    groups_identify_truth,
    groups_of_items,
    rated_twice_and_by_others,
)
from assay.data.ratings import Ratings
from assay.modelling.spec import GOLD, GROUPS


def layered_groups(
    reference: str | None, named: set[str], groups: Collection[str], meeting: Collection[str]
) -> tuple[str, ...]:
    """Return the rater groups with a perception layer; ModelError if data do not identify it.

    named : groups whose recipe has ``perception``
    meeting : groups with two raters on some item
    """
    if reference is None:
        if named:
            raise ModelError(
                "perception needs a reference that defines the truth; otherwise the misperception "
                "of a group cannot be separated from the truth. Give `reference='gold'` (known "
                "truth of some items) or `reference='groups'` (the agreement of three rater groups "
                "or more). Or name the rater group whose consensus counts as the truth",
                code="perception-without-reference",
            )
        return ()
    if reference == GOLD:
        return tuple(groups)
    if reference == GROUPS:
        # With one rater on each item, a group's misperceptions are the rater's own errors.
        alone = sorted(named.difference(meeting))
        if alone:
            raise ModelError(
                f"no item has ratings of two raters of the group {alone[0]!r}. With "
                f"`reference={GROUPS!r}`, its misperception cannot be separated from the errors of "
                "single raters. Leave perception out of its recipe",
                code="reference-too-few-items",
            )
        return tuple(name for name in groups if name in meeting)
    _require_group(reference, groups)
    if reference in named:
        raise ModelError(
            f"the reference {reference!r} cannot have a perception layer, because its consensus is "
            "the truth by definition",
            code="reference-with-perception",
        )
    return tuple(name for name in groups if name != reference)


def check_reference(ratings: Ratings, reference: str | None) -> None:
    """Raise ModelError for an unknown reference, or one with fewer than 30 informative items.

    See :func:`telling_items`.
    """
    if reference is None:
        return
    sizes = group_sizes(ratings)
    if reference not in (GOLD, GROUPS):
        _require_group(reference, sizes)
    enough = int(telling_items(ratings, reference).sum())
    if reference == GOLD:
        if enough < LAYER_ITEMS:
            raise ModelError(
                f"`reference={GOLD!r}` needs the known truth of at least {LAYER_ITEMS} items; "
                f"{enough} have it. Give the truth when reading (`truth=`), or use `reference=None`"
                + _namesake(reference, sizes),
                code="reference-too-few-items",
                numbers={"items": enough, "needed": LAYER_ITEMS},
            )
        return
    if reference == GROUPS:
        if not groups_identify_truth(ratings):
            raise ModelError(
                f"`reference={GROUPS!r}` needs {LAYER_ITEMS} items that {MIN_GROUPS} rater groups "
                "rated, and one group with two raters of the same item. There "
                f"{does(enough, 'are')} {counted(enough, 'such item')} and "
                f"{counted(len(first_meetings(ratings)), 'such group')} of {len(sizes)}. Name "
                "the groups when reading (`group=`), or use `reference=None` (one consensus). If "
                "there are two groups, name the one whose consensus counts as the truth"
                + _namesake(reference, sizes),
                code="reference-too-few-items",
                numbers={"items": enough, "needed": LAYER_ITEMS},
            )
        return
    if enough < LAYER_ITEMS:
        raise ModelError(
            f"`reference={reference!r}` needs at least {LAYER_ITEMS} items with two ratings of "
            f"this group and a rating of another group; there are {enough}. Use `reference=None` "
            "(one consensus)",
            code="reference-too-few-items",
            numbers={"items": enough, "needed": LAYER_ITEMS},
        )


def _namesake(reference: str, sizes: Mapping[str, int]) -> str:
    """Say that a rater group's name has another meaning as a reference."""
    if reference not in sizes:
        return ""
    return f". If the rater group {reference!r} is meant, give it another name when reading"


def _require_group(reference: str, groups: Collection[str]) -> None:
    if reference not in groups:
        raise ModelError(
            f"`reference={reference!r}` is not a rater group; "
            f"{suggest(reference, list(dict.fromkeys([GOLD, GROUPS, *groups])))}",
            code="unknown-group",
        )


def group_sizes(ratings: Ratings) -> dict[str, int]:
    """Return the number of raters of each group, by name in order."""
    names, counts = np.unique(ratings.raters["group"].astype(str), return_counts=True)
    return {str(name): int(count) for name, count in zip(names, counts, strict=True)}


def telling_items(ratings: Ratings, reference: str) -> Bools:
    """Return which items tell of misperception, (item,): by gold, by ratings of three groups, or by
    two ratings of the reference group and one of another.
    """
    if reference == GOLD:
        return ratings.has_truth
    if reference == GROUPS:
        return groups_of_items(ratings) >= MIN_GROUPS
    return rated_twice_and_by_others(ratings, reference)

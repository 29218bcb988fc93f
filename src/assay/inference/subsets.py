"""Subsets of the items of ratings, and joins of ratings of different items."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import RatingsError
from assay._util.typing import Ints
from assay.data.ratings import PER_RATING, Ratings, take_ratings


def take_items(ratings: Ratings, items: Ints) -> Ratings:
    """Return the ratings of some items (ascending positions); all raters stay."""
    place = np.full(len(ratings.items), -1, np.int64)
    place[items] = np.arange(len(items))
    taken = take_ratings(ratings, place[ratings.item] >= 0)
    panels = ratings.panels[place[ratings.panels["item"].to_numpy()] >= 0]
    return replace(
        taken,
        item=place[taken.item],
        items=ratings.items.iloc[items],
        keys=ratings.keys.iloc[items],
        truth=ratings.truth[items],
        panels=panels.assign(item=place[panels["item"].to_numpy()]).reset_index(drop=True),
        simulated=None,
    )


def join_ratings(sets: Sequence[Ratings]) -> Ratings:
    """Join ratings of different items under one task; raters are matched by name.

    RatingsError is raised if a rater is in several groups.
    """
    raters = pd.concat([ratings.raters for ratings in sets])
    raters = raters[~raters.reset_index().duplicated().to_numpy()]
    twice = raters.index[raters.index.duplicated()]
    if len(twice):
        raise RatingsError(
            f"rater {twice[0]} is in several groups: {', '.join(raters.loc[twice[0], 'group'])}",
            code="rater-in-two-groups",
        )
    offsets = np.cumsum([0, *(len(ratings.items) for ratings in sets[:-1])])
    moved = [
        replace(
            with_raters(ratings, raters),
            item=ratings.item + offset,
            panels=ratings.panels.assign(item=ratings.panels["item"] + offset),
        )
        for ratings, offset in zip(sets, offsets, strict=True)
    ]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(ratings, name) for ratings in moved]) for name in PER_RATING
    }
    return replace(
        moved[0],
        items=pd.concat([ratings.items for ratings in moved]),
        keys=pd.concat([ratings.keys for ratings in moved]),
        truth=np.concatenate([ratings.truth for ratings in moved]),
        panels=pd.concat([ratings.panels for ratings in moved], ignore_index=True),
        **joined,
    )


def with_raters(ratings: Ratings, raters: pd.DataFrame) -> Ratings:
    """Return ratings with another table of raters, which must have all of theirs."""
    code = raters.index.get_indexer(ratings.raters.index).astype(np.int64)
    return replace(ratings, raters=raters, rater=code[ratings.rater])

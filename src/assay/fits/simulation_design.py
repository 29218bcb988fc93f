"""The design of a simulation: who rates what, how often and when."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay._util.plurals import counted
from assay._util.validation import require_count
from assay.data.ratings import Ratings, no_accounting, take_ratings
from assay.data.states import MISSING, StateSpace, Vectors, state_space
from assay.data.task import Task


def design_ratings(
    task: Task,
    *,
    n_items: int,
    groups: Mapping[str, int],
    ratings_per_item: int | Sequence[int],
    n_systems: int,
    n_clusters: int | None,
    rng: np.random.Generator,
) -> Ratings:
    """Say who rates what, with placeholder answers; arguments are those of ``simulate``.

    Raises
    ------
    ModelError
        If the sizes do not fit each other.
    """
    _check_sizes(n_items, groups, n_systems, n_clusters)
    n_raters = sum(groups.values())
    per_item = _ratings_of_items(n_items, n_raters, ratings_per_item)
    order = rng.random((n_items, n_raters)).argsort(axis=1)
    keep = np.arange(n_raters) < per_item[:, None]
    item = np.repeat(np.arange(n_items), per_item)
    clusters = max(n_items // n_systems, 1) if n_clusters is None else n_clusters
    panels = _panels(n_items, clusters, n_systems)
    return Ratings(
        task=task,
        answers=_placeholder(state_space(task), len(item)),
        item=item.astype(np.int64),
        rater=order[keep].astype(np.int64),
        replicate=np.zeros(len(item), np.int64),
        abstained=np.zeros(len(item), bool),
        items=pd.DataFrame(
            {"cluster": panels["cluster"].to_numpy(), "stratum": "", "weight": 1.0},
            index=pd.Index([f"item_{i + 1}" for i in range(n_items)], name="item"),
        ),
        raters=pd.DataFrame(
            {"group": [name for name, count in groups.items() for _ in range(count)]},
            index=pd.Index([f"rater_{j + 1}" for j in range(n_raters)], name="rater"),
        ),
        truth=np.full((n_items, len(task.labels)), MISSING, np.int16),
        panels=panels,
        accounting=no_accounting(len(item), source="a simulation"),
    )


def _ratings_of_items(
    n_items: int, n_raters: int, ratings_per_item: int | Sequence[int]
) -> NDArray[np.int64]:
    """Return the number of ratings of each item, if there can be so many."""
    if np.size(ratings_per_item) not in (1, n_items):
        raise ModelError(
            f"ratings_per_item has {np.size(ratings_per_item)} numbers for {n_items} items; "
            "give one for all, or one for each",
            code="simulated-design",
            numbers={"items": n_items},
        )
    if np.asarray(ratings_per_item).dtype.kind not in "iu":
        raise ModelError(
            f"ratings_per_item={ratings_per_item!r}; it must be whole numbers",
            code="simulated-design",
        )
    per_item = np.broadcast_to(np.asarray(ratings_per_item, np.int64), (n_items,))
    if n_raters < 1 or per_item.max() > n_raters or per_item.min() < 0:
        raise ModelError(
            f"{n_items} items with {per_item.min()} to {per_item.max()} ratings each by "
            f"{n_raters} raters cannot be; an item has at most one rating of each rater",
            code="simulated-design",
            numbers={"items": n_items, "raters": n_raters},
        )
    return per_item


def _panels(n_items: int, clusters: int, systems: int) -> pd.DataFrame:
    """Deal the items out to the lists of clusters and systems, rank by rank."""
    if clusters * systems > n_items:
        raise ModelError(
            f"{counted(n_items, 'item', 'are')} too few for {counted(clusters, 'cluster')} "
            f"x {counted(systems, 'system')}",
            code="simulated-design",
            numbers={"items": n_items, "clusters": clusters, "systems": systems},
        )
    lists = np.arange(n_items) % (clusters * systems)
    cluster = np.array([f"cluster_{c + 1}" for c in lists % clusters], dtype=object)
    names = np.array(
        [f"system_{k + 1}" if systems > 1 else "" for k in lists // clusters], dtype=object
    )
    return pd.DataFrame(
        {
            "panel": cluster + np.where(names == "", "", "/" + names),
            "system": names,
            "cluster": cluster,
            "rank": np.arange(n_items) // (clusters * systems) + 1,
            "item": np.arange(n_items),
        }
    )


def _check_sizes(
    n_items: int, groups: Mapping[str, int], n_systems: int, n_clusters: int | None
) -> None:
    require_count("n_items", n_items)
    require_count("n_systems", n_systems)
    if n_clusters is not None:
        require_count("n_clusters", n_clusters)
    for name, count in groups.items():
        require_count(f"the number of raters of group {name!r}", count, least=0)


def _placeholder(space: StateSpace, count: int) -> Vectors:
    """Repeat an answer vector that the interface admits."""
    return np.repeat(space.paths[~space.blocked][:1], count, axis=0)


def repeat_ratings(skeleton: Ratings, replicates: int) -> Ratings:
    """Let every rater rate each of its items several times."""
    require_count("replicates", replicates)
    rows = np.repeat(np.arange(len(skeleton.answers)), replicates)
    repeated = take_ratings(skeleton, rows)
    return replace(repeated, replicate=np.arange(len(rows)) % replicates)


def spread_sessions(skeleton: Ratings, sessions: int, rng: np.random.Generator) -> Ratings:
    """Spread ratings over sessions."""
    require_count("sessions", sessions)
    if sessions == 1:
        return skeleton
    names = tuple(f"session_{t + 1}" for t in range(sessions))
    drawn = rng.integers(sessions, size=len(skeleton.answers))
    return replace(skeleton, session=np.array(names, object)[drawn], sessions=names)

"""Systems that share no raters: their difference may be one of raters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from assay._util.sums import Sums
from assay._util.typing import Floats, Ints
from assay.data.ratings import Ratings

BRIDGE = 10
"""Answers by the same raters, items in common, or items of known truth, that connect two systems;
at most half of the answers to the smaller one.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Links(Sums):
    """What connects systems, over their items with an answer: ``answers`` (system, rater), items in
    ``common`` lists (system, system), items of ``known`` truth (system,).
    """

    answers: Floats
    common: Floats
    known: Floats


def separate_teams(ratings: Ratings) -> list[tuple[str, ...]]:
    """Return the systems in groups without common raters, common items or known truth of both;
    empty if all are connected.
    """
    systems = ratings.systems
    return teams_of(systems, count_links(ratings, systems))


def count_links(ratings: Ratings, systems: Sequence[str]) -> Links:
    """Count what connects the systems."""
    used = np.flatnonzero(ratings.answered)
    rated = np.bincount(ratings.item[used], minlength=len(ratings.items)) > 0
    places = ratings.panels.loc[ratings.panels["system"] != "", ["system", "item"]]
    places = places[rated[places["item"].to_numpy()]].drop_duplicates()
    at = pd.Index(list(systems)).get_indexer(pd.Index(places["system"]))
    listed = _counts(at, places["item"].to_numpy(), (len(systems), len(rated)))
    answers = listed @ _counts(
        ratings.item[used], ratings.rater[used], (len(rated), len(ratings.raters))
    )
    return Links(
        answers=answers.toarray(),
        common=(listed @ listed.T).toarray(),
        known=listed @ ratings.has_truth.astype(float),
    )


def teams_of(systems: Sequence[str], links: Links) -> list[tuple[str, ...]]:
    """Return the answered systems in unconnected groups; empty if all are connected."""
    there = np.flatnonzero(links.answers.any(axis=1))
    if len(there) < 2:
        return []
    answers, known = links.answers[there], links.known[there]
    both = np.minimum(answers[:, None], answers[None]).sum(axis=-1)
    both = np.maximum(both, links.common[np.ix_(there, there)])
    both = np.maximum(both, np.minimum(known[:, None], known[None]))
    total = answers.sum(axis=1)
    enough = np.minimum(BRIDGE, np.minimum(total[:, None], total[None]) / 2)
    parts, part = connected_components(sparse.csr_array(both >= enough), directed=False)
    names = np.array(systems, object)[there]
    return [tuple(map(str, names[part == n])) for n in range(parts)] if parts > 1 else []


def _counts(row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    """Return how often a row and a column occur together."""
    return sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)

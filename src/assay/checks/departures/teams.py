"""Systems that share no raters: their difference may be one of raters."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from assay.checks.departures.null_model import Ints
from assay.data.ratings import Ratings

BRIDGE = 10
"""Answers by the same raters, items in common, or items of known truth, that connect two systems;
at most half of the answers to the smaller one.
"""


def separate_teams(ratings: Ratings) -> list[tuple[str, ...]]:
    """Return the systems in unconnected groups; empty if all are connected.

    Systems are connected by raters who answered items of both, by items in the lists of both, and
    by known truth of items of both.
    """
    used = np.flatnonzero(ratings.answered)
    rated = np.bincount(ratings.item[used], minlength=len(ratings.items)) > 0
    places = ratings.panels.loc[ratings.panels["system"] != "", ["system", "item"]]
    places = places[rated[places["item"].to_numpy()]].drop_duplicates()
    at, systems = pd.factorize(places["system"], sort=True)
    if len(systems) < 2:
        return []
    item = places["item"].to_numpy()
    listed = _counts(at, item, (len(systems), len(rated)))
    answers = listed @ _counts(
        ratings.item[used], ratings.rater[used], (len(rated), len(ratings.raters))
    )
    known = listed @ ratings.has_truth
    both = np.minimum(answers.toarray()[:, None], answers.toarray()[None]).sum(axis=-1)
    both = np.maximum(both, (listed @ listed.T).toarray())
    both = np.maximum(both, np.minimum(known[:, None], known[None]))
    total = np.asarray(answers.sum(axis=1)).ravel()
    enough = np.minimum(BRIDGE, np.minimum(total[:, None], total[None]) / 2)
    parts, part = connected_components(sparse.csr_array(both >= enough), directed=False)
    names = np.asarray(systems, object)
    return [tuple(map(str, names[part == n])) for n in range(parts)] if parts > 1 else []


def _counts(row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    """Return how often a row and a column occur together."""
    return sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)

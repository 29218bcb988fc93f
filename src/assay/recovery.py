r"""The posterior of the states given the parameters: exact, by Bayes' rule, draw by draw.

.. math:: p(s_i = s, u_c = u_q \mid y, \theta) \propto w_q \prod_{i' \in c} p(y_{i'} \mid u_q)
          \cdot \frac{\pi_{g(i)}(s \mid u_q)\, p(y_i \mid s)}{p(y_i \mid u_q)}
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.kernels import bundle_nodes, recover_draw
from assay.model import TABLE_AXES, Structure, Tables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CHUNK_NUMBERS = 4_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Recovered:
    """States of all items, for every draw of the parameters.

    Attributes
    ----------
    states : ndarray of int16 (draw, item)
        A draw of each item's state.
    probabilities : ndarray (item, state)
        Posterior probabilities, averaged over the draws (not over the drawn states).
    difficulty : ndarray (item, difficulty)
        Posterior probabilities of the classes of difficulty; one column of ones without them.
    log_likelihood : ndarray (draw, cluster)
        Of each cluster of the model: an item where there is no cluster effect.
    """

    states: NDArray[np.int16]
    probabilities: Floats
    difficulty: Floats
    log_likelihood: Floats


def recover(
    structure: Structure, values: Mapping[str, Floats], rng: np.random.Generator
) -> Recovered:
    """Draw the states of all items for every draw of the parameters.

    Parameters
    ----------
    values : mapping of str to ndarray (draw, ...)
        The parameters.
    rng : numpy.random.Generator
        The one stream of label draws of the fit.

    Returns
    -------
    Recovered
    """
    pattern = structure.pattern
    draws = len(next(iter(values.values())))
    items, clusters = len(pattern.item_cell), len(pattern.cluster_bundle)
    states = np.empty((draws, items), np.int16)
    probabilities = np.zeros((items, len(structure.prevalence.space.states)))
    difficulty = np.zeros((items, structure.difficulty.classes))
    log_likelihood = np.empty((draws, clusters))
    log_weight = structure.prevalence.log_weight
    for d, tables in enumerate(draw_tables(structure, values)):
        # Copies: one memory layout, so that the functions are compiled once.
        by_state = [np.array(table, order="C") for table in tables.by_state()]
        value, share, parts = bundle_nodes(*by_state, log_weight, pattern.data)
        log_likelihood[d] = value[pattern.cluster_bundle]
        recover_draw(
            by_state[0],
            share,
            parts,
            pattern.data,
            pattern.item_cell,
            pattern.cluster_bundle,
            *pattern.cluster_items,
            rng.random(clusters),
            rng.random(items),
            states[d],
            probabilities,
            difficulty,
        )
    return Recovered(
        states=states,
        probabilities=probabilities / draws,
        difficulty=difficulty / draws,
        log_likelihood=log_likelihood,
    )


def draw_tables(structure: Structure, values: Mapping[str, Floats]) -> Iterator[Tables]:
    """Yield the tables of the likelihood of each draw, computed in chunks of draws."""
    draws = len(next(iter(values.values())))
    one = structure.tables({k: v[:1] for k, v in values.items()}, np)
    widest = max([t.size for t in one] + [part.widest for part in structure.parts])
    chunk = max(1, CHUNK_NUMBERS // max(widest, 1))
    for first in range(0, draws, chunk):
        piece = {k: v[first : first + chunk] for k, v in values.items()}
        here = len(next(iter(piece.values())))
        tables = [
            np.broadcast_to(table, (here, *table.shape[table.ndim - axes :]))
            for table, axes in zip(structure.tables(piece, np), TABLE_AXES, strict=True)
        ]
        for n in range(here):
            yield Tables(*(table[n] for table in tables))


def predict_states(
    structure: Structure,
    values: Mapping[str, Floats],
    rng: np.random.Generator,
    *,
    table: Floats | None = None,
) -> NDArray[np.int16]:
    """Draw states of new items like these: the same contexts in new clusters.

    Parameters
    ----------
    table : ndarray (draw, context, node, state), optional
        The prevalence at ``values``, for who draws many times.

    Returns
    -------
    ndarray of int16 (draw, item)
    """
    design = structure.prevalence.design
    if table is None:
        table = np.asarray(structure.prevalence.table(values, np))
    draws, items = len(table), len(design.item_context)
    if structure.prevalence.has_clusters and design.cluster is not None:
        clusters = int(design.cluster.max()) + 1
        weight = np.exp(design.log_weight)
        node = rng.choice(len(weight), size=(draws, clusters), p=weight)[:, design.cluster]
    else:
        node = np.zeros((draws, items), np.int64)
    running = table.cumsum(axis=-1)
    states = np.empty((draws, items), np.int16)
    for d in range(draws):
        steps = running[d][design.item_context, node[d]]
        states[d] = (rng.random(items)[:, None] * steps[:, -1:] > steps).sum(axis=1)
    return states

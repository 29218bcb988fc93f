r"""The posterior of the states given the parameters: exact, by Bayes' rule, for each draw.

.. math:: p(s_i = s, u_c = u_q \mid y, \theta) \propto w_q \prod_{i' \in c} p(y_{i'} \mid u_q)
          \cdot \frac{\sum_d \rho_d\, \pi_{g(i)d}(s \mid u_q)\, p_d(y_i \mid s)}{p(y_i \mid u_q)}

Where systems have effects of their own on a cluster, the effects of its panels are drawn after
that of the cluster, and the states given these.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._util.progress import steps
from assay._util.typing import Floats, Ints
from assay.fits.answer_draws import pick
from assay.likelihood.bundles import panel_nodes
from assay.likelihood.collapse import PanelsOfClusters, Pattern, take_panels
from assay.likelihood.compiling_ahead import wait_for_draws
from assay.likelihood.data import Data
from assay.likelihood.marginal import bundle_nodes
from assay.likelihood.partition import cores, in_threads, runs, shares, take_bundles
from assay.likelihood.states import draw_nodes, recover_draw
from assay.modelling.structure import TABLE_AXES, Structure, Tables

CHUNK_NUMBERS = 4_000_000

_Pair = tuple[list[Floats], list[Floats]]
"""Tables of a draw for its states, and for the likelihood; one object if they are the same."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StatePosterior:
    """States of all items, for every draw of the parameters.

    states : (draw, item)
    probabilities : posterior of the states, averaged exactly over the draws (item, state)
    difficulty : posterior of the classes of difficulty (item, difficulty); ones without them
    log_likelihood : of each cluster, or of each item without cluster effects (draw, cluster)
    """

    states: NDArray[np.int16]
    probabilities: Floats
    difficulty: Floats
    log_likelihood: Floats


def sample_states(
    structure: Structure,
    values: Mapping[str, Floats],
    rng: np.random.Generator,
    lean: Floats | None = None,
) -> StatePosterior:
    """Draw the states of all items for every draw of the parameters (draw, ...).

    ``lean`` (draw, lean) is how far the raters lean from their pool. The states depend on it, the
    likelihood does not.
    """
    wait_for_draws()
    pattern = structure.pattern
    draws = len(next(iter(values.values())))
    items, clusters = len(pattern.item_cell), len(pattern.cluster_bundle)
    by_bundle = np.argsort(pattern.cluster_bundle, kind="stable")
    found = StatePosterior(
        states=np.empty((draws, items), np.int16),
        probabilities=np.zeros((items, len(structure.prevalence.space.states))),
        difficulty=np.zeros((items, structure.difficulty.classes)),
        log_likelihood=np.empty((draws, clusters)),
    )
    every = shares(pattern.data)
    streams = rng.spawn(len(every)) if len(every) > 1 else [rng]
    first, step = 0, steps()
    for tables in _pairs_of_tables(structure, values, lean):

        def work(
            job: tuple[Ints, np.random.Generator],
            tables: list[_Pair] = tables,
            first: int = first,
        ) -> None:
            piece = _piece(pattern, job[0], by_bundle) if len(every) > 1 else _whole(pattern)
            _recover_piece(piece, job[1], tables, structure.prevalence.log_weight, found, first)
            step(len(tables) / len(every))

        in_threads(work, list(zip(every, streams, strict=True)), cores())
        first += len(tables)
    found.probabilities[:] /= draws
    found.difficulty[:] /= draws
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class _Piece:
    """Some clusters and their data.

    item_cell : the cell in ``data`` of each item (item,)
    panels : panels of the clusters, if panels have effects of their own
    """

    data: Data
    clusters: Ints
    cluster_bundle: Ints
    start: Ints
    members: Ints
    item_cell: Ints
    panels: PanelsOfClusters | None


def _piece(pattern: Pattern, bundles: Ints, by_bundle: Ints) -> _Piece:
    """Return the clusters of a run of bundles, small enough for fast memory.

    ``by_bundle`` (cluster,) sorts the clusters by bundle. Pieces are made when they are used, so
    that the data are not in memory twice. Their number depends on the data alone, so that the same
    seed gives the same draws on any machine.
    """
    first, order = pattern.cluster_items
    data, cells = take_bundles(pattern.data, bundles)
    ends = [bundles[0], bundles[-1] + 1]
    begin, end = np.searchsorted(pattern.cluster_bundle, ends, sorter=by_bundle)
    clusters = np.sort(by_bundle[begin:end])
    at, start = runs(first, clusters)
    members = order[at]
    item_cell = np.empty(len(pattern.item_cell), np.int64)
    item_cell[members] = np.searchsorted(cells, pattern.item_cell[members])
    return _Piece(
        data=data,
        clusters=clusters,
        cluster_bundle=pattern.cluster_bundle[clusters] - bundles[0],
        start=start,
        members=members,
        item_cell=item_cell,
        panels=take_panels(pattern, clusters),
    )


def _whole(pattern: Pattern) -> _Piece:
    """Return all data as one piece."""
    start, members = pattern.cluster_items
    return _Piece(
        data=pattern.data,
        clusters=np.arange(len(pattern.cluster_bundle)),
        cluster_bundle=pattern.cluster_bundle,
        start=start,
        members=members,
        item_cell=pattern.item_cell,
        panels=pattern.panels,
    )


def _recover_piece(
    piece: _Piece,
    rng: np.random.Generator,
    tables: list[_Pair],
    log_weight: Floats,
    found: StatePosterior,
    first: int,
) -> None:
    """Fill the draws from ``first`` on, for the items of one piece."""
    uniform, items = np.empty(len(found.probabilities)), np.sort(piece.members)
    before = None
    for d, (by_state, of_model) in enumerate(tables, start=first):
        if by_state is not before:
            arguments: Any = (*by_state, log_weight, piece.data)
            value, share, parts, hard, *by_panel = bundle_nodes(*arguments)
            if of_model is not by_state:
                arguments = (*of_model, log_weight, piece.data)
                value = bundle_nodes(*arguments)[0]
            prevalence, mixing = by_state[0], by_state[-1]
            before = by_state
        found.log_likelihood[d, piece.clusters] = value[piece.cluster_bundle]
        drawn = draw_nodes(share, piece.cluster_bundle, rng.random(len(piece.clusters)))
        posterior, share_of, start = share, piece.cluster_bundle, piece.start
        if (panels := piece.panels) is not None:
            share_of, start = np.arange(len(panels.kind)), panels.start
            by_one = rng.random(len(panels.kind))
            posterior, drawn = _draw_panels(piece, panels, mixing, share, by_panel, drawn, by_one)
        uniform[items] = rng.random(len(piece.members))
        recover_draw(
            prevalence,
            hard,
            posterior,
            parts,
            piece.data,
            piece.item_cell,
            share_of,
            start,
            piece.members,
            drawn,
            uniform,
            found.states[d],
            found.probabilities,
            found.difficulty,
        )


def _draw_panels(
    piece: _Piece,
    panels: PanelsOfClusters,
    mixing: Floats,
    share: Floats,
    by_panel: Sequence[Floats],
    drawn: Ints,
    uniform: Floats,
) -> tuple[Floats, Ints]:
    """Return the posterior of each panel's node, and a draw of it given its cluster's."""
    cluster_start, kind, _ = panels
    arguments: Any = (mixing, share, *by_panel, piece.cluster_bundle, cluster_start, kind)
    found: tuple[Floats, Ints] = panel_nodes(*arguments, drawn, uniform)
    return found


def _pairs_of_tables(
    structure: Structure, values: Mapping[str, Floats], lean: Floats | None
) -> Iterator[list[_Pair]]:
    """Yield the tables of the draws for the kernels, some draws at a time.

    Draws that are all equal share one object. Copies have one memory layout, so that the functions
    are compiled once.
    """
    draws = len(next(iter(values.values())))
    alike = lean is None and all((v == v[:1]).all() for v in values.values())
    pooled = structure.with_pool_lean(values, lean)
    for piece in _pieces(structure, {k: v[:1] for k, v in values.items()} if alike else values):
        of_model = [
            [np.array(t, order="C") for t in one.by_state()]
            for one in tables_of_draws(structure, {k: v[piece] for k, v in values.items()})
        ]
        of_pool = of_model
        if lean is not None:
            table = structure.response_table({k: v[piece] for k, v in pooled.items()}, np)
            own = np.broadcast_to(table, (len(of_model), *table.shape[-3:])).copy()
            of_pool = [[t[0], own[n], *t[2:]] for n, t in enumerate(of_model)]
        pairs = list(zip(of_pool, of_model, strict=True))
        yield pairs * draws if alike else pairs


def _pieces(structure: Structure, values: Mapping[str, Floats]) -> Iterator[slice]:
    """Yield the draws whose tables are in memory at once."""
    draws = len(next(iter(values.values())))
    one = structure.tables({k: v[:1] for k, v in values.items()}, np)
    widest = max([t.size for t in one] + [part.widest for part in structure.parts])
    chunk = max(1, CHUNK_NUMBERS // max(widest, 1))
    for first in range(0, draws, chunk):
        yield slice(first, min(first + chunk, draws))


def tables_of_draws(structure: Structure, values: Mapping[str, Floats]) -> list[Tables]:
    """Return the tables of the likelihood of each draw."""
    draws = len(next(iter(values.values())))
    tables = [
        np.broadcast_to(table, (draws, *table.shape[table.ndim - axes :]))
        for table, axes in zip(structure.tables(values, np), TABLE_AXES, strict=True)
    ]
    return [Tables(*(table[n] for table in tables)) for n in range(draws)]


class Running(NamedTuple):
    """Cumulative probabilities for drawing new states.

    states : prevalence of all items (draw, context, node, state)
    nodes : a panel's node given its cluster's (draw, node, node); without nodes if it is the same
    """

    states: Floats
    nodes: Floats


def running_prevalence(structure: Structure, values: Mapping[str, Floats]) -> Running:
    """Return the cumulative probabilities that :func:`predict_states` uses."""
    return Running(
        states=np.asarray(structure.state_chances(values, np)).cumsum(axis=-1),
        nodes=np.asarray(structure.prevalence.mixing(values, np)).cumsum(axis=-1),
    )


def predict_states(
    structure: Structure, running: Running, rng: np.random.Generator
) -> NDArray[np.int16]:
    """Draw states of new items like these (same contexts, new clusters), (draw, item)."""
    design = structure.prevalence.design
    draws, items = len(running.states), len(design.item_context)
    node = np.zeros((draws, items), np.int64)
    if structure.prevalence.has_clusters and design.cluster is not None:
        clusters = int(design.cluster.max()) + 1
        weight = np.exp(design.log_weight)
        node = rng.choice(len(weight), size=(draws, clusters), p=weight)[:, design.cluster]
    if structure.prevalence.has_panels and design.panel is not None:
        _, first = np.unique(design.panel, return_index=True)
        for d in range(draws):
            steps = running.nodes[d][node[d, first]]
            node[d] = pick(steps, rng)[design.panel]
    states = np.empty((draws, items), np.int16)
    for d in range(draws):
        states[d] = pick(running.states[d][design.item_context, node[d]], rng)
    return states

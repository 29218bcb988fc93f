r"""The posterior of the states given the parameters: exact, by Bayes' rule, for each draw.

.. math:: p(s_i = s, u_c = u_q \mid y, \theta) \propto w_q \prod_{i' \in c} p(y_{i'} \mid u_q)
          \cdot \frac{\sum_d \rho_d\, \pi_{g(i)d}(s \mid u_q)\, p_d(y_i \mid s)}{p(y_i \mid u_q)}

Effects of panels, if any, are drawn after that of the cluster.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._util.progress import steps
from assay._util.typing import Floats, Ints
from assay.fits.answer_draws import pick
from assay.likelihood.bundles import panel_nodes, reading_shares
from assay.likelihood.collapse import PanelsOfClusters, Pattern, take_panels
from assay.likelihood.compiling_ahead import wait_for_draws
from assay.likelihood.data import Data
from assay.likelihood.marginal import bundle_nodes
from assay.likelihood.partition import (
    cores,
    has_readings,
    in_threads,
    runs,
    shares,
    take_bundles,
)
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
    """Draw the states of all items for every draw of the parameters (draw, ...). ``lean`` (draw,
    lean) from the pool moves the states, not the likelihood.
    """
    wait_for_draws()
    pattern = structure.pattern
    draws = len(next(iter(values.values())))
    items, clusters = pattern.items, pattern.clusters
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
    """Some clusters and their data; without readings, a case is a cluster.

    case_start, case_bundle : first case of each cluster (cluster + 1,); bundle of each case (case,)
    start : first of the items of each case (case + 1,)
    item_cell, item_of : the cell in ``data``, and the item, of each item of each case
    panels : panels of the cases, if panels have effects of their own
    """

    data: Data
    clusters: Ints
    case_start: Ints
    case_bundle: Ints
    start: Ints
    item_cell: Ints
    item_of: Ints
    panels: PanelsOfClusters | None


def _piece(pattern: Pattern, terms: Ints, by_bundle: Ints) -> _Piece:
    """Return the clusters of a run of terms of the likelihood, small enough for fast memory.

    ``by_bundle`` (cluster,) sorts the clusters. The number of pieces depends on the data alone, so
    that a seed gives the same draws on any machine.
    """
    data, cells = take_bundles(pattern.data, terms)
    if pattern.cases is None:
        ends = [terms[0], terms[-1] + 1]
        begin, end = np.searchsorted(pattern.cluster_bundle, ends, sorter=by_bundle)
        clusters = cases = np.sort(by_bundle[begin:end])
        case_start, first = np.arange(len(clusters) + 1), terms[0]
        case_bundle = pattern.cluster_bundle[clusters] - first
    else:
        clusters = terms
        cases, case_start = runs(pattern.cases.start, clusters)
        case_bundle = data.reading_bundle
    first_item, order = pattern.cluster_items
    at, start = runs(first_item, cases)
    members = order[at]
    return _Piece(
        data=data,
        clusters=clusters,
        case_start=case_start,
        case_bundle=case_bundle,
        start=start,
        item_cell=np.searchsorted(cells, pattern.item_cell[members]),
        item_of=pattern.item_of[members],
        panels=take_panels(pattern, cases),
    )


def _whole(pattern: Pattern) -> _Piece:
    """Return all data as one piece."""
    start, members = pattern.cluster_items
    every = np.arange(pattern.clusters + 1)
    return _Piece(
        data=pattern.data,
        clusters=every[:-1],
        case_start=every if pattern.cases is None else pattern.cases.start,
        case_bundle=pattern.cluster_bundle,
        start=start,
        item_cell=pattern.item_cell[members],
        item_of=pattern.item_of[members],
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
    uniform, items = np.empty(len(found.probabilities)), np.unique(piece.item_of)
    before = None
    for d, (by_state, of_model) in enumerate(tables, start=first):
        if by_state is not before:
            arguments: Any = (*by_state, log_weight, piece.data)
            value, share, parts, hard, *by_panel = bundle_nodes(*arguments)
            of_cluster, weight = _of_clusters(piece, value, by_state)
            if of_model is not by_state:
                arguments = (*of_model, log_weight, piece.data)
                of_cluster, _ = _of_clusters(piece, bundle_nodes(*arguments)[0], of_model)
            prevalence, mixing = by_state[0], by_state[-2]
            before = by_state
        found.log_likelihood[d, piece.clusters] = of_cluster
        drawn = draw_nodes(share, piece.case_bundle, rng.random(len(piece.case_bundle)))
        chosen = _draw_cases(piece, weight, rng)
        posterior, share_of, start = share, piece.case_bundle, piece.start
        by_run = weight, chosen
        if (panels := piece.panels) is not None:
            share_of, start = np.arange(len(panels.kind)), panels.start
            by_one = rng.random(len(panels.kind))
            posterior, drawn = _draw_panels(piece, panels, mixing, share, by_panel, drawn, by_one)
            sizes = np.diff(panels.cluster_start)
            by_run = np.repeat(weight, sizes), np.repeat(chosen, sizes)
        uniform[items] = rng.random(len(items))
        recover_draw(
            prevalence,
            hard,
            posterior,
            parts,
            piece.data,
            piece.item_cell,
            piece.item_of,
            share_of,
            start,
            *by_run,
            drawn,
            uniform,
            found.states[d],
            found.probabilities,
            found.difficulty,
        )


def _of_clusters(piece: _Piece, value: Floats, tables: list[Floats]) -> tuple[Floats, Floats]:
    """Return the log-likelihood of each cluster, and the posterior of each case."""
    if not has_readings(piece.data):
        return value[piece.case_bundle], np.ones(len(piece.case_bundle))
    found: tuple[Floats, Floats] = reading_shares(value, tables[-1], piece.data)
    return found


def _draw_cases(piece: _Piece, weight: Floats, rng: np.random.Generator) -> Ints:
    """Return 1 for a case of each cluster, drawn by its posterior, and 0 for the others."""
    if not has_readings(piece.data):
        return np.ones(len(weight), np.int64)
    steps = np.append(0.0, weight.cumsum())
    first, end = piece.case_start[:-1], piece.case_start[1:]
    goal = steps[first] + rng.random(len(first)) * (steps[end] - steps[first])
    picked = np.clip(np.searchsorted(steps, goal, side="right") - 1, first, end - 1)
    chosen = np.zeros(len(weight), np.int64)
    chosen[picked] = 1
    return chosen


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
    arguments: Any = (mixing, share, *by_panel, piece.case_bundle, cluster_start, kind)
    found: tuple[Floats, Ints] = panel_nodes(*arguments, drawn, uniform)
    return found


def _pairs_of_tables(
    structure: Structure, values: Mapping[str, Floats], lean: Floats | None
) -> Iterator[list[_Pair]]:
    """Yield the tables of the draws for the kernels, some draws at a time; draws that are all equal
    share one object. Copies have one memory layout, compiled for once.
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


def states_by_difficulty(structure: Structure, tables: Tables) -> tuple[Floats, Floats]:
    """Return clusters' log-likelihoods, and P(difficulty, state) (item, difficulty, state).

    For models without readings, at one point.
    """
    piece = _whole(structure.pattern)
    at = [np.array(table, order="C") for table in tables.by_state()]
    arguments: Any = (*at, structure.prevalence.log_weight, piece.data)
    value, share, parts, hard, *by_panel = bundle_nodes(*arguments)
    node, start = share[piece.case_bundle], piece.start
    if (panels := piece.panels) is not None:
        none, zeros = np.zeros(len(node), np.int64), np.zeros(len(panels.kind))
        node, _ = _draw_panels(piece, panels, at[-2], share, by_panel, none, zeros)
        start = panels.start
    by_item = np.empty((len(piece.item_of), node.shape[1]))
    by_item[piece.item_of] = np.repeat(node, np.diff(start), axis=0)
    cell = structure.pattern.item_cell
    alike = np.broadcast_to(at[0], (parts.shape[1] - len(hard), *at[0].shape))
    prior = np.concatenate([alike, hard])[:, piece.data.cell_context[cell]]
    whole = np.einsum("ids,disq->iq", parts[cell], prior)
    chance = parts[cell] * np.einsum("iq,disq->ids", by_item / whole, prior)
    return value[piece.case_bundle], chance / chance.sum(axis=(1, 2), keepdims=True)


class Running(NamedTuple):
    """Cumulative probabilities for drawing new states: of all items (draw, context, node, state),
    and of a panel's node given its cluster's (draw, node, node), or without nodes.
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

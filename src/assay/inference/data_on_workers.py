"""A density whose data are on the workers of an executor: its modes and its draws of labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from assay._util.typing import Floats, Ints
from assay.fits.latent_states import StatePosterior, sample_states
from assay.inference.curvature import bend_row, curvature
from assay.inference.density import Density
from assay.inference.executors import Executor
from assay.inference.group_sds import settle_again, with_spreads
from assay.inference.mode_search import FORGOTTEN, at_spreads, mass, samples_of
from assay.inference.modes import (
    Mode,
    by_evidence,
    laplace_evidence,
    rater_accuracy_at_mode,
    same_peak,
)
from assay.inference.optimise import FixedCoordinates, climb
from assay.inference.partial_centring import centre_informed, in_coordinates, seek_centred_modes
from assay.inference.pieces import (
    Piece,
    make_frame,
    make_piece,
    put_in_coordinates,
    take_clusters,
    without_clusters,
)
from assay.inference.precision import Dense, beside, dense
from assay.likelihood.collapse import Pattern
from assay.modelling.structure import Structure

MAX_DENSE = 10_000
"""Unknowns above which the Hessian is too large to send."""
FAN = 16
"""Terms that one task adds up."""
PIECE_ROWS = 25_000
"""Approximate number of rows of a piece, up to ``MAX_PIECES`` pieces."""
MAX_PIECES = 256
LABEL_STREAM = 6
"""Number of the random stream of label draws, combined with the seed of the fit."""


def evaluate(piece: Piece, x: Floats) -> tuple[float, Floats]:
    """On a worker: return the log-likelihood of a piece and its gradient."""
    return piece.likelihood(x)


def bend(piece: Piece, x: Floats) -> tuple[Floats]:
    """On a worker: return the negative Hessian of a piece's log-likelihood."""
    return (piece.curvature(x),)


def weigh(piece: Piece, x: Floats) -> tuple[float]:
    """On a worker: return the number of rows of a piece's items."""
    return (mass(piece.density.data),)


def add(terms: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """On a worker: add up tuples entry by entry."""
    return tuple(sum(entries) for entries in zip(*terms, strict=True))


@dataclass(frozen=True, kw_only=True, eq=False)
class SpreadDensity(Density):
    """Log posterior density of data on workers: the prior here, and the likelihoods of the pieces
    ``held``.
    """

    executor: Executor
    held: tuple[Any, ...]

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Return the log density and its gradient at one point."""
        value, gradient = super().__call__(x)
        likelihood, by_data = self.add_up(evaluate, x)
        return value + float(likelihood), gradient + by_data

    def add_up(self, work: Any, x: Floats) -> tuple[Any, ...]:
        """Return the sum of ``work`` over all pieces, always added in the same order."""
        point = self.executor.send(x)
        found = self.executor.map(work, self.held, [point] * len(self.held))
        while len(found) > 1:
            fans = [found[n : n + FAN] for n in range(0, len(found), FAN)]
            found = self.executor.map(add, fans)
        (result,) = self.executor.each(found)
        return tuple(result)

    def bend(self, x: Floats) -> Floats | None:
        """Return the negative Hessian; None with more than ``MAX_DENSE`` unknowns."""
        if len(x) > MAX_DENSE:
            return None
        prior = super().__call__
        rows = [bend_row(lambda at: prior(at)[1], x, n) for n in range(len(x))]
        hessian = np.array(rows) + self.add_up(bend, x)[0]
        return np.asarray((hessian + hessian.T) / 2)


def spread_density(executor: Executor, density: Density, pieces: Sequence[Any]) -> SpreadDensity:
    """Return the density of pieces on workers, in the coordinates of ``density`` (data ignored)."""
    prior = without_clusters(density)
    own = {field.name: getattr(prior, field.name) for field in fields(prior)}
    coordinates = executor.send(prior)
    held = executor.map(put_in_coordinates, pieces, [coordinates] * len(pieces))
    return SpreadDensity(executor=executor, held=tuple(held), **own)


@dataclass(frozen=True, kw_only=True, eq=False)
class DataOnWorkers:
    """Data that were cut into pieces here and are on the workers: their ``whole`` density, and the
    clusters (``runs``) of each piece.
    """

    structure: Structure
    density: SpreadDensity
    whole: Density
    runs: list[Ints]

    def modes(self, rng: np.random.Generator, *, starts: int) -> tuple[SpreadDensity, list[Mode]]:
        """Find the modes of a sample here, then follow them on all data."""
        sample = samples_of(self.whole, rng)[0]
        times = mass(self.whole.data) / mass(sample.data)
        here, rough = seek_centred_modes(
            self.structure, sample, rng, starts=starts, times=times, rival=FORGOTTEN
        )
        density = spread_density(self.density.executor, here, self.density.held)
        return follow_on_workers(self.structure, here, density, rough)

    def sample_states(
        self, values: Mapping[str, Floats], seed: int, lean: Floats | None = None
    ) -> StatePosterior:
        """Draw the states of all items on the workers, and gather them."""
        executor, pattern = self.density.executor, self.structure.pattern
        draws, count = len(next(iter(values.values()))), len(self.runs)
        items, clusters = pattern.items, pattern.clusters
        found = StatePosterior(
            states=np.empty((draws, items), np.int16),
            probabilities=np.empty((items, len(self.structure.prevalence.space.states))),
            difficulty=np.empty((items, self.structure.difficulty.classes)),
            log_likelihood=np.empty((draws, clusters)),
        )
        given = executor.send((dict(values), lean))
        seeds = [(seed, LABEL_STREAM, n) for n in range(count)]
        parts = executor.map(draw_states, self.density.held, [given] * count, seeds)
        for run, got in zip(self.runs, executor.each(parts), strict=True):
            _, members = take_clusters(pattern, run)
            found.states[:, members] = got.states
            found.probabilities[members] = got.probabilities
            found.difficulty[members] = got.difficulty
            found.log_likelihood[:, run] = got.log_likelihood
        return found


def hold_pieces(executor: Executor, structure: Structure, density: Density) -> DataOnWorkers:
    """Cut data into pieces and send them to the workers.

    The number of pieces depends on the data alone, so a seed gives the same draws on any cluster.
    """
    runs = cut_clusters(structure.pattern)
    frame = executor.send(make_frame(structure, density))
    held: list[Any] = []
    for run in runs:  # one pattern at a time is copied
        held += executor.map(make_piece, [frame], [take_clusters(structure.pattern, run)[0]])
    spread = spread_density(executor, density, held)
    return DataOnWorkers(structure=structure, density=spread, whole=density, runs=runs)


def cut_clusters(pattern: Pattern) -> list[Ints]:
    """Cut the clusters of a pattern into runs with about equal numbers of items."""
    first, _ = pattern.members
    count = max(2, min(MAX_PIECES, len(pattern.data.rows) // PIECE_ROWS))
    owner = first[:-1] * count // max(int(first[-1]), 1)
    found = [np.flatnonzero(owner == n).astype(np.int64) for n in range(count)]
    return [clusters for clusters in found if len(clusters)]


def follow_on_workers(
    structure: Structure, sample: Density, density: SpreadDensity, rough: Sequence[Mode]
) -> tuple[SpreadDensity, list[Mode]]:
    """Follow the modes ``rough`` of a sample on all data, and settle their SDs there; return a
    density in coordinates that suit all data. Items of ``structure`` tell modes apart.
    """
    grown = float(density.add_up(weigh, np.zeros(0))[0] / mass(sample.data))
    if rough[0].spreads is not None and grown == 1:
        return density, list(rough)
    still = rough[0].held
    followed: list[Mode] = []
    for n, mode in enumerate(rough):
        if n == 0 or mode.weight > FORGOTTEN:
            there = curvature(sample, mode.x, still)
            near = there and beside(there, still).times(grown)
            x, height = climb(FixedCoordinates(density, still), mode.x, near)
            _take_in(followed, replace(mode, x=x, height=height))
    modes = [_at_peak(structure, density, mode, still) for mode in followed]
    # A point without a positive definite precision is a saddle; its evidence is not comparable.
    modes = by_evidence([mode for mode in modes if mode.precision is not None] or modes)
    if not isinstance(modes[0].given_spreads, Dense):
        return density, modes
    again = centre_informed(structure, density, modes[0])
    moved = spread_density(density.executor, again, density.held)
    return moved, [in_coordinates(structure, density, moved, mode) for mode in modes]


def _take_in(modes: list[Mode], mode: Mode) -> None:
    """Add a mode, or add its starts to the same mode in the list."""
    for n, other in enumerate(modes):
        if same_peak((other.x, other.height), (mode.x, mode.height)):
            modes[n] = replace(other, starts=other.starts + mode.starts)
            return
    modes.append(mode)


def _at_peak(structure: Structure, density: SpreadDensity, mode: Mode, still: Ints) -> Mode:
    told = rater_accuracy_at_mode(structure, density, mode.x)._asdict()
    mode = replace(mode, precision=None, **told)
    hessian = density.bend(mode.x)
    moving = np.delete(np.arange(len(mode.x)), still)
    given = None if hessian is None else dense(hessian[np.ix_(moving, moving)])
    mode = replace(mode, evidence=laplace_evidence(mode.height, given, len(moving)))
    if hessian is None or given is None:
        return mode
    if mode.spreads is None:
        return replace(mode, precision=beside(given, still))
    if not density.centred:
        cross = hessian[np.ix_(still, moving)]
        return replace(mode, precision=with_spreads(mode.x, mode.spreads, given, cross))
    x, spreads, there = settle_again(density, mode.x, mode.spreads, given)
    return at_spreads(structure, density, mode, x, spreads, there)


def draw_states(
    piece: Piece, given: tuple[Mapping[str, Floats], Floats | None], seed: Sequence[int]
) -> StatePosterior:
    """On a worker: draw the states of a piece's items, given parameters and leans."""
    values, lean = given
    return sample_states(piece.structure, values, np.random.default_rng(list(seed)), lean)

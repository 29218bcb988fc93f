"""The search for posterior modes from several starts.

The reported mode is the heaviest one without a misnamed class
(:mod:`assay.inference.label_switching`), if there is one. Starts include the mode without
difficulty and, if raters contradict each other, the labels of one of them and of those who are then
wrong. On small data modes are weighed with held SDs, which are then settled
(:mod:`assay.inference.group_sds`). On large data that is done on a sample, and the modes are
followed on all data.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from assay._util.errors import FitError
from assay._util.typing import Floats, Ints
from assay.inference.curvature import curvature
from assay.inference.density import NOT_FINITE, Density
from assay.inference.group_sds import (
    GroupSDs,
    maximise_group_sds,
    precision_with_spreads,
    settle_again,
)
from assay.inference.label_switching import (
    start_from_minority,
    start_from_rater,
    start_from_relabelled,
)
from assay.inference.modes import (
    Mode,
    alike,
    distance,
    distinct,
    in_order,
    labels_at,
    rater_accuracy_at_mode,
)
from assay.inference.optimise import (
    FixedCoordinates,
    climb,
    equally_hard,
    hold,
    is_large,
    off_saddle,
    prior_centre,
    sample_rows,
    spreads_of,
)
from assay.inference.precision import Precision
from assay.likelihood.data import Data
from assay.likelihood.partition import has_readings, rows_of_terms, take_bundles
from assay.modelling.structure import Structure

Climb = Callable[[Density, Floats, Precision | None], tuple[Floats, float]]
"""From a start to a mode and its height; the precision is that of :func:`climb`."""

KEPT_LABELS = 0.2
"""Largest total variation of a mode's labels when its SDs move."""
GROWTH = 10
"""Ratio of the sizes of successive samples of large data."""
FORGOTTEN = 1e-12
"""Weight on the sample below which a mode is not followed on all data."""
NOWHERE = -1e11
"""Height up to which the density counts as not finite."""
PUT_RIGHT = 100.0
"""Nats of evidence below the best mode at which a misnamed mode is not corrected."""
ROUNDS = 2
"""Rounds of correction: a mode with exchanged names may also have a class without a name."""
RIVAL = 0.01
"""Weight above which the SDs of modes other than the heaviest are settled."""


def find_modes(
    structure: Structure,
    density: Density,
    rng: np.random.Generator,
    *,
    starts: int = 4,
    centre: Floats | None = None,
    ascend: Climb | None = None,
    widths: bool = True,
) -> list[Mode]:
    """Return the distinct modes from several starts, by falling evidence, those misnamed last.

    density : without centred blocks
    starts : the centre of the prior, and points with twice the scatter of a standard normal around
        it, so that some are mirrored
    ascend : replaces :func:`assay.inference.optimise.hold`
    widths : whether a single mode needs its precision
    """
    samples = samples_of(density, rng)
    centre = prior_centre(density) if centre is None else centre
    points = starting_points(centre, rng, starts)
    rival = RIVAL if len(samples) == 1 else FORGOTTEN
    modes = seek_modes(structure, samples[0], points, ascend=ascend, widths=widths, rival=rival)
    if len(samples) == 1:
        return modes
    return follow_modes(structure, density, samples, modes, ascend=ascend, widths=widths)


def starting_points(centre: Floats, rng: np.random.Generator, count: int) -> list[Floats]:
    """Return a centre, and points scattered around it."""
    return [centre, *(centre + 2 * rng.standard_normal(len(centre)) for _ in range(count - 1))]


def seek_modes(
    structure: Structure,
    density: Density,
    points: Sequence[Floats],
    *,
    ascend: Climb | None = None,
    widths: bool = True,
    rival: float = RIVAL,
) -> list[Mode]:
    """Return the distinct modes above the points, by falling evidence.

    The SDs of modes with a weight above ``rival`` are settled.
    """

    def above(density: Density, point: Floats) -> tuple[Floats, float]:
        return hold(density, point) if ascend is None else ascend(density, point, None)

    peaks = [(*above(density, point), 1) for point in points]
    start = equally_hard(density)
    if start is not None:
        peaks.append((*above(density, start), 1))
    data = start_from_rater(structure)
    if data is not None:
        peaks.append((*above(density, _told_start(density, data, above)), 1))
    # Drop climbs that began where the density is not finite.
    peaks = [peak for peak in peaks if peak[1] > NOWHERE] or peaks
    still = spreads_of(density)
    # Held SDs: the precision is computed when they are settled.
    widths = widths and not len(still)
    modes = distinct(structure, density, peaks, still, widths=widths)
    seen: list[float] = []
    for number in range(ROUNDS):
        wrong = [] if number and not modes[0].misnamed else _misnamed(modes, seen)
        peaks += [(*above(density, x), 0) for x in _put_right(structure, density, wrong, above)]
        seen += [mode.height for mode in wrong]
        if wrong:
            modes = distinct(structure, density, peaks, still, widths=widths)
    camps = [
        data
        for mode in _first_and_heaviest(modes)
        if (data := start_from_minority(structure, density.constrain(mode.x[None]))) is not None
    ]
    if camps:
        peaks += [(*above(density, _told_start(density, data, above)), 0) for data in camps]
        modes = distinct(structure, density, peaks, still, widths=widths)
    if not len(still):
        return modes
    found: list[Mode] = []
    for n, mode in enumerate(modes):
        weighty = n == 0 or mode.weight > rival
        _take_in(structure, density, found, settled(structure, density, mode) if weighty else mode)
    # Settled SDs may change which classes are misnamed, and thus which mode comes first.
    for _ in modes:
        found = in_order(found)
        if found[0].spreads is not None:
            break
        _take_in(structure, density, found, settled(structure, density, found.pop(0)))
    return in_order(found)


def require_density(density: Density, mode: Mode) -> None:
    """Raise FitError if the density is not finite at a mode."""
    height, gradient = density(mode.x)
    if not height > NOWHERE or not np.isfinite(gradient).all():
        raise FitError(NOT_FINITE, code="density-not-finite")


def _first_and_heaviest(modes: Sequence[Mode]) -> list[Mode]:
    """Return the first mode, and the heaviest if it is another one."""
    heaviest = max(modes, key=lambda mode: mode.weight)
    return [modes[0]] if heaviest is modes[0] else [modes[0], heaviest]


def _misnamed(modes: Sequence[Mode], seen: Sequence[float]) -> list[Mode]:
    """Return misnamed modes with enough evidence, without those at heights already seen."""
    floor = modes[0].evidence - PUT_RIGHT
    return [m for m in modes if m.misnamed and not m.evidence < floor and m.height not in seen]


def _put_right(
    structure: Structure,
    density: Density,
    modes: Sequence[Mode],
    above: Callable[[Density, Floats], tuple[Floats, float]],
) -> Iterator[Floats]:
    """Yield a start for each misnamed mode, its classes renamed."""
    for mode in modes:
        data = start_from_relabelled(structure, density.constrain(mode.x[None]))
        if data is not None:
            yield _told_start(density, data, above)


def _told_start(
    density: Density, data: Data, above: Callable[[Density, Floats], tuple[Floats, float]]
) -> Floats:
    """Return the mode of data with almost known states, as a start."""
    told = replace(density, data=data)
    return above(told, prior_centre(told))[0]


def _take_in(structure: Structure, density: Density, modes: list[Mode], mode: Mode) -> None:
    """Add a mode; if another has the same labels now, add the weight to that one."""
    labels = labels_at(structure, density, mode.x[None]) if modes else np.zeros(0)
    for n, other in enumerate(modes):
        if alike(labels, labels_at(structure, density, other.x[None])):
            modes[n] = replace(
                other, weight=other.weight + mode.weight, starts=other.starts + mode.starts
            )
            return
    modes.append(mode)


def settled(structure: Structure, density: Density, mode: Mode) -> Mode:
    """Move the held SDs of a mode to their marginal mode."""
    found = maximise_group_sds(density, mode.x, labels_kept(structure, density, mode.x))
    if found is None:
        x, height = climb(density, mode.x)
        return replace(mode, x=x, height=height, precision=curvature(density, x))
    x, spreads = found
    return at_spreads(structure, density, mode, x, spreads)


def labels_kept(structure: Structure, density: Density, x: Floats) -> Callable[[Floats], bool]:
    """Return a function that says whether a point has about the same labels as ``x``."""
    labels = labels_at(structure, density, x[None])
    return lambda there: distance(labels, labels_at(structure, density, there[None])) < KEPT_LABELS


def at_spreads(
    structure: Structure,
    density: Density,
    mode: Mode,
    x: Floats,
    spreads: GroupSDs,
    given: Precision | None = None,
) -> Mode:
    """Return a mode with settled SDs; ``given`` is the precision of all else given them."""
    return replace(
        mode, x=x, height=density(x)[0], spreads=spreads,
        precision=precision_with_spreads(density, x, spreads, given),
        **rater_accuracy_at_mode(structure, density, x)._asdict(),
    )  # fmt: skip


def follow_modes(
    structure: Structure,
    density: Density,
    samples: Sequence[Density],
    modes: Sequence[Mode],
    *,
    ascend: Climb | None = None,
    widths: bool = True,
) -> list[Mode]:
    """Follow the modes of the first sample through nested, growing samples.

    SDs move at the end, and only if every block of offsets is centred. ``density`` defines the
    coordinates, and samples only give data.
    """
    still = modes[0].held
    found = [replace(mode, precision=None, spreads=None) for mode in modes]
    rows = mass(samples[0].data)
    for sample in samples:
        there = replace(density, data=sample.data)
        grown = mass(sample.data) / rows
        rows = mass(sample.data)
        peaks = []
        for n, mode in enumerate(found):
            if n == 0 or mode.weight > FORGOTTEN:
                near = None if mode.precision is None else mode.precision.times(grown)
                if ascend is None:
                    peak = climb(FixedCoordinates(there, still), off_saddle(there, mode.x), near)
                else:
                    peak = ascend(there, off_saddle(there, mode.x), near)
                peaks.append((*peak, mode.starts))
        found = distinct(structure, there, peaks, still, widths=widths)
    if not len(still):
        return found
    return [_with_spreads(structure, density, mode, modes, still) for mode in found]


def _with_spreads(
    structure: Structure, density: Density, mode: Mode, before: Sequence[Mode], still: Ints
) -> Mode:
    """Give a mode the SDs of the sample's nearest mode, moved to their mode given all data."""
    gaps = [np.abs(other.x[still] - mode.x[still]).max() for other in before]
    spreads = before[int(np.argmin(gaps))].spreads
    mode = replace(mode, spreads=spreads)
    given = mode.given_spreads
    if spreads is None or given is None:
        return replace(mode, precision=None)
    if not density.centred:
        return at_spreads(structure, density, mode, mode.x, spreads, given)
    x, spreads, given = settle_again(density, mode.x, spreads, given)
    return at_spreads(structure, density, mode, x, spreads, given)


def samples_of(density: Density, rng: np.random.Generator) -> list[Density]:
    """Return nested random samples of large data, each ``GROWTH`` times the last, then all data.

    Climbs on a sample start close to their end. Small data have no smaller sample.
    """
    if not is_large(density):
        return [density]
    sizes = rows_of_terms(density.data)
    order = rng.permutation(len(sizes))
    running = np.cumsum(sizes[order])
    found, rows = [], sample_rows(density)
    while running[-1] > 2 * rows:
        some = np.sort(order[: max(1, int((running < rows).sum()))])
        found.append(replace(density, data=take_bundles(density.data, some)[0]))
        rows *= GROWTH
    return [*found, density]


def mass(data: Data) -> float:
    """Return the number of rows of all items before collapsing."""
    sizes = rows_of_terms(data)
    return float(sizes.sum() if has_readings(data) else sizes @ data.bundle_weight)

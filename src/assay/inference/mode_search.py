"""The search for the modes of the posterior, from several starts.

With weak data a model of raters has a mirror image in which every rater is wrong and every label
is turned round, and with more classes or labels modes in which classes are not what their names
say (:mod:`assay.inference.label_switching`). Several starts find such modes,
:mod:`assay.inference.modes` weighs them, and the heaviest is the one that a fit reports: of those
in which raters call the classes by their names, if there is one. Where items may be hard, a further
start is the mode of the model in which none is (:func:`assay.inference.optimise.equally_hard`).
Where raters contradict each other, a further start takes one of them at its word, and a further one
those who are then wrong.

On small data modes are sought and weighed with the SDs of offsets held at the centre of their prior
(:mod:`assay.inference.optimise`); then the SDs of those that matter are settled
(:mod:`assay.inference.group_sds`). On large data all this happens on a sample, and its modes are
followed on all data, with the SDs that the sample settled.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import FitError
from assay.inference.curvature import curvature
from assay.inference.density import NOT_FINITE, Density
from assay.inference.group_sds import (
    Spreads,
    precision_with_spreads,
    settle_again,
    settle_spreads,
)
from assay.inference.label_switching import one_camp, other_camp, put_right
from assay.inference.modes import Mode, alike, distance, distinct, in_order, labels_at, standing
from assay.inference.optimise import (
    Held,
    climb,
    equally_hard,
    hold,
    is_large,
    prior_centre,
    sample_rows,
    spreads_of,
)
from assay.inference.precision import Precision
from assay.likelihood.data import Data
from assay.likelihood.partition import bundle_sizes, take_bundles
from assay.modelling.structure import Structure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Climb = Callable[[Density, Floats, Precision | None], tuple[Floats, float]]
"""From a start to the mode above it and its height; the precision is that of :func:`climb`."""

KEPT_LABELS = 0.2
"""How far the labels of a mode may move, in total variation, when its SDs do."""
GROWTH = 10
FORGOTTEN = 1e-12
"""Weight on the sample below which a mode is not followed on all data."""
NOWHERE = -1e11
"""Height at or below which no climb has found the density finite."""
PUT_RIGHT = 100.0
"""Nats of evidence below the best mode from which a misnamed one is not put right."""
ROUNDS = 2
"""How often: a mode whose classes had each other's names may have a class without one besides."""
RIVAL = 0.01
"""Weight from which the SDs of a mode other than the heaviest are settled too."""


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
    """Climb from several starts and weigh the distinct modes, on large data by way of samples.

    Parameters
    ----------
    density : Density
        On which nothing is centred.
    starts : int
        The first start is the centre of the prior, where raters are better than chance; the
        others are scattered twice as widely as a standard normal around it, so that some of them
        are mirror images.
    centre : ndarray, optional
        In the place of the centre of the prior.
    ascend : callable, optional
        How to climb; :func:`assay.inference.optimise.climb`, or ``hold`` on small data, if not
        given.
    widths : bool
        Whether the curvature is asked for where there is one mode alone, and nothing to weigh.

    Returns
    -------
    list of Mode
        By falling evidence, those with a misnamed class last.
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
    """Climb from points and weigh the distinct modes, by falling evidence.

    Parameters
    ----------
    rival : float
        Weight from which the SDs of a mode other than the heaviest are settled too.
    """

    def above(density: Density, point: Floats) -> tuple[Floats, float]:
        return hold(density, point) if ascend is None else ascend(density, point, None)

    peaks = [(*above(density, point), 1) for point in points]
    start = equally_hard(density)
    if start is not None:
        peaks.append((*above(density, start), 1))
    data = one_camp(structure)
    if data is not None:
        peaks.append((*above(density, _told_start(density, data, above)), 1))
    # A climb from where the density is not finite ends where it began.
    peaks = [peak for peak in peaks if peak[1] > NOWHERE] or peaks
    still = spreads_of(density)
    # A mode whose SDs are held gets its width when they are settled.
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
        if (data := other_camp(structure, density.constrain(mode.x[None]))) is not None
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
    # Raters may call a class otherwise now that SDs have moved: then another mode comes first.
    for _ in modes:
        found = in_order(found)
        if found[0].spreads is not None:
            break
        _take_in(structure, density, found, settled(structure, density, found.pop(0)))
    return in_order(found)


def require_density(density: Density, mode: Mode) -> None:
    """Refuse a posterior whose density is not finite where its mode was found.

    Raises
    ------
    FitError
    """
    height, gradient = density(mode.x)
    if not height > NOWHERE or not np.isfinite(gradient).all():
        raise FitError(NOT_FINITE, code="density-not-finite")


def _first_and_heaviest(modes: Sequence[Mode]) -> list[Mode]:
    """Return the mode that comes first, and the heaviest one if another is."""
    heaviest = max(modes, key=lambda mode: mode.weight)
    return [modes[0]] if heaviest is modes[0] else [modes[0], heaviest]


def _misnamed(modes: Sequence[Mode], seen: Sequence[float]) -> list[Mode]:
    """Choose misnamed modes that may weigh, of heights not seen before."""
    floor = modes[0].evidence - PUT_RIGHT
    return [m for m in modes if m.misnamed and not m.evidence < floor and m.height not in seen]


def _put_right(
    structure: Structure,
    density: Density,
    modes: Sequence[Mode],
    above: Callable[[Density, Floats], tuple[Floats, float]],
) -> Iterator[Floats]:
    """Make a start for each misnamed mode: the same, put right."""
    for mode in modes:
        data = put_right(structure, density.constrain(mode.x[None]))
        if data is not None:
            yield _told_start(density, data, above)


def _told_start(
    density: Density, data: Data, above: Callable[[Density, Floats], tuple[Floats, float]]
) -> Floats:
    """Return the mode of data in which states are all but known, as a start."""
    told = replace(density, data=data)
    return above(told, prior_centre(told))[0]


def _take_in(structure: Structure, density: Density, modes: list[Mode], mode: Mode) -> None:
    """Add a mode; or, if its labels are those of another now that SDs moved, its weight to that."""
    labels = labels_at(structure, density, mode.x[None]) if modes else np.zeros(0)
    for n, other in enumerate(modes):
        if alike(labels, labels_at(structure, density, other.x[None])):
            modes[n] = replace(
                other, weight=other.weight + mode.weight, starts=other.starts + mode.starts
            )
            return
    modes.append(mode)


def settled(structure: Structure, density: Density, mode: Mode) -> Mode:
    """Move the SDs of a mode, which were held, to the mode of their own posterior."""
    found = settle_spreads(density, mode.x, labels_kept(structure, density, mode.x))
    if found is None:
        x, height = climb(density, mode.x)
        return replace(mode, x=x, height=height, precision=curvature(density, x))
    x, spreads = found
    return at_spreads(structure, density, mode, x, spreads)


def labels_kept(structure: Structure, density: Density, x: Floats) -> Callable[[Floats], bool]:
    """Return a function that says whether a point has much the same labels as ``x``."""
    labels = labels_at(structure, density, x[None])
    return lambda there: distance(labels, labels_at(structure, density, there[None])) < KEPT_LABELS


def at_spreads(
    structure: Structure,
    density: Density,
    mode: Mode,
    x: Floats,
    spreads: Spreads,
    given: Precision | None = None,
) -> Mode:
    """Return a mode as it is with settled SDs; ``given`` them is the precision of all else."""
    return replace(
        mode, x=x, height=density(x)[0], spreads=spreads,
        precision=precision_with_spreads(density, x, spreads, given),
        **standing(structure, density, x)._asdict(),
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
    """Follow modes of the first sample on growing samples, with the SDs that it settled.

    These move at the end alone, and only where every block of offsets is centred.

    Parameters
    ----------
    density : Density
        In whose coordinates the modes stand.
    samples : sequence of Density
        Of nested samples; their data alone matter.
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
                    peak = climb(Held(there, still), mode.x, near)
                else:
                    peak = ascend(there, mode.x, near)
                peaks.append((*peak, mode.starts))
        found = distinct(structure, there, peaks, still, widths=widths)
    if not len(still):
        return found
    return [_with_spreads(structure, density, mode, modes, still) for mode in found]


def _with_spreads(
    structure: Structure, density: Density, mode: Mode, before: Sequence[Mode], still: Ints
) -> Mode:
    """Give a mode back what a sample settled of its SDs, moved to where all data have them."""
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
    """Nested random samples of large data, each ``GROWTH`` times the one before; last, all data.

    On the way through them each climb starts near its end. Small data are their own sample.
    """
    if not is_large(density):
        return [density]
    sizes = bundle_sizes(density.data)
    order = rng.permutation(len(sizes))
    running = np.cumsum(sizes[order])
    found, rows = [], sample_rows(density)
    while running[-1] > 2 * rows:
        some = np.sort(order[: max(1, int((running < rows).sum()))])
        found.append(replace(density, data=take_bundles(density.data, some)[0]))
        rows *= GROWTH
    return [*found, density]


def mass(data: Data) -> float:
    """Rows of all items, whether collapsed or not."""
    return float(bundle_sizes(data) @ data.bundle_weight)

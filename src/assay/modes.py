"""Modes of the posterior: several starts, the distinct modes, and how much each weighs.

With weak data a model of raters has a mirror image in which every rater is wrong and every label
is turned round. Several starts find such modes; Laplace's approximation to the evidence of each
says how much of the posterior it holds, and the heaviest is the one that a fit reports.

On small data modes are sought and weighed with the SDs of offsets held at the centre of their prior
(:mod:`assay.climbs`); then the SDs of those that matter are settled (:mod:`assay.spreads`). On
large data all this happens on a sample, and its modes are followed on all data, with the SDs that
the sample settled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.climbs import (
    Held,
    climb,
    hold,
    is_large,
    prior_centre,
    sample_rows,
    spreads_of,
)
from assay.curvature import curvature
from assay.density import Density
from assay.kernels.data import Data
from assay.model import Structure
from assay.partition import bundle_sizes, take_bundles
from assay.precision import Precision, Regressed, beside
from assay.recovery import recover
from assay.spreads import Spreads, precision_with_spreads, settle_spreads

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NONE = np.zeros(0, np.int64)
Climb = Callable[[Density, Floats, Precision | None], tuple[Floats, float]]
"""From a start to the mode above it and its height; the precision is that of :func:`climb`."""
Peak = tuple[Floats, float, int]
"""Place, height, and how many starts led there."""

SAME_LABELS = 0.02
KEPT_LABELS = 0.2
"""How far the labels of a mode may move, in total variation, when its SDs do."""
SAME_HEIGHT = 0.5
GROWTH = 10
HOPELESS = 10.0
"""Nats for each unknown by which a mode is so low that its width is of no account."""
FORGOTTEN = 1e-12
"""Weight on the sample below which a mode is not followed on all data."""
RIVAL = 0.01
"""Weight from which the SDs of a mode other than the heaviest are settled too."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Mode:
    """A mode of the posterior, on unconstrained values.

    Attributes
    ----------
    x : ndarray (value,)
    height : float
        Log posterior density there.
    precision : Precision or None
        Of the normal approximation: the negative Hessian, with ones for SDs that are held; or
        where SDs were settled that of :func:`assay.spreads.precision_with_spreads`. None if it is
        not positive definite, or nothing needed it.
    evidence : float
        Laplace's approximation to the log of the posterior mass around the mode, where SDs of
        offsets were held at the centre of their prior; NaN where nothing needed it.
    accuracy : float
        Mean probability of the right answer over raters and classes, on the label whose raters
        stand lowest against guessing.
    chance : float
        What guessing gives on that label.
    weight : float
        Share of the evidence of all modes seen.
    starts : int
        How many starts led here.
    visited : float
        Share of the posterior draws that are nearer to this mode than to the others.
    spreads : Spreads or None
        Of a mode whose SDs were settled.
    """

    x: Floats
    height: float
    precision: Precision | None
    evidence: float
    accuracy: float
    chance: float
    weight: float = 1.0
    starts: int = 1
    visited: float = 0.0
    spreads: Spreads | None = None

    @property
    def held(self) -> Ints:
        """Positions of its SDs among the unknowns, where they were settled; none elsewhere."""
        return NONE if self.spreads is None else self.spreads.scores.at

    @property
    def mirrored(self) -> bool:
        """Whether raters are wrong more often than by guessing, on some label."""
        return self.accuracy < self.chance

    def __str__(self) -> str:
        """Say what the mode is and how much it weighs."""
        kind = (
            "raters are mostly wrong (a mirror image)"
            if self.mirrored
            else "raters are mostly right"
        )
        evidence = "" if np.isnan(self.evidence) else f"log evidence {self.evidence:.1f}, "
        return (
            f"{kind}: mean accuracy {self.accuracy:.2f}, {evidence}"
            f"weight {self.weight:.2g}, found from {self.starts} of the starts"
        )


def find_modes(
    structure: Structure,
    density: Density,
    rng: np.random.Generator,
    *,
    starts: int = 4,
    more: list[Floats] | None = None,
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
    more : list of ndarray, optional
        Further starts.
    centre : ndarray, optional
        In the place of the centre of the prior.
    ascend : callable, optional
        How to climb; :func:`assay.climbs.climb`, or ``hold`` on small data, if not given.
    widths : bool
        Whether the curvature is asked for where there is one mode alone, and nothing to weigh.

    Returns
    -------
    list of Mode
        By falling evidence.
    """
    samples = samples_of(density, rng)
    centre = prior_centre(density) if centre is None else centre
    points = [*starting_points(centre, rng, starts), *(more or [])]
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
    if ascend is None:
        peaks = [(*hold(density, point), 1) for point in points]
    else:
        peaks = [(*ascend(density, point, None), 1) for point in points]
    still = spreads_of(density)
    # A mode whose SDs are held gets its width when they are settled.
    widths = widths and not len(still)
    modes = _distinct(structure, density, peaks, still, widths=widths)
    if not len(still):
        return modes
    found: list[Mode] = []
    for n, mode in enumerate(modes):
        weighty = n == 0 or mode.weight > rival
        _take_in(structure, density, found, settled(structure, density, mode) if weighty else mode)
    return found


def _take_in(structure: Structure, density: Density, modes: list[Mode], mode: Mode) -> None:
    """Add a mode; or, if its labels are those of another now that SDs moved, its weight to that."""
    labels = _labels(structure, density, mode.x) if modes else np.zeros(0)
    for n, other in enumerate(modes):
        if _alike(labels, _labels(structure, density, other.x)):
            modes[n] = replace(
                other, weight=other.weight + mode.weight, starts=other.starts + mode.starts
            )
            return
    modes.append(mode)


def _labels(structure: Structure, density: Density, x: Floats) -> Floats:
    """Probabilities of the states of all items at one point: (item, state)."""
    values = {k: v[None] for k, v in density.constrain(x).items()}
    return recover(structure, values, np.random.default_rng(0)).probabilities


def _alike(a: Floats, b: Floats) -> bool:
    return _gap(a, b) < SAME_LABELS


def _gap(a: Floats, b: Floats) -> float:
    """Mean total variation between probabilities (item, state)."""
    return float(np.abs(a - b).sum(axis=1).mean() / 2)


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
    labels = _labels(structure, density, x)
    return lambda there: _gap(labels, _labels(structure, density, there)) < KEPT_LABELS


def at_spreads(
    structure: Structure,
    density: Density,
    mode: Mode,
    x: Floats,
    spreads: Spreads,
    given: Precision | None = None,
) -> Mode:
    """Return a mode as it is with settled SDs; ``given`` them is the precision of all else."""
    accuracy, chance = mean_accuracy(structure, density, x)
    return replace(
        mode, x=x, height=density(x)[0], accuracy=accuracy, chance=chance, spreads=spreads,
        precision=precision_with_spreads(density, x, spreads, given),
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
    """Follow modes of the first sample on growing samples; SDs that it settled stay as they are.

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
        for mode in found:
            if mode.weight > FORGOTTEN:
                near = None if mode.precision is None else mode.precision.times(grown)
                if ascend is None:
                    peak = climb(Held(there, still), mode.x, near)
                else:
                    peak = ascend(there, mode.x, near)
                peaks.append((*peak, mode.starts))
        found = _distinct(structure, there, peaks, still, widths=widths)
    if not len(still):
        return found
    return [_with_spreads(structure, density, mode, modes, still) for mode in found]


def _with_spreads(
    structure: Structure, density: Density, mode: Mode, before: Sequence[Mode], still: Ints
) -> Mode:
    """Give a mode back what a sample settled of its SDs, and the width that goes with them."""
    gaps = [np.abs(other.x[still] - mode.x[still]).max() for other in before]
    spreads = before[int(np.argmin(gaps))].spreads
    if spreads is None or not isinstance(mode.precision, Regressed):
        return replace(mode, spreads=spreads, precision=None)
    return at_spreads(structure, density, mode, mode.x, spreads, mode.precision.given)


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


def _distinct(
    structure: Structure, density: Density, peaks: Sequence[Peak], still: Ints, *, widths: bool
) -> list[Mode]:
    """Tell peaks apart, and weigh them."""
    if len(peaks) == 1 and not widths:
        return [_alone(structure, density, *peaks[0])]
    groups: list[tuple[Floats, float, Floats, int]] = []
    for x, height, starts in sorted(peaks, key=lambda peak: -peak[1]):
        labels = _labels(structure, density, x)
        for n, (first, top, other, count) in enumerate(groups):
            if _alike(labels, other) or (
                top - height < SAME_HEIGHT and np.abs(first - x).max() < 0.1
            ):
                groups[n] = (first, top, other, count + starts)
                break
        else:
            groups.append((x, height, labels, starts))
    apart = [(x, height, count) for x, height, _, count in groups]
    if len(apart) == 1 and not widths:
        return [_alone(structure, density, *apart[0])]
    return weigh(structure, density, apart, still)


def _alone(structure: Structure, density: Density, x: Floats, height: float, starts: int) -> Mode:
    """Return a mode without rivals, its width left aside."""
    accuracy, chance = mean_accuracy(structure, density, x)
    return Mode(
        x=x, height=height, precision=None, evidence=np.nan, accuracy=accuracy, chance=chance,
        starts=starts,
    )  # fmt: skip


def weigh(structure: Structure, density: Density, peaks: Sequence[Peak], still: Ints) -> list[Mode]:
    """Weigh peaks against each other, by evidence; the unknowns ``still`` are held."""
    modes: list[Mode] = []
    saddles: list[Mode] = []
    best = max(height for _, height, _ in peaks)
    for x, height, count in peaks:
        size = len(x) - len(still)
        hopeless = best - height > HOPELESS * size
        precision = None if hopeless else curvature(density, x, still)
        accuracy, chance = mean_accuracy(structure, density, x)
        mode = Mode(
            x=x, height=height, precision=precision and beside(precision, still),
            evidence=laplace_evidence(height, precision, size), accuracy=accuracy, chance=chance,
            starts=count,
        )  # fmt: skip
        # Without a proper peak a point is a saddle, and its evidence means nothing beside a mode's.
        (modes if hopeless or precision is not None else saddles).append(mode)
    return by_evidence(modes or saddles)


def by_evidence(modes: Sequence[Mode]) -> list[Mode]:
    """Order modes by falling evidence, and say what share of it each has."""
    ordered = sorted(modes, key=lambda mode: -mode.evidence)
    evidence = np.array([mode.evidence for mode in ordered])
    weights = np.exp(evidence - evidence.max())
    weights = weights / weights.sum()
    return [
        replace(mode, weight=float(weight)) for mode, weight in zip(ordered, weights, strict=True)
    ]


def laplace_evidence(height: float, precision: Precision | None, size: int) -> float:
    """Laplace's approximation to the log evidence."""
    width = 0.0 if precision is None else 0.5 * precision.log_determinant
    return height + 0.5 * size * float(np.log(2 * np.pi)) - width


def mean_accuracy(structure: Structure, density: Density, x: Floats) -> tuple[float, float]:
    """Mean probability of the right answer, and what guessing would give.

    Of the label whose raters stand lowest against guessing: a mirror image of one label shows.
    """
    values = {k: v[None] for k, v in density.constrain(x).items()}
    classes = np.array([len(label.classes) for label in structure.ratings.task.labels])
    right = np.concatenate([part.accuracy(values)[0] for part in structure.parts], axis=0)
    by_label = right.mean(axis=0)
    worst = int((by_label - 1 / classes).argmin())
    return float(by_label[worst]), float(1 / classes[worst])

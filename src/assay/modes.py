"""Modes of the posterior: several starts, the distinct modes, and how much each weighs.

With weak data a model of raters has a mirror image in which every rater is wrong and every label
is turned round. Several starts find such modes; Laplace's approximation to the evidence of each
says how much of the posterior it holds, and the heaviest is the one that a fit reports.

Offsets of raters and their SD have no joint mode that is like its surroundings: the larger the SD,
the less an offset costs, so that the height there says little of the mass around it. On small data
modes are therefore sought and weighed with the SDs held at the centre of their prior
(:func:`hold`), where Laplace's approximation is good; from there a climb goes on to the mode of
all.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, solve_triangular
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from assay.density import Density, make_density, settle, unconstrain
from assay.kernels import Data
from assay.model import Structure
from assay.partition import bundle_sizes, bundles_of_rows, in_threads, take_bundles
from assay.recovery import recover

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Climb = Callable[[Density, Floats, Floats | None], tuple[Floats, float]]
"""From a start to the mode above it and its height; the factor is that of :func:`climb`."""

SAME_LABELS = 0.02
SAME_HEIGHT = 0.5
MAX_DENSE = 6000
DIFFERENCE = 1e-4
LARGE = 30_000
"""Rows beyond which data count as large: modes are sought on a sample of so many first."""
GROWTH = 10
HOPELESS = 10.0
"""Nats for each unknown by which a mode is so low that its width is of no account."""
FORGOTTEN = 1e-12
"""Weight on the sample below which a mode is not followed on all data."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Mode:
    """A mode of the posterior, on unconstrained values.

    Attributes
    ----------
    x : ndarray (value,)
    height : float
        Log posterior density there.
    factor : ndarray (value, value) or None
        Upper Cholesky factor of the negative Hessian; None if it is not positive definite, or
        nothing needed it.
    evidence : float
        Laplace's approximation to the log of the posterior mass around the mode, with SDs of
        raters held where there are rivals to weigh; NaN where nothing needed it.
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
    """

    x: Floats
    height: float
    factor: Floats | None
    evidence: float
    accuracy: float
    chance: float
    weight: float = 1.0
    starts: int = 1
    visited: float = 0.0

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


def prior_centre(density: Density) -> Floats:
    """Unconstrained values at the centre of the prior.

    Cluster loadings start half an SD away from 0: the likelihood is even in them, so that 0 is a
    saddle which no climb by gradients leaves.
    """
    values = {}
    for parameter in density.parameters:
        numbers = [np.asarray(v, float) for v in parameter.prior.values]
        match parameter.prior.name:
            case "Normal":
                away = 0.5 if parameter.name == "cluster_loading" else 0.0
                centre = numbers[0] + away * numbers[1]
            case "HalfNormal":
                centre = 0.67 * numbers[0]
            case "Exponential":
                centre = 0.7 / numbers[0]
            case "Gamma":
                centre = numbers[0] / numbers[1]
            case "Beta":
                centre = numbers[0] / (numbers[0] + numbers[1])
            case _:
                counts = np.broadcast_to(numbers[0], parameter.shape)
                centre = counts / counts.sum(axis=-1, keepdims=True)
        values[parameter.name] = np.broadcast_to(centre, parameter.shape)
    return unconstrain(density, values)


def climb(
    density: "Density | Held", start: Floats, factor: Floats | None = None
) -> tuple[Floats, float]:
    """Go from a start to the mode above it (L-BFGS).

    ``factor``, the Cholesky factor of a Hessian like the one there, makes it a walk of few steps.
    """

    def place(z: Floats) -> Floats:
        return z if factor is None else start + solve_triangular(factor, z)

    def downhill(z: Floats) -> tuple[float, Floats]:
        value, gradient = density(place(z))
        if not np.isfinite(value):
            return 1e12, np.zeros_like(z)
        return -value, -gradient if factor is None else -solve_triangular(
            factor, gradient, trans="T"
        )

    # With a factor the unit is the posterior's width: a thousandth of it is near enough.
    near = 1e-6 if factor is None else 1e-3
    options = {"maxiter": 3000, "maxfun": 6000, "ftol": 1e-13, "gtol": near}
    # Its matrices are tiny: threads would spend their time waiting for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        first = start if factor is None else np.zeros_like(start)
        found = minimize(downhill, first, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(place(found.x), float), -float(found.fun)


class Held:
    """A density in which some unknowns do not move.

    Attributes
    ----------
    density : Density
    still : ndarray of int
        Positions of the unknowns that are held.
    """

    def __init__(self, density: Density, still: Ints) -> None:
        self.density, self.still = density, still

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Log density, and its gradient with nothing along what is held."""
        value, gradient = self.density(x)
        gradient[self.still] = 0.0
        return value, gradient


def spreads_of(density: Density) -> Ints:
    """Positions of the SDs of raters among the unknowns, on small data; none on large data.

    There every rater's numbers are pinned down, and the SDs with them.
    """
    names = {parameter.spread for parameter in density.parameters} - {""}
    if len(density.data.rows) > 2 * LARGE:
        return np.zeros(0, np.int64)
    return np.concatenate(
        [
            np.arange(*density.starts[n : n + 2])
            for n, parameter in enumerate(density.parameters)
            if parameter.name in names
        ]
        or [np.zeros(0, np.int64)]
    ).astype(np.int64)


def hold(density: Density, x: Floats, still: Ints) -> Floats:
    """Climb from ``x`` with the SDs of raters held at the centre of their prior.

    Offsets keep what they add to their means, so that the climb begins in the same basin.
    """
    names = {parameter.spread for parameter in density.parameters} - {""}
    values, centre = density.constrain(x), density.constrain(prior_centre(density))
    for parameter in density.parameters:
        if parameter.spread:
            ratio = (values[parameter.spread] / centre[parameter.spread]).reshape(-1)
            owner = np.broadcast_to(parameter.spread_at, parameter.shape)
            values[parameter.name] = values[parameter.name] * ratio[owner]
    start = unconstrain(density, values | {name: centre[name] for name in names})
    return climb(Held(density, still), start)[0]


def curvature(density: Density, x: Floats, still: Ints | None = None) -> Floats | None:
    """Upper Cholesky factor of the negative Hessian, by differences of gradients.

    None if it is not positive definite, or too large to be held as one matrix. Unknowns that are
    held ``still`` have no row in it.
    """
    if len(x) > MAX_DENSE:
        return None
    hessian = np.empty((len(x), len(x)))

    def rows(job: tuple[Ints, Density]) -> None:
        unknowns, local = job
        for n in unknowns:
            shift = np.zeros(len(x))
            shift[n] = DIFFERENCE
            hessian[n] = (local(x - shift)[1] - local(x + shift)[1]) / (2 * DIFFERENCE)

    whole, *local = neighbourhoods(density, x)
    rows(whole)
    in_threads(rows, local, density.threads)
    if still is not None:
        hessian = np.delete(np.delete(hessian, still, axis=0), still, axis=1)
    try:
        return np.asarray(np.triu(cho_factor((hessian + hessian.T) / 2)[0]))
    except (np.linalg.LinAlgError, ValueError):
        return None


def neighbourhoods(density: Density, x: Floats) -> list[tuple[Ints, Density]]:
    """Group the unknowns by the data that they touch, each group with a density of these data.

    A rater's own numbers touch the items that the rater judged: their row of the Hessian needs no
    others. The first group touches everything.
    """
    unknowns = np.arange(len(x))
    if len(density.data.rows) < LARGE:
        return [(unknowns, density)]
    _, prevalence, response, *others = density.tables(x)
    found: dict[bytes, list[int]] = {b"": []}
    for n in unknowns:
        shift = np.zeros(len(x))
        shift[n] = 1.0
        _, moved, rows, *rest = density.tables(x + shift)
        changed = (rows != response).any(axis=(0, 2))
        wide = (moved != prevalence).any() or changed.mean() > 0.5
        wide |= any((a != b).any() for a, b in zip(rest, others, strict=True))
        found.setdefault(b"" if wide else changed.tobytes(), []).append(int(n))
    groups = [(np.array(found.pop(b""), np.int64), density)]
    for key, members in found.items():
        touched = bundles_of_rows(density.data, np.frombuffer(key, bool))
        data, _ = take_bundles(density.data, np.flatnonzero(touched))
        groups.append((np.array(members), replace(density, data=data, threads=1)))
    return groups


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
    """Climb from several starts and weigh the distinct modes.

    Parameters
    ----------
    starts : int
        The first start is the centre of the prior, where raters are better than chance; the
        others are scattered twice as widely as a standard normal around it, so that some of them
        are mirror images.
    more : list of ndarray, optional
        Further starts.
    centre : ndarray, optional
        In the place of the centre of the prior.
    ascend : callable, optional
        How to climb, :func:`climb` if not given.
    widths : bool
        Whether the curvature is asked for where there is one mode alone, and nothing to weigh.

    Returns
    -------
    list of Mode
        By falling evidence.
    """
    ascend = ascend or climb
    centre = prior_centre(density) if centre is None else centre
    points = [centre, *(centre + 2 * rng.standard_normal(density.size) for _ in range(starts - 1))]
    points += more or []
    samples = samples_of(density, rng)
    plain = density
    if density.centred:
        plain = replace(make_density(structure), data=samples[0].data)
    if len(still := spreads_of(plain)):
        points = [hold(plain, p, still) for p in points]
    if density.centred:
        points = [settle(plain, density, climb(plain, p)[0]) for p in points]
    peaks = [(*ascend(samples[0], p, None), 1) for p in points]
    modes = _distinct(structure, samples[0], peaks, widths=widths)
    for before, sample in pairwise(samples):
        grown = np.sqrt(mass(sample.data) / mass(before.data))
        peaks = []
        for mode in modes:
            if mode.weight > FORGOTTEN:
                factor = None if mode.factor is None else mode.factor * grown
                peaks.append((*ascend(sample, mode.x, factor), mode.starts))
        modes = _distinct(structure, sample, peaks, widths=widths)
    return modes


def samples_of(density: Density, rng: np.random.Generator) -> list[Density]:
    """Nested random samples of large data, each ``GROWTH`` times the one before; last, all data.

    On the way through them each climb starts near its end. Small data are their own sample.
    """
    sizes = bundle_sizes(density.data)
    if sizes.sum() <= 2 * LARGE:
        return [density]
    order = rng.permutation(len(sizes))
    running = np.cumsum(sizes[order])
    found, rows = [], LARGE
    while running[-1] > 2 * rows:
        some = np.sort(order[: max(1, int((running < rows).sum()))])
        found.append(replace(density, data=take_bundles(density.data, some)[0]))
        rows *= GROWTH
    return [*found, density]


def mass(data: Data) -> float:
    """Rows of all items, whether collapsed or not."""
    return float(bundle_sizes(data) @ data.bundle_weight)


def _distinct(
    structure: Structure,
    density: Density,
    peaks: list[tuple[Floats, float, int]],
    *,
    widths: bool,
) -> list[Mode]:
    """Tell peaks (place, height, how many starts led there) apart, and weigh them."""
    if len(peaks) == 1 and not widths:
        return [_alone(structure, density, *peaks[0])]
    groups: list[tuple[Floats, float, Floats, int]] = []
    for x, height, starts in sorted(peaks, key=lambda peak: -peak[1]):
        values = {k: v[None] for k, v in density.constrain(x).items()}
        labels = recover(structure, values, np.random.default_rng(0)).probabilities
        for n, (first, top, other, count) in enumerate(groups):
            alike = np.abs(labels - other).sum(axis=1).mean() / 2 < SAME_LABELS
            if alike or (top - height < SAME_HEIGHT and np.abs(first - x).max() < 0.1):
                groups[n] = (first, top, other, count + starts)
                break
        else:
            groups.append((x, height, labels, starts))
    if len(groups) == 1 and not widths:
        x, height, _, count = groups[0]
        return [_alone(structure, density, x, height, count)]
    return weigh(structure, density, groups)


def _alone(structure: Structure, density: Density, x: Floats, height: float, starts: int) -> Mode:
    """Return a mode without rivals, its width left aside."""
    accuracy, chance = mean_accuracy(structure, density, x)
    return Mode(
        x=x, height=height, factor=None, evidence=np.nan, accuracy=accuracy, chance=chance,
        starts=starts,
    )  # fmt: skip


def weigh(
    structure: Structure, density: Density, groups: list[tuple[Floats, float, Floats, int]]
) -> list[Mode]:
    """Weigh peaks (place, height, label probabilities, starts) against each other, by evidence."""
    modes: list[Mode] = []
    saddles: list[int] = []
    best = max(height for _, height, _, _ in groups)
    still = spreads_of(density) if len(groups) > 1 else np.zeros(0, np.int64)
    for x, height, _, count in groups:
        hopeless = best - height > HOPELESS * len(x)
        factor, peaked = None, False
        if hopeless:
            mass_near = _evidence(height, None, len(x))
        elif len(still):
            mass_near, peaked = _held_evidence(density, x, still)
        else:
            factor = curvature(density, x)
            mass_near, peaked = _evidence(height, factor, len(x)), factor is not None
        accuracy, chance = mean_accuracy(structure, density, x)
        # Without a proper peak a point is a saddle, and its evidence means nothing beside a mode's.
        if not peaked and not hopeless:
            saddles.append(len(modes))
        modes.append(
            Mode(
                x=x,
                height=height,
                factor=factor,
                evidence=mass_near,
                accuracy=accuracy,
                chance=chance,
                starts=count,
            )
        )
    if len(saddles) < len(modes):
        modes = [mode for n, mode in enumerate(modes) if n not in saddles]
    modes.sort(key=lambda mode: -mode.evidence)
    if len(still):
        modes[0] = replace(modes[0], factor=curvature(density, modes[0].x))
    evidence = np.array([m.evidence for m in modes])
    weights = np.exp(evidence - evidence.max())
    weights = weights / weights.sum()
    return [
        replace(mode, weight=float(weight)) for mode, weight in zip(modes, weights, strict=True)
    ]


def _evidence(height: float, factor: Floats | None, size: int) -> float:
    """Laplace's approximation to the log evidence."""
    width = 0.0 if factor is None else float(np.log(np.diag(factor)).sum())
    return height + 0.5 * size * float(np.log(2 * np.pi)) - width


def _held_evidence(density: Density, x: Floats, still: Ints) -> tuple[float, bool]:
    """Log evidence of the basin of a mode with SDs held, and whether there is a peak."""
    peak = hold(density, x, still)
    factor = curvature(density, peak, still)
    return _evidence(density(peak)[0], factor, len(x) - len(still)), factor is not None


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


def visits(modes: list[Mode], x: Floats) -> list[Mode]:
    """Say how many draws (..., value) are nearest to each mode, in units of the first one."""
    scale = mode_scale(modes[0])
    points = x.reshape(-1, x.shape[-1]) / scale
    distance = np.stack([((points - mode.x / scale) ** 2).sum(axis=1) for mode in modes])
    share = np.bincount(distance.argmin(axis=0), minlength=len(modes)) / len(points)
    return [replace(mode, visited=float(s)) for mode, s in zip(modes, share, strict=True)]


def laplace_draws(mode: Mode, count: int, rng: np.random.Generator) -> Floats:
    """Draw from the normal approximation at a mode: (draw, value)."""
    assert mode.factor is not None
    noise = rng.standard_normal((count, len(mode.x)))
    return np.asarray(mode.x + solve_triangular(mode.factor, noise.T, lower=False).T)


def laplace_log_density(mode: Mode, x: Floats) -> Floats:
    """Log density of the normal approximation at points (draw, value)."""
    assert mode.factor is not None
    standard = (x - mode.x) @ mode.factor.T
    constant = np.log(np.diag(mode.factor)).sum() - 0.5 * len(mode.x) * np.log(2 * np.pi)
    return np.asarray(constant - 0.5 * (standard**2).sum(axis=1))


def mode_scale(mode: Mode) -> Floats:
    """Return the SDs of the normal approximation; 0.1 where there is no proper peak."""
    if mode.factor is None:
        return np.full(len(mode.x), 0.1)
    inverse = solve_triangular(mode.factor, np.eye(len(mode.x)), lower=False)
    return np.asarray(np.sqrt((inverse**2).sum(axis=1)))

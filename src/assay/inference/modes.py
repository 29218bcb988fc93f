"""Posterior modes: which are distinct, their weights by Laplace's approximation to the evidence,
and which classes they exchange.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from assay._util.text import counted
from assay._util.typing import Floats, Ints
from assay.data.task import Label
from assay.fits.latent_states import sample_states
from assay.inference.curvature import curvature
from assay.inference.density import Density
from assay.inference.group_sds import GroupSDs
from assay.inference.label_switching import is_misnamed
from assay.inference.precision import Precision, Regressed, beside
from assay.modelling.parameters import SIGNLESS
from assay.modelling.structure import Structure

NONE = np.zeros(0, np.int64)
Peak = tuple[Floats, float, int]
"""Position, height, and number of starts that led there."""
SAME_LABELS = 0.02
"""Largest total variation between label probabilities of the same mode."""
SAME_PLACE = 0.1
"""Largest difference of an unknown between two ends of climbs to the same mode."""
SAME_HEIGHT = 0.5
"""Largest difference of their log densities."""
NEAR_GUESSING = 0.15
"""Share of the way from chance to always right (or wrong) within which raters seem to guess.

With two classes these are mean accuracies of 0.43 to 0.57, as when half of the raters are reversed.
"""
HALF = 0.5
HOPELESS = 10.0
"""Nats per unknown below the best mode at which a mode's width is not computed."""
MAX_DRAWS_COMPARED = 1000
"""Approximate number of draws whose labels are compared with those of the modes."""
RARELY = 1e-3
"""Least probability of a state, since a mode's labels are more certain than those of its draws."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Mode:
    """A mode of the posterior, on unconstrained values.

    height : log posterior density
    precision : the negative Hessian, with ones for held SDs; with settled SDs
        :func:`assay.inference.group_sds.precision_with_spreads`. None if not positive definite or
        not needed
    evidence : Laplace's log evidence, SDs held at the centre of their prior; NaN if not needed
    accuracy, chance : of a right answer and of guessing, on the label where it is lowest against
        chance
    weight : share of the evidence of all modes found
    misnamed : whether raters clearly call a class by another's name
    starts : number of starts that led here; not those of modes with renamed classes
    visited : share of draws whose labels are most likely under this mode
    spreads : the SDs, if they were settled
    trades : in words, classes exchanged relative to the reported mode; may be empty
    """

    x: Floats
    height: float
    precision: Precision | None
    evidence: float
    accuracy: float
    chance: float
    weight: float = 1.0
    misnamed: bool = False
    starts: int = 1
    visited: float = 0.0
    spreads: GroupSDs | None = None
    trades: str = ""

    @property
    def held(self) -> Ints:
        """Positions of the SDs among the unknowns, if they were settled."""
        return NONE if self.spreads is None else self.spreads.scores.at

    @property
    def given_spreads(self) -> Precision | None:
        """Precision of all unknowns given the settled SDs; None if there is none."""
        if self.spreads is None or not isinstance(self.precision, Regressed):
            return None
        return self.precision.given

    @property
    def mirrored(self) -> bool:
        """Whether accuracy on some label is below chance."""
        return self.accuracy < self.chance

    @property
    def kind(self) -> str:
        """The raters' accuracy at this mode, in words."""
        span = self.chance if self.mirrored else 1 - self.chance
        near = abs(self.accuracy - self.chance) < NEAR_GUESSING * span
        if self.mirrored and not near:
            return "raters are mostly wrong (a mirror image)"
        if self.misnamed:
            return "most answers to a class, or to its hard items, name another class"
        if near:
            return (
                f"raters are right, on average, about as often as by guessing ({self.chance:.2f})"
            )
        if self.accuracy <= HALF:
            return f"raters are right more often than by guessing ({self.chance:.2f})"
        return "raters are mostly right"

    def __str__(self) -> str:
        """Describe the mode and its weight."""
        evidence = "" if np.isnan(self.evidence) else f"log evidence {self.evidence:.1f}, "
        found = f"from {counted(self.starts, 'start')}" if self.starts else "by exchanging classes"
        trades = f". Relative to the reported mode, {self.trades}" if self.trades else ""
        return (
            f"{self.kind}: mean accuracy {self.accuracy:.2f}, {evidence}"
            f"weight {self.weight:.2g}, found {found}{trades}"
        )


def labels_at(structure: Structure, density: Density, points: Floats) -> Floats:
    """Return state probabilities (item, state), averaged over points (point, value)."""
    values = density.constrain(points)
    return sample_states(structure, values, np.random.default_rng(0)).probabilities


def draws_per_mode(
    modes: Sequence[Mode], probabilities: Sequence[Floats], states: NDArray[np.int16]
) -> list[Mode]:
    """Set ``visited`` of modes: the share of drawn states (draw, item) that each explains best."""
    some = states[:: max(1, len(states) // MAX_DRAWS_COMPARED)]
    items = np.arange(states.shape[1])
    scores = []
    for labels in probabilities:
        logs = np.log(np.maximum(labels, RARELY))
        scores.append([logs[items, drawn].sum() for drawn in some])
    share = np.bincount(np.argmax(scores, axis=0), minlength=len(modes)) / len(some)
    return [replace(mode, visited=float(s)) for mode, s in zip(modes, share, strict=True)]


def seen_weight(modes: Sequence[Mode]) -> float:
    """Return the share of evidence in the first mode and those with draws.

    Misnamed modes without draws are left out.
    """
    known = [m for m in modes if np.isfinite(m.evidence) and not (m.misnamed and not m.visited)]
    missed = sum(mode.weight for mode in known if mode is not modes[0] and mode.visited == 0)
    total = sum(mode.weight for mode in known)
    return float(1 - missed / total) if total > 0 else 1.0


def reported_weight(modes: Sequence[Mode]) -> float:
    """Return the share of all modes' evidence in the first mode and others that have draws.

    It is 1 if there was only one mode.
    """
    known = [mode for mode in modes if np.isfinite(mode.evidence)]
    total = sum(mode.weight for mode in known)
    if not np.isfinite(modes[0].evidence) or total <= 0:
        return 1.0
    return float(sum(m.weight for m in known if m is modes[0] or m.visited > 0) / total)


def alike(a: Floats, b: Floats) -> bool:
    """Return whether probabilities (item, state) belong to the same mode."""
    return distance(a, b) < SAME_LABELS


def distance(a: Floats, b: Floats) -> float:
    """Return the mean total variation distance between probabilities (item, state)."""
    return float(np.abs(a - b).sum(axis=1).mean() / 2)


def same_peak(a: tuple[Floats, float], b: tuple[Floats, float]) -> bool:
    """Return whether two climbs ended in the same peak, by position and height."""
    return abs(a[1] - b[1]) < SAME_HEIGHT and bool(np.abs(a[0] - b[0]).max() < SAME_PLACE)


def distinct(
    structure: Structure, density: Density, peaks: Sequence[Peak], still: Ints, *, widths: bool
) -> list[Mode]:
    """Return the distinct modes among peaks, weighed if there are several or ``widths`` is set."""
    if len(peaks) == 1 and not widths:
        return [_alone(structure, density, *peaks[0])]
    groups: list[tuple[Floats, float, Floats, int]] = []
    for x, height, starts in sorted(peaks, key=lambda peak: -peak[1]):
        labels = labels_at(structure, density, x[None])
        for n, (first, top, other, count) in enumerate(groups):
            if alike(labels, other) or same_peak((first, top), (x, height)):
                groups[n] = (first, top, other, count + starts)
                break
        else:
            groups.append((x, height, labels, starts))
    apart = [(x, height, count) for x, height, _, count in groups]
    if len(apart) == 1 and not widths:
        return [_alone(structure, density, *apart[0])]
    return weighed_modes(structure, density, apart, still)


def _alone(structure: Structure, density: Density, x: Floats, height: float, starts: int) -> Mode:
    """Return a mode that has no rival; its precision is not computed."""
    return Mode(
        x=x, height=height, precision=None, evidence=np.nan, starts=starts,
        **rater_accuracy_at_mode(structure, density, x)._asdict(),
    )  # fmt: skip


def weighed_modes(
    structure: Structure, density: Density, peaks: Sequence[Peak], still: Ints
) -> list[Mode]:
    """Weigh peaks by Laplace's evidence, with the unknowns ``still`` held."""
    modes: list[Mode] = []
    saddles: list[Mode] = []
    best = max(height for _, height, _ in peaks)
    for x, height, count in peaks:
        size = len(x) - len(still)
        hopeless = best - height > HOPELESS * size
        precision = None if hopeless else curvature(density, x, still)
        mode = Mode(
            x=x, height=height, precision=precision and beside(precision, still),
            evidence=laplace_evidence(height, precision, size), starts=count,
            **rater_accuracy_at_mode(structure, density, x)._asdict(),
        )  # fmt: skip
        # A point without a positive definite precision is a saddle; its evidence is not comparable.
        (modes if hopeless or precision is not None else saddles).append(mode)
    return by_evidence(modes or saddles)


def in_order(modes: Sequence[Mode]) -> list[Mode]:
    """Order modes by falling evidence, those with a misnamed class last.

    A class is defined by the answers, and its name is what raters mostly call it.
    """
    return sorted(modes, key=lambda mode: (mode.misnamed, -mode.evidence))


def by_evidence(modes: Sequence[Mode]) -> list[Mode]:
    """Order modes, and set their weights."""
    ordered = in_order(modes)
    evidence = np.array([mode.evidence for mode in ordered])
    weights = np.exp(evidence - evidence.max())
    weights = weights / weights.sum()
    return [
        replace(mode, weight=float(weight)) for mode, weight in zip(ordered, weights, strict=True)
    ]


def laplace_evidence(height: float, precision: Precision | None, size: int) -> float:
    """Return Laplace's approximation to the log evidence."""
    width = 0.0 if precision is None else 0.5 * precision.log_determinant
    return height + 0.5 * size * float(np.log(2 * np.pi)) - width


class RaterAccuracyAtMode(NamedTuple):
    """The raters' accuracy at a point, see :class:`Mode`."""

    accuracy: float
    chance: float
    misnamed: bool


def rater_accuracy_at_mode(
    structure: Structure, density: Density, x: Floats
) -> RaterAccuracyAtMode:
    """Return accuracy, chance and ``misnamed``, on the label with the lowest accuracy.

    Accuracy is compared with chance, so that the mirror image of one label shows.
    """
    values = density.constrain(x[None])
    classes = np.array([len(label.classes) for label in structure.ratings.task.labels])
    right = np.concatenate([part.accuracy(values)[0] for part in structure.parts], axis=0)
    by_label = right.mean(axis=0)
    worst = int((by_label - 1 / classes).argmin())
    return RaterAccuracyAtMode(
        accuracy=float(by_label[worst]),
        chance=float(1 / classes[worst]),
        misnamed=is_misnamed(structure, values),
    )


def align_loadings(values: dict[str, Floats], density: Density, mode: Mode) -> dict[str, Floats]:
    """Give the cluster loadings of every draw the sign that they have at the mode.

    The likelihood depends on the loadings only up to a common sign.
    """
    ahead, aligned = density.constrain(mode.x), dict(values)
    for name in values:
        if name.rpartition(".")[2] in SIGNLESS:
            along = (values[name] * ahead[name]).sum(axis=-1, keepdims=True)
            aligned[name] = values[name] * np.where(along < 0, -1.0, 1.0)
    return aligned


GAIN = 0.1
"""Least increase of the share of items on which two modes agree, to report exchanged classes."""


def name_trades(
    structure: Structure, modes: Sequence[Mode], probabilities: Sequence[Floats]
) -> list[Mode]:
    """Say which classes each mode exchanges relative to the first, by their label probabilities."""
    labels, states = structure.ratings.task.labels, structure.prevalence.space.states
    found = []
    for mode, there in zip(modes, probabilities, strict=True):
        words = [
            trade
            for n, label in enumerate(labels)
            if (trade := _trade(label, states[:, n], probabilities[0], there))
        ]
        found.append(replace(mode, trades=" and ".join(words)))
    return found


def _trade(label: Label, classes: NDArray[np.integer], here: Floats, there: Floats) -> str:
    """Describe the classes of a label that two modes exchange; ``""`` if none clearly."""
    member = np.arange(len(label.classes)) == classes[:, None]
    given = there @ member  # no class where gates close the label
    both = (here @ member).T @ given
    asked = both.sum()
    _, names = linear_sum_assignment(both, maximize=True)
    moved = np.flatnonzero(names != np.arange(len(names)))
    if (both[moved, names[moved]].sum() - both[moved, moved].sum()) <= GAIN * asked:
        return ""
    *first, last = (label.classes[k] for k in moved)
    share = given.sum(axis=0) / given.sum()
    shares = ", ".join(f"{label.classes[k]} {share[k]:.2f}" for k in moved)
    return f"{', '.join(first)} and {last} of {label.name} are exchanged (shares there: {shares})"

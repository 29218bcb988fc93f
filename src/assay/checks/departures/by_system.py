"""Test for a shift of all raters on a system: they err otherwise there, and alike."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import expit, logit

from assay._util.typing import Floats, Ints
from assay.checks.departures.null_model import (
    FEW,
    POOLING,
    TINY,
    UNTRUE,
    Groups,
    LabelRows,
    Maximise,
    NullFit,
    climb,
    confusions,
    confusions_of,
    counts,
    log_chances,
    normalised,
    vote_shares,
    with_hard_items,
    with_harder,
)

SPREAD = 1.0
"""Prior SD of the shift of a system and class, on the logit scale."""
CLIMBS = 36
"""Passes of EM."""
FIRST_CLIMBS = 20
"""Passes of EM that find the second start."""
NEVER = 1e-6
"""Least chance of an answer."""
UNSET = np.empty(0)
"""Log odds of right answers before the first pass."""
SCOUTED = 24
"""Passes of EM from each start, after which the best start of each set goes on. Earlier, a start
that ends lower is chosen in some sets.
"""
MIXED = 0.4
"""Initial weight of clusters of all classes beside those mostly of one."""


class Shifts:
    """Raters whose log odds of right answers all move alike on a system, by class.

    Updated by each call. Rows have a rater for each system (rater x system).

    at : shifts (system, set, class)
    base : log odds of right answers (rater, set, class); none before the first call
    """

    def __init__(self, at: Floats, base: Floats = UNSET) -> None:
        self.at, self.base = at, base

    def __call__(self, rows: LabelRows, posterior: Floats) -> Floats:
        """Take a Newton step of the shifts and of the raters, and return chances."""
        count = counts(rows, posterior)
        count = count.reshape(-1, len(self.at), *count.shape[1:])
        chance = confusions_of(count.sum(axis=1))
        own = np.clip(_right(chance), NEVER, 1 - NEVER)
        base = self.base if self.base.size else logit(own)
        right, total = _right(count), count.sum(axis=2)
        p = expit(base[:, None] + self.at)
        slope = (right - total * p).sum(axis=0) - self.at / SPREAD**2
        self.at = self.at + _step(slope, (total * p * (1 - p)).sum(axis=0) + SPREAD**-2)
        p = expit(base[:, None] + self.at)
        pooled, mine = expit(base.mean(axis=0)), expit(base)
        slope = (right - total * p).sum(axis=1) + POOLING * (pooled - mine)
        curve = (total * p * (1 - p)).sum(axis=1) + POOLING * mine * (1 - mine)
        self.base = base + _step(slope, curve + TINY)
        p = np.clip(expit(self.base[:, None] + self.at), NEVER, 1 - NEVER)[:, :, None]
        wrong = (chance / (1 - own)[:, None])[:, None] * (1 - p)
        found = np.where(np.eye(rows.classes, dtype=bool)[:, None, :], p, wrong)
        return with_harder(found.reshape(-1, *found.shape[2:]))


def _step(slope: Floats, curve: Floats) -> Floats:
    """Return a Newton step, not too long."""
    return np.asarray(np.clip(slope / curve, -0.5, 0.5))


def _right(table: Floats) -> Floats:
    """Return the entries of right answers, (..., answer, set, class) to (..., set, class)."""
    return np.asarray(np.diagonal(table, axis1=-3, axis2=-1))


def system_gain(rows: LabelRows, fit: NullFit) -> tuple[Floats, int] | None:
    """Return the log likelihood that shifts by system add to the null model's, per item, (set,),
    and the system with the largest shifts in the first set; None without two systems.

    Both models climb from the null model's fit, and from classes found in each system alone: where
    raters err much more on one system, only the second start leads to the mode. The null model
    climbs from the modes with shifts as well: else a better mode would count as a shift.
    """
    names, system = np.unique(rows.system, return_inverse=True)
    if (names >= 0).sum() < 2:
        return None
    starts = [fit.posterior, _classes_by_system(rows, system)]
    cell = rows.rater * len(names) + system[rows.item]
    apart = replace(rows, rater=cell, n_raters=rows.n_raters * len(names))
    none = np.zeros((len(names), rows.answer.shape[1], rows.classes))
    shifted = _fitted(apart, system, [(at, Shifts(none)) for at in starts])
    plain = _fitted(rows, system, [(at, None) for at in (*starts, shifted.posterior)])
    assert shifted.shifts is not None
    size = np.abs(shifted.shifts.at[:, 0]).sum(axis=-1)
    gain = shifted.evidence - plain.evidence
    return gain / len(rows.truth), int(names[np.where(names >= 0, size, -1.0).argmax()])


@dataclass
class _Mode:
    """Where EM has climbed to in each set.

    posterior : of the items' kinds (item, set, kind)
    level : posterior of the clusters' kinds (cluster, set, cluster kind)
    given : posterior of the items' kinds given their clusters' (item, set, cluster kind, kind)
    evidence : log likelihood (set,)
    shifts : by system, if raters shift
    """

    posterior: Floats
    level: Floats
    given: Floats
    evidence: Floats
    shifts: Shifts | None


def _fitted(rows: LabelRows, system: Ints, starts: Sequence[tuple[Floats, Shifts | None]]) -> _Mode:
    """Climb from each start, and go on from the best one of each set."""
    modes = [_begun(rows, *start) for start in starts]
    for mode in modes:
        _climb(rows, system, mode, SCOUTED)
    best = np.argmax([mode.evidence for mode in modes], axis=0)
    of_sets = partial(_of_sets, best)
    shifts = [mode.shifts for mode in modes if mode.shifts is not None]
    mode = _Mode(
        of_sets([mode.posterior for mode in modes]),
        of_sets([mode.level for mode in modes]),
        of_sets([mode.given for mode in modes]),
        np.empty(0),
        Shifts(of_sets([s.at for s in shifts]), of_sets([s.base for s in shifts]))
        if shifts else None,
    )  # fmt: skip
    _climb(rows, system, mode, CLIMBS - SCOUTED)
    return mode


def _of_sets(best: Ints, found: Sequence[Floats]) -> Floats:
    """Return of each set, which is the second dimension, the best one of what was found."""
    return np.stack([found[n][:, k] for k, n in enumerate(best)], axis=1)


def _begun(rows: LabelRows, posterior: Floats, shifts: Shifts | None) -> _Mode:
    """Return a mode from which to climb: clusters are mixed, or mostly of one class."""
    clusters = Groups(rows.cluster, int(rows.cluster.max(initial=0)) + 1)
    clear = posterior[..., : rows.classes] + posterior[..., rows.classes : 2 * rows.classes]
    mean = clusters.sums(clear) / np.maximum(clusters.sums(np.ones((len(clear), 1, 1))), 1)
    level = np.concatenate([mean, np.full((*mean.shape[:2], 1), MIXED)], axis=-1)
    level = level / level.sum(axis=-1, keepdims=True)
    given = np.repeat(posterior[:, :, None], level.shape[-1], axis=2)
    return _Mode(posterior, level, given, np.empty(0), shifts)


def _climb(rows: LabelRows, system: Ints, mode: _Mode, passes: int) -> None:
    """Fit a mixture over kinds of clusters, each with shares of kinds of items in each system, by
    some passes of EM from a mode, which is moved.

    Unlike shares from the other items of a cluster, it counts what they tell once.
    """
    clusters, systems = Groups(rows.cluster, len(mode.level)), Groups(system, int(system.max()) + 1)
    known = np.where(rows.untrue, UNTRUE, 0.0)[:, None, None]
    maximise: Maximise = mode.shifts or confusions
    for _ in range(passes):
        chance = maximise(rows, mode.posterior)
        joint = mode.level[rows.cluster][..., None] * mode.given
        share = _shares(joint, systems, rows.classes)[system] + known
        own = share + rows.by_item(log_chances(rows, chance))[:, :, None]
        mode.given, inner = normalised(own)
        outer = np.log(mode.level.mean(axis=0) + TINY) + clusters.sums(inner)
        mode.level, total = normalised(outer)
        mode.evidence = total.sum(axis=0)
        mode.posterior = (mode.level[rows.cluster][..., None] * mode.given).sum(axis=2)


def _shares(joint: Floats, systems: Groups, classes: int) -> Floats:
    """Return log shares of kinds, (system, set, cluster kind, kind): of classes by system and kind
    of cluster, times those of easy, harder and hard items by system.
    """
    easy, harder, hard = np.split(systems.sums(joint), [classes, 2 * classes], axis=-1)
    of_class = _smoothed(easy + harder)
    count = np.stack([one.sum(axis=(2, 3)) for one in (easy, harder, hard)], axis=-1)
    level = _smoothed(count)[:, :, None]
    parts = [of_class * level[..., :1], of_class * level[..., 1:2], level[..., 2:]]
    parts[2] = np.broadcast_to(parts[2], (*of_class.shape[:-1], 1))
    return np.log(np.concatenate(parts, axis=-1) + TINY)


def _smoothed(count: Floats) -> Floats:
    """Return shares over the last axis, those of a system drawn to those of all."""
    overall = count.sum(axis=0) + TINY
    count = count + FEW * overall / overall.sum(axis=-1, keepdims=True)
    return np.asarray(count / count.sum(axis=-1, keepdims=True))


def _classes_by_system(rows: LabelRows, system: Ints) -> Floats:
    """Return kinds of items by a confusion of each system, which all raters share."""
    share = vote_shares(rows)
    none = np.zeros((*share.shape[:2], rows.classes + 1))
    alike = replace(rows, rater=system[rows.item], n_raters=int(system.max()) + 1)
    clear = np.concatenate([share, none], axis=-1)
    found = climb(alike, confusions, clear, FIRST_CLIMBS).posterior
    return with_hard_items(found[..., : rows.classes])

"""Readings of a cluster: which raters misread it, and in which direction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple

import numpy as np

from assay._util.arrays import NEVER, append_constant, logsumexp
from assay._util.grouping import sorted_rows, unique_rows
from assay._util.typing import Floats, Ints
from assay.data.misread_clusters import DIRECTIONS, Seats, most_misread
from assay.modelling.layers.impressions import log_chances


@dataclass(frozen=True, kw_only=True, eq=False)
class Readings:
    """The kinds of readings: equally probable ones, with as many raters of each group who misread.

    A *crew* is how many raters of each group have a seat at a cluster.

    names : parameters with the chances of the groups, one after the other
    group : of each rater, -1 for raters who misread no clusters (rater,)
    clusters : number of clusters with each crew at which a rater has a seat (rater, crew)
    crew : of each kind (kind,)
    misread, rightly : number of raters of each group who do (kind, group)
    alike : kinds of each crew, -1 beyond them (crew, place)
    times : log number of readings of each of these kinds, ``NEVER`` beyond them (crew, place)
    """

    names: tuple[str, ...]
    group: Ints
    clusters: Floats
    crew: Ints
    misread: Floats
    rightly: Floats
    alike: Ints
    times: Floats

    def chances(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the chance that a rater misreads a cluster that all others read rightly, by group.

        ``values`` has all parameters of the model; the result is (..., group).
        """
        return xp.concatenate([values[name] for name in self.names], axis=-1)

    def table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the log probability of each kind of reading, (..., kind)."""
        if not self.names:
            return np.zeros(0)
        right, wrong = log_chances(self.chances(values, xp), xp)
        logs = (wrong[..., None, :] * self.misread).sum(axis=-1)
        logs = logs + (right[..., None, :] * self.rightly).sum(axis=-1)
        every = append_constant(logs, [NEVER], xp)[..., self.alike] + self.times
        return logs - logsumexp(every, xp)[..., self.crew]

    def shares(self, values: Mapping[str, Any], clusters: Floats, group: Ints, xp: Any) -> Any:
        """Return the share of some clusters that a rater of a group misreads, (..., set).

        clusters : number of clusters with each crew, in sets (set, crew); all of the group if none
        group : of the rater (set,)
        """
        clusters = np.where(clusters.any(axis=1)[:, None], clusters, self.of_groups[group])
        total = clusters.sum(axis=1, keepdims=True)
        weight = clusters / np.maximum(total, 1)
        by_rater = self.misread / np.maximum(self.misread + self.rightly, 1)
        of_kind = weight[:, self.crew] * by_rater[:, group].T
        times = np.exp(self.times)[self.alike >= 0]
        found = xp.matmul(xp.exp(self.table(values, xp)), (of_kind * times).T)
        # A group without clusters would misread one that it reads alone.
        return found + self.chances(values, xp)[..., group] * (total[:, 0] == 0)

    def shares_of_groups(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the share of its clusters that a rater of each group misreads, (..., group)."""
        return self.shares(values, self.of_groups, np.arange(len(self.of_groups)), xp)

    @property
    def of_groups(self) -> Floats:
        """The ``clusters`` of all raters of a group together, (group, crew)."""
        found = np.zeros((self.misread.shape[1], self.clusters.shape[1]))
        np.add.at(found, self.group[self.group >= 0], self.clusters[self.group >= 0])
        return found


NO_READINGS = Readings(
    names=(), group=np.zeros(0, np.int64), clusters=np.zeros((0, 0)), crew=np.zeros(0, np.int64),
    misread=np.zeros((0, 0)), rightly=np.zeros((0, 0)), alike=np.zeros((0, 0), np.int64),
    times=np.zeros((0, 0)),
)  # fmt: skip


@cache
def patterns(raters: int) -> Ints:
    """Return all readings of a cluster by some raters, as positions in ``DIRECTIONS``.

    The first is that in which nobody misreads it, (reading, rater).
    """
    found = []
    for count in range(min(raters, most_misread(raters)) + 1):
        for who in combinations(range(raters), count):
            for how in product(range(1, len(DIRECTIONS)), repeat=count):
                reading = np.zeros(raters, np.int64)
                reading[list(who)] = how
                found.append(reading)
    return np.stack(found)


class Crews(NamedTuple):
    """The crew of each cluster (cluster,); readings by each crew, and the kind of each."""

    of_cluster: Ints
    patterns: list[Ints]
    kind: list[Ints]


def find_readings(names: tuple[str, ...], group: Ints, seats: Seats) -> tuple[Readings, Crews]:
    """Return the readings of clusters by the raters who have seats at them.

    names, group : as in :class:`Readings`
    """
    cluster = np.repeat(np.arange(len(seats.start) - 1), np.diff(seats.start))
    counts = np.zeros((len(seats.start) - 1, int(group.max()) + 1), np.int64)
    np.add.at(counts, (cluster, group[seats.rater]), 1)
    shown, of_cluster = unique_rows(*counts.T)
    every = [_kinds(by_group) for by_group in counts[shown]]
    first = np.append(0, np.cumsum([len(one.times) for one in every]))
    clusters = np.zeros((len(group), len(every)))
    np.add.at(clusters, (seats.rater, of_cluster[cluster]), 1)
    alike = [np.arange(a, b) for a, b in pairwise(first)]
    readings = Readings(
        names=names,
        group=group,
        clusters=clusters,
        crew=np.repeat(np.arange(len(every)), np.diff(first)),
        misread=np.concatenate([one.misread for one in every]).astype(float),
        rightly=np.concatenate([one.rightly for one in every]).astype(float),
        alike=_padded(alike, -1),
        times=_padded([one.times for one in every], NEVER),
    )
    crews = Crews(
        of_cluster=of_cluster,
        patterns=[patterns(int(by_group.sum())) for by_group in counts[shown]],
        kind=[one.kind + start for one, start in zip(every, first, strict=False)],
    )
    return readings, crews


class _Kinds(NamedTuple):
    """Kinds of readings by a crew, as in :class:`Readings`, and the kind of each reading."""

    misread: Ints
    rightly: Ints
    times: Floats
    kind: Ints


def _kinds(by_group: Ints) -> _Kinds:
    """Return the kinds of readings by a crew, whose raters sit by group."""
    of_seat = np.repeat(np.arange(len(by_group)), by_group)
    wrong = patterns(len(of_seat)) > 0
    each = np.stack([wrong[:, of_seat == g].sum(axis=1) for g in range(len(by_group))], axis=1)
    misread, kind = sorted_rows(*each.T)
    return _Kinds(misread, by_group - misread, np.log(np.bincount(kind)), kind)


def _padded(rows: Sequence[Any], value: float) -> Any:
    """Return rows of different lengths as one array, with a constant beyond them."""
    widest = max(len(row) for row in rows)
    return np.stack([np.pad(row, (0, widest - len(row)), constant_values=value) for row in rows])

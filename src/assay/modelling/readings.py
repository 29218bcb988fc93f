"""Readings of a cluster: which raters misread it, and in which direction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from assay._util.arrays import NEVER, append_constant, logsumexp
from assay._util.grouping import sorted_rows, unique_rows
from assay._util.typing import Floats, Ints
from assay.data.misread_clusters import DIRECTIONS, most_misread
from assay.likelihood.collapse import Cases
from assay.modelling.rater_model import RaterModel


@dataclass(frozen=True, kw_only=True, eq=False)
class Readings:
    """The kinds of readings: equally probable ones, with as many raters of each group who misread.

    misread, rightly : number of raters of each group who do (kind, group)
    alike : kinds of the clusters with the same numbers of raters, -1 beyond them (raters, kind)
    times : log number of readings of each of these kinds, ``NEVER`` beyond them (raters, kind)
    of : the row of ``alike`` of each kind (kind,)
    clusters : number of clusters of each row of ``alike`` (raters,)
    """

    misread: Floats
    rightly: Floats
    alike: Ints
    times: Floats
    of: Ints
    clusters: Ints

    def table(self, values: Mapping[str, Any], parts: Sequence[RaterModel], xp: Any) -> Any:
        """Return the log probability of each kind of reading, (..., kind)."""
        shares = [
            part.misreading.log_shares(part.own(values), xp)
            for part in parts
            if part.misreading is not None
        ]
        if not shares:
            return np.zeros(0)
        right, wrong = (xp.concatenate(each, axis=-1) for each in zip(*shares, strict=True))
        return self._table(right, wrong, xp)

    def misread_shares(self, right: Floats, wrong: Floats) -> Floats:
        """Return the share of clusters that a rater of each group misreads, (..., group).

        It is below that of a rater alone: few raters misread a cluster at once.
        """
        times = self.times[self.alike >= 0]  # kinds are numbered along the rows of ``alike``
        expected = np.exp(self._table(right, wrong, np) + times) * self.clusters[self.of]
        return np.asarray(expected @ self.misread / (expected @ (self.misread + self.rightly)))

    def _table(self, right: Any, wrong: Any, xp: Any) -> Any:
        """Return :meth:`table` from the groups' log shares, (..., group) each."""
        logs = (wrong[..., None, :] * self.misread).sum(axis=-1)
        logs = logs + (right[..., None, :] * self.rightly).sum(axis=-1)
        every = append_constant(logs, [NEVER], xp)[..., self.alike] + self.times
        return logs - logsumexp(every, xp)[..., self.of]


NO_READINGS = Readings(
    misread=np.zeros((0, 0)), rightly=np.zeros((0, 0)), alike=np.zeros((0, 0), np.int64),
    times=np.zeros((0, 0)), of=np.zeros(0, np.int64),
    clusters=np.zeros(0, np.int64),
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


class Expanded(NamedTuple):
    """Ratings of all cases: clusters with each of their readings.

    cases : the cases
    item_of_row, row : item in its case, and row, of each rating in each case
    """

    cases: Cases
    item_of_row: Ints
    row: Ints


def find_readings(
    cluster: Ints, item: Ints, rater: Ints, row: Ints, group: Ints, apart: Ints
) -> tuple[Readings, Expanded]:
    """Return the readings of all clusters, and the ratings in each case.

    cluster : of each item, by number
    group : of each rater, counted over the parts with the layer; -1 without it (rater,)
    apart : number of rows between those of two directions of a rater (rater,)
    """
    order = np.argsort(group, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    of_rating = cluster[item]
    keys = of_rating * len(order) + place[rater]
    seats = np.unique(keys[group[rater] >= 0])
    owner, seat_group = seats // len(order), group[order[seats % len(order)]]
    clusters = int(cluster.max(initial=-1)) + 1
    counts = np.zeros((clusters, int(group.max()) + 1), np.int64)
    np.add.at(counts, (owner, seat_group), 1)
    first = np.append(0, counts.sum(axis=1).cumsum())
    seat = np.where(group[rater] >= 0, np.searchsorted(seats, keys) - first[of_rating], -1)
    shown, which = unique_rows(*counts.T)
    numbered = _number(counts[shown], np.bincount(which))
    every = [patterns(int(n)) for n in counts[shown].sum(axis=1)]
    of_cluster = np.array([len(found) for found in every])[which]
    items = np.argsort(cluster, kind="stable")
    size = np.bincount(cluster, minlength=clusters)
    position = np.empty_like(items)
    position[items] = np.arange(len(items)) - np.repeat(np.append(0, size.cumsum())[:-1], size)
    start = np.append(0, of_cluster.cumsum())
    base = np.append(0, (of_cluster * size).cumsum())
    cases = Cases(
        start=start, kind=np.empty(start[-1], np.int64), item=np.empty(base[-1], np.int64),
        case=np.empty(base[-1], np.int64),
    )  # fmt: skip
    rows, where = [], []
    for n, found in enumerate(every):
        mine, own, said = which == n, which[cluster] == n, np.flatnonzero(which[of_rating] == n)
        for k, reading in enumerate(found):
            cases.kind[start[:-1][mine] + k] = numbered.kind[n][k]
            at = base[cluster[own]] + k * size[cluster[own]] + position[own]
            cases.item[at] = np.flatnonzero(own)
            cases.case[at] = start[cluster[own]] + k
            step = np.append(reading, 0)[seat[said]]  # the last is for raters without the layer
            rows.append(row[said] + step * apart[rater[said]])
            c = of_rating[said]
            where.append(base[c] + k * size[c] + position[item[said]])
    return numbered.readings, Expanded(cases, np.concatenate(where), np.concatenate(rows))


class _Numbered(NamedTuple):
    """Readings, and the kind of each pattern of each set of raters."""

    readings: Readings
    kind: list[Ints]


def _number(counts: Ints, clusters: Ints) -> _Numbered:
    """Return the kinds of readings of clusters with these raters, (raters, group)."""
    misread, rightly, alike, times, of = [], [], [], [], []
    kind, before = [], 0
    for n, by_group in enumerate(counts):
        owner = np.repeat(np.arange(len(by_group)), by_group)
        wrong = patterns(len(owner)) > 0
        by_kind = np.stack([wrong[:, owner == g].sum(axis=1) for g in range(len(by_group))], axis=1)
        found, here = sorted_rows(*by_kind.T)
        misread.append(found)
        rightly.append(by_group - found)
        alike.append(np.arange(before, before + len(found)))
        times.append(np.log(np.bincount(here)))
        of.append(np.full(len(found), n))
        kind.append(here + before)
        before += len(found)
    widest = max(len(one) for one in alike)
    readings = Readings(
        misread=np.concatenate(misread).astype(float),
        rightly=np.concatenate(rightly).astype(float),
        alike=np.stack([np.pad(a, (0, widest - len(a)), constant_values=-1) for a in alike]),
        times=np.stack([np.pad(t, (0, widest - len(t)), constant_values=NEVER) for t in times]),
        of=np.concatenate(of),
        clusters=clusters,
    )
    return _Numbered(readings, kind)

"""The ratings of clusters in each of their readings: cases, for the likelihood."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assay._util.grouping import number_within
from assay._util.typing import Ints
from assay.data.misread_clusters import Seats, find_seats
from assay.data.ratings import Ratings
from assay.likelihood.collapse import Cases
from assay.modelling.rater_model import RaterModel
from assay.modelling.readings import Crews, Readings, find_readings


class Expanded(NamedTuple):
    """Ratings of all cases: clusters with each of their readings.

    cases : the cases
    item_of_row, row : item in its case, and row, of each rating in each case
    """

    cases: Cases
    item_of_row: Ints
    row: Ints


class _Layout(NamedTuple):
    """Where the items of cases stand: by cluster, then by reading.

    readings, items : number of readings, and of items, of each cluster (cluster,)
    first : place of the first item of each cluster's first case (cluster,)
    position : of each item in its cluster (item,)
    """

    readings: Ints
    items: Ints
    first: Ints
    position: Ints

    def places(self, cluster: Ints, item: Ints, reading: Ints) -> Ints:
        """Return the places of items in the cases of some readings."""
        return self.first[cluster] + reading * self.items[cluster] + self.position[item]


def find_cases(
    ratings: Ratings, parts: Sequence[RaterModel], rating: Ints, item: Ints, row: Ints
) -> tuple[Readings, Expanded]:
    """Return the readings of all clusters, and the ratings in each case.

    rating, item, row : rating, item and row (as read rightly) of each rating that has a row
    """
    names, group, apart = _misreaders(parts, len(ratings.raters))
    seats = find_seats(ratings, group)
    readings, crews = find_readings(names, group, seats)
    layout = _lay_out(seats, crews)
    cluster = seats.cluster[item]
    at, reading = _each(layout.readings[cluster])
    places = layout.places(cluster[at], item[at], reading)
    direction = _directions(seats, crews, seats.of_rating[rating][at], cluster[at], reading)
    rows = row[at] + direction * apart[ratings.rater[rating[at]]]
    return readings, Expanded(_cases(seats, crews, layout), places, rows)


def _misreaders(parts: Sequence[RaterModel], raters: int) -> tuple[tuple[str, ...], Ints, Ints]:
    """Return the names of the chances of misreading, each rater's position among all of them, and
    its rows in one direction; -1 for raters who misread no clusters.
    """
    group, apart = np.full((2, raters), -1, np.int64)
    names: list[str] = []
    first = 0
    for part in parts:
        if (layer := part.misreading) is not None:
            names.append(part.prefix + layer.chance)
            group[part.members] = first + layer.group_of(part.members)
            apart[part.members] = part.copying.count
            first += len(layer.raters.groups)
    return tuple(names), group, apart


def _lay_out(seats: Seats, crews: Crews) -> _Layout:
    """Return where the items of cases stand."""
    readings = np.array([len(found) for found in crews.patterns])[crews.of_cluster]
    items = np.bincount(seats.cluster, minlength=len(readings))
    first = np.append(0, (readings * items).cumsum())[:-1]
    return _Layout(readings, items, first, number_within(seats.cluster))


def _cases(seats: Seats, crews: Crews, layout: _Layout) -> Cases:
    """Return the cases of all clusters."""
    start = np.append(0, layout.readings.cumsum())
    of_case, reading = _each(layout.readings)
    first = _starts([len(kind) for kind in crews.kind])
    kind = np.concatenate(crews.kind)[first[crews.of_cluster[of_case]] + reading]
    item, reading = _each(layout.readings[seats.cluster])
    cluster = seats.cluster[item]
    at = np.argsort(layout.places(cluster, item, reading))
    return Cases(start=start, kind=kind, item=item[at], case=(start[cluster] + reading)[at])


def _directions(seats: Seats, crews: Crews, seat: Ints, cluster: Ints, reading: Ints) -> Ints:
    """Return how raters read clusters, as positions in ``DIRECTIONS``; 0 without a seat."""
    first = _starts([found.size for found in crews.patterns])
    size = np.diff(seats.start)
    at = first[crews.of_cluster[cluster]] + reading * size[cluster] + seat - seats.start[cluster]
    # The last is for raters without a seat.
    every = np.concatenate([found.ravel() for found in (*crews.patterns, np.zeros(1, np.int64))])
    return every[np.where(seat < 0, len(every) - 1, at)]


def _each(count: Ints) -> tuple[Ints, Ints]:
    """Return each position as often as ``count`` says, and 0, 1, ... for its occurrences."""
    position = np.repeat(np.arange(len(count)), count)
    return position, np.arange(len(position)) - _starts(count)[position]


def _starts(count: Ints | list[int]) -> Ints:
    """Return where runs of these lengths start."""
    return np.append(0, np.cumsum(count))[:-1].astype(np.int64)

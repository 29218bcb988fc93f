"""Counts of the data for the warnings of a fit, which add over parts of whole items."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay._util.grouping import all_apart, unique_rows
from assay._util.sums import Sums
from assay._util.typing import Ints
from assay.checks.departures.teams import Links, count_links
from assay.data.ratings import Ratings
from assay.modelling.rater_model import RaterModel


@dataclass(frozen=True, kw_only=True, eq=False)
class DataCounts(Sums):
    """Counts of the data.

    ratings : of each unit of the model (unit,)
    known : items of known truth
    repeated : ratings of a rater who has rated the item before
    apart : those of them that the model takes for independent, in another session or label
    scores_alone : ratings with scores and no answer (group,)
    answers : (group, label)
    """

    ratings: Ints
    known: int
    repeated: int
    apart: int
    scores_alone: Ints
    answers: Ints
    links: Links


def rater_groups(ratings: Ratings) -> tuple[str, ...]:
    """Return the rater groups in the order of the counts."""
    return tuple(ratings.raters["group"].unique())


def count_data(ratings: Ratings, parts: Sequence[RaterModel], systems: Sequence[str]) -> DataCounts:
    """Count ratings; in ``parts`` they may come last, after those of a skeleton."""
    groups = np.array(rater_groups(ratings), object)
    group = (groups[:, None] == ratings.raters["group"].to_numpy(object)).argmax(axis=0)
    by_group = group[ratings.rater]
    answers = np.zeros((len(groups), ratings.answers.shape[1]), np.int64)
    np.add.at(answers, by_group, ratings.answers >= 0)
    first = len(parts[0].unit) - len(ratings.item)
    repeated, told = 0, ~ratings.abstained
    if not all_apart(ratings.rater, ratings.item, at=told):
        repeated = int(told.sum()) - len(unique_rows(ratings.rater[told], ratings.item[told])[0])
    return DataCounts(
        ratings=np.concatenate([_by_unit(part, first) for part in parts]),
        known=int(ratings.has_truth.sum()),
        repeated=repeated,
        apart=_apart(ratings, parts, first) if repeated else 0,
        scores_alone=np.bincount(by_group[ratings.scores_alone], minlength=len(groups)),
        answers=answers,
        links=count_links(ratings, systems),
    )


def _by_unit(part: RaterModel, first: int) -> Ints:
    """Count the ratings from ``first`` on by unit."""
    unit = part.unit[first:]
    return np.bincount(unit[unit >= 0], minlength=len(part.unit_rater))


def _apart(ratings: Ratings, parts: Sequence[RaterModel], first: int) -> int:
    """Count repeated ratings in different rows of the likelihood."""
    count, keys = 0, (ratings.rater, ratings.item)
    for part in parts:
        row = part.copying.row[first:]
        here = np.flatnonzero(row >= 0)
        once, joined = (key[here] for key in keys), (key[here] for key in (*keys, row))
        count += len(unique_rows(*joined)[0]) - len(unique_rows(*once)[0])
    return count

"""Copying: a rater who repeats the answers of another is no independent witness."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.errors import UnknownNameError, suggest
from assay._util.grouping import unique_rows
from assay._util.typing import Bools, Floats, Ints
from assay.data.ratings import Ratings
from assay.data.states import Vectors

APART, OTHER, SAME = 0, 1, 2
"""Kinds of a rating: without an answer to copy, unlike that answer, and equal to it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Copying:
    r"""Splits the rows of copiers' ratings by whether they equal the rating of their source.

    .. math:: p(y_j \mid s, y_k) = (1 - c_j)\, p_j(y_j \mid s) + c_j\, [y_j = y_k]

    for a rating of rater :math:`j` and one of :math:`k` that answers the same labels of the same
    item.

    names : copiers among the part's raters
    row : row of each rating, -1 without an answer
    of_row : for each kind, the rows before the split, in the order of the rows after it
    copier : for ``OTHER`` and ``SAME``, the position of each row's copier
    source : rating that each rating may copy, -1 without one
    copied_by : position of each rating's copier, -1 without a source
    """

    names: tuple[str, ...]
    row: Ints
    of_row: tuple[Ints, Ints, Ints]
    copier: tuple[Ints, Ints]
    source: Ints
    copied_by: Ints

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(map(len, self.of_row))

    def table(self, rows: Any, shares: Any, xp: Any) -> Any:
        """Return log probabilities (..., row, state) from those without copying.

        ``shares`` (..., copier) are the shares of copied ratings.
        """
        if not self.names:
            return rows
        apart, other, same = (rows[..., at, :] for at in self.of_row)
        own, copied = (shares[..., at] for at in self.copier)
        other = other + xp.log(1.0 - own)[..., None]
        same = xp.log((1.0 - copied)[..., None] * xp.exp(same) + copied[..., None])
        return xp.concatenate([apart, other, same], axis=-2)

    def copy(
        self,
        name: str,
        shares: Floats,
        answers: Vectors,
        scores: Floats,
        rng: np.random.Generator,
    ) -> None:
        """Let a copier's ratings copy their sources, in place; ``shares`` are (copier,)."""
        copier = self.names.index(name)
        mine = np.flatnonzero(self.copied_by == copier)
        mine = mine[rng.random(len(mine)) < shares[copier]]
        answers[mine], scores[mine] = answers[self.source[mine]], scores[self.source[mine]]


def without_copying(row: Ints) -> Copying:
    """Return rows of raters who copy nobody."""
    none = np.zeros(0, np.int64)
    return Copying(
        names=(), row=row, of_row=(np.arange(int(row.max(initial=-1)) + 1), none, none),
        copier=(none, none), source=none, copied_by=none,
    )  # fmt: skip


def split_copies(
    ratings: Ratings, copies: Mapping[str, str], row: Ints, kind: Ints, members: Ints
) -> Copying:
    """Split the rows of the copiers among ``members``, given each copier's source by name.

    row : row of each rating, -1 without an answer
    kind : number of the set of labels that each rating answers
    """
    at = {str(name): n for n, name in enumerate(ratings.raters.index)}
    copies = {name: source for name, source in copies.items() if name in at and source in at}
    names = in_order(copies, [str(name) for name in ratings.raters.index[members]])
    if not names:
        return without_copying(row)
    source = np.full(len(row), -1, np.int64)
    copied_by = np.full(len(row), -1, np.int64)
    told = (ratings.answers >= 0).any(axis=1)
    alone = _alone(ratings)
    for n, name in enumerate(names):
        first = np.full(len(ratings.items), -1, np.int64)
        of_source = np.flatnonzero((ratings.rater == at[copies[name]]) & told & alone)
        first[ratings.item[of_source]] = of_source
        mine = np.flatnonzero((ratings.rater == at[name]) & (row >= 0) & told & alone)
        found = first[ratings.item[mine]]
        fits = (found >= 0) & (kind[mine] == kind[found])
        source[mine[fits]], copied_by[mine[fits]] = found[fits], n
    same = (ratings.answers == ratings.answers[source]).all(axis=1)
    how = np.where(source < 0, APART, np.where(same, SAME, OTHER))
    here = np.flatnonzero(row >= 0)
    shown, which = unique_rows(how[here], row[here])
    final = np.full(len(row), -1, np.int64)
    first_of = here[shown]
    order = np.lexsort((row[first_of], how[first_of]))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    final[here] = place[which]
    kinds, rows, who = how[first_of][order], row[first_of][order], copied_by[first_of][order]
    return Copying(
        names=names,
        row=final,
        of_row=(rows[kinds == APART], rows[kinds == OTHER], rows[kinds == SAME]),
        copier=(who[kinds == OTHER], who[kinds == SAME]),
        source=source,
        copied_by=copied_by,
    )


def require_raters(ratings: Ratings, copies: Mapping[str, str] | None) -> None:
    """Raise UnknownNameError if a copier or a source is no rater."""
    known = [str(name) for name in ratings.raters.index]
    for name in (name for pair in (copies or {}).items() for name in pair):
        if name not in known:
            raise UnknownNameError(
                f"`copies=`: no rater is called {name!r}; {suggest(name, known)}",
                code="unknown-rater",
            )


def in_order(copies: Mapping[str, str], names: list[str]) -> tuple[str, ...]:
    """Return the copiers among ``names``, each after its source."""
    return tuple(
        sorted((name for name in copies if name in names), key=lambda name: _depth(copies, name))
    )


def _depth(copies: Mapping[str, str], name: str) -> int:
    """Return how many raters a rater's answers may have passed."""
    steps = 0
    while name in copies:
        name, steps = copies[name], steps + 1
    return steps


def _alone(ratings: Ratings) -> Bools:
    """Return which ratings are their rater's only ones of an item."""
    _, group = unique_rows(ratings.rater, ratings.item)
    return np.asarray(np.bincount(group)[group] == 1)

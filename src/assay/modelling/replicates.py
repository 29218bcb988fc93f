"""Replicates: a rater's repeated ratings of the same item are dependent."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.grouping import all_apart, unique_rows
from assay._util.typing import Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Repeats:
    r"""Joins distinct ratings to distinct (rater, ratings of one item).

    A rater's opinion of an item has a Dirichlet distribution around the confusion, so repeated
    ratings follow Polya's urn (Eggenberger & Polya 1923):

    .. math::

        p(y_1, \ldots, y_R \mid s) = \prod_{r} \frac{(1 - \kappa)\, p(y_r \mid s)
            + \kappa\, n_r(y_r)}{(1 - \kappa) + \kappa (r - 1)},

    where :math:`n_r(y)` earlier ratings were :math:`y`. The first rating has the probability
    :math:`p(y \mid s)` for any consistency :math:`\kappa`; :math:`\kappa = 0` is independence.

    row : row of each rating's (rater, item), -1 without an answer
    single : distinct ratings without repeats, the first rows
    urns : for each further row, the distinct rating and the number of equal earlier ones (step, 2)
    before : number of earlier ratings of each step
    """

    row: Ints
    single: Ints
    urns: tuple[Ints, ...]
    before: tuple[Ints, ...]

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.single) + len(self.urns)

    def table(self, rows: Any, consistency: Any, xp: Any) -> Any:
        """Return log probabilities (..., row, state) from those of the distinct ratings."""
        if not self.urns:
            return rows
        made = [self._urn(rows, consistency, urn, before, xp) for urn, before in self._pairs()]
        alone = [rows[..., self.single, :]] if len(self.single) else []
        return xp.concatenate([*alone, xp.stack(made, axis=-2)], axis=-2)

    def _pairs(self) -> Iterable[tuple[Ints, Ints]]:
        return zip(self.urns, self.before, strict=True)

    @staticmethod
    def _urn(rows: Any, kappa: Any, urn: Ints, before: Ints, xp: Any) -> Any:
        """Return the log probability of the ratings of one urn, (..., state)."""
        total = None
        for (row, same), earlier in zip(urn.tolist(), before.tolist(), strict=True):
            term = rows[..., row, :]
            if kappa is not None and earlier:
                fresh = 1.0 - kappa
                if same:
                    term = xp.log(fresh[..., None] * xp.exp(term) + (kappa * same)[..., None])
                else:
                    term = term + xp.log(fresh)[..., None]
                term = term - xp.log(fresh + kappa * earlier)[..., None]
            total = term if total is None else total + term
        return total


def collect_repeats(row: Ints, voice: Ints, item: Ints, kind: Ints, *, together: bool) -> Repeats:
    """Join each rater's ratings of an item, if ``together``.

    row : distinct rating, -1 without an answer
    voice, item : rater (perhaps in a session), and item, of each rating
    kind : the labels answered; only ratings with equal ones share an urn
    """
    distinct = int(row.max(initial=-1)) + 1
    if not together:
        return Repeats(row=row, single=np.arange(distinct), urns=(), before=())
    keys = item, voice, kind
    if all_apart(*keys, at=row >= 0):
        return Repeats(row=row, single=np.arange(distinct), urns=(), before=())
    here = np.flatnonzero(row >= 0)
    order = here[np.lexsort((row[here], kind[here], voice[here], item[here]))]
    _, group = unique_rows(*(key[order] for key in keys))
    again = np.bincount(group)[group] > 1
    alone, several = order[~again], order[again]
    shown, which = unique_rows(row[alone])
    number = np.full(len(row), -1, np.int64)
    number[alone] = which
    seen: dict[tuple[int, ...], int] = {}
    starts = np.flatnonzero(np.diff(group[again], prepend=-1))
    for members in np.split(several, starts[1:]):
        key = tuple(row[members].tolist())
        number[members[0]] = len(shown) + seen.setdefault(key, len(seen))
    urns = [_steps(key) for key in seen]
    return Repeats(
        row=number,
        single=row[alone][shown],
        urns=tuple(urn for urn, _ in urns),
        before=tuple(before for _, before in urns),
    )


def _steps(key: tuple[int, ...]) -> tuple[Ints, Ints]:
    same = [key[:n].count(r) for n, r in enumerate(key)]
    return np.array([key, same], np.int64).T, np.arange(len(key), dtype=np.int64)

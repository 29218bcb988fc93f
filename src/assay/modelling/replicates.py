"""Replicates: a rater's repeated ratings of the same item are dependent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.arrays import log_softmax
from assay._util.grouping import all_apart, unique_rows
from assay._util.typing import Ints
from assay.modelling.families.family import Raters
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class Repeats:
    r"""Joins distinct ratings to distinct (rater, ratings of one item).

    Opinions of an item are Dirichlet around the confusion; ratings follow Polya's urn (Eggenberger
    & Polya 1923), where :math:`n_r(y)` earlier ratings were :math:`y`:

    .. math::

        p(y_1, \ldots, y_R \mid s) = \prod_{r} \frac{(1 - \kappa)\, p(y_r \mid s)
            + \kappa\, n_r(y_r)}{(1 - \kappa) + \kappa (r - 1)},

    with the consistency :math:`\kappa` of the rater, 0 for independence.

    row : row of each rating's (rater, item), -1 without an answer
    single : distinct ratings without repeats, the first rows
    urns : for each further row, the distinct rating and the number of equal earlier ones (step, 2)
    before : number of earlier ratings of each step
    who : position of each urn's rater
    """

    row: Ints
    single: Ints
    urns: tuple[Ints, ...]
    before: tuple[Ints, ...]
    who: Ints

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.single) + len(self.urns)

    def table(self, rows: Any, consistency: Any, xp: Any) -> Any:
        """Return log probabilities (..., row, state) from those of the distinct ratings.

        ``consistency`` is (..., rater), or None if ratings are independent.
        """
        if not self.urns:
            return rows
        made = [
            self._urn(rows, None if consistency is None else consistency[..., who], *urn, xp)
            for who, urn in zip(self.who.tolist(), self._pairs(), strict=True)
        ]
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Consistency:
    r"""How often each rater's repeated rating copies an earlier one.

    .. math:: \operatorname{logit} \kappa_j = m_{g(j)} + \tau_{g(j)} e_j, \quad
              e_j \sim \mathrm{Normal}(0, 1)
    """

    raters: Raters
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """Return the means and SDs of groups, and the offsets of raters."""
        coords = {"repeating": self.raters.names, "repeating_group": self.raters.groups}
        of_groups = [
            Parameter(name=name, dims=("repeating_group",), prior=self.priors[name], coords=coords)
            for name in ("consistency_mean", "consistency_sd")
        ]
        offset = Parameter(
            name="consistency_offset",
            dims=("repeating",),
            prior=Prior(name="Normal", values=(0.0, 1.0)),
            coords=coords,
            spread="consistency_sd",
            location="consistency_mean",
            spread_at=self.raters.group,
            location_at=self.raters.group,
        )
        return [*of_groups, offset]

    def of_raters(self, values: Mapping[str, Any], xp: Any) -> Any:
        r"""Return :math:`\kappa_j`, (..., rater)."""
        sd = values["consistency_sd"][..., self.raters.group]
        odds = (
            values["consistency_mean"][..., self.raters.group] + sd * values["consistency_offset"]
        )
        return xp.exp(log_softmax(xp.stack([odds * 0.0, odds], axis=-1), xp)[..., 1])


def collect_repeats(
    row: Ints, voice: Ints, item: Ints, kind: Ints, rater: Ints, *, together: bool
) -> Repeats:
    """Join each rater's ratings of an item, if ``together`` and of equal ``kind`` (labels
    answered).

    row : distinct rating, -1 without an answer
    voice, rater : rater, perhaps in a session; position of the rater
    """
    distinct = int(row.max(initial=-1)) + 1
    if not together:
        return _without_urns(row, distinct)
    keys = item, voice, kind
    if all_apart(*keys, at=row >= 0):
        return _without_urns(row, distinct)
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
        key = (int(rater[members[0]]), *row[members].tolist())
        number[members[0]] = len(shown) + seen.setdefault(key, len(seen))
    urns = [_steps(rows) for _, *rows in seen]
    return Repeats(
        row=number,
        single=row[alone][shown],
        urns=tuple(urn for urn, _ in urns),
        before=tuple(before for _, before in urns),
        who=np.array([one[0] for one in seen], np.int64),
    )


def _without_urns(row: Ints, distinct: int) -> Repeats:
    none = np.zeros(0, np.int64)
    return Repeats(row=row, single=np.arange(distinct), urns=(), before=(), who=none)


def _steps(rows: list[int]) -> tuple[Ints, Ints]:
    same = [rows[:n].count(r) for n, r in enumerate(rows)]
    return np.array([rows, same], np.int64).T, np.arange(len(rows), dtype=np.int64)

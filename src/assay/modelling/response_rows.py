"""Rows of the response table: products of confusions, or options of a menu.

A row is a distinct answer vector of one unit, a rater or a rater in a session.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import NEVER, append_constant, logsumexp, merge_axes
from assay._util.errors import ModelError
from assay._util.grouping import sorted_rows
from assay.data.ratings import Resolve
from assay.data.states import MISSING, StateSpace
from assay.modelling.completions import completions_of
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.menus import Menu, Residual, menu_log_probability

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ProductRows:
    """Rows without active rules: a sum over completions of products of confusions.

    ``entries`` (row, completion, state, label) are positions in the flattened confusions of all
    units, with a 0 and a ``NEVER`` behind them.
    """

    entries: Ints

    @property
    def widest(self) -> int:
        """Numbers that one draw's table takes on the way."""
        return self.entries.size

    def table(
        self,
        flat: Any,
        values: Mapping[str, Any],
        resolve: Resolve,
        xp: Any,
        residual: Residual | None = None,
    ) -> Any:
        """Log p(answers of a row | state): (..., row, state)."""
        padded = append_constant(merge_axes(flat, 2), [0.0, NEVER], xp)
        terms = padded[..., self.entries].sum(axis=-1)
        if self.entries.shape[1] == 1:
            return terms[..., 0, :]
        return logsumexp(terms.swapaxes(-1, -2), xp)


def product_rows(
    layout: ConfusionLayout, space: StateSpace, unit: Ints, answers: Ints, units: int
) -> ProductRows:
    """Find the confusions that each row multiplies.

    Parameters
    ----------
    unit : ndarray of int (row,)
    answers : ndarray of int (row, label)
    units : int
        Number of units, with rows or without.
    """
    vectors, which = sorted_rows(*answers.T)
    completions = [completions_of(layout, tuple(vector)) for vector in vectors.tolist()]
    widest = max(len(found) for found in completions)
    one, never = units * layout.size, units * layout.size + 1
    shape = (len(vectors), widest, len(space.states), answers.shape[1])
    entries = np.full(shape, -1, np.int64)
    beyond = np.ones(shape[:2], bool)
    for n, found in enumerate(completions):
        entries[n, : len(found)] = layout.entries(space.states, found).swapaxes(0, 1)
        beyond[n, : len(found)] = False
    own = entries[which]
    own = np.where(own < 0, one, own + unit[:, None, None, None] * layout.size)
    own[beyond[which], :, 0] = never
    return ProductRows(entries=own)


@dataclass(frozen=True, kw_only=True, eq=False)
class MenuRows:
    """Rows under active rules: complete ones pick an option, others sum over a set of them.

    Attributes
    ----------
    menu : Menu
    unit : ndarray of int (row,)
    option : ndarray of int (row,) or None
        The option that each row shows, if all rows are complete.
    among : ndarray of float (row, option) or None
        0 for the options that the row's answers admit, ``NEVER`` elsewhere.
    """

    menu: Menu
    unit: Ints
    option: Ints | None = None
    among: Floats | None = None

    @property
    def widest(self) -> int:
        """Numbers that one draw's table takes on the way."""
        return self.menu.entries.size * (int(self.unit.max()) + 1)

    def table(
        self,
        flat: Any,
        values: Mapping[str, Any],
        resolve: Resolve,
        xp: Any,
        residual: Residual | None = None,
    ) -> Any:
        """Log p(answers of a row | state): (..., row, state)."""
        logp = menu_log_probability(self.menu, flat, values, resolve, xp, residual)
        if self.option is not None:
            return logp.swapaxes(-1, -2)[..., self.unit, self.option, :]
        assert self.among is not None
        return logsumexp(logp[..., self.unit, :, :] + self.among[:, None, :], xp)


def menu_rows(menu: Menu, unit: Ints, answers: Ints) -> MenuRows:
    """Find the options that each row's answers admit.

    Parameters
    ----------
    unit : ndarray of int (row,)
    answers : ndarray of int (row, label)

    Raises
    ------
    ModelError
        If the menu has no option for some row.
    """
    known = answers[:, None, :] != MISSING
    unanswered = menu.options[None] == MISSING
    fits = ((answers[:, None, :] == menu.options[None]) | ~known | unanswered).all(axis=-1)
    fits &= ~menu.blocked
    if not fits.any(axis=1).all():
        raise ModelError(
            "some ratings have answers that their gates or blocked rules forbid; read them with "
            "read_ratings, which sets such rows aside, or read with response={rule: 'warn'}",
            code="forbidden-answers",
        )
    if (fits.sum(axis=1) == 1).all():
        return MenuRows(menu=menu, unit=unit, option=fits.argmax(axis=1))
    return MenuRows(menu=menu, unit=unit, among=np.where(fits, 0.0, NEVER))

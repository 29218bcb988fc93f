"""The truth of hard items: what is hard to tell is as often one thing as the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.typing import Floats, Ints
from assay.data.rules import NOT_ASKED
from assay.data.states import StateSpace

MAX_STATES = 256
"""States beyond which hard items have the truth of easy ones, and are hard on all labels or none.

The tables grow with squares."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HardTruth:
    r"""States of hard items, drawn from those of easy ones: label by label anew, or kept.

    .. math::

        \pi_d = \pi \prod_{l \text{ hard in } d} \bigl(w_l^2 I + (1 - w_l^2) A_l\bigr), \qquad
        w_l = e^{-\lambda_l h_{dl}} \text{ or } 1 - h_{dl}\,(1 - e^{-\lambda_l})

    for each class :math:`d` of hard items. :math:`A_l` gives the classes of label :math:`l` equal
    odds, among the states that are asked the same labels; where rules tie other labels to it, they
    change as little as possible. Labels of three classes or more keep their prevalence: raters who
    are split between two classes say nothing of the others.

    hard : how hard each class of hard items is on each label (hard class, label)
    continuous : whether difficulty is continuous: the second :math:`w`
    wanted : whether items differ in difficulty, and the truth is what all raters agree on
    """

    space: StateSpace
    hard: Floats
    continuous: bool
    wanted: bool

    @property
    def applies(self) -> bool:
        """Whether hard items have a truth of their own."""
        return self.wanted and len(self.space.states) <= MAX_STATES and bool(self.redraws)

    @cached_property
    def redraws(self) -> list[tuple[int, Floats]]:
        """Labels of two classes among states that are asked the same, and their :math:`A_l`."""
        states = self.space.states
        binary = [n for n, codes in enumerate(states.T) if codes.max() == 1]
        every = ((n, _redraw(states, n)) for n in binary)
        return [(n, table) for n, table in every if (np.diagonal(table) < 1).any()]

    def table(self, rates: list[Any], xp: Any) -> Any:
        r"""Return P(a hard item's state | its state if easy), (..., hard class, state, state).
        ``rates`` are :math:`\lambda` (..., group, label). It is (0, 0, 0) if hard items are like
        the others.
        """
        if not self.applies:
            return np.zeros((0, 0, 0))
        rate = rates[0] if len(rates) == 1 else xp.concatenate(rates, axis=-2)
        groups = sum(each.shape[-2] for each in rates)
        every = []
        for hard in self.hard:
            if self.continuous and not np.isin(hard, (0, 1)).all():
                seen = (xp.exp(rate * -1.0) + -1.0) * hard + 1.0
            else:
                seen = xp.exp(rate * (hard * -1.0))
            kept = (seen * seen).sum(axis=-2) * (1 / groups)
            every.append(self._of_class(hard, kept))
        return xp.stack(every, axis=-3)

    def _of_class(self, hard: Floats, kept: Any) -> Any:
        """Table of items that are hard on some labels: (..., state, state)."""
        states, found = len(self.space.states), None
        for label, redraw in self.redraws:
            if not hard[label]:
                continue
            before = np.eye(states) if found is None else found
            anew = redraw if found is None else _times(found, redraw)
            found = kept[..., label, None, None] * (before - anew) + anew
        return kept[..., 0, None, None] * 0.0 + np.eye(states) if found is None else found


def _times(table: Any, redraw: Floats) -> Any:
    """Multiply matrices of which the second has few entries in a column."""
    often = int((redraw > 0).sum(axis=0).max())
    place = np.argsort(-redraw, axis=0, kind="stable")[:often].T
    weight = np.take_along_axis(redraw, place.T, axis=0).T
    return (table[..., place] * weight).sum(axis=-1)


def _redraw(states: NDArray[np.int16], label: int) -> Floats:
    """Equal odds of a label's classes: (state, state)."""
    found = np.zeros((len(states), len(states)))
    for n, nearest in enumerate(_nearest(states, label)):
        for of_class in nearest:
            found[n, of_class] = 1 / len(nearest) / len(of_class)
    return found


def _nearest(states: NDArray[np.int16], label: int) -> Iterator[list[Ints]]:
    """Of each state, those nearest to it, asked the same, that have each class of a label."""
    asked = states != NOT_ASKED
    for state in states:
        alike = np.flatnonzero((asked == (state != NOT_ASKED)).all(axis=1))
        away = (states[alike] != state).sum(axis=1)
        by_class = [states[alike, label] == k for k in np.unique(states[alike, label])]
        yield [alike[here & (away == away[here].min())] for here in by_class]

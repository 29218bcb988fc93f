"""Raters who answer by class: confusions, then the response process."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import logsumexp, merge_axes
from assay.data.states import MISSING, Vectors
from assay.modelling.confusion import Tilt
from assay.modelling.families import Family, WholeFamily
from assay.modelling.layers import Lapses
from assay.modelling.menus import Menu, Residual, build_menu, menu_log_probability
from assay.modelling.parameters import Parameter
from assay.modelling.part import Part
from assay.modelling.responses import Responses

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class AnswerPart(Part):
    """Raters with a family of confusions, and lapses if they have some."""

    family: Family
    responses: Responses
    lapses: Lapses | None = None

    def family_parameters(self) -> list[Parameter]:
        """Return the unknowns of the confusions, the lapses and the response process."""
        lapses = [] if self.lapses is None else self.lapses.parameters()
        return [*self.family.parameters(), *lapses, *self.responses.parameters()]

    @property
    def widest(self) -> int:
        """Numbers that one draw's table takes on the way."""
        return self.responses.widest

    def rows(self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any) -> Any:
        """Log p(answers | state): (..., row, state); mixtures are summed rating by rating."""
        if not self.responses.blocks:  # nobody of this part has answered anything
            return np.zeros((0, len(self.responses.space.states)))
        found = []
        for weight, confusion in self._components(values, tilt, xp):
            rows = self.responses.table(confusion, values, xp, self._residual(values, tilt, xp))
            if weight is not None:
                rows = rows + weight[..., self.responses.row_unit, None]
            found.append(rows)
        return found[0] if len(found) == 1 else logsumexp(xp.stack(found, axis=-1), xp)

    def reliability(self, values: Mapping[str, Floats], position: float = 0.0) -> Floats:
        """P(reported class | true class) as the parameters have it, rules left aside."""
        own, layout = self.own(values), self.family.layout
        tilt = self.tilt(own, position, np)
        rows: Any = 0.0
        for weight, confusion in self._components(own, tilt, np):
            chance = np.exp(np.asarray(confusion))[..., : layout.asked_rows, :]
            rows = rows + (chance if weight is None else chance * np.exp(weight)[..., None, None])
        table = np.full((*rows.shape[:2], len(layout.classes), layout.width, layout.width), np.nan)
        for row, (label, true) in enumerate(zip(layout.labels, layout.true_classes, strict=True)):
            count = layout.classes[label]
            table[:, :, label, true, :count] = rows[:, :, row, :count]
        return table

    def label_chances(self, values: Mapping[str, Floats], tilt: Tilt | None) -> Floats:
        """Sum the response probabilities over the answer vectors that share a class."""
        layout = self.family.layout
        menu = build_menu(layout, self.responses.space, np.ones(len(layout.classes), bool))
        chance = self.menu_chances(values, menu, tilt)
        shares = [
            np.stack(
                [chance[..., menu.options[:, n] == k].sum(-1) for k in range(layout.width)], axis=-1
            )
            for n in range(len(layout.classes))
        ]
        return np.stack(shares, axis=-2)

    def menu_chances(self, values: Mapping[str, Floats], menu: Menu, tilt: Tilt | None) -> Floats:
        """P(option | state) of each unit: (..., unit, state, option)."""
        total = None
        for weight, confusion in self._components(values, tilt, np):
            flat = merge_axes(self.responses.full_confusion(confusion, values, np), 2)
            residual = self._residual(values, tilt, np)
            resolve = self.responses.resolve
            chance = np.exp(menu_log_probability(menu, flat, values, resolve, np, residual))
            if weight is not None:
                chance = chance * np.exp(weight)[..., None, None]
            total = chance if total is None else total + chance
        return np.asarray(total)

    def draw(
        self,
        values: Mapping[str, Floats],
        ratings: Ints,
        states: NDArray[np.int16],
        tilt: Tilt | None,
        answered: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> tuple[Vectors, Floats]:
        """Draw answers from the menu of the labels that are answered."""
        none = np.full((len(ratings), len(answered)), np.nan)
        if not answered.any():
            return np.full(none.shape, MISSING, np.int16), none
        menu = build_menu(self.family.layout, self.responses.space, answered)
        chance = self.menu_chances(values, menu, tilt)[0]
        steps = chance[self.unit[ratings], states].cumsum(axis=1)
        picked = (rng.random(len(ratings))[:, None] * steps[:, -1:] > steps).sum(axis=1)
        return np.asarray(menu.options[picked], np.int16), none

    def _components(
        self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return what a rating can be an instance of: the family's kinds, and lapses."""
        kinds = self.family.components(values, self.unit_rater, tilt, xp)
        return kinds if self.lapses is None else self.lapses.mix(kinds, values, xp)

    def _residual(self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any) -> Residual | None:
        family = self.family
        if not isinstance(family, WholeFamily):
            return None
        return lambda menu: family.residual(values, self.unit_rater, tilt, menu, xp)

"""Raters who give scores: their bins given the true class, without a response process."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import NEVER, append_constant, merge_axes
from assay.data.rules import NOT_ASKED
from assay.data.score_bins import bin_middle
from assay.data.states import MISSING, StateSpace, Vectors
from assay.modelling.confusion import Tilt
from assay.modelling.families.scored import Scored
from assay.modelling.parameters import Parameter
from assay.modelling.part import Part
from assay.modelling.priors import Prior
from assay.modelling.response_rows import ProductRows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ScorePart(Part):
    """Raters whose scores are modelled; labels are scored one by one, whatever the rules."""

    family: Scored
    space: StateSpace
    products: ProductRows

    def family_parameters(self) -> list[Parameter]:
        """Return the unknowns of the scores, and of scores on labels that do not apply."""
        found = self.family.parameters()
        layout = self.family.layout
        for n, label in enumerate(layout.task.labels):
            if label.asked_if:
                dim = f"bin_of_{label.name}"
                flat = Prior(name="Dirichlet", values=(np.ones(layout.classes[n] * layout.parts),))
                coords = {dim: layout.bin_names[layout.bin_slice(n)]}
                name = f"unasked_{label.name}"
                found.append(Parameter(name=name, dims=(dim,), prior=flat, coords=coords))
        return found

    @property
    def widest(self) -> int:
        """Numbers that one draw's table takes on the way."""
        return self.products.widest

    def rows(self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any) -> Any:
        """Log p(scores | state): (..., row, state)."""
        return self.products.table(
            merge_axes(self.log_codes(values, tilt, xp), 2), values, "retry", xp
        )

    def reliability(self, values: Mapping[str, Floats], position: float = 0.0) -> Floats:
        """P(score lies in the region of a class | true class)."""
        own, layout = self.own(values), self.family.layout
        tilt = self.tilt(own, position, np)
        rows = np.exp(np.asarray(self.family.log_scores(own, self.unit_rater, tilt, np)))
        width = max(layout.classes)
        table = np.full((*rows.shape[:2], len(layout.classes), width, width), np.nan)
        for label, classes in enumerate(layout.classes):
            first, bins = layout.first_row(label), classes * layout.parts
            here = rows[:, :, first : first + classes, bins : bins + classes]
            table[:, :, label, :classes, :classes] = here
        return table

    def label_chances(self, values: Mapping[str, Floats], tilt: Tilt | None) -> Floats:
        """P(score lies in the region of a class | what the item looks like)."""
        layout = self.family.layout
        chance = np.exp(np.asarray(self.log_codes(values, tilt, np)))
        width = max(layout.classes)
        shares = np.zeros((*chance.shape[:2], len(self.space.states), len(layout.classes), width))
        for n, classes in enumerate(layout.classes):
            row, bins = score_rows(layout, self.space.states[:, n], n), classes * layout.parts
            shares[:, :, :, n, :classes] = chance[:, :, row, bins : bins + classes]
        return shares

    def log_codes(self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any) -> Any:
        """Log P(code | true class): (..., unit, row, code), rows of "not asked" behind."""
        logs = self.family.log_scores(values, self.unit_rater, tilt, xp)
        layout, extra = self.family.layout, []
        for n, label in enumerate(layout.task.labels):
            if label.asked_if:
                chance = values[f"unasked_{label.name}"]
                lead = [chance.shape[a] for a in range(chance.ndim - 1)]
                region = chance.reshape((*lead, layout.classes[n], layout.parts)).sum(axis=-1)
                row = xp.log(xp.concatenate([chance, region], axis=-1))
                pad = [NEVER] * (layout.width - layout.classes[n] * (layout.parts + 1))
                row = append_constant(row, pad, xp) if pad else row
                extra.append(xp.zeros_like(logs[..., :1, :]) + row[..., None, None, :])
        return xp.concatenate([logs, *extra], axis=-2) if extra else logs

    def draw(
        self,
        values: Mapping[str, Floats],
        ratings: Ints,
        states: NDArray[np.int16],
        tilt: Tilt | None,
        answered: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> tuple[Vectors, Floats]:
        """Draw a bin for each label; the score is its middle, the answer its class."""
        layout = self.family.layout
        chance = np.exp(self.log_codes(values, tilt, np))[0][self.unit[ratings]]
        answers = np.full((len(ratings), len(answered)), MISSING, np.int16)
        scores = np.full(answers.shape, np.nan)
        for n in np.flatnonzero(answered):
            row = score_rows(layout, self.space.states[states, n], int(n))
            bins = layout.classes[n] * layout.parts
            steps = chance[np.arange(len(ratings)), row, :bins].cumsum(axis=1)
            code = (rng.random(len(ratings))[:, None] * steps[:, -1:] > steps).sum(axis=1)
            scores[:, n] = bin_middle(code, layout.classes[n], layout.parts)
            answers[:, n] = code // layout.parts
        return answers, scores


def score_rows(layout: Any, true: NDArray[np.integer], label: int) -> Ints:
    """Row of the table for each true class of a label."""
    unasked = [n for n, la in enumerate(layout.task.labels) if la.asked_if]
    row = layout.first_row(label) + true.astype(np.int64)
    if label in unasked:
        outside = sum(layout.classes) + unasked.index(label)
        row = np.where(true == NOT_ASKED, outside, row)
    return np.asarray(row, np.int64)


def score_products(
    layout: Any, space: StateSpace, unit: Ints, codes: Ints, units: int
) -> ProductRows:
    """Find the entries that each distinct (unit, codes) multiplies."""
    unasked = sum(1 for label in layout.task.labels if label.asked_if)
    size = (sum(layout.classes) + unasked) * layout.width
    entries = np.empty((len(unit), 1, len(space.states), codes.shape[1]), np.int64)
    for n in range(codes.shape[1]):
        row = score_rows(layout, space.states[:, n], n)
        at = unit[:, None] * size + row[None, :] * layout.width + codes[:, n, None]
        entries[:, 0, :, n] = np.where(codes[:, n, None] < 0, units * size, at)
    return ProductRows(entries=entries)

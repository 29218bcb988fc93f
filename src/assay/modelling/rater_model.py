"""The raters of one recipe: a family with layers, and their rows of the likelihood."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import NEVER, append_constant, logsumexp, merge_axes
from assay._util.typing import Bools, Floats, Ints
from assay.data.misread_clusters import DIRECTIONS
from assay.data.rules import NOT_ASKED
from assay.data.score_bins import bin_middle
from assay.data.states import MISSING, StateSpace, Vectors
from assay.modelling.confusion import Tilt
from assay.modelling.copying import Copying
from assay.modelling.families import Family, WholeFamily
from assay.modelling.families.family import Raters
from assay.modelling.families.scored import Scored
from assay.modelling.interface_rules import (
    AdmissibleResponses,
    Residual,
    build_menu,
    menu_log_probability,
)
from assay.modelling.layers import (
    Difficulty,
    Drift,
    Halo,
    Lapses,
    Loading,
    Misreading,
    SystemBias,
)
from assay.modelling.parameters import Parameter, own_values
from assay.modelling.priors import Prior
from assay.modelling.readings import NO_READINGS, Readings
from assay.modelling.replicates import Consistency, Repeats
from assay.modelling.responses import ProductRows, Responses


@dataclass(frozen=True, kw_only=True, eq=False)
class RaterModel(ABC):
    """Some raters, their family and its layers.

    name : prefix of its parameters; empty if all raters are in one part
    members : positions of its raters in the ratings
    unit : unit of each rating, a rater or a rater in a session; -1 for other parts' ratings
    unit_rater, unit_group : row of the family, and position in ``raters.groups``, of each unit
    repeats : joins a rater's ratings of one item
    consistency : how often repeated ratings copy earlier ones; None if independent
    copying, copied : splits the rows of raters who copy others; prior of the share of copied
        ratings
    shared : whether all raters have one confusion
    readings : of the clusters of all parts; empty if no raters misread any
    """

    name: str
    members: Ints
    raters: Raters
    labels: tuple[str, ...]
    unit: Ints
    unit_rater: Ints
    unit_group: Ints
    drift: Drift | None
    bias: SystemBias | None
    loading: Loading | None
    misreading: Misreading | None
    repeats: Repeats
    consistency: Consistency | None
    copying: Copying
    copied: Prior
    shared: bool
    readings: Readings = NO_READINGS

    @property
    def owners(self) -> Bools:
        """Whether a unit belongs to a rater, (rater of the part, unit)."""
        if self.shared:
            return np.asarray(self.unit_group[None, :] == self.raters.group[:, None])
        return np.asarray(self.unit_rater[None, :] == np.arange(len(self.members))[:, None])

    @property
    def n_ratings(self) -> Ints:
        """Number of ratings of each unit, (unit,)."""
        return np.bincount(self.unit[self.unit >= 0], minlength=len(self.unit_rater))

    @property
    def shares(self) -> Floats:
        """Share of each unit in its rater's ratings, (rater of the part, unit)."""
        weight = self.owners * (self.n_ratings + 1e-9)
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    @property
    def prefix(self) -> str:
        """Start of the names of its parameters and dims."""
        return f"{self.name}." if self.name else ""

    @abstractmethod
    def family_parameters(self) -> list[Parameter]:
        """Return the unknowns of the family and of its responses."""

    @abstractmethod
    def rows(
        self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any, direction: int | None = None
    ) -> Any:
        """Return log p(rating | state) of each distinct rating, (..., row, state).

        ``direction`` is how the rater reads the item's cluster; None without the layer.
        """

    @abstractmethod
    def draw(
        self,
        values: Mapping[str, Floats],
        ratings: Ints,
        states: NDArray[np.int16],
        tilt: Tilt | None,
        answered: Bools,
        rng: np.random.Generator,
        direction: int | None = None,
    ) -> tuple[Vectors, Floats]:
        """Draw answers and scores (rating, label) of ``ratings``, with one difficulty and
        direction.

        values : parameters of the part, with one leading axis of length 1
        states : state of each rating's item as its rater perceives it
        """

    @abstractmethod
    def reliability(self, values: Mapping[str, Floats], position: Any = 0.0) -> Floats:
        """Return P(reported | true) at a difficulty, (draw, unit, label, true, reported); NaN for
        classes that a label lacks. ``values`` has all parameters of the model.
        """

    @abstractmethod
    def label_chances(self, values: Mapping[str, Floats], tilt: Tilt | None) -> Floats:
        """Return P(reported class of a label | perceived state), (draw, unit, state, label, class).

        The sum over classes is below 1 where the rater's own answers close a label. ``values`` has
        all parameters of the model.
        """

    def accuracy(self, values: Mapping[str, Floats]) -> Floats:
        """Return the mean probability of a right answer over true classes, (draw, unit, label)."""
        right = np.diagonal(self.reliability(values), axis1=-2, axis2=-1)
        return np.asarray(np.nanmean(right, axis=-1))

    @property
    @abstractmethod
    def widest(self) -> int:
        """Size of the largest array for one draw's table."""

    def parameters(self) -> list[Parameter]:
        """Return all unknowns, with the part's prefix."""
        found = list(self.family_parameters())
        if self.drift is not None:
            found += self.drift.parameters()
        if self.bias is not None:
            found += self.bias.parameters()
        if self.loading is not None:
            found += self.loading.parameters()
        if self.misreading is not None:
            found += self.misreading.parameters()
        if self.consistency is not None:
            found += self.consistency.parameters()
        if self.copying.names:
            coords = {"copier": self.copying.names}
            found.append(
                Parameter(name="copied", dims=("copier",), prior=self.copied, coords=coords)
            )
        if not self.name:
            return found
        return [
            replace(
                p,
                name=self.prefix + p.name,
                spread=self.prefix + p.spread if p.spread else "",
                location=self.prefix + p.location if p.location else "",
                dims=tuple(self.prefix + d for d in p.dims),
                coords={self.prefix + d: levels for d, levels in p.coords.items()},
            )
            for p in found
        ]

    def own(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the part's parameters without their prefix."""
        return own_values(values, self.prefix)

    def kappa(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the consistency of raters, from the part's parameters.

        None if ratings are independent, or a fit without repeated ratings could not learn it.
        """
        if self.consistency is None or "consistency_mean" not in values:
            return None
        return self.consistency.of_raters(values, xp)

    def tilt(self, values: Mapping[str, Any], position: Any, xp: Any) -> Tilt | None:
        """Return the layers' effect at one difficulty; None without an effect."""
        return self.tilts(values, [position], xp)[0]

    def tilts(
        self, values: Mapping[str, Any], positions: Iterable[Any], xp: Any
    ) -> list[Tilt | None]:
        """Return the layers' effect at each difficulty, a number or one for each label.

        Effects that do not depend on difficulty are computed once.
        """
        added = None if self.drift is None else self.drift.tilt(values, xp)
        if self.bias is not None:
            bias = self.bias.tilt(values, xp)
            added = bias if added is None else added + bias
        easy = None if added is None else Tilt(added=added)
        if self.loading is None:
            return [easy for _ in positions]
        loading = self.loading.of_units(values, xp)
        every = (self.loading.tilt(loading, position, added, xp) for position in positions)
        return [easy if tilt.guessing is None else tilt for tilt in every]

    def table(self, values: Mapping[str, Any], difficulty: Difficulty, xp: Any) -> list[Any]:
        """Return log p(a rater's ratings of an item | state), (..., row, state), by difficulty."""
        own = self.own(values)
        tables: list[Any] = []
        for tilt in self.tilts(own, difficulty.positions, xp):
            if tables and self.loading is None:
                tables.append(tables[0])
                continue
            blocks = []
            for direction in self.directions:
                rows = self.rows(own, tilt, xp, direction)
                rows = self.repeats.table(rows, self.kappa(own, xp), xp)
                blocks.append(self.copying.table(rows, own.get("copied"), xp))
            tables.append(blocks[0] if len(blocks) == 1 else xp.concatenate(blocks, axis=-2))
        return tables

    @property
    def directions(self) -> tuple[int | None, ...]:
        """How its raters may read a cluster; its rows stand one direction after the other."""
        return (None,) if self.misreading is None else DIRECTIONS

    def read_shares(self, values: Mapping[str, Floats]) -> list[tuple[Floats, int | None]]:
        """Return the share (draw, unit) of a rater's clusters read in each of ``directions``.

        ``values`` has all parameters of the model, as raters of other parts share the clusters.
        """
        if self.misreading is None:
            return [(np.ones((1, 1)), None)]
        clusters = self.owners.T @ self.readings.clusters[self.members]
        group = self.readings.group[self.members][self.owners.argmax(axis=0)]
        wrong = self.readings.shares(values, clusters, group, np)
        shares = [wrong / 2 if direction else 1 - wrong for direction in DIRECTIONS]
        return list(zip(shares, DIRECTIONS, strict=True))


@dataclass(frozen=True, kw_only=True, eq=False)
class CategoricalRaterModel(RaterModel):
    """Raters with a family of confusions, perhaps with a halo or lapses."""

    family: Family
    responses: Responses
    halo: Halo | None = None
    lapses: Lapses | None = None

    def family_parameters(self) -> list[Parameter]:
        """Return the unknowns of confusions, layers of whole ratings, and responses."""
        layers = [layer for layer in (self.halo, self.lapses) if layer is not None]
        more = [parameter for layer in layers for parameter in layer.parameters()]
        return [*self.family.parameters(), *more, *self.responses.parameters()]

    @property
    def widest(self) -> int:
        """Size of the largest array for one draw's table."""
        return self.responses.widest

    def rows(
        self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any, direction: int | None = None
    ) -> Any:
        """Return log p(answers | state), (..., row, state), summed over kinds of ratings."""
        if not self.responses.blocks:  # the part has no answers
            return np.zeros((0, len(self.responses.space.states)))
        found = []
        for weight, confusion in self._components(values, tilt, xp, direction):
            rows = self.responses.table(confusion, values, xp, self._residual(values, tilt, xp))
            if weight is not None:
                rows = rows + weight[..., self.responses.row_unit, None]
            found.append(rows)
        return found[0] if len(found) == 1 else logsumexp(xp.stack(found, axis=-1), xp)

    def reliability(self, values: Mapping[str, Floats], position: float = 0.0) -> Floats:
        """Return P(reported class | true class), without interface rules."""
        own, layout = self.own(values), self.family.layout
        tilt = self.tilt(own, position, np)
        rows: Any = 0.0
        for share, direction in self.read_shares(values):
            for weight, confusion in self._components(own, tilt, np, direction):
                often = share if weight is None else share * np.exp(weight)
                chance = np.exp(np.asarray(confusion))[..., : layout.asked_rows, :]
                rows = rows + chance * often[..., None, None]
        table = np.full((*rows.shape[:2], len(layout.classes), layout.width, layout.width), np.nan)
        for row, (label, true) in enumerate(zip(layout.labels, layout.true_classes, strict=True)):
            count = layout.classes[label]
            table[:, :, label, true, :count] = rows[:, :, row, :count]
        return table

    def label_chances(self, values: Mapping[str, Floats], tilt: Tilt | None) -> Floats:
        """Return P(reported class of a label | perceived state), summed over answer vectors."""
        own, layout = self.own(values), self.family.layout
        everything = np.ones(len(layout.classes), bool)
        menu = build_menu(layout, self.responses.space, everything, self.responses.resolve)
        chance: Any = sum(
            share[..., None, None] * self.menu_chances(own, menu, tilt, direction)
            for share, direction in self.read_shares(values)
        )
        shares = [
            np.stack(
                [chance[..., menu.options[:, n] == k].sum(-1) for k in range(layout.width)], axis=-1
            )
            for n in range(len(layout.classes))
        ]
        return np.stack(shares, axis=-2)

    def menu_chances(
        self,
        values: Mapping[str, Floats],
        menu: AdmissibleResponses,
        tilt: Tilt | None,
        direction: int | None = None,
    ) -> Floats:
        """Return P(option | state) of each unit, (..., unit, state, option).

        ``direction`` is how its rater reads the item's cluster; None without the layer.
        """
        total = None
        for weight, confusion in self._components(values, tilt, np, direction):
            flat = merge_axes(self.responses.full_confusion(confusion, values, np), 2)
            residual = self._residual(values, tilt, np)
            chance = np.exp(menu_log_probability(menu, flat, values, np, residual))
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
        answered: Bools,
        rng: np.random.Generator,
        direction: int | None = None,
    ) -> tuple[Vectors, Floats]:
        """Draw answers from the menu of the answered labels."""
        none = np.full((len(ratings), len(answered)), np.nan)
        if not answered.any():
            return np.full(none.shape, MISSING, np.int16), none
        space, resolve = self.responses.space, self.responses.resolve
        menu = build_menu(self.family.layout, space, answered, resolve)
        chance = self.menu_chances(values, menu, tilt, direction)[0]
        steps = chance[self.unit[ratings], states].cumsum(axis=1)
        picked = (rng.random(len(ratings))[:, None] * steps[:, -1:] > steps).sum(axis=1)
        return np.asarray(menu.options[picked], np.int16), none

    def _components(
        self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any, direction: int | None = None
    ) -> list[tuple[Any, Any]]:
        """Return the kinds of ratings of the family with one reading, by impression, and lapses."""
        kinds = self.family.components(values, self.unit_rater, tilt, xp)
        if self.misreading is not None and direction is not None:
            kinds = self.misreading.moved(kinds, values, direction, xp)
        if self.halo is not None:
            kinds = self.halo.mix(kinds, values, xp)
        return kinds if self.lapses is None else self.lapses.mix(kinds, values, xp)

    def _residual(self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any) -> Residual | None:
        family = self.family
        if not isinstance(family, WholeFamily):
            return None
        return lambda menu: family.residual(values, self.unit_rater, tilt, menu, xp)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScorePart(RaterModel):
    """Raters with modelled scores; labels are scored independently, whatever the rules."""

    family: Scored
    space: StateSpace
    products: ProductRows

    def family_parameters(self) -> list[Parameter]:
        """Return the unknowns of scores, and of scores on labels that do not apply."""
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
        """Size of the largest array for one draw's table."""
        return self.products.widest

    def rows(
        self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any, direction: int | None = None
    ) -> Any:
        """Return log p(scores | state), (..., row, state)."""
        return self.products.table(merge_axes(self.log_codes(values, tilt, xp), 2), values, xp)

    def reliability(self, values: Mapping[str, Floats], position: float = 0.0) -> Floats:
        """Return P(score in a class's region | true class)."""
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
        """Return P(score in a class's region | perceived state)."""
        layout = self.family.layout
        chance = np.exp(np.asarray(self.log_codes(self.own(values), tilt, np)))
        width = max(layout.classes)
        shares = np.zeros((*chance.shape[:2], len(self.space.states), len(layout.classes), width))
        for n, classes in enumerate(layout.classes):
            row, bins = score_rows(layout, self.space.states[:, n], n), classes * layout.parts
            shares[:, :, :, n, :classes] = chance[:, :, row, bins : bins + classes]
        return shares

    def log_codes(self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any) -> Any:
        """Return log P(code | true class), (..., unit, row, code), with "not asked" rows last."""
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
        answered: Bools,
        rng: np.random.Generator,
        direction: int | None = None,
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
    """Return the row of the table for each true class of a label."""
    unasked = [n for n, la in enumerate(layout.task.labels) if la.asked_if]
    row = layout.first_row(label) + true.astype(np.int64)
    if label in unasked:
        outside = sum(layout.classes) + unasked.index(label)
        row = np.where(true == NOT_ASKED, outside, row)
    return np.asarray(row, np.int64)


def score_products(
    layout: Any, space: StateSpace, unit: Ints, codes: Ints, units: int
) -> ProductRows:
    """Return the entries that each distinct (unit, codes) multiplies."""
    unasked = sum(1 for label in layout.task.labels if label.asked_if)
    size = (sum(layout.classes) + unasked) * layout.width
    entries = np.empty((len(unit), 1, len(space.states), codes.shape[1]), np.int64)
    for n in range(codes.shape[1]):
        row = score_rows(layout, space.states[:, n], n)
        at = unit[:, None] * size + row[None, :] * layout.width + codes[:, n, None]
        entries[:, 0, :, n] = np.where(codes[:, n, None] < 0, units * size, at)
    return ProductRows(entries=entries)

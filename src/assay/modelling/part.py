"""What a part is: some raters with a family and its layers, and the rows that they contribute."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.states import Vectors
from assay.modelling.confusion import Tilt
from assay.modelling.families.family import Raters
from assay.modelling.layers import Difficulty, Drift, Loading, SystemBias
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior
from assay.modelling.replicates import Repeats

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Part(ABC):
    """Some raters, their family and its layers.

    Attributes
    ----------
    name : str
        Prefix of its parameters; empty if all raters are in one part.
    members : ndarray of int (rater,)
        Positions of its raters in the Ratings.
    raters : Raters
        Their names and groups.
    labels : tuple of str
    unit : ndarray of int (rating,)
        The unit (a rater, or a rater in a session) of each rating; -1 for other parts' ratings.
    unit_rater : ndarray of int (unit,)
        Row of the family of each unit.
    unit_group : ndarray of int (unit,)
        Group of each unit, as a position in ``raters.groups``.
    drift : Drift or None
    bias : SystemBias or None
    loading : Loading or None
        How much an item's difficulty matters, if it does.
    repeats : Repeats
        From rows to the rows of the likelihood, in which one rater's ratings of an item are one.
    consistency : Prior or None
        Of the chance that a repeated rating is the first one again; None if they are independent.
    shared : bool
        Whether all raters have one confusion.
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
    repeats: Repeats
    consistency: Prior | None
    shared: bool

    @property
    def owners(self) -> NDArray[np.bool_]:
        """Whose unit each is: (rater of the part, unit)."""
        if self.shared:
            return np.asarray(self.unit_group[None, :] == self.raters.group[:, None])
        return np.asarray(self.unit_rater[None, :] == np.arange(len(self.members))[:, None])

    @property
    def n_ratings(self) -> Ints:
        """How many ratings each unit has: (unit,)."""
        return np.bincount(self.unit[self.unit >= 0], minlength=len(self.unit_rater))

    @property
    def shares(self) -> Floats:
        """Share of each unit in its rater's ratings: (rater of the part, unit)."""
        weight = self.owners * (self.n_ratings + 1e-9)
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    @property
    def prefix(self) -> str:
        """What the names of its parameters and dims begin with."""
        return f"{self.name}." if self.name else ""

    @abstractmethod
    def family_parameters(self) -> list[Parameter]:
        """Return the unknowns of the family and of its responses."""

    @abstractmethod
    def rows(self, values: Mapping[str, Any], tilt: Tilt | None, xp: Any) -> Any:
        """Log p(rating | state) of each distinct rating: (..., row, state).

        ``tilt`` is what layers do to the log odds of right answers.
        """

    @abstractmethod
    def draw(
        self,
        values: Mapping[str, Floats],
        ratings: Ints,
        states: NDArray[np.int16],
        tilt: Tilt | None,
        answered: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> tuple[Vectors, Floats]:
        """Draw the answers and scores (rating, label) of some ratings.

        Parameters
        ----------
        values : mapping of str to ndarray
            Parameters of the part, with one leading axis of length 1.
        ratings : ndarray of int
            Positions of ratings of this part, all of one difficulty.
        states : ndarray of int16
            What the item of each looks like to its rater.
        answered : ndarray of bool (label,)
            Which labels are answered.
        """

    @abstractmethod
    def reliability(self, values: Mapping[str, Floats], position: Any = 0.0) -> Floats:
        """P(reported class | true class): (draw, unit, label, true class, reported class).

        Of items of no difficulty, or at a ``position`` of it; NaN where a label does not have the
        class. ``values`` has all parameters of the model, (draw, ...).
        """

    @abstractmethod
    def label_chances(self, values: Mapping[str, Floats], tilt: Tilt | None) -> Floats:
        """P(reported class of each label | what the item looks like).

        Parameters
        ----------
        values : mapping of str to ndarray
            Parameters of the part, (draw, ...).

        Returns
        -------
        ndarray (draw, unit, state, label, class)
            Less than 1 in all where the rater's own answers close a label.
        """

    def accuracy(self, values: Mapping[str, Floats]) -> Floats:
        """Mean probability of the right class, over the classes of a label: (draw, unit, label)."""
        right = np.diagonal(self.reliability(values), axis1=-2, axis2=-1)
        return np.asarray(np.nanmean(right, axis=-1))

    @property
    @abstractmethod
    def widest(self) -> int:
        """Numbers that one draw's table takes on the way."""

    def parameters(self) -> list[Parameter]:
        """Return all unknowns, under the part's prefix."""
        found = list(self.family_parameters())
        if self.drift is not None:
            found += self.drift.parameters()
        if self.bias is not None:
            found += self.bias.parameters()
        if self.loading is not None:
            found += self.loading.parameters()
        if self.consistency is not None:
            found.append(Parameter(name="consistency", prior=self.consistency, coords={}))
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
        """Return the part's parameters by their own names."""
        if not self.name:
            return dict(values)
        cut = len(self.prefix)
        return {k[cut:]: v for k, v in values.items() if k.startswith(self.prefix)}

    def tilt(self, values: Mapping[str, Any], position: Any, xp: Any) -> Tilt | None:
        """Return what the layers do to the log odds of right answers, if they do anything."""
        return self.tilts(values, [position], xp)[0]

    def tilts(
        self, values: Mapping[str, Any], positions: Iterable[Any], xp: Any
    ) -> list[Tilt | None]:
        """Return what the layers do at each of some difficulties, a number or one for each label.

        What does not hang on the difficulty is computed once.
        """
        added = None if self.drift is None else self.drift.tilt(values, xp)
        if self.bias is not None:
            bias = self.bias.tilt(values, xp)
            added = bias if added is None else added + bias
        easy = None if added is None else Tilt(added=added)
        if self.loading is None:
            return [easy for _ in positions]
        loading = self.loading.of_units(values, xp)
        every = (self.loading.tilt(loading, position, added) for position in positions)
        return [easy if tilt.guessing is None else tilt for tilt in every]

    def table(self, values: Mapping[str, Any], difficulty: Difficulty, xp: Any) -> list[Any]:
        """Log p(ratings of an item by a rater | state), for each class of difficulty.

        Returns
        -------
        list of (..., row, state)
        """
        own = self.own(values)
        tables: list[Any] = []
        for tilt in self.tilts(own, difficulty.positions, xp):
            if tables and self.loading is None:
                tables.append(tables[0])
                continue
            rows = self.rows(own, tilt, xp)
            tables.append(self.repeats.table(rows, own.get("consistency"), xp))
        return tables

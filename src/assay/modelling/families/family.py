"""What a rater family is: parameters with priors, and the log confusions that follow from them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError, suggest
from assay.modelling.confusion import ConfusionLayout, Tilt
from assay.modelling.families.lean import LeanPrior
from assay.modelling.interface_rules import Menu
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior, distinct

Ints = NDArray[np.int64]
Owner = Literal["group", "rater"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Raters:
    """Who rated: names, and the group of each as a position in ``groups``.

    Attributes
    ----------
    crowd : ndarray (rater, label), optional
        Share of each rater in the crowd that alone says what is true of a label: equal among those
        who answered it, and 0 for all where the truth of some items is known.
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    group: NDArray[np.int64]
    crowd: NDArray[np.float64] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Family(ABC):
    """A family of rater models over a layout of confusions.

    A family is a short file: its parameters, and one formula that NumPy and PyTensor both run.
    Default priors stand in ``models/raters/<name>.toml``.
    """

    name: ClassVar[str]
    shared: ClassVar[bool] = False
    """Whether all raters have one confusion."""
    unasked: ClassVar[bool] = False
    """Whether its tables have rows for labels that do not apply; else these are pooled."""
    by_owner: ClassVar[Mapping[str, Owner]] = {}
    """Priors that single groups, or single raters, can have of their own."""
    layout: ConfusionLayout
    raters: Raters
    priors: Mapping[str, Prior]
    owner_priors: Mapping[str, Mapping[str, Prior]] = field(default_factory=dict)
    """Priors of single groups and raters, by their name."""

    def __post_init__(self) -> None:
        """Refuse a prior of a single rater where only groups have one."""
        for owner, own in self.owner_priors.items():
            for name in own:
                if self.by_owner[name] == "group" and owner not in self.raters.groups:
                    raise ModelError(
                        f"prior '{owner}.{name}': {name} belongs to a rater group, and {owner!r} "
                        f"is none; {suggest(owner, self.raters.groups)}",
                        code="unknown-group",
                    )

    @abstractmethod
    def parameters(self) -> list[Parameter]:
        """Return the unknowns, each with dims, coords and prior."""

    def lean_prior(self) -> LeanPrior | None:
        """Prior of the mean lean of all raters to one answer, if the family has one."""
        return None

    @abstractmethod
    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log P(reported class | true class): (..., rater, asked row, class).

        ``values`` has the parameters by name, with any leading axes of draws; the rater axis may
        have length 1 if all raters are alike. Padding is ``NEVER``.
        """

    def components(
        self, values: Mapping[str, Any], unit_rater: Ints, tilt: Tilt | None, xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return what a rating can be an instance of: (log weight, log confusion) of each kind.

        Parameters
        ----------
        unit_rater : ndarray of int (unit,)
            The rater of each unit; a unit is a rater, or a rater in a session.
        tilt : Tilt or None
            What layers do to the answers.

        Returns
        -------
        list of tuple
            ``None`` or (..., unit), and (..., unit, row, class). One kind unless the family is a
            mixture of kinds of ratings.
        """
        table = self.log_confusion(values, xp)[..., unit_rater, :, :]
        return [(None, table if tilt is None else self.layout.tilt(table, tilt, xp))]

    def owned(self, prior: str) -> list[Prior]:
        """Return the prior of each group or rater, as ``by_owner`` says: its own, or that of all.

        A rater without a prior of its own has that of its group.
        """
        if self.by_owner[prior] == "group":
            owners: list[tuple[str, ...]] = [(name,) for name in self.raters.groups]
        else:
            groups = [self.raters.groups[g] for g in self.raters.group]
            owners = list(zip(self.raters.names, groups, strict=True))
        found = []
        for names in owners:
            given = (self.owner_priors.get(name, {}) for name in names)
            found.append(next((own[prior] for own in given if prior in own), self.priors[prior]))
        return found

    def joined(self, prior: str, *, axes: int = 0) -> Prior:
        """Return one prior of all groups or raters: numbers (owner,), and ``axes`` more of 1.

        Raises
        ------
        ModelError
            If they are not all of one kind.
        """
        every = self.owned(prior)
        kinds = sorted({p.name for p in every})
        if len(kinds) > 1:
            raise ModelError(
                f"priors {prior} of single rater groups or raters are {' and '.join(kinds)}; they "
                "have to be of one kind for all",
                code="prior-kinds-mixed",
            )
        numbers = np.array([p.values for p in every], float)
        return Prior(
            name=kinds[0],
            values=tuple(n.reshape(-1, *[1] * axes) for n in numbers.T),
            parts=distinct(every),
        )

    def rater_coords(self) -> dict[str, tuple[str, ...]]:
        """Return the coords that parameters of raters use."""
        return {
            "rater": self.raters.names,
            "group": self.raters.groups,
            "row": tuple(self.layout.row_names),
            "cell": tuple(self.layout.cell_names),
        }


class WholeFamily(Family):
    """A family whose answers depend on each other beyond their rules: they count as a whole."""

    @abstractmethod
    def residual(
        self, values: Mapping[str, Any], unit_rater: Ints, tilt: Tilt | None, menu: Menu, xp: Any
    ) -> Any:
        """Return log odds of answer vectors beyond the confusions: (..., unit, state, option)."""

"""The interface of rater families: parameters with priors, and log confusions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from assay._util.errors import ModelError, suggest
from assay._util.typing import Bools, Floats, Ints
from assay.modelling.confusion import ConfusionLayout, Tilt
from assay.modelling.families.class_names import AverageRaters
from assay.modelling.families.lean import BinaryLeans
from assay.modelling.interface_rules import AdmissibleResponses
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior, distinct

Owner = Literal["group", "rater"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Raters:
    """Names of raters, and the group of each as a position in ``groups``.

    crowd : each rater's share in the crowd whose consensus is a label's truth (rater, label)
    alone : whether nothing but that crowd, of all raters, tells it (label,)
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    group: Ints
    crowd: Floats | None = None
    alone: Bools | None = None

    def as_one(self) -> "Raters":
        """Return a single rater in a single group, for parameters that all raters share."""
        return Raters(names=("all",), groups=("all",), group=np.zeros(1, np.int64))


@dataclass(frozen=True, kw_only=True, eq=False)
class Family(ABC):
    """A rater model over a layout of confusions: parameters and one formula for NumPy and PyTensor.

    Default priors are in ``models/raters/<name>.toml``.
    """

    name: ClassVar[str]
    shared: ClassVar[bool] = False
    """Whether all raters have one confusion."""
    unasked: ClassVar[bool] = False
    """Whether its tables have rows for labels that do not apply; otherwise these are pooled."""
    leans: ClassVar[bool] = False
    """Whether its raters may lean to an answer whatever is true, all together too."""
    by_owner: ClassVar[Mapping[str, Owner]] = {}
    """Priors that single groups, or single raters, can have."""
    layout: ConfusionLayout
    raters: Raters
    priors: Mapping[str, Prior]
    owner_priors: Mapping[str, Mapping[str, Prior]] = field(default_factory=dict)
    """Priors of single groups and raters, by their name."""

    def __post_init__(self) -> None:
        """Raise ModelError for a prior of a single rater if only groups can have one."""
        for owner, own in self.owner_priors.items():
            for name in own:
                if self.by_owner[name] == "group" and owner not in self.raters.groups:
                    raise ModelError(
                        f"prior '{owner}.{name}': {name} belongs to a rater group, but {owner!r} "
                        f"is not a group; {suggest(owner, self.raters.groups)}",
                        code="unknown-group",
                    )

    @abstractmethod
    def parameters(self) -> list[Parameter]:
        """Return the unknowns, each with dims, coords and prior."""

    def binary_leans(self) -> BinaryLeans | None:
        """Return the leans of the raters to the second answers of binary labels, if it has any."""
        return None

    def average_raters(self) -> AverageRaters | None:
        """Return the confusions of average raters, if their classes have names by a prior."""
        return None

    def lean_to(self, label: int, values: Mapping[str, Floats], lean: Floats) -> dict[str, Floats]:
        """Add leans to the answers of a label (draw, class) to those of all raters.

        Only families with ``leans`` have this; it returns the parameters that change.
        """
        raise NotImplementedError

    @abstractmethod
    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log P(reported class | true class), (..., rater or 1, asked row, class); padding
        is ``NEVER``. ``values`` may have leading axes of draws.
        """

    def components(
        self, values: Mapping[str, Any], unit_rater: Ints, tilt: Tilt | None, xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return the kinds of ratings of a mixture family, else one: log weight, None or (...,
        unit), and log confusion (..., unit, row, class) of each.
        """
        table = self.log_confusion(values, xp)[..., unit_rater, :, :]
        return [(None, table if tilt is None else self.layout.tilt(table, tilt, xp))]

    def owned(self, prior: str) -> list[Prior]:
        """Return the prior of each group or rater: its own, else its group's, else that of all."""
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
        """Return one prior of all groups or raters, with numbers (owner, 1, ...) and ``axes`` of
        length 1. ModelError is raised if their distributions differ.
        """
        every = self.owned(prior)
        kinds = sorted({p.name for p in every})
        if len(kinds) > 1:
            raise ModelError(
                f"priors {prior} of single rater groups or raters are {' and '.join(kinds)}. All "
                "of them must be of one kind",
                code="prior-kinds-mixed",
            )
        numbers = np.array([p.values for p in every], float)
        return Prior(
            name=kinds[0],
            values=tuple(n.reshape(-1, *[1] * axes) for n in numbers.T),
            parts=distinct(every),
        )

    def rater_coords(self) -> dict[str, tuple[str, ...]]:
        """Return the coords for parameters of raters."""
        return {
            "rater": self.raters.names,
            "group": self.raters.groups,
            "row": tuple(self.layout.row_names),
            "cell": tuple(self.layout.cell_names),
        }


class WholeFamily(Family):
    """A family whose answers depend on each other, so a rating's likelihood does not factorise."""

    @abstractmethod
    def residual(
        self,
        values: Mapping[str, Any],
        unit_rater: Ints,
        tilt: Tilt | None,
        menu: AdmissibleResponses,
        xp: Any,
    ) -> Any:
        """Return log odds of answer vectors beyond the confusions, (..., unit, state, option)."""

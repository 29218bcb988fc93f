"""One accuracy per rater and true class, with errors spread evenly over other classes."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assay.modelling.families.family import Family, Owner
from assay.modelling.parameters import Parameter


class ClassConditional(Family):
    r"""An accuracy per rater, label and true class.

    .. math:: \theta_{jlkk} = a_{jlk}, \quad \theta_{jlkk'} = \frac{1 - a_{jlk}}{K_l - 1}, \quad
              a_{jlk} \sim \mathrm{Beta}(\alpha, \beta)
    """

    name: ClassVar[str] = "class_conditional"
    by_owner: ClassVar[Mapping[str, Owner]] = {"accuracy": "rater"}

    def parameters(self) -> list[Parameter]:
        """Return the accuracy of each rater for each label and true class."""
        return [
            Parameter(
                name="accuracy",
                dims=("rater", "row"),
                prior=self.joined("accuracy", axes=1),
                coords=self.rater_coords(),
            )
        ]

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log confusions with evenly spread errors."""
        return self.layout.from_accuracy(values["accuracy"], xp)

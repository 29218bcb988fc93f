"""One accuracy per rater and true class; errors are spread evenly over the other classes."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assay.modelling.families.family import Family, Owner
from assay.modelling.parameters import Parameter


class ClassConditional(Family):
    r"""One coin per rater, label and true class.

    .. math:: \theta_{jlkk} = a_{jlk}, \quad \theta_{jlkk'} = \frac{1 - a_{jlk}}{K_l - 1}, \quad
              a_{jlk} \sim \mathrm{Beta}(\alpha, \beta)
    """

    name: ClassVar[str] = "class_conditional"
    by_owner: ClassVar[Mapping[str, Owner]] = {"accuracy": "rater"}

    def parameters(self) -> list[Parameter]:
        """Accuracy of each rater for each label and true class."""
        return [
            Parameter(
                name="accuracy",
                dims=("rater", "row"),
                prior=self.joined("accuracy", axes=1),
                coords=self.rater_coords(),
            )
        ]

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Spread the errors of each row."""
        return self.layout.from_accuracy(values["accuracy"], xp)

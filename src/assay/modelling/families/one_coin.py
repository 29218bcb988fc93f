"""One accuracy per rater, the same for every label and class; errors are spread evenly."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from assay.modelling.families.family import Family, Owner
from assay.modelling.parameters import Parameter


class OneCoin(Family):
    r"""One coin per rater.

    .. math:: \theta_{jlkk} = a_j, \quad \theta_{jlkk'} = \frac{1 - a_j}{K_l - 1}, \quad
              a_j \sim \mathrm{Beta}(\alpha, \beta)
    """

    name: ClassVar[str] = "one_coin"
    by_owner: ClassVar[Mapping[str, Owner]] = {"accuracy": "rater"}

    def parameters(self) -> list[Parameter]:
        """Accuracy of each rater."""
        return [
            Parameter(
                name="accuracy",
                dims=("rater",),
                prior=self.joined("accuracy"),
                coords=self.rater_coords(),
            )
        ]

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Spread the accuracy over all rows."""
        rows = np.ones(self.layout.asked_rows)
        return self.layout.from_accuracy(values["accuracy"][..., None] * rows, xp)

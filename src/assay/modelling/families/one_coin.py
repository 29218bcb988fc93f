"""One accuracy per rater for all labels and classes, with errors spread evenly."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from assay.modelling.families.family import Family, Owner
from assay.modelling.parameters import Parameter


class OneCoin(Family):
    r"""An accuracy per rater.

    .. math:: \theta_{jlkk} = a_j, \quad \theta_{jlkk'} = \frac{1 - a_j}{K_l - 1}, \quad
              a_j \sim \mathrm{Beta}(\alpha, \beta)
    """

    name: ClassVar[str] = "one_coin"
    by_owner: ClassVar[Mapping[str, Owner]] = {"accuracy": "rater"}

    def parameters(self) -> list[Parameter]:
        """Return the accuracy of each rater."""
        return [
            Parameter(
                name="accuracy",
                dims=("rater",),
                prior=self.joined("accuracy"),
                coords=self.rater_coords(),
            )
        ]

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log confusions with the same accuracy in all rows."""
        rows = np.ones(self.layout.asked_rows)
        return self.layout.from_accuracy(values["accuracy"][..., None] * rows, xp)

"""One confusion for all raters (the multinomial model of Paun et al. 2018)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assay.modelling.families.family import Family
from assay.modelling.families.rows import row_parameters, rows_to_table
from assay.modelling.parameters import Parameter


class Pooled(Family):
    r"""All raters share one confusion.

    .. math:: \theta_{lk} \sim \mathrm{Dirichlet}(\alpha_{lk})
    """

    name: ClassVar[str] = "pooled"
    shared: ClassVar[bool] = True

    def parameters(self) -> list[Parameter]:
        """Return the rows of the confusion."""
        return row_parameters(self)

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the log of the rows, with a rater axis of length 1."""
        return rows_to_table(self, values, xp)[..., None, :, :]

"""Dawid and Skene (1979): a confusion per rater, its rows with independent Dirichlet priors."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assay.modelling.families.family import Family, Owner
from assay.modelling.families.rows import row_parameters, rows_to_table
from assay.modelling.parameters import Parameter


class DawidSkene(Family):
    r"""A confusion per rater, without pooling.

    .. math:: \theta_{jlk} \sim \mathrm{Dirichlet}(\alpha_{jlk})
    """

    name: ClassVar[str] = "dawid_skene"
    by_owner: ClassVar[Mapping[str, Owner]] = {"confusion": "rater"}

    def parameters(self) -> list[Parameter]:
        """Return the rows of each rater's confusion."""
        return row_parameters(self)

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the log of the rows."""
        return rows_to_table(self, values, xp)

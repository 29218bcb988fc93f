"""Dawid and Skene (1979): a confusion per rater, rows with independent Dirichlet priors."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assay.families.family import Family, confusion_rows, rows_to_table
from assay.priors import Parameter


class DawidSkene(Family):
    r"""A confusion per rater, unpooled.

    .. math:: \theta_{jlk} \sim \mathrm{Dirichlet}(\alpha_k)
    """

    name: ClassVar[str] = "dawid_skene"

    def parameters(self) -> list[Parameter]:
        """Rows of the confusions, per rater."""
        return confusion_rows(self, self.priors["confusion"], ("rater",))[0]

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Logarithm of the rows."""
        blocks, rows = confusion_rows(self, self.priors["confusion"], ("rater",))
        return rows_to_table(self, {b.name: values[b.name] for b in blocks}, rows, xp)

"""One confusion for all raters (the multinomial model of Paun et al. 2018)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assay.families.family import Family, confusion_rows, rows_to_table
from assay.priors import Parameter


class Pooled(Family):
    r"""All raters share one confusion.

    .. math:: \theta_{lk} \sim \mathrm{Dirichlet}(\alpha_k)
    """

    name: ClassVar[str] = "pooled"
    shared: ClassVar[bool] = True

    def parameters(self) -> list[Parameter]:
        """Rows of the one confusion."""
        return confusion_rows(self, self.priors["confusion"], ())[0]

    def log_confusion(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Logarithm of the rows, with a rater axis of length 1."""
        blocks, rows = confusion_rows(self, self.priors["confusion"], ())
        table = rows_to_table(self, {b.name: values[b.name] for b in blocks}, rows, xp)
        return table[..., None, :, :]

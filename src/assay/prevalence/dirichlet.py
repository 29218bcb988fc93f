"""Dirichlet prevalence: one vector of state probabilities for each system."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.prevalence.base import Prevalence
from assay.priors import Parameter


class Dirichlet(Prevalence):
    r"""State probabilities with a symmetric Dirichlet prior; no rank or cluster effects.

    .. math:: \pi_g \sim \mathrm{Dirichlet}(\alpha, \ldots, \alpha)
    """

    name: ClassVar[str] = "dirichlet"

    @property
    def _systems(self) -> NDArray[np.float64]:
        """Share of each system in each context: (context, system)."""
        found = [e.share for e in self.design.effects if e.name == "system"]
        return found[0] if found else np.ones((self.design.contexts, 1))

    def parameters(self) -> list[Parameter]:
        """State probabilities of each system."""
        systems = self.design.systems or ("all",)
        return [
            Parameter(
                name="state_share",
                dims=("component", "state"),
                prior=self.priors["prevalence"],
                coords={"component": systems, "state": self.space.state_names},
            )
        ]

    def table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Average over the systems that the context belongs to: (..., context, 1, state)."""
        return xp.matmul(self._systems, values["state_share"])[..., :, None, :]

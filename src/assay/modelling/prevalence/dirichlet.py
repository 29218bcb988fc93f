"""Dirichlet prevalence: a vector of state probabilities for each system."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from assay._util.typing import Floats
from assay.modelling.parameters import Parameter
from assay.modelling.prevalence.base import Prevalence


class Dirichlet(Prevalence):
    r"""State probabilities with a symmetric Dirichlet prior; no rank or cluster effects.

    .. math:: \pi_g \sim \mathrm{Dirichlet}(\alpha, \ldots, \alpha)
    """

    name: ClassVar[str] = "dirichlet"

    @property
    def _systems(self) -> tuple[tuple[str, ...], Floats]:
        """Names of the systems, and their shares in each context, (context, system).

        Items without a system count as another system.
        """
        for effect in self.design.effects:
            if effect.name == "system":
                return tuple(name or "no system" for name in effect.levels), effect.share
        return ("all",), np.ones((self.design.contexts, 1))

    def parameters(self) -> list[Parameter]:
        """Return the state probabilities of each system."""
        return [
            Parameter(
                name="state_share",
                dims=("component", "state"),
                prior=self.priors["prevalence"],
                coords={"component": self._systems[0], "state": self.space.state_names},
            )
        ]

    def table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return state probabilities averaged over systems, (..., context, 1, state)."""
        return xp.matmul(self._systems[1], values["state_share"])[..., :, None, :]

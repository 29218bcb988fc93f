"""Blocks of unknowns with priors: as PyMC variables, log densities and draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln, gammaln

from assay._util.arrays import log_softmax
from assay._util.typing import Floats
from assay.modelling.priors import PARAMETERS, POSITIVE, Prior

SIGNLESS = ("cluster_loading", "halo_loading", "misreading_loading")
"""Loadings whose common sign the likelihood does not depend on."""


def own_values(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the parameters whose names start with ``prefix``, without it."""
    cut = len(prefix)
    return {k[cut:]: v for k, v in values.items() if k.startswith(prefix)}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One block of unknowns with its prior.

    prior : its ``values`` broadcast to ``shape``; a Dirichlet is over the last axis
    spread, location : for offsets, the blocks of their SDs and of their means, if any
    spread_at, location_at : position of each offset's in the flat blocks; None: the same
    basis : orthonormal matrix over the last axis of a normal block; unconstrained values are
        coefficients of its rows, so that data inform some of them and leave others to the prior
    """

    name: str
    prior: Prior
    dims: tuple[str, ...] = ()
    coords: Mapping[str, Sequence[str]]
    spread: str = ""
    location: str = ""
    spread_at: Any = 0
    location_at: Any = None
    basis: Floats | None = None

    @property
    def mean_at(self) -> Any:
        """Position of each offset's mean in the flat block of means."""
        return self.spread_at if self.location_at is None else self.location_at

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dim."""
        return tuple(len(self.coords[d]) for d in self.dims)

    @property
    def centre(self) -> Floats:
        """The prior's mean; the median of a half-normal or exponential one."""
        first, *second = (np.asarray(v, float) for v in self.prior.values)
        match self.prior.name:
            case "Normal":
                centre = first
            case "HalfNormal":
                centre = 0.67 * first
            case "Exponential":
                centre = np.log(2) / first
            case "Gamma":
                centre = first / second[0]
            case "Beta":
                centre = first / (first + second[0])
            case _:
                counts = np.broadcast_to(first, self.shape)
                centre = counts / counts.sum(axis=-1, keepdims=True)
        return np.broadcast_to(centre, self.shape)

    def variable(self) -> Any:
        """Return the PyMC variable; needs a model context."""
        import pymc as pm

        make = getattr(pm, self.prior.name)
        # As arrays, since PyTensor turns the number 1.5 into float32.
        numbers = [np.asarray(v, float) for v in self.prior.values]
        values = dict(zip(PARAMETERS[self.prior.name], numbers, strict=True))
        if self.prior.name == "Dirichlet":
            values["a"] = np.broadcast_to(values["a"], self.shape)
        return make(self.name, dims=self.dims or None, **values)

    @property
    def free_shape(self) -> tuple[int, ...]:
        """Shape of the unconstrained values; a simplex has one less on its last axis."""
        if self.prior.name == "Dirichlet":
            return (*self.shape[:-1], self.shape[-1] - 1)
        return self.shape

    def constrain(self, free: Any, xp: Any) -> tuple[Any, Any]:
        """Return the parameter and its log density with the Jacobian of PyMC's transform.

        A simplex (by centred log ratios) has one term of the density, (..., *shape[:-1], 1).
        """
        numbers = [np.asarray(v, float) for v in self.prior.values]
        if self.prior.name == "Normal":
            value = free if self.basis is None else xp.matmul(free, self.basis)
            standard = (value - numbers[0]) * (1 / numbers[1])
            terms = standard * standard * -0.5 - np.log(numbers[1] * np.sqrt(2 * np.pi))
            return value, terms
        if self.prior.name in POSITIVE:
            value = xp.exp(free)
            return value, positive_log_density(self.prior.name, value, free, numbers)
        if self.prior.name == "Beta":
            pair = xp.stack([free, free * 0.0], axis=-1)
            logs = log_softmax(pair, xp)
            counts = np.stack(np.broadcast_arrays(*numbers), axis=-1)
            terms = (logs * counts).sum(axis=-1) - betaln(*numbers)
            return xp.exp(logs[..., 0]), terms
        counts = np.broadcast_to(numbers[0], self.shape)
        total = free.sum(axis=-1)[..., None]
        logs = log_softmax(xp.concatenate([free, -total], axis=-1), xp)
        constant = gammaln(counts.sum(-1)) - gammaln(counts).sum(-1) + np.log(self.shape[-1])
        return xp.exp(logs), ((logs * counts).sum(axis=-1) + constant)[..., None]

    def wanted(self, value: Floats) -> str:
        """Return what values must be, ``""`` if they are; the ends of the support are allowed."""
        fine, words = True, "they must be finite"
        if self.prior.name in POSITIVE:
            fine, words = bool((value >= 0).all()), "they must be 0 or more"
        elif self.prior.name == "Beta":
            fine, words = bool(((value >= 0) & (value <= 1)).all()), "they must lie in [0, 1]"
        elif self.prior.name == "Dirichlet":
            fine = bool((value >= 0).all() and np.allclose(value.sum(axis=-1), 1))
            words = f"along {self.dims[-1]} they must be probabilities that add up to 1"
        return "" if fine and np.isfinite(value).all() else words

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw once from the prior, (*shape)."""
        values = [np.asarray(v, float) for v in self.prior.values]
        shape = self.shape
        match self.prior.name:
            case "Normal":
                return np.asarray(rng.normal(values[0], values[1], shape))
            case "HalfNormal":
                return np.abs(rng.normal(0, values[0], shape))
            case "Exponential":
                return np.asarray(rng.exponential(1 / values[0], shape))
            case "Gamma":
                return np.asarray(rng.gamma(values[0], 1 / values[1], shape))
            case "Beta":
                return np.asarray(rng.beta(values[0], values[1], shape))
        gammas = rng.gamma(np.broadcast_to(values[0], shape))
        return np.asarray(gammas / gammas.sum(axis=-1, keepdims=True))


def offsets(
    name: str, dims: tuple[str, ...], coords: Mapping[str, Sequence[str]], *, spread: str, at: Any
) -> Parameter:
    """Return standard normal offsets, multiplied by the block ``spread`` at positions ``at``."""
    unit = Prior(name="Normal", values=(0.0, 1.0))
    return Parameter(name=name, dims=dims, prior=unit, coords=coords, spread=spread, spread_at=at)


def positive_log_density(name: str, value: Any, free: Any, numbers: list[Floats]) -> Any:
    """Return the log density of a positive value, with the Jacobian of its log."""
    if name == "HalfNormal":
        standard = value * (1 / numbers[0])
        return standard * standard * -0.5 + free + np.log(np.sqrt(2 / np.pi) / numbers[0])
    if name == "Exponential":
        return value * -numbers[0] + free + np.log(numbers[0])
    shape, rate = numbers
    return free * shape - value * rate + (shape * np.log(rate) - gammaln(shape))

"""Blocks of unknowns with their priors: as PyMC variables, as log densities, as draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from assay._util.arrays import log_softmax
from assay.modelling.priors import PARAMETERS, POSITIVE, Prior

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One block of unknowns: its name, its dims and its prior.

    ``values`` of the prior may be arrays that broadcast against ``shape``. A ``Dirichlet`` is over
    the last axis. Offsets name what they are multiplied with, and then added to: ``spread`` is the
    block of SDs, ``location`` that of means if they have one, and ``spread_at`` the position (in
    the flattened blocks) of each offset's SD, and of its mean unless ``location_at`` says where
    that is. ``basis`` is an orthonormal matrix over the last axis of a normal block: unconstrained
    values are coefficients of its rows, where what the data tell and what they do not would else
    lie across all of them.
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
        """Position of each offset's mean in the flattened block of means."""
        return self.spread_at if self.location_at is None else self.location_at

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dim."""
        return tuple(len(self.coords[d]) for d in self.dims)

    @property
    def centre(self) -> Floats:
        """The mean of the prior; of a half-normal or exponential one the median, for its tail."""
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
        """Make the PyMC variable, inside a model context."""
        import pymc as pm

        make = getattr(pm, self.prior.name)
        # As arrays: PyTensor makes float32 of a bare 1.5, and takes its logarithm in float32.
        numbers = [np.asarray(v, float) for v in self.prior.values]
        values = dict(zip(PARAMETERS[self.prior.name], numbers, strict=True))
        if self.prior.name == "Dirichlet":
            values["a"] = np.broadcast_to(values["a"], self.shape)
        return make(self.name, dims=self.dims or None, **values)

    @property
    def free_shape(self) -> tuple[int, ...]:
        """Shape of the unconstrained values: a simplex has one less on its last axis."""
        if self.prior.name == "Dirichlet":
            return (*self.shape[:-1], self.shape[-1] - 1)
        return self.shape

    def constrain(self, free: Any, xp: Any) -> tuple[Any, Any]:
        """Turn unconstrained values into the parameter, with its log density there.

        The transforms are PyMC's: logarithm of what is positive, log odds of a probability,
        centred log ratios of a simplex.

        Parameters
        ----------
        free : (..., *free_shape)

        Returns
        -------
        value : (..., *shape)
        log_density : (..., *shape) or (..., *shape[:-1], 1)
            Terms of the log prior, the Jacobian of the transform included.
        """
        numbers = [np.asarray(v, float) for v in self.prior.values]
        if self.prior.name == "Normal":
            value = free if self.basis is None else xp.matmul(free, self.basis)
            standard = (value - numbers[0]) * (1 / numbers[1])
            terms = standard * standard * -0.5 - np.log(numbers[1] * np.sqrt(2 * np.pi))
            return value, terms
        if self.prior.name in POSITIVE:
            value = xp.exp(free)
            return value, _positive_log_density(self.prior.name, value, free, numbers)
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
        """Say what numbers have to be that lie outside the support, whose ends belong to it."""
        fine, words = True, "they have to be finite"
        if self.prior.name in POSITIVE:
            fine, words = bool((value >= 0).all()), "they have to be 0 or more"
        elif self.prior.name == "Beta":
            fine, words = bool(((value >= 0) & (value <= 1)).all()), "they have to lie in [0, 1]"
        elif self.prior.name == "Dirichlet":
            fine = bool((value >= 0).all() and np.allclose(value.sum(axis=-1), 1))
            words = f"along {self.dims[-1]} they have to be chances that add up to 1"
        return "" if fine and np.isfinite(value).all() else words

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw once from the prior: ndarray of ``shape``."""
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
    """Return standard normal offsets that the block ``spread``, at positions ``at``, multiplies."""
    unit = Prior(name="Normal", values=(0.0, 1.0))
    return Parameter(name=name, dims=dims, prior=unit, coords=coords, spread=spread, spread_at=at)


def _positive_log_density(name: str, value: Any, free: Any, numbers: list[Floats]) -> Any:
    """Log density of a positive value, with the Jacobian of its logarithm."""
    if name == "HalfNormal":
        standard = value * (1 / numbers[0])
        return standard * standard * -0.5 + free + np.log(np.sqrt(2 / np.pi) / numbers[0])
    if name == "Exponential":
        return value * -numbers[0] + free + np.log(numbers[0])
    shape, rate = numbers
    return free * shape - value * rate + (shape * np.log(rate) - gammaln(shape))

"""Priors as data: ``"Normal(0, 1)"`` in a TOML file, a distribution in the model.

A :class:`Prior` knows its name and numbers; :meth:`Prior.variable` makes the PyMC variable and
:meth:`Prior.draw` draws from it with NumPy (for simulation and prior checks).
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from assay.arrays import log_softmax
from assay.errors import ModelError, suggest

Floats = NDArray[np.float64]

PARAMETERS: dict[str, tuple[str, ...]] = {
    "Normal": ("mu", "sigma"),
    "HalfNormal": ("sigma",),
    "Exponential": ("lam",),
    "Gamma": ("alpha", "beta"),
    "Beta": ("alpha", "beta"),
    "Dirichlet": ("a",),
    "Confusion": ("correct", "total"),
}
"""The distributions that a prior may name, with their parameters in PyMC's order.

``Confusion(correct, total)`` is the Dirichlet prior of a row of a confusion matrix: prior counts
that add up to ``total``, the share ``correct`` on the true class, the rest spread evenly.
"""


EXCHANGEABLE = {
    "HalfNormal": ("HalfNormal", "Exponential", "Gamma"),
}
"""Which distributions can take the place of which; any other only that of its own kind."""


@dataclass(frozen=True, kw_only=True)
class Prior:
    """A named distribution with numbers (or arrays of them) as parameters."""

    name: str
    values: tuple[Any, ...]

    def __str__(self) -> str:
        """Write the prior as it stands in a TOML file."""
        return f"{self.name}({', '.join(f'{v:g}' for v in self.values)})"


def parse_prior(text: str, *, where: str = "prior") -> Prior:
    """Read a prior from text.

    Raises
    ------
    ModelError
        If the text is not a known distribution with the right number of numbers.

    Examples
    --------
    >>> parse_prior("Normal(mu=0, sigma=2)")
    Prior(name='Normal', values=(0.0, 2.0))
    """
    try:
        call = ast.parse(str(text).strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        name = call.func.id
        positional = [float(ast.literal_eval(arg)) for arg in call.args]
        named = {str(k.arg): float(ast.literal_eval(k.value)) for k in call.keywords}
    except (SyntaxError, ValueError, TypeError):
        raise ModelError(
            f"{where}: {text!r} is no prior; write a distribution with numbers, e.g. 'Normal(0, 1)'"
        ) from None
    if name not in PARAMETERS:
        raise ModelError(f"{where}: no distribution {name!r}; {suggest(name, list(PARAMETERS))}")
    wanted = PARAMETERS[name]
    given = dict(zip(wanted, positional, strict=False)) | named
    if set(given) != set(wanted) or len(positional) + len(named) != len(wanted):
        raise ModelError(f"{where}: {text!r}; {name} takes {', '.join(wanted)}")
    values = tuple(given[w] for w in wanted)
    positive = wanted if name not in {"Normal", "Confusion"} else wanted[1:]
    if any(given[w] <= 0 for w in positive) or not all(np.isfinite(values)):
        raise ModelError(f"{where}: {text!r}; {', '.join(positive)} must be positive")
    if name == "Confusion" and not 0 < given["correct"] < 1:
        raise ModelError(f"{where}: {text!r}; correct is a share between 0 and 1")
    return Prior(name=name, values=values)


def override(
    defaults: Mapping[str, Prior], priors: Mapping[str, str | Prior], *, owner: str
) -> dict[str, Prior]:
    """Replace default priors by the user's, by name; names that are not there are kept back."""
    chosen = dict(defaults)
    for name, prior in priors.items():
        if name not in defaults:
            continue
        where = f"prior {name} of {owner}"
        value = prior if isinstance(prior, Prior) else parse_prior(prior, where=where)
        if value.name not in EXCHANGEABLE.get(defaults[name].name, (defaults[name].name,)):
            raise ModelError(f"{where}: {value} cannot take the place of {defaults[name]}")
        chosen[name] = value
    return chosen


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One block of unknowns: its name, its dims and its prior.

    ``values`` of the prior may be arrays that broadcast against ``shape``. A ``Dirichlet`` is over
    the last axis.
    """

    name: str
    prior: Prior
    dims: tuple[str, ...] = ()
    coords: Mapping[str, Sequence[str]]

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dim."""
        return tuple(len(self.coords[d]) for d in self.dims)

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
            standard = (free - numbers[0]) * (1 / numbers[1])
            return free, standard * standard * -0.5 - np.log(numbers[1] * np.sqrt(2 * np.pi))
        if self.prior.name in {"HalfNormal", "Exponential", "Gamma"}:
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


def _positive_log_density(name: str, value: Any, free: Any, numbers: list[Floats]) -> Any:
    """Log density of a positive value, with the Jacobian of its logarithm."""
    if name == "HalfNormal":
        standard = value * (1 / numbers[0])
        return standard * standard * -0.5 + free + np.log(np.sqrt(2 / np.pi) / numbers[0])
    if name == "Exponential":
        return value * -numbers[0] + free + np.log(numbers[0])
    shape, rate = numbers
    return free * shape - value * rate + (shape * np.log(rate) - gammaln(shape))

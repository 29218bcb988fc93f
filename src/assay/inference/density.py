"""The log posterior density of a model and its gradient, on unconstrained values: that of
``build_model(...)`` in PyMC (a test compares them), but without compilation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._util.progress import steps
from assay._util.typing import Floats, Ints
from assay.likelihood.autodiff import Tape
from assay.likelihood.autodiff_kernel import SUM, TapeArrays
from assay.likelihood.c_functions import cards, value_and_gradient_at
from assay.likelihood.compiling import SETTINGS
from assay.likelihood.data import Data
from assay.likelihood.density import Places, carry_back, log_density, tables_at
from assay.likelihood.marginal import value_and_gradient
from assay.likelihood.partition import cut, in_threads
from assay.modelling.parameters import Parameter
from assay.modelling.structure import Structure

NOT_FINITE = (
    "the posterior density is not finite where it was evaluated. A prior is probably too extreme, "
    "such as an SD next to 0, or a mean far from usual log odds. Check `priors=`"
)
OF_PROCESS = ("arrays", "_cards")
"""What a density keeps for the compiled functions of one process."""


class Centring(NamedTuple):
    r"""Information of the data about a block of offsets, each (...) of its shape.

    The unknown is :math:`\sqrt{p_j}\,(z_j - m_j)`, see :mod:`assay.inference.partial_centring`.

    information : of the data about each offset where its SD is ``sd``; the prior's is 1
    pull : information times the data's estimate of :math:`\mu / sd + z_j`
    """

    information: Floats
    pull: Floats
    sd: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Density:
    """Log posterior density with its gradient.

    parameters, starts : in the order of the vector, and the position of each in it
    tape, places : formulas from the vector to the likelihood's tables, and these on the tape
    log_weight : log quadrature weights of the cluster effect (node,)
    centred : partially centred blocks of offsets, by parameter
    """

    parameters: tuple[Parameter, ...]
    starts: Ints
    tape: TapeArrays
    places: Places
    log_weight: Floats
    data: Data
    threads: int = 1
    centred: Mapping[str, Centring] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of unconstrained values."""
        return int(self.starts[-1])

    @cached_property
    def pieces(self) -> tuple[Data, ...]:
        """The data, cut into pieces for the threads."""
        return tuple(piece for piece, _, _ in cut(self.data, self.threads))

    @property
    def plain(self) -> bool:
        """Whether there is one quadrature node, no perception layer and no reading."""
        places = self.places
        return len(self.log_weight) == 1 and len(places.layer) == 0 and len(places.reading) == 0

    @cached_property
    def arrays(self) -> list[NDArray[Any]]:
        """The arguments of the compiled density, in the order of its cards."""
        counts = np.array(self.places[:2])
        needed: tuple[Any, ...] = (*self.tape, counts, *self.places[2:], self.log_weight)
        return [np.ascontiguousarray(array) for array in (*needed, *self.data)]

    @cached_property
    def _cards(self) -> Ints:
        return cards(*self.arrays)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what holds addresses, which mean nothing in another process."""
        return {name: value for name, value in vars(self).items() if name not in OF_PROCESS}

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Return the log density and its gradient at one point."""
        steps()(1)
        x = np.ascontiguousarray(x, float)
        if len(self.pieces) > 1:
            value, gradient, _ = self.with_tables(x)
            return value, gradient
        if SETTINGS.DISABLE_JIT:
            value, gradient = log_density(x, self.tape, self.places, self.log_weight, self.data)
            return float(value), gradient
        return value_and_gradient_at(x, self._cards, self.plain)

    def with_tables(self, x: Floats) -> tuple[float, Floats, list[Floats]]:
        """Return the log density, its gradient, and the log-likelihood's gradient by each table."""
        buffer, *tables = self.tables(x)

        def likelihood(piece: Data) -> tuple[Any, ...]:
            arguments: Any = (*tables, self.log_weight, piece)
            found: tuple[Any, ...] = value_and_gradient(*arguments)
            return found

        found = in_threads(likelihood, self.pieces, self.threads)
        value, *by_table = (sum(terms) for terms in zip(*found, strict=True))
        back: Any = (buffer, tuple(by_table), self.tape, self.places, len(x))
        return float(value + buffer[self.places.prior]), carry_back(*back), by_table

    def tables(self, x: Floats) -> tuple[Floats, ...]:
        """Return the tape's values and the likelihood's tables by state, at one point."""
        found: tuple[Floats, ...] = tables_at(x, self.tape, self.places)
        return found

    def log_prior(self, x: Floats) -> Floats:
        """Return the log prior density, with Jacobians, at points (..., value)."""
        points = np.ascontiguousarray(x, float).reshape(-1, self.size)
        found = [self.tables(point)[0][self.places.prior] for point in points]
        return np.array(found).reshape(x.shape[:-1])

    def constrain(self, x: Floats) -> dict[str, Floats]:
        """Return the constrained parameters by name, of vectors (..., size)."""
        found: dict[str, Floats] = {}
        for n, parameter in enumerate(self.parameters):
            piece = x[..., self.starts[n] : self.starts[n + 1]]
            free = piece.reshape((*x.shape[:-1], *parameter.free_shape))
            if parameter.name in self.centred:
                mean, logs = given_data(n, self.parameters, self.starts, x, self.centred)
                free = free * np.exp(-0.5 * logs) + mean
            found[parameter.name] = np.asarray(parameter.constrain(free, np)[0])
        return found

    def names(self) -> list[str]:
        """Return a readable name of each unconstrained value."""
        found = []
        for parameter in self.parameters:
            for index in np.ndindex(*parameter.free_shape):
                levels = [
                    str(parameter.coords[dim][k])
                    for dim, k in zip(parameter.dims, index, strict=True)
                ]
                found.append(f"{parameter.name}[{', '.join(levels)}]" if levels else parameter.name)
        return found


def given_data(
    n: int,
    parameters: Sequence[Parameter],
    starts: Ints,
    x: Any,
    centred: Mapping[str, Centring],
    xp: Any = np,
) -> tuple[Any, Any]:
    """Return mean and log precision of the offsets of block ``n`` given the data, (..., *block).

    ``x`` (..., value) is an array or a symbol, and ``xp`` the module of its functions.
    """
    parameter, names = parameters[n], [p.name for p in parameters]
    chosen = centred[parameter.name]
    at = np.broadcast_to(parameter.spread_at, parameter.shape)
    # An SD stands in the vector as its logarithm, a mean as it is.
    grown = x[..., starts[names.index(parameter.spread)] + at] + -np.log(chosen.sd)
    log_precision = xp.log1p(xp.exp(grown * 2.0) * chosen.information)
    pull = chosen.pull
    if parameter.location:
        at = np.broadcast_to(parameter.mean_at, parameter.shape)
        mean = x[..., starts[names.index(parameter.location)] + at]
        pull = mean * (-chosen.information / chosen.sd) + pull
    return xp.exp(grown + log_precision * -1.0) * pull, log_precision


def make_density(
    structure: Structure, *, threads: int = 1, centred: Mapping[str, Centring] | None = None
) -> Density:
    """Record a structure's model on a tape; ``centred`` blocks of offsets are partially centred."""
    parameters, centred = tuple(structure.parameters()), centred or {}
    sizes = [int(np.prod(p.free_shape, dtype=int)) for p in parameters]
    starts = np.cumsum([0, *sizes], dtype=np.int64)
    tape = Tape()
    x = tape.unknown(int(starts[-1]))
    values: dict[str, Any] = {}
    terms = []
    for n, parameter in enumerate(parameters):
        free = x[starts[n] : starts[n + 1]].reshape(parameter.free_shape)
        if parameter.name in centred:
            mean, logs = given_data(n, parameters, starts, x, centred, tape)
            free = free * tape.exp(logs * -0.5) + mean
            terms.append((logs * -0.5).at.ravel())
        values[parameter.name], density = parameter.constrain(free, tape)
        terms.append(density.at.ravel())
    if (joint := structure.log_joint_priors(values, tape)) is not None:
        terms.append(joint.at.ravel())
    tables = [tape.symbol(table) for table in structure.tables(values, tape).by_state()]
    prior = tape.record(SUM, np.concatenate(terms))
    # With a row for each node of difficulty, logarithms would take most of the time.
    chances = tape.unlogged(tables[1]) if structure.difficulty.kind == "continuous" else None
    if chances is not None:
        tables[1] = chances
    places = [np.ascontiguousarray(table.at) for table in tables]
    wanted = np.concatenate([prior.at.ravel(), *(place.ravel() for place in places)])
    return Density(
        parameters=parameters,
        starts=starts,
        tape=tape.finish(wanted),
        places=Places(int(prior.at), int(chances is not None), *places),
        log_weight=structure.prevalence.log_weight,
        data=structure.pattern.data,
        threads=threads,
        centred=centred,
    )


def unconstrain(density: Density, values: Mapping[str, Floats]) -> Floats:
    """Return the unconstrained vector of parameters, the inverse of ``constrain``.

    A value that is rounded to the edge of its range, such as 0, is taken as the nearest inside.
    """
    x, tiny = np.empty(density.size), np.finfo(float).tiny
    for n, parameter in enumerate(density.parameters):
        value = np.asarray(values[parameter.name], float)
        match parameter.prior.name:
            case "Normal":
                free = value if parameter.basis is None else value @ parameter.basis.T
            case "Beta":
                inside = np.clip(value, tiny, 1 - np.finfo(float).epsneg)
                free = np.log(inside) - np.log1p(-inside)
            case "Dirichlet":
                logs = np.log(np.maximum(value, tiny))
                free = (logs - logs.mean(axis=-1, keepdims=True))[..., :-1]
            case _:
                free = np.log(np.maximum(value, tiny))
        x[density.starts[n] : density.starts[n + 1]] = free.ravel()
    for n, parameter in enumerate(density.parameters):
        if parameter.name in density.centred:
            mean, logs = given_data(n, density.parameters, density.starts, x, density.centred)
            own = slice(density.starts[n], density.starts[n + 1])
            x[own] = ((x[own].reshape(parameter.shape) - mean) * np.exp(0.5 * logs)).ravel()
    return x

"""The log posterior density in JAX: the formulas of the model, compiled by XLA for CPU or GPU.

The same function as :mod:`assay.density` has (a test holds them equal): the formulas run over
``jax.numpy`` and end in :mod:`assay.jax_likelihood`. Numbers are of double precision, whatever the
process has set JAX to.

Everything that the data fix goes into the compiled function as an argument: with constants inside
it, XLA would calculate while it compiles, which takes minutes where data are large.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.confusion import Tilt
from assay.errors import FitError
from assay.jax_likelihood import flatten_data, log_likelihood
from assay.model import Structure, Tables
from assay.parameters import Parameter
from assay.parts import Part
from assay.parts.repeats import Repeats

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class JaxDensity:
    """Log posterior density on unconstrained values, in JAX.

    Attributes
    ----------
    size : int
        Number of unconstrained values.
    function : callable
        ``function(constants, x)`` is the log density at ``x``: what JAX can trace, differentiate
        and vectorise (with double precision enabled, see :func:`double_precision`).
    constants : tuple of jax.Array
        What the data fix.
    """

    size: int
    function: Callable[[tuple[Any, ...], Any], Any]
    constants: tuple[Any, ...]

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Log density and gradient at one point."""
        with double_precision():
            value, gradient = self._compiled(self.constants, np.asarray(x, float))
        return float(value), np.asarray(gradient)

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        import jax

        return jax.jit(jax.value_and_grad(self.function, argnums=1))


def make_jax_density(structure: Structure) -> JaxDensity:
    r"""Trace the model of a structure.

    Parameters
    ----------
    structure : Structure
        From :func:`assay.model.build_structure`.

    Returns
    -------
    JaxDensity

    Raises
    ------
    FitError
        If JAX is not installed.

    Notes
    -----
    .. math:: \log p(y \mid \theta(x)) + \log p(\theta(x))
        + \log \left| \frac{\partial \theta}{\partial x} \right|

    Examples
    --------
    >>> import assay
    >>> from assay.model import build_structure
    >>> from assay.spec import make_spec
    >>> ratings = assay.simulate("single", n_items=4, n_raters=3, rng=1)
    >>> density = make_jax_density(build_structure(ratings, make_spec("pooled", "dirichlet")))
    >>> value, gradient = density(np.zeros(density.size))
    >>> gradient.shape == (density.size,)
    True
    """
    require_jax()
    import jax
    from jax.extend.core import jaxpr_as_fun

    parameters = structure.parameters()
    size = sum(int(np.prod(p.free_shape, dtype=int)) for p in parameters)
    xp = _namespace()
    data, log_weight = flatten_data(structure.pattern.data), structure.prevalence.log_weight

    def formula(x: Any) -> Any:
        values, prior = _constrain(parameters, x, xp)
        tables = _tables(structure, values, xp)
        return prior + log_likelihood(tables, log_weight, data, xp)

    with double_precision():
        traced = jax.make_jaxpr(formula)(np.zeros(size))
        constants = tuple(jax.numpy.asarray(c) for c in traced.consts)

    def function(constants: tuple[Any, ...], x: Any) -> Any:
        return jaxpr_as_fun(traced.replace(consts=constants))(x)[0]

    return JaxDensity(size=size, function=function, constants=constants)


def require_jax() -> None:
    """Say how to get JAX if it is not there.

    Raises
    ------
    FitError
        If JAX or NumPyro is not installed.
    """
    missing = [name for name in ("jax", "numpyro") if find_spec(name) is None]
    if missing:
        raise FitError(
            f"sampler='numpyro' needs {' and '.join(missing)}, not installed here; "
            "pip install 'assay[jax]'"
        )


def double_precision() -> Any:
    """Context in which JAX calculates with double precision; the rest of the process keeps its own.

    The likelihood is a sum over many ratings: in single precision its differences, which NUTS
    lives on, would be lost.
    """
    import jax

    return jax.enable_x64(True)


def _namespace() -> SimpleNamespace:
    """Return ``jax.numpy`` with all the names that the formulas use (see :mod:`assay.arrays`)."""
    import jax

    special = SimpleNamespace(log_softmax=jax.nn.log_softmax, softmax=jax.nn.softmax)
    added = {"special": special, "logsumexp": jax.nn.logsumexp}
    return SimpleNamespace(**vars(jax.numpy) | added)


# -- from unconstrained values to the tables of the likelihood -----------------------


def _constrain(parameters: list[Parameter], x: Any, xp: Any) -> tuple[dict[str, Any], Any]:
    """Parameters by name, and the log prior density with the Jacobian."""
    values, start, prior = {}, 0, 0.0
    for parameter in parameters:
        stop = start + int(np.prod(parameter.free_shape, dtype=int))
        free = x[start:stop].reshape(parameter.free_shape)
        values[parameter.name], terms = parameter.constrain(free, xp)
        prior, start = prior + terms.sum(), stop
    return values, prior


def _tables(structure: Structure, values: Mapping[str, Any], xp: Any) -> Tables:
    """``structure.tables``, traced once for all classes of difficulty instead of for each."""
    prevalence = structure.prevalence.table(values, xp)
    positions = structure.difficulty.positions
    rows = [_rows(part, values, positions, xp) for part in structure.parts]
    return Tables(
        prevalence=prevalence,
        response=xp.concatenate(rows, axis=-2),
        difficulty=structure.difficulty.log_weight(values, xp),
        layer=structure.perception.table(values, prevalence, xp),
        hard_truth=structure.hard_truth_table(values, xp),
    )


def _rows(part: Part, values: Mapping[str, Any], positions: Floats, xp: Any) -> Any:
    """Log p(ratings of an item by a rater | state): (difficulty, row, state)."""
    import jax

    own = part.own(values)

    def at(tilt: Tilt | None) -> Any:
        return _join_repeats(part.repeats, part.rows(own, tilt, xp), own.get("consistency"), xp)

    easy = part.tilt(own, 0.0, xp)
    if part.loading is None:
        rows = at(easy)
        return xp.broadcast_to(rows, (len(positions), *rows.shape))
    hard = part.loading.of_units(own, xp)
    added = None if easy is None else easy.added

    def between(hardness: Any) -> Any:
        return at(Tilt(added=added, guessing=hard * hardness))

    return jax.vmap(between)(xp.asarray(part.loading.difficulty.hardness(positions)))


def _join_repeats(repeats: Repeats, rows: Any, kappa: Any, xp: Any) -> Any:
    """``repeats.table`` with all urns at once: traced one by one, thousands take minutes."""
    import jax

    if not repeats.urns:
        return rows
    row, same = np.concatenate(repeats.urns).T
    before = np.concatenate(repeats.before)[:, None]
    urn = np.repeat(np.arange(len(repeats.urns)), [len(urn) for urn in repeats.urns])
    terms = rows[row]
    if kappa is not None:
        fresh, again = 1.0 - kappa, np.maximum(same, 1)[:, None]
        mixed = xp.log(fresh * xp.exp(terms) + kappa * again)
        new = terms + xp.log(fresh)
        terms = xp.where(same[:, None] > 0, mixed, new) - xp.log(fresh + kappa * before)
    made = jax.ops.segment_sum(terms, urn, len(repeats.urns), indices_are_sorted=True)
    return xp.concatenate([rows[repeats.single], made])

"""The log posterior density in JAX: the formulas of the model, compiled by XLA for CPU or GPU.

The same function as :mod:`assay.density` has (a test holds them equal): the formulas run over
``jax.numpy``, and the marginal likelihood of :mod:`assay.likelihood` stands here as sums over flat
arrays. Numbers are of double precision whatever the process has JAX set to.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.density import Density
from assay.errors import FitError
from assay.kernels import Data
from assay.model import Structure, Tables
from assay.parts import Part
from assay.parts.repeats import Repeats

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TINY = 1e-300
"""Floor of a probability before its logarithm."""


def jax_module() -> ModuleType:
    """Import JAX, or say how to get it."""
    try:
        import jax
    except ImportError:
        raise FitError("this needs JAX; install it with: pip install 'assay[jax]'") from None
    return jax


def jax_formulas() -> SimpleNamespace:
    """Return ``jax.numpy`` under the names that the formulas of the model use."""
    jax = jax_module()
    special = SimpleNamespace(log_softmax=jax.nn.log_softmax, softmax=jax.nn.softmax)
    names = {**vars(jax.numpy), "special": special, "logsumexp": jax.nn.logsumexp}
    return SimpleNamespace(**names)


def log_prior(density: Density, x: Any, xp: Any) -> tuple[dict[str, Any], Any]:
    values, total = {}, 0.0
    for n, parameter in enumerate(density.parameters):
        free = x[density.starts[n] : density.starts[n + 1]].reshape(parameter.free_shape)
        values[parameter.name], terms = parameter.constrain(free, xp)
        total = total + terms.sum()
    return values, total


def tables(structure: Structure, values: Mapping[str, Any], xp: Any) -> Tables:
    prevalence = structure.prevalence.table(values, xp)
    positions = structure.difficulty.positions
    rows = [_part_rows(part, values, positions, xp) for part in structure.parts]
    return Tables(
        prevalence=prevalence,
        response=xp.concatenate(rows, axis=-2),
        difficulty=structure.difficulty.log_weight(values, xp),
        layer=structure.perception.table(values, prevalence, xp),
    )


def _part_rows(part: Part, values: Mapping[str, Any], positions: Floats, xp: Any) -> Any:
    own = part.own(values)

    def at(tilt: Any) -> Any:
        return _urns(part.repeats, part.rows(own, tilt, xp), own.get("consistency"), xp)

    easy = part.tilt(own, 0.0, xp)
    if part.loading is None:
        rows = at(easy)
        return xp.broadcast_to(rows, (len(positions), *rows.shape))
    slope = part.tilt(own, 1.0, xp)
    if easy is None:
        easy = xp.zeros_like(slope)
    else:
        slope = slope - easy
    return jax_module().vmap(lambda position: at(easy + slope * position))(xp.asarray(positions))


def _urns(repeats: Repeats, rows: Any, kappa: Any, xp: Any) -> Any:
    if not repeats.urns:
        return rows
    steps = np.concatenate(repeats.urns)
    before = np.concatenate(repeats.before)[:, None]
    urn = np.repeat(np.arange(len(repeats.urns)), [len(u) for u in repeats.urns])
    terms = rows[steps[:, 0]]
    if kappa is not None:
        same, fresh = steps[:, 1:], 1.0 - kappa
        copied = xp.log(fresh * xp.exp(terms) + kappa * np.maximum(same, 1))
        terms = xp.where(same > 0, copied, terms + xp.log(fresh)) - xp.log(fresh + kappa * before)
    made = jax_module().ops.segment_sum(terms, urn, len(repeats.urns), indices_are_sorted=True)
    return xp.concatenate([rows[repeats.single], made], axis=0)


class Flat(NamedTuple):
    cell_block: Any
    block_context: Any
    mask: Any


def log_likelihood(found: Tables, log_weight: Any, data: Data, xp: Any) -> Any:
    add = partial(jax_module().ops.segment_sum, indices_are_sorted=True)
    views, cells = len(data.view_layer), len(data.cell_context)
    response = xp.moveaxis(found.response, 0, 1)  # (row, difficulty, state)
    terms = add(response[data.rows], np.repeat(np.arange(views), np.diff(data.row_start)), views)
    if (data.view_layer >= 0).any():
        terms = _seen(terms, found.layer, data.view_layer, xp)
    if views > cells or True:
        terms = add(terms, np.repeat(np.arange(cells), np.diff(data.view_start)), cells)
    evidence = xp.logsumexp(terms + found.difficulty[:, None], axis=1)
    evidence = evidence + data.masks[data.cell_mask]
    top = jax_module().lax.stop_gradient(evidence.max(axis=1, keepdims=True))
    chance = xp.exp(evidence - top)
    by_context = found.prevalence[data.cell_context]
    by_node = xp.log(xp.maximum((by_context * chance[:, None, :]).sum(axis=-1), TINY)) + top
    bundles = len(data.bundle_weight)
    member = np.repeat(np.arange(bundles), np.diff(data.bundle_start))
    joint = add(by_node[data.bundle_cells] * data.bundle_counts[:, None], member, bundles)
    return xp.logsumexp(joint + log_weight, axis=1) @ data.bundle_weight


def _seen(terms: Any, layer: Any, kind: Any, xp: Any) -> Any:
    blur, looks = layer[kind, 0][:, None, :], layer[kind, 1][:, None, :]
    top = jax_module().lax.stop_gradient(terms.max(axis=-1, keepdims=True))
    chance = xp.exp(terms - top)
    afresh = (looks * chance).sum(axis=-1, keepdims=True)
    mixed = xp.log(xp.maximum((1 - blur) * chance + blur * afresh, TINY)) + top
    return xp.where(kind[:, None, None] >= 0, mixed, terms)


def make(structure, density):
    jax = jax_module()
    xp = jax_formulas()
    def f(x):
        values, prior = log_prior(density, x, xp)
        found = tables(structure, values, xp)
        return prior + log_likelihood(found, structure.prevalence.log_weight, structure.pattern.data, xp)
    return f

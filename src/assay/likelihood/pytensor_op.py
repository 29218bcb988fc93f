"""The marginal likelihood as a PyTensor operation, with value and gradient from one pass."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import register_funcify_default_op_cache_key

from assay.likelihood.collapse import Pattern
from assay.likelihood.compiling import digest
from assay.likelihood.data import Data
from assay.likelihood.marginal import value_and_gradient

TABLES = 7
"""Number of first inputs, which depend on the parameters."""


class MarginalLogLikelihood(Op):
    """Log-likelihood with the states summed out, and its gradients, of the seven
    :class:`~assay.modelling.structure.Tables`, the nodes' log weights, and the arrays of the data.
    """

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:  # type: ignore[type-arg]
        """Declare the outputs: the value, and the gradient by each table."""
        tensors = [pt.as_tensor(x) for x in inputs]
        return Apply(self, tensors, [pt.dscalar(), *(x.type() for x in tensors[:TABLES])])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        """Compute value and gradients."""
        arrays = [np.ascontiguousarray(x) for x in inputs]
        arguments: Any = (*arrays[: TABLES + 1], Data(*arrays[TABLES + 1 :]))
        results = value_and_gradient(*arguments)
        for storage, result in zip(output_storage, results, strict=True):
            storage[0] = np.asarray(result)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        """Scale the gradients that are already computed."""
        still = [pytensor.gradient.DisconnectedType()() for _ in inputs[TABLES:]]
        return [*(cotangents[0] * by_table for by_table in outputs[1:]), *still]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Return that only the tables influence the value."""
        gradients = [False] * TABLES
        return [[n < TABLES, *gradients] for n in range(len(node.inputs))]


@register_funcify_default_op_cache_key(MarginalLogLikelihood)  # type: ignore[untyped-decorator]
def _numba(op: Op, node: Any, **kwargs: Any) -> Any:
    from pytensor.link.numba.dispatch.basic import numba_njit

    @numba_njit
    def marginal(  # type: ignore[no-untyped-def]
        prevalence, response, difficulty, layer, hard_truth, mixing, reading, log_weight, *data
    ):
        by_state, given = np.ascontiguousarray(prevalence), Data(*data)
        found = value_and_gradient(
            by_state, response, difficulty, layer, hard_truth, mixing, reading, log_weight, given
        )
        return (np.asarray(found[0]), *found[1:])

    return marginal, cache_key()


@cache
def cache_key() -> int:
    """Return a number for the sources of the operation's compiled code: PyTensor ignores functions
    that the operation calls, and would use older code.
    """
    found = hashlib.sha256(digest().encode() + Path(__file__).read_bytes())
    return int(found.hexdigest()[:15], 16)


def marginal_log_likelihood(tables: Any, log_weight: Any, pattern: Pattern) -> Any:
    """Return the symbolic log-likelihood of a pattern of ratings."""
    data = [pytensor.shared(np.asarray(a)) for a in (log_weight, *pattern.data)]
    outputs: Any = MarginalLogLikelihood()(*tables.by_state(), *data)
    return outputs[0]

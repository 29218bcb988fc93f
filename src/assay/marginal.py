"""The marginal likelihood as a PyTensor operation: one compiled pass gives value and gradient."""

from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import register_funcify_default_op_cache_key

from assay.kernels import value_and_gradient
from assay.likelihood import Pattern


class MarginalLogLikelihood(Op):
    """Log-likelihood with the states summed out, and its two gradients.

    Inputs are the prevalence table (context, node, state), the response table (row, state), the
    log weights of the nodes and the arrays of a :class:`~assay.likelihood.Pattern`.
    """

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:  # type: ignore[type-arg]
        """Declare the outputs: value, gradient by prevalence, gradient by response."""
        tensors = [pt.as_tensor(x) for x in inputs]
        return Apply(self, tensors, [pt.dscalar(), tensors[0].type(), tensors[1].type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        """Run the compiled pass."""
        results = value_and_gradient(*(np.ascontiguousarray(x) for x in inputs))
        for storage, result in zip(output_storage, results, strict=True):
            storage[0] = np.asarray(result)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        """Scale the gradients that the pass has already computed."""
        _, by_prevalence, by_response = outputs
        still = [pytensor.gradient.DisconnectedType()() for _ in inputs[2:]]
        return [cotangents[0] * by_prevalence, cotangents[0] * by_response, *still]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Only the two tables influence the value."""
        return [[n < 2, False, False] for n in range(len(node.inputs))]


@register_funcify_default_op_cache_key(MarginalLogLikelihood)  # type: ignore[untyped-decorator]
def _numba(op: Op, node: Any, **kwargs: Any) -> Any:
    from pytensor.link.numba.dispatch.basic import numba_njit

    @numba_njit
    def marginal(*inputs):  # type: ignore[no-untyped-def]
        value, by_prevalence, by_response = value_and_gradient(*inputs)
        return np.asarray(value), by_prevalence, by_response

    return marginal, 1


def marginal_log_likelihood(table: Any, response: Any, log_weight: Any, pattern: Pattern) -> Any:
    """Return the symbolic log-likelihood of a pattern of ratings."""
    data = [pytensor.shared(np.asarray(a)) for a in (log_weight, *pattern.arrays())]
    outputs: Any = MarginalLogLikelihood()(table, response, *data)
    return outputs[0]

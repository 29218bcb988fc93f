from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay._util.arrays import append_constant, log_softmax, logsumexp, softmax
from assay.likelihood import autodiff_kernel
from assay.likelihood.autodiff import Symbol, Tape
from assay.likelihood.compiling import compiled

CONSTANT = np.arange(6.0).reshape(2, 3) / 5

FORMULAS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, xp: x + x[::-1],
    "constants on both sides": lambda x, xp: 2.0 - x * 3.0 + (1.0 - x) - x[0],
    "array on the left": lambda x, xp: CONSTANT * x + CONSTANT - x,
    "the same number twice": lambda x, xp: x * x * x,
    "broadcast": lambda x, xp: x[:, :1] * x + x[0],
    "power of exp and log": lambda x, xp: xp.log(xp.exp(x) + 1.0),
    "log1p": lambda x, xp: xp.log1p(xp.exp(x)),
    "sum of an axis": lambda x, xp: x.sum(axis=0),
    "sum": lambda x, xp: x.sum() * x,
    "log softmax": lambda x, xp: log_softmax(x * 3.0, xp),
    "softmax": lambda x, xp: softmax(x * 3.0, xp),
    "softmax with something never": lambda x, xp: softmax(append_constant(x, [-1e9], xp), xp),
    "log sum exp": lambda x, xp: logsumexp(x * 4.0, xp),
    "log sum exp of one": lambda x, xp: logsumexp(x[:, :1], xp),
    "matmul with a constant": lambda x, xp: xp.matmul(x, CONSTANT.T),
    "matmul of a constant": lambda x, xp: xp.matmul(CONSTANT.T, x),
    "matmul of symbols": lambda x, xp: xp.matmul(x, x.swapaxes(-1, -2)),
    "vector times matrix": lambda x, xp: xp.matmul(x[0], CONSTANT.T),
    "stack": lambda x, xp: xp.stack([x, x * 2.0], axis=-1),
    "concatenate": lambda x, xp: xp.concatenate([x, xp.zeros_like(x), x[:1]], axis=0),
    "fancy index": lambda x, xp: x[np.array([0, 1, 1, 0])][:, np.array([2, 2, 0])],
    "reshape": lambda x, xp: x.reshape((3, 2))[1:] * 2.0,
}

play_forwards = compiled()(autodiff_kernel.play_forwards)
play_backwards = compiled()(autodiff_kernel.play_backwards)


def record(formula: Callable[[Any, Any], Any]) -> tuple[Tape, Symbol]:
    tape = Tape()
    x = tape.unknown(2, 3)
    return tape, tape.symbol(formula(x, tape))


def play(formula: Callable[[Any, Any], Any], x: np.ndarray) -> np.ndarray:
    tape, out = record(formula)
    buffer, operations, positions = tape.finish()
    buffer[: x.size] = x.ravel()
    play_forwards(buffer, operations, positions)
    return buffer[out.at]


@pytest.mark.parametrize("name", FORMULAS)
def test_value_is_numpys(name: str):
    x = np.random.default_rng(1).standard_normal((2, 3))
    expected = FORMULAS[name](x, np)
    found = play(FORMULAS[name], x)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("name", FORMULAS)
def test_adjoints_are_the_derivatives(name: str):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, 3))
    tape, out = record(FORMULAS[name])
    buffer, operations, positions = tape.finish()
    buffer[: x.size] = x.ravel()
    play_forwards(buffer, operations, positions)
    weight = rng.standard_normal(out.shape)
    adjoint = np.zeros_like(buffer)
    np.add.at(adjoint, out.at, weight)
    play_backwards(buffer, adjoint, operations, positions)
    step, numeric = 1e-5, np.zeros(x.size)
    for n in range(x.size):
        along = (step * np.eye(x.size)[n]).reshape(x.shape)
        up, down = play(FORMULAS[name], x + along), play(FORMULAS[name], x - along)
        numeric[n] = (weight * (up - down)).sum() / (2 * step)
    np.testing.assert_allclose(adjoint[: x.size], numeric, atol=1e-8)


def test_moving_numbers_costs_nothing():
    tape, _ = record(lambda x, xp: xp.concatenate([x.swapaxes(0, 1), x.reshape((3, 2))], axis=0))
    assert len(tape.operations) == 0

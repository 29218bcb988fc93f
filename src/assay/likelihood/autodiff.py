"""Formulas as a tape: value and gradient without compiling anything for each model.

The formulas of the model are written once, over ``xp`` (see :mod:`assay._util.arrays`). Run with a
:class:`Tape` as ``xp`` they record what they do; one compiled interpreter then plays the tape
forwards and backwards. The interpreter is compiled once per machine (Numba's cache on disk), so
that a new model starts to sample at once, and it holds no lock, so that chains run side by side.

Every symbol is an array of positions in one buffer of numbers: indexing, reshaping and joining
symbols only moves positions and costs nothing when the tape is played.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.likelihood.autodiff_kernel import (
    DOT,
    EXP,
    LOG,
    LOG1P,
    LOG_SOFTMAX,
    LOG_SUM_EXP,
    SOFTMAX,
    SUM,
    TapeArrays,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ELEMENTWISE = (EXP, LOG, LOG1P)


class Symbol:
    """An array of unknown numbers: where each of them will stand in the buffer."""

    __array_ufunc__ = None  # so that ndarray + Symbol asks the Symbol

    def __init__(self, tape: "Tape", at: Ints) -> None:
        self.tape, self.at = tape, at

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return self.at.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.at.ndim

    def __getitem__(self, key: Any) -> "Symbol":
        return Symbol(self.tape, self.at[key])

    def reshape(self, shape: Sequence[int]) -> "Symbol":
        """Give the same numbers another shape."""
        return Symbol(self.tape, self.at.reshape(shape))

    def swapaxes(self, first: int, second: int) -> "Symbol":
        """Exchange two axes."""
        return Symbol(self.tape, self.at.swapaxes(first, second))

    def sum(self, axis: int | None = None) -> "Symbol":
        """Add along one axis, or all numbers."""
        at = self.at.reshape(-1) if axis is None else np.moveaxis(self.at, axis, -1)
        return self.tape.record(SUM, at)

    def __add__(self, other: Any) -> "Symbol":
        pair = np.broadcast_arrays(self.at, self.tape.symbol(other).at)
        return self.tape.record(SUM, np.stack(pair, axis=-1))

    def __mul__(self, other: Any) -> "Symbol":
        a, b = np.broadcast_arrays(self.at, self.tape.symbol(other).at)
        return self.tape.record(DOT, a[..., None], b[..., None])

    def __neg__(self) -> "Symbol":
        return self * -1.0

    def __sub__(self, other: Any) -> "Symbol":
        return self.__add__(-self.tape.symbol(other))

    def __rsub__(self, other: Any) -> "Symbol":
        return (-self).__add__(other)

    __radd__ = __add__
    __rmul__ = __mul__


class Tape:
    """A namespace of array functions that records what is done with symbols."""

    def __init__(self) -> None:
        self.size = 0
        self.constants: list[tuple[Ints, Floats]] = []
        self.scalars: dict[float, Ints] = {}
        self.operations: list[tuple[int, Ints, Ints, Ints]] = []
        self.special = SimpleNamespace(
            log_softmax=lambda x, axis: self.record(LOG_SOFTMAX, x.at),
            softmax=lambda x, axis: self.record(SOFTMAX, x.at),
        )

    def unknown(self, *shape: int) -> Symbol:
        """Make a symbol whose numbers are given when the tape is played."""
        count = int(np.prod(shape, dtype=int))
        at = np.arange(self.size, self.size + count, dtype=np.int64).reshape(shape)
        self.size += count
        return Symbol(self, at)

    def symbol(self, value: Any) -> Symbol:
        """Turn numbers into a symbol of constants; symbols stay as they are."""
        if isinstance(value, Symbol):
            return value
        numbers = np.asarray(value, float)
        if numbers.ndim == 0 and float(numbers) in self.scalars:
            return Symbol(self, self.scalars[float(numbers)])
        made = self.unknown(*numbers.shape)
        self.constants.append((made.at, numbers))
        if numbers.ndim == 0:
            self.scalars[float(numbers)] = made.at
        return made

    def record(self, code: int, a: Ints, b: Ints | None = None) -> Symbol:
        """Append an operation over the last axis of its arguments."""
        shape = a.shape if code in (*ELEMENTWISE, LOG_SOFTMAX, SOFTMAX) else a.shape[:-1]
        out = self.unknown(*shape)
        first = np.ascontiguousarray(a)
        self.operations.append(
            (code, out.at, first, first if b is None else np.ascontiguousarray(b))
        )
        return out

    def exp(self, x: Any) -> Any:
        """Exponential; of constants at once."""
        return self.record(EXP, x.at) if isinstance(x, Symbol) else np.exp(x)

    def log(self, x: Any) -> Any:
        """Natural logarithm; of constants at once."""
        return self.record(LOG, x.at) if isinstance(x, Symbol) else np.log(x)

    def log1p(self, x: Any) -> Any:
        """Logarithm of 1 + x."""
        return self.record(LOG1P, x.at)

    def logsumexp(self, x: Any, axis: int) -> Symbol:
        """Logarithm of the sum of exponentials over the last axis."""
        return self.record(LOG_SUM_EXP, x.at)

    def matmul(self, a: Any, b: Any) -> Any:
        """Matrix product; either side may be constant, a vector counts as one row."""
        if not isinstance(a, Symbol) and not isinstance(b, Symbol):
            return np.matmul(a, b)
        left, right = self.symbol(a).at, np.swapaxes(self.symbol(b).at, -1, -2)
        vector = left.ndim == 1
        left = left[None] if vector else left
        pair = np.broadcast_arrays(left[..., :, None, :], right[..., None, :, :])
        out = self.record(DOT, *pair)
        return out[..., 0, :] if vector else out

    def concatenate(self, parts: Sequence[Any], axis: int) -> Symbol:
        """Join along an axis."""
        return Symbol(self, np.concatenate([self.symbol(p).at for p in parts], axis=axis))

    def stack(self, parts: Sequence[Any], axis: int) -> Symbol:
        """Join along a new axis."""
        return Symbol(self, np.stack([self.symbol(p).at for p in parts], axis=axis))

    def full_like(self, x: Symbol, value: float) -> Symbol:
        """Return a constant of the same shape."""
        return Symbol(self, np.broadcast_to(self.symbol(value).at, x.shape))

    def zeros_like(self, x: Symbol) -> Symbol:
        """Return zeros of the same shape."""
        return self.full_like(x, 0.0)

    def finish(self) -> TapeArrays:
        """Return the buffer with its constants, the operations and their positions.

        Returns
        -------
        constants : ndarray (number,)
            The buffer before it is played.
        operations : ndarray of int (operation, 6)
            Code, first output, outer length, inner length, where the positions of the first and
            of the second argument begin.
        positions : ndarray of int
        """
        buffer = np.zeros(self.size)
        for at, numbers in self.constants:
            buffer[at] = numbers
        rows, positions, offset = [], [], 0
        for code, out, a, b in self.operations:
            inner = 1 if code in ELEMENTWISE else (a.shape[-1] if a.ndim else 1)
            outer = a.size // inner if inner else 0
            second = offset + a.size if code == DOT else offset
            rows.append((code, out.flat[0] if out.size else 0, outer, inner, offset, second))
            positions += [a.ravel(), b.ravel()] if code == DOT else [a.ravel()]
            offset += a.size * (2 if code == DOT else 1)
        table = np.array(rows, np.int64).reshape(-1, 6)
        return TapeArrays(buffer, table, np.concatenate([*positions, np.zeros(0, np.int64)]))

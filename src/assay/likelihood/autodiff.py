"""Automatic differentiation of formulas on a tape, without compilation for each model.

With a :class:`Tape` as ``xp``, formulas record their operations for one compiled interpreter. A
symbol is an array of positions in a buffer: indexing, reshaping and joining are free.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from assay._util.typing import Floats, Ints
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

ELEMENTWISE = (EXP, LOG, LOG1P)


class Symbol:
    """An array of unknown numbers, as their positions in the buffer."""

    __array_ufunc__ = None  # ndarray + Symbol calls Symbol.__radd__

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
        """Return the same numbers in another shape."""
        return Symbol(self.tape, self.at.reshape(shape))

    def swapaxes(self, first: int, second: int) -> "Symbol":
        """Exchange two axes."""
        return Symbol(self.tape, self.at.swapaxes(first, second))

    def sum(self, axis: int | None = None) -> "Symbol":
        """Sum along one axis, or all numbers."""
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
    """A namespace of array functions that records operations on symbols."""

    def __init__(self) -> None:
        self.size = 0
        self.constants: list[tuple[Ints, Floats]] = []
        self.known_constants: dict[float, int] = {}
        self.operations: list[tuple[int, Ints, Ints, Ints]] = []
        self.known: dict[tuple[int, tuple[int, ...], bytes, bytes], Symbol] = {}
        self.special = SimpleNamespace(
            log_softmax=lambda x, axis: self.record(LOG_SOFTMAX, x.at),
            softmax=lambda x, axis: self.record(SOFTMAX, x.at),
        )

    def unknown(self, *shape: int) -> Symbol:
        """Return a symbol whose numbers are set when the tape runs."""
        count = int(np.prod(shape, dtype=int))
        at = np.arange(self.size, self.size + count, dtype=np.int64).reshape(shape)
        self.size += count
        return Symbol(self, at)

    def symbol(self, value: Any) -> Symbol:
        """Return numbers as a symbol of constants, and a symbol unchanged."""
        if isinstance(value, Symbol):
            return value
        numbers = np.asarray(value, float)
        # Equal numbers stand in one place, so that what is done with them is done once.
        distinct, which = np.unique(numbers, return_inverse=True)
        new = [number for number in distinct.tolist() if number not in self.known_constants]
        made = self.unknown(len(new))
        self.constants.append((made.at, np.array(new)))
        self.known_constants.update(zip(new, made.at.tolist(), strict=True))
        at = np.array([self.known_constants[number] for number in distinct.tolist()], np.int64)
        return Symbol(self, at[which.reshape(numbers.shape)])

    def record(self, code: int, a: Ints, b: Ints | None = None) -> Symbol:
        """Record an operation over the last axis of its arguments; duplicates are computed once."""
        if code == SUM and a.shape[-1] == 1:
            return Symbol(self, a[..., 0])
        if code not in (SUM, DOT, *ELEMENTWISE) or a.ndim == 0:
            return self._append(code, a, b)
        inner = () if code in ELEMENTWISE else a.shape[-1:]
        columns = [x.reshape(-1, *(inner or (1,))) for x in (a, b) if x is not None]
        first, back = _distinct(np.concatenate(columns, axis=1), self.size)
        if len(first) == len(back):
            return self._append(code, a, b)
        few = [x[first].reshape(-1, *inner) for x in columns]
        shape = a.shape[: a.ndim - len(inner)]
        return Symbol(self, self._append(code, *few).at[back].reshape(shape))

    def _append(self, code: int, a: Ints, b: Ints | None = None) -> Symbol:
        shape = a.shape if code in (*ELEMENTWISE, LOG_SOFTMAX, SOFTMAX) else a.shape[:-1]
        first = np.ascontiguousarray(a)
        second = first if b is None else np.ascontiguousarray(b)
        key = code, first.shape, first.tobytes(), b"" if b is None else second.tobytes()
        if key not in self.known:
            self.known[key] = self.unknown(*shape)
            self.operations.append((code, self.known[key].at, first, second))
        return self.known[key]

    def exp(self, x: Any) -> Any:
        """Return the exponential; that of constants is computed at once."""
        return self.record(EXP, x.at) if isinstance(x, Symbol) else np.exp(x)

    def log(self, x: Any) -> Any:
        """Return the natural logarithm; that of constants is computed at once."""
        return self.record(LOG, x.at) if isinstance(x, Symbol) else np.log(x)

    def log1p(self, x: Any) -> Any:
        """Return log(1 + x)."""
        return self.record(LOG1P, x.at)

    def logsumexp(self, x: Any, axis: int) -> Symbol:
        """Return the log of the sum of exponentials over the last axis."""
        return self.record(LOG_SUM_EXP, x.at)

    def add_products(self, pairs: Sequence[tuple[Any, Any]]) -> Symbol:
        """Return the sum of products."""
        every = np.broadcast_arrays(*(self.symbol(x).at for pair in pairs for x in pair))
        return self.record(DOT, np.stack(every[::2], axis=-1), np.stack(every[1::2], axis=-1))

    def matmul(self, a: Any, b: Any) -> Any:
        """Return the matrix product; either side may be constant, and a vector is one row."""
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

    def unlogged(self, x: Symbol) -> Symbol | None:
        """Return the numbers whose logs are ``x``; None unless the tape took all of these logs."""
        argument, wanted = np.full(self.size, -1, np.int64), np.zeros(self.size, bool)
        wanted[x.at] = True
        made = [operation for operation in self.operations if wanted[operation[1]].any()]
        for code, out, a, _ in made:
            if code == LOG:
                argument[out] = a.reshape(out.shape)
            elif code == LOG_SOFTMAX:
                argument[out] = self.record(SOFTMAX, a).at
        found = argument[x.at]
        return None if (found < 0).any() else Symbol(self, found)

    def finish(self, wanted: Ints | None = None) -> TapeArrays:
        """Return the constants, the operations that ``wanted`` numbers depend on, and their
        positions.

        A row of ``operations`` has code, first output, outer and inner length, and the first
        position of each of two arguments.
        """
        buffer = np.zeros(self.size)
        for at, numbers in self.constants:
            buffer[at] = numbers
        rows, positions, offset = [], [], 0
        for code, out, a, b in self.operations if wanted is None else self._behind(wanted):
            inner = 1 if code in ELEMENTWISE else (a.shape[-1] if a.ndim else 1)
            outer = a.size // inner if inner else 0
            second = offset + a.size if code == DOT else offset
            rows.append((code, out.flat[0] if out.size else 0, outer, inner, offset, second))
            positions += [a.ravel(), b.ravel()] if code == DOT else [a.ravel()]
            offset += a.size * (2 if code == DOT else 1)
        table = np.array(rows, np.int64).reshape(-1, 6)
        return TapeArrays(buffer, table, np.concatenate([*positions, np.zeros(0, np.int64)]))

    def _behind(self, wanted: Ints) -> list[tuple[int, Ints, Ints, Ints]]:
        """Return the operations that some numbers depend on."""
        needed = np.zeros(self.size, bool)
        needed[wanted] = True
        found = []
        for operation in reversed(self.operations):
            _, out, a, b = operation
            if needed[out].any():
                needed[a] = needed[b] = True
                found.append(operation)
        return found[::-1]


WIDEST = 4
"""Largest number of positions for one result that are searched for duplicates."""


def _distinct(rows: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the first row of each distinct row, and the number of the distinct row of each row."""
    if not rows.size or rows.shape[1] > WIDEST:
        return np.arange(len(rows)), np.arange(len(rows))
    first, back = np.unique(rows[:, 0], return_index=True, return_inverse=True)[1:]
    for column in rows.T[1:]:
        first, back = np.unique(back * size + column, return_index=True, return_inverse=True)[1:]
    return first, back

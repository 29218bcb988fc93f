"""The log density as a C function for nutpie.

Threads that call Python would wait for its lock longer than a small density takes. A C function
does not; its arrays come as cards, each the address and the shape of one array.
"""

import math
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import carray  # type: ignore[attr-defined]
from numba.extending import intrinsic

from assay.likelihood.autodiff_kernel import TapeArrays
from assay.likelihood.compiling import at, kept_on_disk
from assay.likelihood.data import Data
from assay.likelihood.density import Places, log_density, log_of_score

CARD = 4
"""Integers of a card: the address of an array, and its shape with up to three axes."""
CARDS = 31


@cache
def c_functions() -> tuple[Any, Any]:
    """Compile the log density, and the copy of a draw, as C functions for nutpie."""
    types = numba.types
    numbers, table = types.CPointer(types.float64), types.CPointer(types.int64)
    density = types.int64(types.uint64, numbers, numbers, numbers, table)
    copy = types.int64(types.uint64, types.uint64, numbers, numbers, table)
    with kept_on_disk() as keep:
        return (
            numba.cfunc(density, cache=keep, error_model="numpy")(_log_density_from_cards),
            numba.cfunc(copy, cache=keep)(_copy_point),
        )


def cards(*arrays: np.ndarray) -> np.ndarray:
    """Return the cards of arrays; the arrays must be kept alive."""
    found = np.ones((len(arrays), CARD), np.int64)
    for n, array in enumerate(arrays):
        found[n, 0] = array.ctypes.data
        found[n, 1 : 1 + array.ndim] = array.shape
    return found.ravel()


def _log_density_from_cards(dim: Any, z_: Any, gradient_: Any, value_: Any, table_: Any) -> int:
    """Compute log density and gradient at ``centre + root @ z``; return 0, or 3 or 4 if not finite.

    The cards, in order: centre, entries of the root, tape, places, log weights of the nodes, data,
    positions of scored unknowns and their log scales, row starts and columns of the root.
    """
    size = np.int64(dim)
    table: Any = carray(table_, (CARDS * CARD,))
    z: Any = carray(z_, (size,))
    out: Any = carray(gradient_, (size,))
    centre, root = _floats(table, 0), _floats(table, 1)
    begin, column = _integers(table, 29), _integers(table, 30)
    x = np.empty(size)
    for n in range(size):
        x[n] = centre[n]
        for k in range(at(begin[n]), at(begin[n + 1])):
            x[n] += root[k] * z[at(column[k])]
    scored, log_size = _integers(table, 27), _floats(table, 28)
    slope, bend = np.empty(len(scored)), np.empty(len(scored))
    for k, n in enumerate(scored):
        x[n], slope[k], bend[k] = log_of_score(x[n])
        x[n] += log_size[k]
    operations = _operations(table, 3)
    tape = TapeArrays(_floats(table, 2), operations, _integers(table, 4))
    places = Places(
        _integers(table, 5)[0],
        _integers(table, 5)[1],
        _places(table, 6),
        _places(table, 7),
        _operations(table, 8),
        _places(table, 9),
        _places(table, 10),
        _operations(table, 11),
    )
    data = Data(
        _integers(table, 13),
        _integers(table, 14),
        _integers(table, 15),
        _integers(table, 16),
        _integers(table, 17),
        _integers(table, 18),
        _masks(table, 19),
        _integers(table, 20),
        _integers(table, 21),
        _integers(table, 22),
        _integers(table, 23),
        _integers(table, 24),
        _integers(table, 25),
        _floats(table, 26),
    )
    value, gradient = log_density(x, tape, places, _floats(table, 12), data)
    for k, n in enumerate(scored):
        gradient[n] = gradient[n] * slope[k] + bend[k]
        value += math.log(slope[k])
    for n in range(size):
        out[n] = 0.0
    for n in range(size):
        for k in range(at(begin[n]), at(begin[n + 1])):
            out[at(column[k])] += root[k] * gradient[n]
    finite = True
    for n in range(size):
        finite &= np.isfinite(out[n])
    carray(value_, (1,))[0] = value
    if not finite:
        return 3
    return 0 if np.isfinite(value) else 4


def _copy_point(dim: Any, expanded: Any, z_: Any, out_: Any, table_: Any) -> int:
    """Copy a draw unchanged."""
    z: Any = carray(z_, (np.int64(dim),))
    out: Any = carray(out_, (np.int64(dim),))
    for n in range(np.int64(dim)):
        out[n] = z[n]
    return 0


def _pointer_to(kind: Any) -> Any:
    """Return a function for compiled code that turns an integer into an address."""

    @intrinsic
    def pointer(typing_context, address):  # type: ignore[no-untyped-def]
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return numba.types.CPointer(kind)(address), generate

    return pointer


_float_pointer = _pointer_to(numba.types.float64)
_integer_pointer = _pointer_to(numba.types.int64)


@numba.njit(inline="always")
def _floats(table, n):  # type: ignore[no-untyped-def]
    return carray(_float_pointer(table[CARD * n]), (table[CARD * n + 1],))


@numba.njit(inline="always")
def _integers(table, n):  # type: ignore[no-untyped-def]
    return carray(_integer_pointer(table[CARD * n]), (table[CARD * n + 1],))


@numba.njit(inline="always")
def _places(table, n):  # type: ignore[no-untyped-def]
    shape = (table[CARD * n + 1], table[CARD * n + 2], table[CARD * n + 3])
    return carray(_integer_pointer(table[CARD * n]), shape)


@numba.njit(inline="always")
def _operations(table, n):  # type: ignore[no-untyped-def]
    shape = (table[CARD * n + 1], table[CARD * n + 2])
    return carray(_integer_pointer(table[CARD * n]), shape)


@numba.njit(inline="always")
def _masks(table, n):  # type: ignore[no-untyped-def]
    shape = (table[CARD * n + 1], table[CARD * n + 2])
    return carray(_float_pointer(table[CARD * n]), shape)

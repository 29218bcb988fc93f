"""The log density as a C function, which does not wait for Python's lock, for Python and for
nutpie.

Its arrays come as cards, each the address and the shape of one. What nutpie calls maps its point to
the unknowns and calls the density by its address, which is compiled once.
"""

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from assay._util.typing import Floats
from assay.likelihood.arrays import empty, from_card, vector
from assay.likelihood.autodiff_kernel import TapeArrays
from assay.likelihood.compiling import at, kept_on_disk, linked
from assay.likelihood.data import Data
from assay.likelihood.density import Places, log_density, log_of_score, plain_log_density

CARD = 4
"""Integers of a card: the address of an array, and its shape with up to three axes."""
DENSITY_CARDS = 29
"""Cards of a density: tape, places, log weights of the nodes, data."""
CARDS = DENSITY_CARDS + 7
"""Cards of a walk: those of its density; centre, entries of the root, row starts and columns of the
root; positions of scored unknowns and their log scales; the address of the density's C function."""


@cache
def density_address(plain: bool) -> int:
    """Compile the log density as a C function; return its address. ``plain`` models (one node, no
    perception layers, no readings) compile in half the time.
    """
    types = numba.types
    numbers, table = types.CPointer(types.float64), types.CPointer(types.int64)
    kind = types.void(types.uint64, numbers, numbers, numbers, table)
    chosen = _plain_log_density if plain else _log_density
    with kept_on_disk() as keep:
        compiled: Any = numba.cfunc(kind, cache=keep, error_model="numpy")(chosen)
    return int(compiled.address)


@cache
def _density(plain: bool) -> Callable[..., Any]:
    """Return the C function of the log density; Python's lock is open while it runs."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_uint64, *[ctypes.c_void_p] * 4)
    return kind(density_address(plain))


def value_and_gradient_at(x: Floats, table: np.ndarray, plain: bool) -> tuple[float, Floats]:
    """Return log density and gradient at unconstrained values, from the cards of a density."""
    gradient, value = np.empty(len(x)), np.empty(1)
    places = (array.ctypes.data for array in (x, gradient, value, table))
    _density(plain)(len(x), *places)
    return float(value[0]), gradient


@cache
def c_functions() -> tuple[Any, Any]:
    """Compile what nutpie calls: the log density of a walk, and the copy of a draw."""
    types = numba.types
    numbers, table = types.CPointer(types.float64), types.CPointer(types.int64)
    density = types.int64(types.uint64, numbers, numbers, numbers, table)
    copy = types.int64(types.uint64, types.uint64, numbers, numbers, table)
    with kept_on_disk() as keep:
        return (
            numba.cfunc(density, cache=keep, error_model="numpy")(_log_density_of_walk),
            numba.cfunc(copy, cache=keep)(_copy_point),
        )


def cards(*arrays: np.ndarray) -> np.ndarray:
    """Return the cards of arrays; the arrays must be kept alive."""
    found = np.ones((len(arrays), CARD), np.int64)
    for n, array in enumerate(arrays):
        found[n, 0] = array.ctypes.data
        found[n, 1 : 1 + array.ndim] = array.shape
    return found.ravel()


def _log_density(dim: Any, x_: Any, gradient_: Any, value_: Any, table_: Any) -> None:
    """Compute log density and gradient at unconstrained values."""
    tape, places, log_weight, data = _arguments(vector(table_, DENSITY_CARDS * CARD))
    value, gradient = log_density(vector(x_, dim), tape, places, log_weight, data)
    _give(value, gradient, vector(value_, 1), vector(gradient_, dim))


def _plain_log_density(dim: Any, x_: Any, gradient_: Any, value_: Any, table_: Any) -> None:
    """Compute what :func:`_log_density` does, for plain models."""
    tape, places, log_weight, data = _arguments(vector(table_, DENSITY_CARDS * CARD))
    value, gradient = plain_log_density(vector(x_, dim), tape, places, log_weight, data)
    _give(value, gradient, vector(value_, 1), vector(gradient_, dim))


@linked()
def _arguments(table):  # type: ignore[no-untyped-def]
    """Return tape, places, log weights of the nodes and data from their cards."""
    tape = TapeArrays(_floats(table, 0), _operations(table, 1), _integers(table, 2))
    counts = _integers(table, 3)
    places = Places(
        counts[0],
        counts[1],
        _places(table, 4),
        _places(table, 5),
        _operations(table, 6),
        _places(table, 7),
        _places(table, 8),
        _operations(table, 9),
        _integers(table, 10),
    )
    data = Data(
        _integers(table, 12),
        _integers(table, 13),
        _integers(table, 14),
        _integers(table, 15),
        _integers(table, 16),
        _integers(table, 17),
        _masks(table, 18),
        _integers(table, 19),
        _integers(table, 20),
        _integers(table, 21),
        _integers(table, 22),
        _integers(table, 23),
        _integers(table, 24),
        _floats(table, 25),
        _integers(table, 26),
        _integers(table, 27),
        _integers(table, 28),
    )
    return tape, places, _floats(table, 11), data


@linked()
def _give(value, gradient, to_value, to_gradient):  # type: ignore[no-untyped-def]
    """Write log density and gradient to where they are asked for."""
    to_value[0] = value
    for n in range(gradient.shape[0]):
        to_gradient[n] = gradient[n]


def _log_density_of_walk(dim: Any, z_: Any, gradient_: Any, value_: Any, table_: Any) -> int:
    """Compute log density and gradient at ``centre + root @ z``; return 0, or 3 or 4 if not finite.

    The cards stand in the order of ``CARDS``.
    """
    size, first = np.int64(dim), DENSITY_CARDS
    table: Any = vector(table_, CARDS * CARD)
    z: Any = vector(z_, size)
    out: Any = vector(gradient_, size)
    centre, root = _floats(table, first), _floats(table, first + 1)
    begin, column = _integers(table, first + 2), _integers(table, first + 3)
    x = empty(size)
    for n in range(size):
        x[n] = centre[n]
        for k in range(at(begin[n]), at(begin[n + 1])):
            x[n] += root[k] * z[at(column[k])]
    scored, log_size = _integers(table, first + 4), _floats(table, first + 5)
    slope, bend = empty(len(scored)), empty(len(scored))
    for k, n in enumerate(scored):
        x[n], slope[k], bend[k] = log_of_score(x[n])
        x[n] += log_size[k]
    gradient, found = empty(size), empty(1)
    density = _integers(table, first + 6)[0]
    _call(density, dim, x.ctypes.data, gradient.ctypes.data, found.ctypes.data, table_)
    value = found[0]
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
    vector(value_, 1)[0] = value
    if not finite:
        return 3
    return 0 if np.isfinite(value) else 4


def _copy_point(dim: Any, expanded: Any, z_: Any, out_: Any, table_: Any) -> int:
    """Copy a draw unchanged."""
    z: Any = vector(z_, dim)
    out: Any = vector(out_, dim)
    for n in range(np.int64(dim)):
        out[n] = z[n]
    return 0


def _call_at(typing_context, address, dim, x, gradient, value, table):  # type: ignore[no-untyped-def]
    """Call the C function of the log density at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, place = ir.IntType(64), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [number, place, place, place, place])
        at_address, size, *addresses, cards_of = arguments
        places = [builder.inttoptr(one, place) for one in addresses]
        places.append(builder.bitcast(cards_of, place))
        builder.call(builder.inttoptr(at_address, kind.as_pointer()), [size, *places])
        return context.get_dummy_value()

    return numba.types.void(address, dim, x, gradient, value, table), generate


_call: Any = intrinsic(_call_at)

_floats: Any = from_card(numba.types.float64, 1, CARD)
_integers: Any = from_card(numba.types.int64, 1, CARD)
_operations: Any = from_card(numba.types.int64, 2, CARD)
_places: Any = from_card(numba.types.int64, 3, CARD)
_masks: Any = from_card(numba.types.float64, 2, CARD)

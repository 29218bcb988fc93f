"""Arrays in compiled functions; these write their few instructions into the caller, while Numba
compiles a function for every kind of ``np.empty`` or ``carray`` that it meets.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic, lower_builtin, type_callable
from numba.np import arrayobj

ARRAYS: Any = arrayobj
"""Numba's module, untyped."""


def empty(shape: Any) -> Any:
    """Return an array of numbers, not filled; the shape is an integer or a tuple."""
    return np.empty(shape)


def zeros(shape: Any) -> Any:
    """Return an array of zeros; the shape is an integer or a tuple."""
    return np.zeros(shape)


def empty_integers(length: Any) -> Any:
    """Return a vector of integers, not filled."""
    return np.empty(length, np.int64)


def zero_integers(length: Any) -> Any:
    """Return a vector of integers that are 0."""
    return np.zeros(length, np.int64)


def all_false(length: Any) -> Any:
    """Return a vector of Booleans that are False."""
    return np.zeros(length, np.bool_)


def _compile(function: Callable[..., Any], dtype: Any, *, fill: bool) -> None:
    """Tell Numba the type and the instructions of a function that makes arrays."""

    @type_callable(function)
    def type_of(_context: Any) -> Any:
        def found(shape: Any) -> Any:
            lengths: Any = shape if isinstance(shape, types.BaseTuple) else (shape,)
            if all(isinstance(length, types.Integer) for length in lengths):
                return types.Array(dtype, len(lengths), "C")
            return None

        return found

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (kind,), (given,), made = signature.args, arguments, signature.return_type
        several = isinstance(kind, types.BaseTuple)
        kinds = kind if several else (kind,)
        lengths = cgutils.unpack_tuple(builder, given) if several else (given,)
        shape = [
            context.cast(builder, length, its, types.intp)
            for length, its in zip(lengths, kinds, strict=True)
        ]
        size = context.get_constant(types.intp, ARRAYS.get_itemsize(context, made))
        for length in shape:
            size = builder.mul(size, length)
        align = context.get_preferred_array_alignment(made.dtype)
        memory = context.nrt.meminfo_alloc_aligned(builder, size, align)
        data = context.nrt.meminfo_data(builder, memory)
        if fill:
            cgutils.memset(builder, data, size, 0)
        return _array(context, builder, made, data, shape, memory)

    lower_builtin(function, types.Integer)(lower)
    lower_builtin(function, types.BaseTuple)(lower)


_compile(empty, types.float64, fill=False)
_compile(zeros, types.float64, fill=True)
_compile(empty_integers, types.int64, fill=False)
_compile(zero_integers, types.int64, fill=True)
_compile(all_false, types.boolean, fill=True)


def _array(  # type: ignore[no-untyped-def]
    context: Any, builder: Any, made: Any, data: Any, shape: Any, memory=None
) -> Any:
    """Write the instructions that make an array of its parts."""
    array = ARRAYS.make_array(made)(context, builder)
    size = context.get_constant(types.intp, ARRAYS.get_itemsize(context, made))
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    pointer = context.get_data_type(made.dtype).as_pointer()
    ARRAYS.populate_array(
        array,
        data=builder.bitcast(data, pointer),
        shape=shape,
        strides=strides,
        itemsize=size,
        meminfo=memory,
    )
    return array._getvalue()


def _vector_at(typing_context, pointer, length):  # type: ignore[no-untyped-def]
    """Return the numbers at a pointer as a vector."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = context.cast(builder, arguments[1], signature.args[1], types.intp)
        return _array(context, builder, signature.return_type, arguments[0], [size])

    return types.Array(pointer.dtype, 1, "C")(pointer, length), generate


vector: Any = intrinsic(_vector_at)


def from_card(dtype: Any, axes: int, card: int) -> Any:
    """Return a function for compiled code: the array of a card in a table of cards.

    A card of ``card`` integers is the address of an array and its shape.
    """

    @intrinsic
    def found(typing_context, table, n):  # type: ignore[no-untyped-def]
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            cards = ARRAYS.make_array(signature.args[0])(context, builder, arguments[0]).data
            number = context.cast(builder, arguments[1], signature.args[1], types.intp)
            first = builder.mul(number, context.get_constant(types.intp, card))
            of_card = [
                builder.load(builder.gep(cards, [builder.add(first, first.type(k))]))
                for k in range(axes + 1)
            ]
            made = signature.return_type
            pointer = context.get_data_type(made.dtype).as_pointer()
            address = builder.inttoptr(of_card[0], pointer)
            return _array(context, builder, made, address, of_card[1:])

        return types.Array(dtype, axes, "C")(table, n), generate

    return found

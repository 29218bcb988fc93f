"""Arrays of compiled functions are those of NumPy."""

import numba
import numpy as np

from assay.likelihood.arrays import all_false, empty, empty_integers, zero_integers, zeros


@numba.njit
def _made(n):  # type: ignore[no-untyped-def]
    filled = empty((n, 3))
    for a in range(n):
        for b in range(3):
            filled[a, b] = 10 * a + b
    numbers = empty_integers(n)
    for a in range(n):
        numbers[a] = a
    return filled, numbers, zeros(filled.shape), zeros((0, n)), zero_integers(n), all_false(n)


def test_compiled_arrays_have_shape_type_and_layout_of_numpy() -> None:
    np.ones((50, 3)).sum()  # memory that is not zero
    for made, plain in zip(_made(4), _made.py_func(4), strict=True):
        assert (made.shape, made.dtype) == (plain.shape, plain.dtype)
        assert made.flags.c_contiguous
        assert np.array_equal(made, plain)


@numba.njit
def _rows_kept(n):  # type: ignore[no-untyped-def]
    kept = zeros((n, 2))[n - 1]
    for _ in range(100):
        zeros((n, 2))[:] = 1.0
    return kept


def test_a_view_keeps_its_array_alive() -> None:
    assert np.array_equal(_rows_kept(1000), np.zeros(2))

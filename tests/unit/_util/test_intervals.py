"""Equal-tailed intervals: their ends, and which levels there are."""

import numpy as np
import pytest
from refusals import refusal

from assay._util.errors import FitError
from assay._util.intervals import interval_ends, require_level, tails


def test_each_end_has_half_of_the_rest_beyond_it():
    draws = np.random.default_rng(1).normal(size=(200, 3))
    lower, upper = interval_ends(draws, 0.8, axis=0)
    np.testing.assert_array_equal((draws < lower).sum(axis=0), 20)
    np.testing.assert_array_equal((draws > upper).sum(axis=0), 20)
    np.testing.assert_allclose(tails(0.8), (0.1, 0.9))


def test_undefined_draws_are_left_out_and_nothing_has_no_ends():
    some = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan], [2.0, 4.0, 6.0]])
    ends = interval_ends(some, 0.5)
    np.testing.assert_allclose(ends, [[1.5, np.nan, 3.0], [2.5, np.nan, 5.0]])
    assert np.isnan(interval_ends([], 0.5)).tolist() == [True, True]
    assert interval_ends(np.zeros((4, 0, 2)), 0.5, axis=1).shape == (2, 4, 2)


def test_draws_beside_undefined_ones_have_the_same_ends():
    draws = np.random.default_rng(2).normal(size=(2, 50))
    holed = np.vstack([draws, np.full(50, np.nan)])
    np.testing.assert_array_equal(interval_ends(holed, 0.9)[:, :2], interval_ends(draws, 0.9))


@pytest.mark.parametrize(
    ("level", "above"), [(0, 0.0), (1, 0.0), (95, 0.0), ("a", 0.0), (0.5, 0.5), (-1, 0.5)]
)
def test_a_level_is_a_probability(level: float | str, above: float):
    words = f"`level={level!r}`; it must be a probability above {above:g} and"
    with pytest.raises(FitError, match=words, check=refusal("argument-number")):
        require_level(level, above=above)
    require_level(0.95, above=above)

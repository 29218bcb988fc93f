"""Sums over groups, of which the model of the departure tests is made."""

import numpy as np

from assay.checks.departures.null_model import Groups


def test_sums_leave_out_rows_in_no_group() -> None:
    rng = np.random.default_rng(1)
    code, values = rng.integers(-1, 5, 40), rng.normal(size=(40, 3, 2))
    groups = Groups(code, 6)
    expected = np.stack([values[code == group].sum(axis=0) for group in range(6)])
    np.testing.assert_allclose(groups.sums(values), expected, atol=1e-12)
    # The same again: what the groups keep is theirs, not that of the values.
    np.testing.assert_allclose(groups.sums(2 * values), 2 * expected, atol=1e-12)


def test_others_are_the_rest_of_a_rows_group() -> None:
    code = np.array([0, 2, 2, 0, 2, 1])
    assert Groups(code, 3).others.ravel().tolist() == [1, 2, 2, 1, 2, 0]

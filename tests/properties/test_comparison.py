"""What holds of every comparison, whatever the draws."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.comparison import compare_draws, parse_claim
from assay.comparison.contrasts import expected_loss, rank_probabilities

quick = settings(max_examples=25, deadline=None)


@st.composite
def samples(draw, gaps=True):
    """Draws (draw, system) on a coarse grid, so that systems tie; some undefined."""
    shape = draw(st.integers(2, 12)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.integers(0, 6, size=shape) / 5
    if gaps:
        values[rng.random(shape) < 0.15] = np.nan
    return values


def compared(values, better="higher", names=None):
    names = list(names or "ABCDE"[: values.shape[1]])
    variable = xr.DataArray(values[None], dims=("chain", "draw", "system"))
    return compare_draws(xr.Dataset({"m": variable}, {"system": names}), {"m": better})


@quick
@given(values=samples(gaps=False))
def test_rank_probabilities_are_doubly_stochastic(values):
    table = rank_probabilities(values)
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(axis=0), 1)
    np.testing.assert_allclose(table.sum(axis=1), 1)


@quick
@given(values=samples(gaps=False))
def test_losses_differ_as_the_means_do(values):
    loss = expected_loss(values)
    assert (loss >= -1e-12).all()
    behind = values.mean(axis=0)[0] - values.mean(axis=0)
    np.testing.assert_allclose(loss - loss[0], behind, atol=1e-12)


@quick
@given(values=samples())
def test_turning_a_pair_round_turns_its_numbers(values):
    pair = values[:, :2]
    forth = compared(pair).pairs.iloc[0]
    back = compared(pair[:, ::-1]).pairs.iloc[0]
    same = ["difference_sd", "p_equal", "undefined"]
    np.testing.assert_allclose(forth[same].to_numpy(float), back[same].to_numpy(float), atol=1e-12)
    ends = ["difference", "difference_lower", "difference_upper"]
    turned = -back[["difference", "difference_upper", "difference_lower"]].to_numpy(float)
    np.testing.assert_allclose(forth[ends].to_numpy(float), turned, atol=1e-12)
    if forth["undefined"] < 1:
        assert forth["p_greater"] + forth["p_equal"] + back["p_greater"] == pytest.approx(1)


@quick
@given(values=samples(), seed=st.integers(0, 1000))
def test_order_of_systems_changes_nothing(values, seed):
    order = np.random.default_rng(seed).permutation(values.shape[1])
    names = "ABCDE"[: values.shape[1]]
    one = compared(values).systems.set_index("system")
    two = compared(values[:, order], names=[names[n] for n in order]).systems.set_index("system")
    numbers = one.select_dtypes("number").columns
    np.testing.assert_allclose(one[numbers], two.loc[one.index, numbers], atol=1e-12)


@quick
@given(values=samples())
def test_lower_is_higher_of_the_negative(values):
    one, two = compared(values, "lower").systems, compared(-values).systems
    columns = ["p_best", "expected_loss", "p_rank_1", "unranked"]
    np.testing.assert_allclose(one[columns], two[columns], atol=1e-12)


@quick
@given(
    values=samples(gaps=False),
    margin=st.sampled_from([0.0, 0.1, 0.2, 0.4]),
    forth=st.sampled_from([(">", "<="), (">=", "<")]),
)
def test_a_bound_and_its_opposite_share_the_probability(values, margin, forth):
    claims = [parse_claim(f"m of A {relation} {margin}") for relation in forth]
    np.testing.assert_array_equal(claims[0].holds(values), ~claims[1].holds(values))


names = st.text("abcXYZ019 ._-:/", min_size=1, max_size=12)


@quick
@given(first=names, second=names, number=st.floats(0.001, 1e6))
def test_any_quoted_name_can_be_claimed_about(first, second, number):
    if first == second:
        second += "'"
    claim = parse_claim(f'"{first}" > "{second}" by {number!r} on m')
    assert (claim.system, claim.other, claim.number) == (first, second, number)

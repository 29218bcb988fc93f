"""What two raters have in common is what loops over their items count."""

import numpy as np
import pytest

from assay.data import overlap as module
from assay.data.overlap import SHARED_ITEMS, RaterPairs, rater_pairs

N_RATERS, N_ITEMS = 9, 60


@pytest.fixture
def rated() -> tuple[RaterPairs, dict[int, dict[int, int]]]:
    """Pairs of raters who rate from all to a sixth of the items, and each one's row of an item."""
    rng = np.random.default_rng(5)
    where = rng.random((N_RATERS, N_ITEMS)) < np.linspace(1, 1 / 6, N_RATERS)[:, None]
    rows = rng.permutation(np.argwhere(where))
    rater, item = rows.T
    pairs = rater_pairs(rater, item, N_RATERS + 1)
    assert pairs is not None
    return pairs, {
        j: {int(i): n for n, i in enumerate(item) if rater[n] == j} for j in range(N_RATERS)
    }


def test_pairs_are_those_with_enough_items_in_common(
    rated: tuple[RaterPairs, dict[int, dict[int, int]]],
) -> None:
    pairs, row = rated
    common = {
        (one, other): len(row[one].keys() & row[other])
        for one in range(N_RATERS)
        for other in range(one + 1, N_RATERS)
    }
    enough = {names: count for names, count in common.items() if count >= SHARED_ITEMS}
    assert 0 < len(enough) < len(common)
    found = zip(pairs.one.tolist(), pairs.other.tolist(), pairs.items.tolist(), strict=True)
    assert {(one, other): count for one, other, count in found} == enough


def test_agreements_and_sums_are_over_the_items_in_common(
    rated: tuple[RaterPairs, dict[int, dict[int, int]]],
) -> None:
    pairs, row = rated
    rng = np.random.default_rng(6)
    answer = rng.integers(3, size=len(pairs.item))
    number = np.where(rng.random(len(answer)) < 0.3, 0, rng.normal(size=len(answer)))
    one, other = pairs.totals(number)
    found = np.column_stack([pairs.agreements(answer), one, other, pairs.products(number)])
    expected = []
    for a, b in zip(pairs.one.tolist(), pairs.other.tolist(), strict=True):
        both = [(row[a][i], row[b][i]) for i in row[a].keys() & row[b]]
        mine, theirs = np.array(both).T
        expected.append(
            [
                (answer[mine] == answer[theirs]).sum(),
                number[mine].sum(),
                number[theirs].sum(),
                (number[mine] * number[theirs]).sum(),
            ]
        )
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_some_of_the_pairs_are_told_as_they_are_among_all(
    rated: tuple[RaterPairs, dict[int, dict[int, int]]],
) -> None:
    pairs, _ = rated
    number = np.arange(len(pairs.item), dtype=float)
    at = pairs.one == 1
    assert 0 < at.sum() < len(at)
    np.testing.assert_allclose(pairs.chosen(at).totals(number)[1], pairs.totals(number)[1][at])


def test_nobody_is_compared_where_items_have_too_many_raters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 25 items rated by 4, there are 25 times 16 ordered pairs."""
    rater, item = np.tile(np.arange(4), 25), np.repeat(np.arange(25), 4)
    monkeypatch.setattr(module, "PAIR_LIMIT", 400)
    assert rater_pairs(rater, item, 4) is not None
    monkeypatch.setattr(module, "PAIR_LIMIT", 399)
    assert rater_pairs(rater, item, 4) is None


def test_no_ratings_are_no_pairs() -> None:
    none = np.zeros(0, np.int64)
    pairs = rater_pairs(none, none, 3)
    assert pairs is not None
    assert len(pairs.items) == len(pairs.agreements(none)) == len(pairs.totals(none)[0]) == 0

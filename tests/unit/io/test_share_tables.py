"""Shares of raters in the place of their ratings."""

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import RatingsError
from assay.io import read_ratings

ITEMS = 20
YES = np.random.default_rng(1).binomial(4, 0.6, ITEMS)
THREE = np.random.default_rng(2).multinomial(5, [0.2, 0.3, 0.5], ITEMS)
ITEM = {"item": range(ITEMS)}
WITH_NUMBER: dict[str, tuple[dict[str, object], list[str], tuple[str, ...], list[int]]] = {
    "per cent yes": (
        {"percent_yes": YES * 25, "n": 4}, ["percent_yes"], ("no", "yes"),
        [80 - YES.sum(), YES.sum()],
    ),
    "a sign of per cent and a comma": (
        {"Anteil gut": [f"{y * 25},0 %" for y in YES], "Personen": 4}, ["Anteil gut"],
        ("gut", "not gut"), [YES.sum(), 80 - YES.sum()],
    ),
    "two shares": (
        {"yes": YES / 4, "no": 1 - YES / 4, "n_raters": 4}, ["yes", "no"], ("no", "yes"),
        [80 - YES.sum(), YES.sum()],
    ),
    "three rounded shares": (
        {**{f"% {c}": (THREE[:, k] * 20).round() for k, c in enumerate("abc")}, "votes": 5},
        ["% a", "% b", "% c"], ("a", "b", "c"), THREE.sum(axis=0).tolist(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_NUMBER)
def test_shares_and_numbers_of_raters_are_votes(name: str) -> None:
    columns, shares, classes, counts = WITH_NUMBER[name]
    frame = pd.DataFrame({**ITEM, **columns})
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.code == "share-table"
    assert caught.value.go_on == {"counts": shares}
    ratings = read_ratings(frame, counts=shares)
    assert ratings.task.labels[0].classes == classes
    assert np.bincount(ratings.answers[:, 0]).tolist() == counts
    assert len(ratings.items) == ITEMS


@pytest.mark.parametrize("more", [
    {"share_yes": YES / 4}, {"neg": YES / 4, "pos": 1 - YES / 4},
    {f"% {c}": THREE[:, k] * 20 for k, c in enumerate("abc")},
])  # fmt: skip
def test_shares_without_the_number_of_raters_are_refused(more: dict[str, object]) -> None:
    frame = pd.DataFrame({**ITEM, **more})
    for given in ({}, {"counts": list(more)}):
        with pytest.raises(RatingsError) as caught:
            read_ratings(frame, **given)  # type: ignore[arg-type]
        assert caught.value.code == "share-table"
        assert "add a column n with the number of raters" in str(caught.value)
    fits = "(5 fits all shares)" if "% a" in more else "(4 fits all shares)"
    assert fits in str(caught.value)
    size = 5 if "% a" in more else 4
    ratings = read_ratings(frame.assign(n=size), counts=list(more))
    assert len(ratings.answers) == size * ITEMS


def test_shares_that_fit_no_number_of_raters_are_refused() -> None:
    frame = pd.DataFrame({**ITEM, "percent_yes": YES * 25, "n": 5})
    with pytest.raises(RatingsError, match="no share of 5 raters", check=refusal("share-table")):
        read_ratings(frame, counts="percent_yes")


def test_numbers_of_raters_beside_their_names_are_answers() -> None:
    rows = [(n, r, 25 * ((n + len(r)) % 5)) for n in range(ITEMS) for r in ("a", "bb")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "percent"])
    assert len(read_ratings(frame, labels="percent").task.labels[0].classes) == 5


@pytest.mark.parametrize("pairs", [False, True])
def test_the_agreement_of_raters_is_no_share_of_votes(pairs: bool) -> None:
    said = np.random.default_rng(4).choice(["oui", "non", "bof"], (ITEMS, 3), p=[0.7, 0.2, 0.1])
    votes = [max((list(row).count(word), word) for word in set(row))[0] for row in said]
    shares = [f"{(0, 33, 100)[v - 1] if pairs else round(100 * v / 3)}%" for v in votes]
    frame = pd.DataFrame(said, columns=["Uma", "Vik", "Wes"]).assign(Accord=shares)
    frame.insert(0, "id", [f"s{n}" for n in range(ITEMS)])
    raters = ["Uma", "Vik", "Wes"]
    with pytest.raises(RatingsError, check=refusal("wide-table")) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"wide": raters}
    with pytest.raises(RatingsError, check=refusal("share-table")) as caught:
        read_ratings(frame, counts="Accord")
    assert caught.value.go_on == {"counts": None, "wide": raters}
    assert len(read_ratings(frame, wide=raters).raters) == 3

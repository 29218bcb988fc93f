"""Known truth of items that are no random sample is noticed."""

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from refusals import refusal

import assay
from assay._util.errors import FitWarning, ModelError
from assay.checks.gold import gold_sums, squares, unlike, unlike_gold
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.inference.subsets import take_items


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return assay.simulate("single", n_items=200, n_raters=8, ratings_per_item=3, rng=4)


def with_gold(ratings: Ratings, known: np.ndarray) -> Ratings:
    truth = np.full(ratings.truth.shape, MISSING, ratings.truth.dtype)
    truth[known] = 0
    return replace(ratings, truth=truth)


def disputed(ratings: Ratings) -> np.ndarray:
    """Whether two raters differ on the first label of an item."""
    by_item = [ratings.answers[ratings.item == n, 0] for n in range(len(ratings.items))]
    return np.array([len(set(answers.tolist())) > 1 for answers in by_item])


@pytest.mark.parametrize("seed", range(5))
def test_a_random_sample_is_not_suspected(ratings: Ratings, seed: int):
    known = np.random.default_rng(seed).random(len(ratings.items)) < 0.2
    assert unlike_gold(with_gold(ratings, known)) == ""


def test_hard_items_are_named_with_both_shares(ratings: Ratings):
    known = disputed(ratings)
    told = unlike_gold(with_gold(ratings, known))
    assert told.startswith(f"the {known.sum()} items ")
    label = ratings.task.labels[0].name
    assert f"{label}: share of disagreeing pairs" in told
    assert "against 0.00" in told
    found = assay.check(with_gold(ratings, known)).findings
    (unlike,) = (f for f in found if f.code == "gold-unlike-others")
    assert unlike.numbers == {"items": known.sum()}
    assert "gold_chosen='recorded'" in unlike.text


@pytest.mark.parametrize("count", [0, 9])
def test_few_items_are_not_compared(ratings: Ratings, count: int):
    known = np.zeros(len(ratings.items), bool)
    known[np.flatnonzero(disputed(ratings))[:count]] = True
    assert unlike_gold(with_gold(ratings, known)) == ""


def test_items_of_a_cluster_count_as_one(ratings: Ratings):
    """The same difference is no evidence where it comes from a few clusters."""
    known = disputed(ratings)
    clustered = replace(
        with_gold(ratings, known),
        items=ratings.items.assign(cluster=np.where(known, "a", np.arange(len(known)).astype(str))),
    )
    assert unlike_gold(clustered) == ""


@pytest.mark.parametrize("parts", [2, 7])
def test_parts_of_the_data_tell_what_all_of_them_tell(parts: int):
    """However few clusters of one side, or none, a part has."""
    many = assay.simulate("retrieval", n_items=240, n_raters=5, n_clusters=24, gold=0.4, rng=2)
    hard = with_gold(many, disputed(many))
    owner = np.arange(240) // 10 * parts // 24
    code = np.unique(hard.items["cluster"], return_inverse=True)[1]
    split = [take_items(hard, np.flatnonzero(owner[code * 10] == n)) for n in range(parts)]
    first, *others = [gold_sums(part) for part in split]
    sums = sum(others, start=first)
    whole = gold_sums(hard)
    for name in ("items", "clusters", "totals", "known"):
        np.testing.assert_allclose(getattr(sums, name), getattr(whole, name))
    squared = sum(squares(part, sums) for part in split)
    np.testing.assert_allclose(squared, squares(hard, whole), atol=1e-15)
    assert unlike(hard.task, sums, squared) == unlike_gold(hard) != ""


def said(ratings: Ratings, **options: Any) -> tuple[list[str], list[str]]:
    """Codes of the warnings, and the assumptions of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = assay.fit(ratings, method="map", draws=5, chains=1, progress=False, **options)
    told = [w.message.code for w in caught if isinstance(w.message, FitWarning)]
    return told, json.loads(fit.attrs["assumptions"])


def test_a_fit_warns_unless_the_user_says_how_gold_was_chosen(ratings: Ratings):
    hard = with_gold(ratings, disputed(ratings))
    told, assumed = said(hard, reference="gold")
    assert "gold-unlike-others" in told
    assert any("are a random sample" in text for text in assumed)
    told, assumed = said(hard, reference="gold", gold_chosen="recorded")
    assert "gold-unlike-others" not in told
    assert any("were chosen on recorded data" in text for text in assumed)
    told, _ = said(hard)
    assert "gold-unlike-others" not in told


@pytest.mark.parametrize(
    ("options", "text", "code"),
    [
        ({"reference": "gold", "gold_chosen": "any"}, "valid: random, recorded", "argument-choice"),
        ({"gold_chosen": "recorded"}, "Leave it out", "gold-chosen-unused"),
    ],
)
def test_what_cannot_be_said_of_gold_is_refused(
    ratings: Ratings, options: Any, text: str, code: str
):
    with pytest.raises(ModelError, match=text, check=refusal(code)):
        assay.fit(ratings, **options)

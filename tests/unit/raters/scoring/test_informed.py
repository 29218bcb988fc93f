"""Scores that a fit has not seen: its labels are drawn again, given them."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.raters.scoring import score_rater, threshold_sweep
from assay.raters.scoring.informed import (
    _Chain,
    design_range,
    informed_codes,
    saw_scores,
    score_cells,
)
from assay.raters.scoring.scores import ScoredItems, read_scores
from assay.raters.scoring.truths import read_truth

DRAWS = 400


def doubtful(items: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truths, draws of labels that are calibrated and often in doubt, and cells of scores."""
    rng = np.random.default_rng(seed)
    chance = rng.choice([0.02, 0.4, 0.6, 0.98], size=items)
    truth = rng.random(items) < chance
    codes = (rng.random((DRAWS, items)) < chance).astype(np.int16)
    cell = np.where(rng.random(items) < 0.9, truth, ~truth).astype(np.int64)
    return truth, codes, cell


def test_agreement_with_the_score_is_that_of_the_truth() -> None:
    """The score is right in 90 %; against draws without it, in 71 %."""
    without, informed, right = [], [], []
    for seed in range(20):
        truth, codes, cell = doubtful(300, seed)
        after = informed_codes(codes, cell, np.random.default_rng(seed))
        share = (after == cell).mean(axis=1)
        right.append((truth == cell).mean())
        informed.append(np.quantile(share, [0.025, 0.975]))
        without.append((codes == cell).mean())
    low, high = np.array(informed).T
    held = (low <= np.array(right)) & (np.array(right) <= high)
    assert np.mean(without) < np.mean(right) - 0.15
    assert held.sum() >= 16
    assert (low + high).mean() / 2 == pytest.approx(np.mean(right), abs=0.02)


def test_labels_that_are_sure_stay() -> None:
    _, codes, cell = doubtful(200, 1)
    codes[:, :50] = codes[0, :50]
    after = informed_codes(codes, cell, np.random.default_rng(1))
    np.testing.assert_array_equal(after[:, :50], codes[:, :50])


def test_scores_that_say_nothing_change_little() -> None:
    rng = np.random.default_rng(20)
    _, codes, _ = doubtful(2000, 2)
    after = informed_codes(codes, rng.integers(0, 2, 2000), rng)
    assert (after != codes).mean() < 0.06
    assert after.mean() == pytest.approx(codes.mean(), abs=0.01)


def test_labels_that_do_not_apply_are_a_class_of_their_own() -> None:
    rng = np.random.default_rng(3)
    codes = rng.choice(np.array([-2, 0, 1], np.int16), size=(DRAWS, 300))
    after = informed_codes(codes, rng.integers(0, 3, 300), rng)
    assert set(np.unique(after)) == {-2, 0, 1}


def test_the_coupling_has_the_law_of_bayes_rule() -> None:
    """Chances of three classes given the cell, from many draws; a label is kept if it can be."""
    rng = np.random.default_rng(4)
    before = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    code = (rng.random((60_000, 2, 1)) >= before.cumsum(axis=1)).sum(axis=-1)
    chance = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    cell = np.array([0, 1])
    chain = _Chain(code=code, before=before, cell=cell, prior=np.full((3, 2), 0.5))
    label = chain._labels(np.broadcast_to(chance, (len(code), 3, 2)), rng)
    expected = before * chance[:, cell].T
    expected /= expected.sum(axis=1, keepdims=True)
    found = np.stack([(label == k).mean(axis=0) for k in range(3)], axis=-1)
    np.testing.assert_allclose(found, expected, atol=4.5 * 0.5 / np.sqrt(60_000))
    changed = np.abs(expected - before).sum(axis=1) / 2
    np.testing.assert_allclose((label != code).mean(axis=0), changed, atol=0.01)


def test_cells_hold_scores_and_guesses_that_are_alike() -> None:
    score = np.linspace(0, 1, 60)
    scored = ScoredItems(item=np.arange(60), score=score, guess=score > 0.9, confidence=None)
    cell = score_cells(scored)
    assert np.bincount(cell).tolist() == [15, 15, 15, 9, 6]


@pytest.fixture(scope="module")
def study() -> tuple[assay.Ratings, pd.Series, pd.Series]:
    """Three raters who are right in 80 %, and the scores of a model that is right more often."""
    rng = np.random.default_rng(5)
    truth = rng.random(240) < 0.5
    items = [f"i{n:03d}" for n in range(240)]
    rows = [
        {"item": item, "rater": f"r{j}", "event": "yes" if (rng.random() < 0.8) == yes else "no"}
        for item, yes in zip(items, truth, strict=True)
        for j in range(3)
    ]
    score = np.round(1 / (1 + np.exp(-rng.normal(3 * truth - 1.5, 1.2))), 2)
    model = [
        {"item": item, "rater": "model", "score": s} for item, s in zip(items, score, strict=True)
    ]
    kinds = {"r0": "people", "r1": "people", "r2": "people", "model": "model"}
    table = pd.DataFrame(rows + model)
    table["kind"] = table["rater"].map(kinds)
    ratings = assay.read_ratings(
        table, task="single", labels=["event"], score="score", group="kind"
    )
    return ratings, pd.Series(score, items), pd.Series(truth, items)


FAST = {"method": "map", "draws": 200, "chains": 1, "starts": 1, "rng": 1, "progress": False}


def test_a_fit_without_the_scores_gives_the_measures_of_the_truth(study) -> None:
    ratings, score, truth = study
    people = ratings.raters.index != "model"
    assert people.sum() == 3
    known = score_rater(truth, score)
    table = pd.DataFrame(
        {
            "item": ratings.items.index[ratings.item],
            "rater": ratings.raters.index[ratings.rater],
            "event": ratings.answers[:, 0],
        }
    )
    table = table[table["rater"] != "model"]
    alone = assay.read_ratings(table, task="single", labels=["event"])
    fit = assay.fit(alone, **FAST)
    found = score_rater(fit, score, informed=True)
    assert found.attrs["informed"] == 1
    assert found["auroc"].attrs["note"] == ""
    for name in ("accuracy", "f1", "auroc", "brier", "average_precision"):
        low, high = np.quantile(found[name], [0.005, 0.995])
        assert low <= known[name].item() <= high, name
    sweep = threshold_sweep(fit, score, thresholds=[0.5], informed=True)
    np.testing.assert_allclose(sweep["accuracy"][..., 0], found["accuracy"])
    # Against the labels as they were drawn, what the score knows is lost, and a note says so.
    blind = score_rater(fit, score)
    assert float(blind["auroc"].max()) < known["auroc"].item()
    assert "did not use these scores" in blind["auroc"].attrs["note"]


def test_a_fit_that_saw_the_scores_keeps_its_labels(study) -> None:
    ratings, score, _ = study
    fit = assay.fit(ratings, raters={"people": "hierarchical", "model": "scored"}, **FAST)
    by_name, by_value = (score_rater(fit, s, informed=True) for s in ("model", score))
    assert by_name.attrs["informed"] == 0
    assert by_name["auroc"].attrs["note"] == ""
    draws = score_rater(assay.label_draws(fit), score)
    for name in ("auroc", "brier"):
        np.testing.assert_array_equal(by_name[name], draws[name])
        np.testing.assert_array_equal(by_value[name], draws[name])


@pytest.mark.filterwarnings("ignore:240 ratings have scores but no answer")
def test_who_gave_the_scores(study) -> None:
    ratings, score, _ = study
    positive = np.array([False, True])
    truth = read_truth(assay.fit(ratings, **FAST))
    assert saw_scores(truth, read_scores(score.iloc[:50], truth, positive, 0.5))
    assert not saw_scores(truth, read_scores(score / 2, truth, positive, 0.5))


def test_the_range_of_weights_is_that_of_rankings_with_unequal_weights():
    assert design_range(np.array([1.0, 4.0, 9.0]), np.array([0, 0, 1])).tolist() == [1.0, 4.0]
    assert not len(design_range(np.array([1.0, 4.0]), np.array([0, 1])))

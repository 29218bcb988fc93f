"""Measures of scored raters equal established implementations, ties included.

scikit-learn: decisions, Brier, AUROC, average precision; uncertainty-calibration: ECE; SciPy:
Kendall's tau-b; pytrec_eval through ir-measures: nDCG and average precision of rankings without
ties; with ties, every order of the tied items one by one.
"""

from itertools import permutations, product

import calibration
import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, nDCG
from numpy.typing import NDArray
from scipy.stats import kendalltau
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from assay.raters.scoring import score_rater, threshold_sweep

Values = NDArray[np.float64]
EXACT = {"rel": 0, "abs": 1e-12}
SEEDS = range(6)


def names(size: int) -> list[str]:
    return [f"i{n:04d}" for n in range(size)]


def graded(grade: NDArray[np.integer]) -> pd.Series:
    """The truth as ordered classes 0 < 1 < 2."""
    dtype = pd.CategoricalDtype([0, 1, 2], ordered=True)
    return pd.Series(grade, index=names(len(grade)), dtype=dtype)


def drawn(seed: int, size: int = 200, step: float = 0.05) -> tuple[Values, NDArray[np.int64]]:
    """Scores with many ties and 0 and 1 among them, and a truth that depends on them."""
    rng = np.random.default_rng(seed)
    score = np.round(rng.beta(0.7, 0.9, size) / step) * step
    return np.clip(score, 0, 1), (rng.random(size) < 0.2 + 0.6 * score).astype(np.int64)


@pytest.mark.parametrize("seed", SEEDS)
def test_decisions_brier_auroc_and_average_precision_are_scikit_learns(seed: int) -> None:
    score, truth = drawn(seed)
    guess = score >= 0.5
    expected = {
        "accuracy": accuracy_score(truth, guess),
        "precision": precision_score(truth, guess),
        "recall": recall_score(truth, guess),
        "f1": f1_score(truth, guess),
        "brier": brier_score_loss(truth, score),
        "auroc": roc_auc_score(truth, score),
        "average_precision": average_precision_score(truth, score),
        "confidence_auroc": roc_auc_score(guess == truth, np.where(guess, score, 1 - score)),
    }
    items = names(len(score))
    found = score_rater(
        dict(zip(items, truth, strict=True)),
        dict(zip(items, score, strict=True)),
        metric=list(expected),
    )
    assert {k: v.item() for k, v in found.items()} == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("bins", [1, 7, 10, 15])
@pytest.mark.parametrize("step", [0.05, 1e-9])
def test_calibration_errors_are_those_of_uncertainty_calibration(
    seed: int, bins: int, step: float
) -> None:
    score, truth = drawn(seed, step=step)
    items = names(len(score))
    found = score_rater(
        dict(zip(items, truth, strict=True)),
        dict(zip(items, score, strict=True)),
        metric=["ece", "ece_equal_mass"],
        bins=bins,
    )
    expected = calibration.get_ece(score, truth, num_bins=bins)
    by_mass = calibration.get_ece_em(score, truth, num_bins=bins)
    assert found["ece"].item() == pytest.approx(expected, **EXACT)
    assert found["ece_equal_mass"].item() == pytest.approx(by_mass, **EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_kendalls_tau_is_scipys_for_graded_truth_with_ties_on_both_sides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grade, cluster = rng.integers(0, 3, 90), np.repeat(["q1", "q2", "q3"], 30)
    score = np.round(0.3 * grade + rng.random(90), 1)
    truth = graded(grade)
    found = score_rater(
        truth,
        pd.Series(score, index=truth.index),
        positive="2",
        clusters=pd.Series(cluster, index=truth.index),
        metric="kendall_tau",
    )
    each = [kendalltau(score[cluster == q], grade[cluster == q]).statistic for q in set(cluster)]
    assert found["kendall_tau"].item() == pytest.approx(np.mean(each), **EXACT)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [None, 1, 5, 10])
def test_rankings_without_ties_are_scored_as_trec_eval_does(seed: int, k: int | None) -> None:
    rng = np.random.default_rng(seed)
    grade, cluster = rng.integers(0, 3, 60), rng.integers(0, 4, 60).astype(str)
    score, truth = rng.permutation(60) / 60, graded(grade)
    found = score_rater(
        truth,
        pd.Series(score, index=truth.index),
        positive="1",
        clusters=pd.Series(cluster, index=truth.index),
        metric=["ndcg", "ndcg_lowest", "ndcg_highest", "map", "map_lowest", "map_highest"],
        k=k,
    )
    end, measures = ("", (nDCG, AP)) if k is None else (f"_at_{k}", (nDCG @ k, AP @ k))
    table = pd.DataFrame({"query_id": cluster, "doc_id": truth.index})
    expected = ir_measures.calc_aggregate(
        measures, table.assign(relevance=grade), table.assign(score=score)
    )
    for name, measure in zip(("ndcg", "map"), measures, strict=True):
        for kind in ("", "_lowest", "_highest"):
            assert found[f"{name}{kind}{end}"].item() == pytest.approx(expected[measure], **EXACT)


def every_order(score: Values) -> list[list[int]]:
    """All orders of the items, from the highest score to the lowest."""
    tied = [np.flatnonzero(score == value).tolist() for value in sorted(set(score), reverse=True)]
    orders = product(*(list(permutations(items)) for items in tied))
    return [[item for part in order for item in part] for order in orders]


def plain_ndcg(gain: Values, k: int) -> float:
    discount = 1 / np.log2(np.arange(len(gain)) + 2) * (np.arange(len(gain)) < k)
    best = np.sort(gain)[::-1] @ discount
    return float(gain @ discount / best) if best else 0.0


def plain_average_precision(positive: NDArray[np.bool_], k: int) -> float:
    at = np.cumsum(positive) / (np.arange(len(positive)) + 1)
    counted = positive & (np.arange(len(positive)) < k)
    return float(at[counted].sum() / positive.sum()) if positive.any() else 0.0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("k", [1, 3, 5, 9])
def test_mean_and_range_over_ties_are_those_of_all_orders_one_by_one(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, 3, 7)
    score = rng.choice([0.2, 0.5, 0.9], 7)
    gains = {"0": 0.0, "1": 1.5, "2": 4.0}
    worth = np.array([gains[str(g)] for g in grade])
    orders = every_order(score)
    expected = {
        "ndcg": [plain_ndcg(worth[order], k) for order in orders],
        "map": [plain_average_precision(grade[order] >= 1, k) for order in orders],
    }
    truth = graded(grade)
    found = score_rater(truth, pd.Series(score, index=truth.index), positive="1", gains=gains, k=k)
    for name, values in expected.items():
        assert found[f"{name}_at_{k}"].item() == pytest.approx(np.mean(values), **EXACT)
        assert found[f"{name}_lowest_at_{k}"].item() == pytest.approx(min(values), **EXACT)
        assert found[f"{name}_highest_at_{k}"].item() == pytest.approx(max(values), **EXACT)


def test_one_order_is_both_worst_for_ndcg_and_for_average_precision() -> None:
    # So that the range of their mean is the mean of their ranges, whatever the gains are.
    rng = np.random.default_rng(7)
    for _ in range(10):
        grade, score = rng.integers(0, 3, 7), rng.choice([0.2, 0.9], 7)
        orders = every_order(score)
        pairs = np.array(
            [
                (
                    plain_ndcg((grade == 2).astype(float)[o], 7),
                    plain_average_precision(grade[o] > 0, 7),
                )
                for o in orders
            ]
        )
        both = pairs.mean(axis=1)
        assert both.min() == pytest.approx(pairs.min(axis=0).mean(), **EXACT)
        assert both.max() == pytest.approx(pairs.max(axis=0).mean(), **EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sweep_is_scikit_learn_at_every_threshold(seed: int) -> None:
    score, truth = drawn(seed)
    items = names(len(score))
    found = threshold_sweep(
        dict(zip(items, truth, strict=True)), dict(zip(items, score, strict=True))
    )
    assert list(found["threshold"].values) == sorted(set(score))
    for n, threshold in enumerate(found["threshold"].values):
        guess = score >= threshold
        at = found.isel(chain=0, draw=0, threshold=n)
        assert at["precision"].item() == pytest.approx(precision_score(truth, guess), **EXACT)
        assert at["recall"].item() == pytest.approx(recall_score(truth, guess), **EXACT)
        assert at["f1"].item() == pytest.approx(f1_score(truth, guess), **EXACT)
        assert at["accuracy"].item() == pytest.approx(accuracy_score(truth, guess), **EXACT)

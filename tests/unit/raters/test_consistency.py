"""Repeated answers: pairs, shares, and what the model learns of them."""

from dataclasses import replace

import numpy as np
import pytest
from true_fits import at_the_truth, quick

import assay
from assay.data.score_bins import score_codes, score_layout
from assay.raters.consistency import rater_consistency


def test_consistency_looks_at_what_both_ratings_answer():
    """A lost answer is no disagreement, and two ratings without a common label are no pair."""
    ratings = assay.simulate(
        "grounding", n_items=3, n_raters=1, ratings_per_item=1, replicates=3, rng=1
    )
    answers = np.full_like(ratings.answers, -1)
    answers[:, :2] = [[1, 1], [1, -1], [-1, 1], [1, 0], [1, -1], [0, -1], [1, 1], [-1, -1], [1, 1]]
    (line,) = rater_consistency(
        at_the_truth(replace(ratings, answers=answers), replicates="independent")
    ).itertuples()
    assert line.pairs == 2 + 3 + 1
    assert line.same == (2 + 1 + 1) / 6


def test_consistency_of_scores_is_that_of_their_bins():
    ratings = assay.simulate(
        "relevance",
        raters="scored",
        n_items=30,
        n_raters=2,
        ratings_per_item=2,
        replicates=2,
        rng=1,
    )
    scores_alone = replace(ratings, answers=np.full_like(ratings.answers, -1))
    table = rater_consistency(at_the_truth(scores_alone, raters="scored"))
    bins = score_codes(scores_alone, score_layout(ratings.task))[:, 0].reshape(-1, 2)
    by_rater = ratings.rater[::2] == np.arange(2)[:, None]
    for line, mine in zip(table.itertuples(), by_rater, strict=True):
        assert line.pairs == mine.sum()
        assert line.same == (bins[mine, 0] == bins[mine, 1]).mean()
        assert 0 < line.consistency < 1


def test_consistency_counts_pairs_and_learns_the_urn():
    ratings = assay.simulate(
        "single",
        n_items=300,
        n_raters=4,
        ratings_per_item=2,
        replicates=2,
        values={"consistency_mean": np.array([np.log(7 / 3)]), "consistency_sd": np.zeros(1)},
        rng=5,
    )
    table = rater_consistency(quick(ratings))
    assert table["pairs"].sum() == 600
    assert (table["lower"] < 0.7).all()
    assert (table["upper"] > 0.7).all()
    pairs = ratings.answers[:, 0].reshape(-1, 2)
    mine = ratings.rater[::2] == 0
    share = (pairs[mine, 0] == pairs[mine, 1]).mean()
    assert table["same"].iloc[0] == pytest.approx(share)

"""Bins of scores: order is kept, equal scores stay together, heaps never fall apart."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.data.score_bins import (
    PARTS,
    bin_middle,
    bins_of,
    raters_of_scores,
    score_codes,
    score_layout,
)
from assay.data.task_files import load_task

scores = st.lists(
    st.one_of(st.sampled_from([0.0, 0.05, 0.5, 0.9, 0.95, 1.0]), st.floats(0, 1)),
    min_size=1,
    max_size=40,
).map(np.array)
tame = settings(max_examples=60, deadline=None, derandomize=True)


@tame
@given(scores=scores, classes=st.integers(2, 5))
def test_bins_keep_order_ties_and_regions(scores: np.ndarray, classes: int):
    bins = bins_of(scores, classes)
    assert bins.min() >= 0
    assert bins.max() < classes * PARTS
    order = np.argsort(scores, kind="stable")
    assert (np.diff(bins[order]) >= 0).all()
    for value in np.unique(scores):
        assert len(set(bins[scores == value].tolist())) == 1
    region = np.minimum((scores * classes).astype(int), classes - 1)
    np.testing.assert_array_equal(bins // PARTS, region)


@tame
@given(scores=scores, classes=st.integers(2, 5), seed=st.integers(0, 99))
def test_the_order_of_the_ratings_does_not_matter(scores: np.ndarray, classes: int, seed: int):
    order = np.random.default_rng(seed).permutation(len(scores))
    np.testing.assert_array_equal(bins_of(scores, classes)[order], bins_of(scores[order], classes))


@pytest.mark.parametrize(
    ("given", "bins"),
    [
        ([0.0, 1.0], [0, 7]),
        ([0.8, 0.95], [6, 7]),  # of equal width: the third and fourth part of the upper half
        ([0.91, 0.92, 0.93], [4, 5, 6]),  # equal widths would not tell them apart
        ([0.91, 0.91, 0.92], [4, 4, 6]),
        ([0.5], [4]),
        ([0.2] * 5, [1] * 5),
    ],
)
def test_few_distinct_scores_keep_apart(given: list[float], bins: list[int]):
    assert bins_of(np.array(given), 2).tolist() == bins


def test_many_scores_share_bins_equally():
    """A hundred scores within a tenth: each part of the region holds a quarter of them."""
    crowded = 0.8 + 0.001 * np.arange(100)
    assert np.bincount(bins_of(crowded, 2), minlength=8).tolist() == [0, 0, 0, 0, 25, 25, 25, 25]


def test_a_heap_stays_in_one_bin():
    heaped = np.concatenate([np.full(200, 0.95), 0.9 + 0.001 * np.arange(20)])
    bins = bins_of(heaped, 2)
    assert len(set(bins[:200].tolist())) == 1
    assert len(set(bins.tolist())) > 1


@pytest.mark.parametrize("classes", [2, 3])
def test_the_middle_of_a_bin_is_in_it(classes: int):
    every = np.arange(classes * PARTS)
    np.testing.assert_array_equal(bins_of(bin_middle(every, classes), classes), every)


def test_codes_are_bins_then_guesses_and_raters_have_their_own():
    ratings = assay.simulate("relevance", n_items=3, n_raters=2, ratings_per_item=2, rng=1)
    nothing = np.nan
    told = replace(
        ratings,
        rater=np.array([0, 0, 0, 1, 1, 1]),
        answers=np.array([[2], [1], [-1], [-1], [0], [2]], np.int16),
        scores=np.array([[0.9], [nothing], [nothing], [0.9], [0.91], [0.1]]),
    )
    codes = score_codes(told, score_layout(told.task))[:, 0].tolist()
    # The first rater has one score in the upper third, the other two that equal widths would join.
    assert codes == [10, 12 + 1, -1, 8, 10, 1]


def test_layout_counts_bins_and_rises():
    layout = score_layout(load_task("ais"))
    assert layout.classes == (2, 2, 2)
    assert len(layout.bin_names) == 3 * 8 == layout.bin_slice(2).stop
    assert len(layout.step_names) == 3 * 7 == layout.step_slice(2).stop
    assert layout.width == 8 + 2
    three = score_layout(load_task("relevance"))
    assert len(three.step_names) == 2 * 11
    assert three.width == 12 + 3


def test_raters_of_scores_gave_scores_and_no_answer():
    table = pd.DataFrame(
        {"item": [1, 1, 1], "rater": list("abc"), "label": ["no", "yes", ""], "p": ["", 0.9, 0.8]}
    )
    ratings = assay.read_ratings(table, task="relevance", labels={"relevance": "label"}, score="p")
    assert raters_of_scores(ratings).tolist() == [False, False, True]

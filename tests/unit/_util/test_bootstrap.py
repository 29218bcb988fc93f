"""The bootstrap of clusters within strata: its variance is that of drawing clusters."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import assay
from assay._util.bootstrap import times_drawn
from assay.data.ratings import Ratings
from assay.evaluation.known_labels import resampled, vote_totals
from assay.evaluation.panels import panel_layout
from assay.evaluation.select import choose_metrics

STRATA, DATA_SETS, DRAWS = 24, 300, 200
SHARE = np.repeat(np.linspace(0.1, 0.9, STRATA), 2)
"""Of clusters that have the label, by cluster: two of each stratum."""


@pytest.mark.parametrize("sizes", [(7,), (2, 2, 2, 2), (2, 3, 20)])
def test_a_mean_of_few_clusters_varies_as_sampling_has_it(sizes: tuple[int, ...]) -> None:
    """Of a total: sum_h n_h s_h^2; n_h draws of n_h clusters leave (n_h - 1) / n_h of it."""
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    value = np.random.default_rng(1).normal(size=len(stratum))
    times = times_drawn(stratum, 40_000, np.random.default_rng(2))
    expected = sum(n * value[stratum == h].var(ddof=1) for h, n in enumerate(sizes))
    assert (value @ times).var() == pytest.approx(expected, rel=0.05)
    assert times.sum(axis=0) == pytest.approx(len(stratum))


def pairs() -> Ratings:
    """Clusters of one item each, two in a stratum, and a rater of all."""
    names = [f"q{n}" for n in range(len(SHARE))]
    table = pd.DataFrame(
        {
            "item": names,
            "cluster": names,
            "rater": "who knows",
            "stratum": [f"s{n // 2}" for n in range(len(names))],
            **dict.fromkeys(assay.load_task("generation").label_names, "no"),
        }
    )
    return assay.read_ratings(table, task="generation")


def test_the_votes_rate_in_strata_of_two_varies_as_over_data_sets() -> None:
    """The mean of the bootstrap's variances is the variance of the rate over data sets.

    Labels are known: nothing but which clusters are drawn makes the rate vary, by the mean of
    p (1 - p) over the number of clusters.
    """
    rng, ratings = np.random.default_rng(4), pairs()
    layout = panel_layout(ratings)
    chosen = choose_metrics(ratings.task, "helpfulness_rate")
    helpful = ratings.task.label_names.index("helpful")
    rates, found = np.empty(DATA_SETS), np.empty(DATA_SETS)
    for n in range(DATA_SETS):
        answers = ratings.answers.copy()
        answers[:, helpful] = rng.random(len(SHARE)) < SHARE
        totals = vote_totals(replace(ratings, answers=answers), chosen, layout)
        rates[n] = totals[0].sum() / totals[1].sum()
        found[n] = resampled(totals, layout, DRAWS, rng).var()
    expected = (SHARE * (1 - SHARE)).mean() / len(SHARE)
    assert rates.var() == pytest.approx(expected, rel=0.3)
    assert found.mean() == pytest.approx(expected, rel=0.05)

"""How far systems find the same queries easy is learned, and unrated chunks are drawn by it."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.task import Label, Task

TASK = Task(name="chunks", labels=(Label(name="good"),))
QUERIES, CHUNKS, RATED = 40, 5, 3


@pytest.mark.filterwarnings("ignore::assay.FitWarning")  # SDs of 0 suit no normal approximation
@pytest.mark.parametrize("rho", [0.15, 0.85])
def test_the_correlation_is_recovered(rho: float):
    values = {
        "main": np.array([0.0]),
        "system_sd": np.array(0.0),
        "rank_sd": np.array(0.0),
        "cluster_loading": np.array([2.0]),
        "system_correlation": np.array(rho),
        "confusion_2": np.array([[0.9, 0.1], [0.1, 0.9]]),
    }
    ratings = assay.simulate(
        TASK, raters="pooled", values=values, n_items=2400, n_clusters=240, n_systems=2,
        n_raters=4, ratings_per_item=1, rng=3,
    )  # fmt: skip
    fit = assay.fit(ratings, raters="pooled", method="laplace", starts=1, rng=1, progress=False)
    found = fit["posterior"]["system_correlation"]
    lower, upper = found.quantile([0.005, 0.995]).to_numpy()
    assert lower < rho < upper
    assert abs(float(found.mean()) - rho) < 0.2


def test_unrated_chunks_follow_those_of_their_own_system():
    """Each system finds all chunks of a query or none; three of five are rated, by three raters.

    With one effect for all systems of a query, the unrated chunks of a system that found nothing
    are likely to be good where the other system found all.
    """
    rng = np.random.default_rng(5)
    good = rng.random((QUERIES, 2)) < 0.5
    query, system, chunk, rater = np.indices((QUERIES, 2, CHUNKS, 3)).reshape(4, -1)
    right = rng.random(len(query)) < 0.95
    table = pd.DataFrame(
        {
            "query": query,
            "system": np.array(["A", "B"])[system],
            "item": [f"{q}/{s}/{k}" for q, s, k in zip(query, system, chunk, strict=True)],
            "rater": np.where(chunk < RATED, np.array(["x", "y", "z"])[rater], ""),
            "good": np.where(
                chunk < RATED, np.where(good[query, system] == right, "yes", "no"), ""
            ),
        }
    ).drop_duplicates()
    ratings = assay.read_ratings(table, task=TASK, cluster="query", system="system")
    fit = assay.fit(ratings, raters="pooled", method="map", starts=1, rng=1, progress=False)
    chance = assay.label_probabilities(fit).sel({"label": "good", "class": "yes"}).to_series()
    unrated = table[table["rater"] == ""].drop_duplicates("item")
    known = good[unrated["query"], (unrated["system"] == "B").astype(int)]
    differs = good[unrated["query"], 0] != good[unrated["query"], 1]
    found = chance[unrated["item"]].to_numpy()
    assert found[differs & known].mean() > 0.75
    assert found[differs & ~known].mean() < 0.25

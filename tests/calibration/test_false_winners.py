"""Studies of two equal systems: hardly any names a winner (benchmark ``false_winners``)."""

import warnings

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.task import Label, Task

TASK = Task(name="quality", labels=(Label(name="good"),))
METRIC = "prevalence[good=yes]"
SETS, CLUSTERS, DISCORDANCE = 16, 100, 0.01


def claims_a_winner(number: int) -> bool:
    """Simulate a study of five good raters, fit it, and see whether an interval excludes 0."""
    rng = np.random.default_rng([1, number])
    base = rng.random(CLUSTERS) < 0.6
    good = np.stack([base, base])
    differs = np.flatnonzero(rng.random(CLUSTERS) < DISCORDANCE)
    good[rng.integers(2, size=len(differs)), differs] ^= True
    system, cluster, rater = np.indices((2, CLUSTERS, 5)).reshape(3, -1)
    right = rng.random(len(system)) < rng.beta(36, 2, 5)[rater]
    table = pd.DataFrame(
        {
            "item": system * CLUSTERS + cluster,
            "cluster": cluster,
            "system": np.array(["A", "B"])[system],
            "rater": rater,
            "good": np.where(good[system, cluster] == right, "yes", "no"),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(
            assay.read_ratings(table, task=TASK),
            method="map", draws=250, chains=4, starts=1, rng=number, progress=False,
        )  # fmt: skip
    line = assay.compare(fit, metric=METRIC).pairs.iloc[0]
    return bool(line["difference_lower"] > 0 or line["difference_upper"] < 0)


@pytest.mark.usefixtures("departures_unsought")
def test_equal_systems_hardly_ever_have_a_winner():
    """At a rate of 0.05, four claims or more of 16 have a probability of 0.007.

    Weights of the observed clusters alone claim a winner in about half of such studies.
    """
    assert sum(map(claims_a_winner, range(SETS))) < 4

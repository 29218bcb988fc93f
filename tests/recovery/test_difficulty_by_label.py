"""Items that are hard on one label alone: that label is found, and no other takes its place."""

import numpy as np
import pytest

import assay

LABELS = ("interpretable", "attributable")


@pytest.mark.parametrize("label", LABELS)
def test_the_label_on_which_items_are_hard_is_found(label: str):
    kinds = ("flagged", "interpretable", "attributable", "all labels")
    split = np.array([0.9 if kind == label else 0.1 / 3 for kind in kinds])
    ratings = assay.simulate(
        "ais",
        raters="hierarchical + item_difficulty",
        values={
            "main": np.array([-3.0, 2.0, 0.5]),
            "hard_share": np.array(0.4),
            "hard_split": split,
            # A quarter of the hard items is hardly harder than the others: at a rate of 2 four in
            # five of their answers are no guesses, and the mode takes some of them for easy.
            "difficulty_rate": np.full((1, 3), 4.0),
            "logit_mean": np.full((1, 6), 3.0),
            "logit_sd": np.full((1, 6), 0.1),
        },
        n_items=500,
        n_raters=5,
        ratings_per_item=5,
        rng=4,
    )
    fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=2, rng=1, progress=False)
    learned = fit["posterior"]["hard_split"].mean(("chain", "draw"))
    assert learned["hard_on"].values[learned.values.argmax()] == label
    hard = fit["labels"]["hard_on_label"].mean("item")
    assert 0.25 < float(hard.sel(label=label)) < 0.5
    for other in {"flagged", *LABELS} - {label}:
        assert float(hard.sel(label=other)) < 0.15

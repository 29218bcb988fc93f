"""Lapses and loadings of each rater."""

import numpy as np
import pytest
from refusals import refusal
from true_fits import quick

import assay
from assay._util.errors import FitError


def test_lapses_are_told_by_rater():
    """Of four raters one answers blindly: it is told from the others."""
    ratings = assay.simulate(
        "relevance",
        raters="hierarchical + lapses",
        n_items=250,
        n_raters=4,
        ratings_per_item=4,
        values={
            "lapse_mean": np.array([0.0]),
            "lapse_sd": np.array([1.0]),
            "lapse_offset": np.array([-5.0, -5.0, -5.0, 3.0]),
            "logit_sd": np.full((1, 9), 0.3),
        },
        rng=3,
    )
    fit = quick(ratings, raters="hierarchical + lapses")
    shares = assay.rater_lapses(fit)
    assert shares.dims == ("chain", "draw", "rater")
    mean = shares.mean(("chain", "draw")).to_numpy()
    assert mean[3] > 0.5
    assert (mean[:3] < 0.3).all()
    with pytest.raises(FitError, check=refusal("no-lapses")):
        assay.rater_lapses(quick(ratings, raters="pooled"))


@pytest.mark.parametrize("drifting", [False, True])
@pytest.mark.parametrize("by", ["rater", "class"])
def test_loadings_are_told_by_rater(by: str, drifting: bool):
    """Of a group without the layer: none. A rater in several sessions is one rater."""
    ratings = assay.simulate(
        "single", classes=("a", "b"), n_items=60, groups={"person": 2, "llm": 3}, sessions=2, rng=3
    )
    layer = f"item_difficulty_by_{by}" + " + drift" * drifting
    fit = quick(ratings, raters={"person": "hierarchical", "llm": f"hierarchical + {layer}"})
    found = assay.rater_difficulty(fit)
    assert found.dims == ("chain", "draw", "rater", "label", "true_class")
    assert list(found["true_class"].to_numpy()) == ["a", "b"]
    theirs = ratings.raters["group"].to_numpy() == "llm"
    assert np.isnan(found.isel(rater=~theirs)).all()
    llm = fit["posterior"].isel({"llm.group": 0, "llm.label_name": 0})
    own = np.exp(llm["llm.difficulty_rate_offset"] * llm["llm.difficulty_rate_sd"])
    for n, row in enumerate(["label=a", "label=b"]):
        of_group = llm["llm.difficulty_rate"]
        of_group = of_group.sel({"llm.row": row}) if by == "class" else of_group
        np.testing.assert_allclose(
            found.isel(rater=theirs, label=0, true_class=n),
            (of_group * own).transpose("chain", "draw", "llm.rater"),
        )
    with pytest.raises(FitError, check=refusal("no-difficulty")):
        assay.rater_difficulty(quick(ratings, raters="pooled"))


def test_loadings_of_a_group_are_those_of_every_class():
    """Labels have their own classes: elsewhere there is no loading."""
    ratings = assay.simulate("ais", n_items=40, n_raters=3, ratings_per_item=2, rng=1)
    fit = quick(ratings, raters="hierarchical + item_difficulty_continuous")
    found = assay.rater_difficulty(fit)
    loading = fit["posterior"]["difficulty_rate"].isel(group=0)
    for label in ratings.task.labels:
        own = found.sel(label=label.name)
        np.testing.assert_allclose(
            own.sel(true_class=list(label.classes)),
            loading.sel(label_name=label.name).expand_dims(r=3, k=2, axis=(2, 3)).to_numpy(),
        )
        assert np.isnan(own.drop_sel(true_class=list(label.classes))).all()

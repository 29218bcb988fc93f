"""Reliability by session."""

import numpy as np
import pytest
from refusals import refusal
from true_fits import at_the_truth, quick

import assay
from assay._util.errors import FitError
from assay.raters.drift import rater_drift, reliability_by_session


def test_drift_is_told_by_rater():
    ratings = assay.simulate(
        "single",
        classes=("a", "b"),
        raters="hierarchical + drift",
        n_items=600,
        n_raters=3,
        sessions=3,
        values={
            "drift_sd": np.array([[1.0]]),
            "drift_lean_sd": np.array([[0.0]]),
            "drift_step": np.array([[[1.5, 1.5]], [[-1.5, -1.5]], [[0.0, 0.0]]]),
        },
        rng=7,
    )
    fit = quick(ratings, raters="hierarchical + drift", rng=1)
    table = rater_drift(fit).set_index("rater")
    assert table.loc["rater_1", "p_better"] > 0.95
    assert table.loc["rater_2", "p_better"] < 0.05
    by_session = reliability_by_session(fit).mean(("chain", "draw"))
    assert by_session.dims == ("rater", "label", "session")
    first = by_session.sel(rater="rater_1", session="session_1").item()
    assert first == pytest.approx(table.loc["rater_1", "first"])


def test_sessions_are_refused_without_drift():
    with pytest.raises(FitError, match="no rater drifts", check=refusal("no-drift")):
        reliability_by_session(at_the_truth(assay.simulate("single", n_items=20, rng=1)))

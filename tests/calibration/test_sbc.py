"""Simulation-based calibration: a small run that could fail, and the full one behind a marker."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.calibration import sbc, sbc_summary


@pytest.mark.usefixtures("departures_unsought")
def test_ranks_of_a_small_run_are_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty replicates of a small study: no quantity is far from uniform."""
    sizes = {"n_items": 12, "n_raters": 3, "ratings_per_item": 2, "n_systems": 2}
    monkeypatch.setattr(sbc, "SIZES", sizes)
    monkeypatch.setattr(sbc, "DRAWS", 300)
    monkeypatch.setattr(sbc, "TUNE", 250)
    table = pd.DataFrame(
        [sbc.replicate(n, family="dawid_skene", task="retrieval", seed=7) for n in range(60)]
    )
    found = sbc_summary.judge(table)
    # A family-wise error of 1 in 1,000 for a right model; a wrong kernel or Jacobian fails here.
    assert found["p (Holm)"].min() > 0.001
    assert abs(found["coverage"].mean() - 0.95) < 0.04
    ranks = table.filter(like="rank:").stack()
    assert abs(ranks.mean() - sbc.THINNED / 2) < 6


def test_ranks_of_a_wrong_posterior_are_not_uniform() -> None:
    """The judgement sees intervals that are half as wide as they should be."""
    rng = np.random.default_rng(1)
    narrow = np.clip((rng.normal(size=400) * 2), -3, 3)
    ranks = np.round((narrow + 3) / 6 * sbc.THINNED)
    inside = (np.abs(narrow) < 1.96).astype(float)
    table = pd.DataFrame({"rank:a": ranks, "inside:a": inside})
    found = sbc_summary.judge(table)
    assert not found["inside 99 % band"].any()
    assert found["p (Holm)"].max() < 0.001


@pytest.mark.slow
@pytest.mark.parametrize("task", ["retrieval", "ais"])
@pytest.mark.parametrize("family", ["hierarchical", "dawid_skene"])
def test_ranks_of_the_full_run(family: str, task: str) -> None:
    """Four hundred replicates, as docs/calibration.md shows them."""
    table = sbc.run(family, task, 400, 1, 2)
    found = sbc_summary.judge(table)
    assert found["p (Holm)"].min() > 0.01
    outside = (~found["inside 99 % band"]).sum()
    assert outside <= 0.01 * len(found) + 3 * np.sqrt(0.01 * len(found)) + 1

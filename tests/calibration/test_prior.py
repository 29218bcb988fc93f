"""The default prior is diffuse on every label that rules and gates leave free."""

import pytest

from benchmarks.calibration import prior_check


@pytest.mark.parametrize("task", prior_check.TASKS)
@pytest.mark.parametrize("design", [{}, {"n_systems": 2, "n_clusters": 8}], ids=["plain", "full"])
def test_each_free_label_may_be_rare_or_common(task: str, design: dict[str, int]) -> None:
    """Binary: 2 to 20 % of the mass at either end; more classes: none is mostly written off."""
    for row in prior_check.label_rows(task, 2500, 3, **design):
        if row["classes"] == 2:
            assert 0.02 <= row["below 0.05"] <= 0.2, row["label"]
            assert 0.02 <= row["above 0.95"] <= 0.2, row["label"]
        else:
            assert row["below 1/(10 K)"] <= 0.5, row["class"]

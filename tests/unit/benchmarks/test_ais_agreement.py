"""The range of Krippendorff's alpha that released vote counts of AIS allow."""

import pandas as pd
import pytest

from benchmarks.real_data.ais_agreement import allowed, alpha, votes

COUNTS = pd.DataFrame(
    {
        "interpretable": [1, 1, 0, 1, 0],
        "attributable": [1, 0, 0, 1, 0],
        "n_agree_interpretable": [5, 4, 3, 5, -1],
        "n_agree_attributable": [5, 3, -1, 4, -1],
    }
)
"""The last output is flagged."""


def test_votes_of_each_reading() -> None:
    """Dissent is another answer or a flag; votes that were not released are no or yes."""
    found = votes(COUNTS, "AIS", flagged=False, unreleased="yes")
    assert found.tolist() == [[0, 5], [4, 1], [3, 2], [1, 4]]
    assert votes(COUNTS, "AIS", flagged=True, unreleased="no").tolist()[1:3] == [[3, 1], [3, 0]]
    assert votes(COUNTS, "AIS", flagged=False, unreleased="missing").tolist()[2] == [3, 0]
    assert votes(COUNTS, "Int", flagged=False, unreleased="missing").tolist()[1:3] == [
        [1, 4], [3, 2],
    ]  # fmt: skip


def test_alpha_of_counts() -> None:
    """Two units of two coders, half of whom agree: 1 - 3 * 1 / 3."""
    assert alpha(pd.DataFrame([[2, 0], [1, 1]]).to_numpy(float)) == pytest.approx(0)
    assert alpha(pd.DataFrame([[2, 0], [0, 2]]).to_numpy(float)) == 1
    lowest, highest = allowed(COUNTS, "AIS")
    assert lowest < alpha(votes(COUNTS, "AIS", flagged=False, unreleased="missing")) < highest

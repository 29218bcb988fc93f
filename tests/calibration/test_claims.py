"""What outputs state is so as often as they state it: a small run of benchmark ``claims``."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from quick_fits import without_departures

from benchmarks.calibration import claims
from benchmarks.calibration.claims_raters import MODES

KEYS = ["study", "claim"]
SMALL = [
    ("kinds", "two classes, raters of all kinds", 12),
    ("consistency", "two classes", 10),
    ("drift", "two classes, strong drift", 12),
    ("better", "three classes, dawid_skene", 12),
]
FAR = 4.0
"""Standard errors: about one in 15,000 each where many misses are expected. Of a score of claims
that are stated with 0.995, as those that are "called" something, one in ten seeds has a miss, and
one miss is as many."""


@pytest.fixture(scope="module")
def lines() -> pd.DataFrame:
    """Claims of small sets whose parameters are drawn from their prior."""
    with without_departures():
        every = pd.DataFrame(
            line
            for study, world, sets in SMALL
            for number in range(sets)
            for line in claims.run(study, world, number, 6)
        )
    return every[~every["claim"].str.endswith(MODES)]


def worst(lines: pd.DataFrame) -> pd.Series:
    """Largest of two score tests by claim, in standard errors of independent claims.

    Of the log odds of what is so on those stated, the intercept (too much is stated, or too little)
    and the slope (with too much certainty, or too little).
    """
    lines = lines.dropna(subset="stated")
    excess, chance = lines["so"] - lines["stated"], lines["stated"] * (1 - lines["stated"])
    odds = np.log(lines["stated"].clip(0.01, 0.99) / (1 - lines["stated"].clip(0.01, 0.99)))
    found = []
    for weight in (1.0, odds):
        terms = lines.assign(score=excess * weight, variance=chance * weight**2)
        total = terms.groupby("claim")[["score", "variance"]].sum()
        found.append(total["score"].abs() / total["variance"] ** 0.5)
    return pd.concat(found, axis=1).max(axis=1)


def test_claims_are_right_as_often_as_they_say(lines: pd.DataFrame) -> None:
    found = worst(lines)
    assert {"P(adversarial)", "P(better)", "informedness", "consistency"} <= set(found.index)
    assert {"P(more accurate)", "clearly so"} <= set(found.index)
    assert found.max() < FAR


WRONG: dict[str, Callable[[pd.Series], pd.Series]] = {
    # The opposite, and chances that do not depend on the rater.
    "P(better)": lambda stated: 1 - stated,
    "P(more accurate)": lambda stated: 1 - stated,
    "P(adversarial)": lambda stated: stated * 0 + 0.5,
    "P(spammer)": lambda stated: stated * 0 + 0.5,
}


@pytest.mark.parametrize("claim", list(WRONG))
def test_a_wrong_claim_would_be_seen(lines: pd.DataFrame, claim: str) -> None:
    ours = lines["claim"] == claim
    wrong = lines.assign(stated=lines["stated"].where(~ours, WRONG[claim](lines["stated"])))
    assert worst(wrong)[claim] > FAR


def test_claims_of_one_set_do_not_count_as_many() -> None:
    """Ten copies of each claim: the same z as one of each."""
    rng = np.random.default_rng(1)
    one = pd.DataFrame({"study": "s", "world": "w", "claim": "c", "set": range(50), "stated": 0.3})
    one["so"] = (rng.random(50) < 0.5).astype(float)
    many = pd.concat([one] * 10)
    z = [claims.summary(lines, KEYS)["z"].item() for lines in (one, many)]
    excess = one["so"] - 0.3
    assert z[0] == pytest.approx(excess.sum() / (excess**2).sum() ** 0.5)
    assert z[1] == pytest.approx(z[0])

"""A class that raters seldom name is not taken for what makes other answers hang together."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.ratings import Ratings

ITEMS, RATERS, FLAGGED = 1000, 5, 2


def study(seed: int) -> Ratings:
    """Make a study of the task ais: two items are flagged by all; three in ten are ambiguous.

    Raters say yes to ambiguous ones in 0.6 of the cases, each by himself, and are right in 0.99 of
    all other cases. A state "flagged" whose flags all raters miss explains that better.
    """
    rng = np.random.default_rng(seed)
    yes = pd.DataFrame(
        {"interpretable": rng.random(ITEMS) < 0.8, "attributable": rng.random(ITEMS) < 0.7}
    )
    ambiguous = rng.random(ITEMS) < 0.3
    rows = []
    for item in range(ITEMS):
        for rater in range(RATERS):
            said = yes.loc[item] ^ (rng.random(2) >= 0.99)
            if ambiguous[item]:
                said["attributable"] = rng.random() < 0.6
            answers = {"flagged": "no", "interpretable": "yes" if said["interpretable"] else "no"}
            if said["interpretable"]:
                answers["attributable"] = "yes" if said["attributable"] else "no"
            if item < FLAGGED:
                answers = {"flagged": "yes"}
            rows.append({"item": item, "rater": f"r{rater}", **answers})
    return assay.read_ratings(pd.DataFrame(rows), task="ais")


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
@pytest.mark.parametrize("family", ["pooled", "hierarchical", "hierarchical + item_difficulty"])
@pytest.mark.parametrize("seed", [6, 8])
def test_ambiguous_items_are_not_taken_for_flagged_ones(family: str, seed: int):
    fit = assay.fit(study(seed), raters=family, method="map", draws=20, chains=1, rng=seed)
    found = assay.metrics(fit, estimand="finite").mean(("chain", "draw"))
    assert float(found["flag_rate"].squeeze()) < 0.01
    assert float(found["interpretable_rate"].squeeze()) == pytest.approx(0.8, abs=0.04)
    assert float(found["attributable_rate"].squeeze()) == pytest.approx(0.7, abs=0.06)


def test_the_heavier_mode_is_named_with_what_it_is():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = assay.fit(study(6), raters="pooled", method="map", draws=20, chains=1, rng=6)
    reported, *others = json.loads(fit.attrs["modes"])
    assert reported.startswith("raters are mostly right")
    heavier = [text for text in others if "weight 1," in text]
    assert heavier
    told = [w.message for w in caught if getattr(w.message, "code", "") == "other-mode"]
    assert any(heavier[0] in str(one) for one in told)

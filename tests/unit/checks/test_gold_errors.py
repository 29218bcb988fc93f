"""Known truth that all raters contradict."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import assay
from assay.checks.gold_errors import contradicted_gold
from assay.data.ratings import Ratings


def study(wrong: int, *, seed: int = 1, known: int = 80, raters: int = 4) -> Ratings:
    """Good raters, and known truth of which some is wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.random(160) < 0.4
    said = np.where(rng.random((160, raters)) < 0.9, truth[:, None], ~truth[:, None])
    gold = np.where(np.arange(160) < wrong, ~truth, truth)
    told = np.where(np.arange(160) < known, np.where(gold, "yes", "no"), "")
    item, rater = np.indices(said.shape).reshape(2, -1)
    frame = pd.DataFrame({
        "item": item, "rater": [f"r{j}" for j in rater],
        "label": np.where(said[item, rater], "yes", "no"), "truth": told[item],
    })  # fmt: skip
    return assay.read_ratings(frame, task="single", truth="truth")


def test_items_with_wrong_truth_are_listed_and_warned_of() -> None:
    found = assay.check(study(4, seed=3))
    (finding,) = (f for f in found.findings if f.code == "gold-contradicted")
    assert finding.level == "warning"
    table = found.tables["gold_contradicted"]
    assert set(table["item"]) <= {"0", "1", "2", "3"}
    assert len(table) == 3
    assert (table["truth"] != table["raters_say"]).all()


def test_right_truth_hardly_ever_gives_a_warning() -> None:
    """At 0.01 each, two warnings or more of 20 sets have a probability of 0.02."""
    assert sum(contradicted_gold(study(0, seed=seed)).matters for seed in range(20)) < 2


def test_few_raters_who_agree_contradict_nothing() -> None:
    assert contradicted_gold(study(4, raters=2)).table.empty


def test_the_expected_number_is_that_of_independent_errors() -> None:
    """Three raters who err on one item in four each, on other items, err together on 1 of 64."""
    item, rater = np.indices((64, 3)).reshape(2, -1)
    wrong = (item // 4**rater) % 4 == 0
    frame = pd.DataFrame({
        "item": item, "rater": rater.astype(str), "label": np.where(wrong, "no", "yes"),
        "truth": "yes",
    })  # fmt: skip
    found = contradicted_gold(assay.read_ratings(frame, task="single", truth="truth"))
    assert found.expected == pytest.approx(1, abs=0.1)
    assert len(found.table) == 1
    assert found.known == 64


def test_a_fit_warns_of_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(study(4, seed=3), method="map", draws=5, chains=1, starts=1)
    assert "gold-contradicted" in {note["code"] for note in json.loads(fit.attrs["warnings"])}

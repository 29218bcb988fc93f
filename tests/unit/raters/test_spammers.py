"""Behaviour of raters: who is adversarial, who spams, and who only knows little."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from true_fits import at_the_truth, quick

import assay
from assay.data.ratings import Ratings
from assay.display.notes import scores_said
from assay.raters.spammers import rater_spammers
from assay.reporting.rater_feedback import talks


def odd_raters() -> Ratings:
    """Four good raters, one who says the contrary, one who always says the same."""
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=200)
    rows = []
    for item, true in enumerate(truth):
        for rater in range(4):
            rows.append((item, f"good {rater}", true if rng.random() < 0.9 else 1 - true))
        rows.append((item, "contrary", 1 - true if rng.random() < 0.9 else true))
        rows.append((item, "constant", 1))
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return assay.read_ratings(table, task="single")


def test_adversaries_and_spammers_are_found():
    table = rater_spammers(quick(odd_raters())).set_index("rater")
    assert table.loc["contrary", "behaviour"] == "adversarial"
    assert table.loc["contrary", "p_adversarial"] > 0.99
    assert table.loc["constant", "behaviour"] == "spammer"
    assert (table.loc[[f"good {n}" for n in range(4)], "behaviour"] == "").all()
    assert (table.loc[[f"good {n}" for n in range(4)], "informedness"] > 0.6).all()
    assert (table["n_ratings"] == 200).all()


TOLD = """
name = "told"
description = "Is it so?"
metrics = []
[[labels]]
name = "so"
ordered = true
description = "It is so."
"""


def test_scores_that_all_lie_on_one_side_of_a_half_make_no_spammer(tmp_path: Path):
    (tmp_path / "told.toml").write_text(TOLD, encoding="utf-8")
    table = pd.DataFrame({"item": np.repeat(np.arange(100), 5), "rater": [*"abcd", "model"] * 100})
    model, true = table["rater"] == "model", table["item"] % 2
    wrong = np.random.default_rng(3).random(len(table)) < 0.1
    table["so"] = np.where(model, "", np.where((true == 1) ^ wrong, "yes", "no"))
    table["p"] = np.where(model, (0.6 + 0.3 * true).astype(str), "")
    table["group"] = np.where(model, "models", "people")
    ratings = assay.read_ratings(table, task=tmp_path / "told.toml", score="p")
    fit = quick(ratings, raters={"models": "scored", "people": "hierarchical"})
    line = rater_spammers(fit).set_index("rater").loc["model"]
    assert abs(line["informedness"]) < 0.1 < 0.95 < line["p_spammer"]
    assert line["behaviour"] == ""
    assert "model" not in {talk.rater for talk in talks(fit, ratings)}
    assert scores_said(ratings).startswith("Raters with scores but no answers: model.")


def test_informedness_is_youdens():
    ratings = assay.simulate("single", n_items=30, n_raters=3, rng=2, classes=("a", "b"))
    fit = at_the_truth(ratings)
    right = assay.rater_reliability(fit).isel(chain=0, draw=0).squeeze("label").values
    youden = right[:, 0, 0] + right[:, 1, 1] - 1
    np.testing.assert_allclose(rater_spammers(fit)["informedness"], youden, atol=1e-12)


def kinds_at(tables: np.ndarray) -> pd.DataFrame:
    """What is said of raters with these confusions (rater, true class, reported class)."""
    raters, classes = tables.shape[:2]
    ratings = assay.simulate(
        "single",
        raters="dawid_skene",
        values={f"confusion_{classes}": tables},
        n_items=30,
        n_raters=raters,
        ratings_per_item=2,
        classes=[f"c{k:02d}" for k in range(classes)],
        rng=1,
    )
    return rater_spammers(at_the_truth(ratings, raters="dawid_skene"))


def test_who_takes_classes_for_each_other_is_no_spammer():
    """Two classes of three swapped: right as often as a guesser, but the answers tell the truth."""
    right = 0.9 * np.eye(3) + 0.1 / 3
    guesser = np.tile([0.2, 0.3, 0.5], (3, 1))
    table = kinds_at(np.stack([right, right[[1, 0, 2]], guesser]))
    np.testing.assert_allclose(table["informedness"], [0.9, 0.0, 0.0], atol=1e-12)
    assert table["behaviour"].tolist() == ["", "", "spammer"]


def test_of_many_classes_too_somebody_can_be_reliably_wrong():
    """Of twelve, informedness is at least -1/11: a bound of -0.1 would be out of reach."""
    shifted = np.roll(0.9 * np.eye(12), 1, axis=1) + 0.1 / 12
    guesser = np.full((12, 12), 1 / 12)
    table = kinds_at(np.stack([shifted, guesser, 0.95 * guesser + 0.05 * np.eye(12)]))
    assert table["behaviour"].tolist() == ["adversarial", "spammer", "spammer"]


@pytest.mark.parametrize(
    ("right", "kind"),
    [(0.44, "adversarial"), (0.46, "spammer"), (0.54, "spammer"), (0.56, "")],
)
def test_bounds_of_two_classes(right, kind):
    """Informedness of -0.12, -0.08, 0.08 and 0.12."""
    table = np.array([[[right, 1 - right], [1 - right, right]]] * 2)
    assert (kinds_at(table)["behaviour"] == kind).all()

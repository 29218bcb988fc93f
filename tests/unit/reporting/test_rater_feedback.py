"""Who to talk to: a rater who errs where the others do not, and the items to look at."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import assay
from assay.data.ratings import Ratings
from assay.fits.simulate import simulate
from assay.reporting.material import Material
from assay.reporting.rater_feedback import MOST_TALKS, Talk, costliest_misses, talks
from assay.reporting.raters import raters_section


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    """Four good raters, and one who calls half of what does not mislead misleading."""
    accuracy = np.full((5, 6), 0.95)
    accuracy[4, 4] = 0.5  # right of "not misleading"
    return simulate(
        "retrieval", raters="class_conditional", values={"accuracy": accuracy}, n_items=120,
        n_raters=5, ratings_per_item=4, rng=3,
    )  # fmt: skip


@pytest.fixture(scope="module")
def fit(ratings: Ratings) -> xr.DataTree:
    return assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)


def test_the_careless_rater_is_named_with_items(fit: xr.DataTree, ratings: Ratings) -> None:
    first = talks(fit, ratings)[0]
    assert (first.rater, first.label) == ("rater_5", "misleading")
    assert (first.true_class, first.reported_class) == ("no", "yes")
    assert first.rate > first.others + 0.1
    label = ratings.task.label_names.index("misleading")
    for name in first.items:
        item = list(ratings.items.index).index(name)
        mine = (ratings.item == item) & (ratings.rater == 4)
        assert (ratings.answers[mine, label] == 1).all()
    assert "Rater rater_5 answers 'yes' to misleading in" in str(first)


def test_one_rater_has_nobody_to_differ_from() -> None:
    alone = simulate("single", n_items=30, n_raters=1, ratings_per_item=1, rng=1)
    tree = assay.fit(alone, method="map", draws=5, chains=1, starts=1, rng=1)
    assert talks(tree, alone) == []


def test_those_that_made_most_wrong_answers_come_first(fit: xr.DataTree, ratings: Ratings) -> None:
    found = talks(fit, ratings)
    wrong = [talk.wrong for talk in found]
    assert wrong == sorted(wrong, reverse=True)
    assert min(wrong) >= 1
    label = ratings.task.label_names.index("misleading")
    asked = (ratings.rater == 4) & (ratings.answers[:, label] >= 0)
    clean = assay.label_probabilities(fit).sel({"label": "misleading", "class": "no"}).to_numpy()
    excess = (found[0].rate - found[0].others) * clean[ratings.item[asked]].sum()
    assert found[0].wrong == pytest.approx(excess)
    assert f"about {round(excess)} wrong answers more than at the others' rate" in str(found[0])


def test_an_error_on_a_common_class_comes_before_a_larger_one_on_a_rare_class() -> None:
    """One says no to half of the few yes, another yes to a quarter of the many no."""
    rng = np.random.default_rng(4)
    truth = np.arange(200) % 10 == 0
    chance = {"misses": np.where(truth, 0.5, 0.02), "alarms": np.where(truth, 0.02, 0.25)}
    rows = [
        (item, rater, "yes" if truth[item] != (rng.random() < p[item]) else "no")
        for rater in ("a", "b", "c", "misses", "alarms")
        for p in [chance.get(rater, np.full(200, 0.02))]
        for item in range(200)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = assay.read_ratings(table, task="single")
    fit = assay.fit(
        ratings, raters="dawid_skene", method="laplace", draws=200, chains=1, starts=1, rng=1
    )
    found = {talk.rater: talk for talk in talks(fit, ratings)}
    assert list(found) == ["alarms", "misses"]
    gap = {name: talk.rate - talk.others for name, talk in found.items()}
    assert gap["misses"] > gap["alarms"]


def test_a_miss_is_every_wrong_answer_to_a_class(fit: xr.DataTree, ratings: Ratings) -> None:
    right = assay.rater_reliability(fit).mean(["chain", "draw"])
    found = costliest_misses(fit, ratings)
    assert found["rater"].is_unique
    careless = found.set_index("rater").loc["rater_5"]
    assert (careless["label"], careless["true_class"]) == ("misleading", "no")
    for line in found.itertuples():
        of = {"rater": line.rater, "label": line.label, "true_class": line.true_class}
        own = right.sel({**of, "reported_class": line.true_class})
        assert line.rate == pytest.approx(1 - float(own))
        assert line.rate > line.others


def test_the_heading_says_that_there_may_be_more(
    fit: xr.DataTree, ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> str:
        return "\n".join(str(block) for block in raters_section(Material(fit=fit)).blocks)

    few = len(talks(fit, ratings))
    assert 0 < few < MOST_TALKS
    assert "Errors to look at:" in said()
    monkeypatch.setattr("assay.reporting.raters.MOST_TALKS", few)
    assert f"Errors to look at (the {few} with the most wrong answers):" in said()


def test_no_rater_is_surely_worse_and_a_numbered_rater_is_no_class() -> None:
    talk = Talk(
        rater="rater 2", label="grade", true_class="1", reported_class="2", rate=0.5, others=0.1,
        probability=0.9999, wrong=7.2, items=("t1",),
    )  # fmt: skip
    assert str(talk).startswith("Rater 2 answers '2' to grade in 50% of the cases")
    assert "(P(more often) > 0.99)" in str(talk)

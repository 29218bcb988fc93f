"""What raters are like: kinds, consistency, dependence, sessions, curves, and what is assumed."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitError, FitWarning
from assay.data.ratings import AUDITED_RIGHT, Ratings
from assay.data.score_bins import score_codes, score_layout
from assay.display.notes import scores_said
from assay.fits.answer_draws import draw_answers
from assay.fits.datatree import posterior_dataset
from assay.fits.view import FitView
from assay.inference.diagnostics import fit_warnings
from assay.raters.consistency import rater_consistency
from assay.raters.dependence import (
    appearance_chances,
    effective_number_of_raters,
    group_misperception,
)
from assay.raters.drift import rater_drift, reliability_by_session
from assay.raters.spammers import rater_spammers
from assay.reporting.rater_feedback import talks
from assay.validation import sensitivity
from assay.validation.sensitivity import sensitivity_to_consensus


def at_the_truth(ratings: Ratings, **options: object) -> xr.DataTree:
    """A fit whose only draw of the parameters is the truth that made the ratings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        plain = {"raters": "hierarchical", "method": "map", "draws": 1, "chains": 1, "starts": 1}
        fit = assay.fit(ratings, **plain | options)
    truth = {name: np.asarray(value)[None] for name, value in ratings.simulated.values.items()}
    fit["posterior"] = xr.DataTree(posterior_dataset(FitView.of(fit).structure, truth, 1))
    return fit


def quick(ratings: Ratings, *, draws: int = 150, **options: object) -> xr.DataTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return assay.fit(
            ratings, draws=draws, tune=200, chains=2, starts=2, progress=False, **options
        )


# -- kinds -------------------------------------------------------------------------------------


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


def test_answers_without_scores_have_no_calibration_curve(tmp_path: Path):
    ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["no", "yes"], rng=1)
    fit = quick(ratings, draws=20, raters="scored")
    with pytest.raises(FitError, match="gave answers but", check=refusal("no-scores")):
        assay.rater_calibration(fit)
    page = assay.report(fit, tmp_path / "report.html", budget=False).read_text(encoding="utf-8")
    assert "gave answers but no score" in page


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


def test_consistency_looks_at_what_both_ratings_answer():
    """A lost answer is no disagreement, and two ratings without a common label are no pair."""
    ratings = assay.simulate(
        "grounding", n_items=3, n_raters=1, ratings_per_item=1, replicates=3, rng=1
    )
    answers = np.full_like(ratings.answers, -1)
    answers[:, :2] = [[1, 1], [1, -1], [-1, 1], [1, 0], [1, -1], [0, -1], [1, 1], [-1, -1], [1, 1]]
    (line,) = rater_consistency(
        at_the_truth(replace(ratings, answers=answers), replicates="independent")
    ).itertuples()
    assert line.pairs == 2 + 3 + 1
    assert line.same == (2 + 1 + 1) / 6


def test_consistency_of_scores_is_that_of_their_bins():
    ratings = assay.simulate(
        "relevance",
        raters="scored",
        n_items=30,
        n_raters=2,
        ratings_per_item=2,
        replicates=2,
        rng=1,
    )
    scores_alone = replace(ratings, answers=np.full_like(ratings.answers, -1))
    table = rater_consistency(at_the_truth(scores_alone, raters="scored"))
    bins = score_codes(scores_alone, score_layout(ratings.task))[:, 0].reshape(-1, 2)
    by_rater = ratings.rater[::2] == np.arange(2)[:, None]
    for line, mine in zip(table.itertuples(), by_rater, strict=True):
        assert line.pairs == mine.sum()
        assert line.same == (bins[mine, 0] == bins[mine, 1]).mean()
        assert 0 < line.consistency < 1


def test_consistency_counts_pairs_and_learns_the_urn():
    ratings = assay.simulate(
        "single",
        n_items=300,
        n_raters=4,
        ratings_per_item=2,
        replicates=2,
        values={"consistency_mean": np.array([np.log(7 / 3)]), "consistency_sd": np.zeros(1)},
        rng=5,
    )
    table = rater_consistency(quick(ratings))
    assert table["pairs"].sum() == 600
    assert (table["lower"] < 0.7).all()
    assert (table["upper"] > 0.7).all()
    pairs = ratings.answers[:, 0].reshape(-1, 2)
    mine = ratings.rater[::2] == 0
    share = (pairs[mine, 0] == pairs[mine, 1]).mean()
    assert table["same"].iloc[0] == pytest.approx(share)


@pytest.mark.parametrize("known", ["nothing", "truth", "audit"])
def test_the_consensus_is_not_all_where_something_is_known(known: str):
    ratings = assay.simulate("single", n_items=20, n_raters=3, rng=1)
    if known == "truth":
        ratings = replace(ratings, truth=np.where(np.arange(20)[:, None] == 0, 0, ratings.truth))
    if known == "audit":
        audit = ratings.audit.copy()
        audit[0] = AUDITED_RIGHT
        ratings = replace(ratings, audit=audit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(ratings, method="map", draws=1, chains=1, starts=1)
    said = any(
        "do not identify how often all raters" in t for t in json.loads(fit.attrs["assumptions"])
    )
    assert said == (known == "nothing")


def test_independent_replicates_are_stated_and_warned_of():
    ratings = assay.simulate("single", n_items=20, n_raters=3, replicates=2, rng=1)
    with pytest.warns(FitWarning, match=r"\[independent-replicates\]$"):
        fit = assay.fit(
            ratings, method="map", draws=1, chains=1, starts=1, replicates="independent"
        )
    (told,) = (note for note in fit_warnings(fit) if note.code == "independent-replicates")
    assert (told.level, told.numbers) == ("note", {"ratings": 60})
    assert str(told) in json.loads(fit.attrs["assumptions"])


def test_replicates_that_no_urn_joins_are_stated():
    """Of other sessions where raters drift, or of other labels; the urn joins the rest."""
    ratings = assay.simulate(
        "retrieval", n_items=20, n_raters=3, ratings_per_item=2, replicates=2, rng=1
    )
    fitted = {"method": "map", "draws": 1, "chains": 1, "starts": 1}

    def said(ratings: Ratings, **options: str) -> list[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            fit = assay.fit(ratings, **fitted, **options)
        return [t for t in json.loads(fit.attrs["assumptions"]) if "in another session" in t]

    session = np.array(["May", "June"], object)[ratings.replicate]
    again = replace(ratings, session=session, sessions=("May", "June"))
    answers = ratings.answers.copy()
    answers[ratings.replicate == 1, 2] = -1
    answers[:4] = ratings.answers[:4]  # of two raters, whole
    assert said(ratings) == said(again) == []
    assert said(again, raters="pooled + drift")[0].startswith("40 ratings ")
    assert said(replace(ratings, answers=answers))[0].startswith("38 ratings ")


# -- dependence --------------------------------------------------------------------------------


def test_effective_raters_is_kish_over_simulated_errors():
    """Errors of six raters with a perception layer and hard items, counted in a simulation."""
    few = assay.simulate(
        "retrieval",
        raters="hierarchical + item_difficulty",
        reference="gold",
        gold=0.8,
        n_items=60,
        n_raters=6,
        ratings_per_item=6,
        values={"misperceived": np.array([0.25]), "logit_mean": np.full((1, 6), 2.0)},
        rng=4,
    )
    fit = at_the_truth(few, raters="hierarchical + item_difficulty", reference="gold")
    found = effective_number_of_raters(fit).isel(chain=0, draw=0, group=0)
    structure = FitView.of(fit).structure
    values = FitView.of(fit).draws
    rng = np.random.default_rng(1)
    prevalence = np.asarray(fit["posterior"]["prevalence"])[0, 0]
    states = structure.prevalence.space.states
    errors: list[np.ndarray] = []
    drawn = []
    for _ in range(400):
        true = rng.choice(len(states), size=60, p=prevalence / prevalence.sum())
        answers, _ = draw_answers(structure, values, true.astype(np.int16), rng)
        order = np.lexsort((few.rater, few.item))
        errors.append((answers[order].reshape(60, 6, 3) != states[true][:, None]).astype(float))
        drawn.append(true)
    wrong, true = np.concatenate(errors), np.concatenate(drawn)
    for label in range(3):
        covariance = variance = 0.0
        for s in range(len(states)):
            here = wrong[true == s][:, :, label]
            if len(here) < 50:
                continue
            matrix = np.cov(here.T)
            weight = len(here) / len(wrong)
            covariance += weight * matrix[~np.eye(6, dtype=bool)].mean()
            variance += weight * np.diag(matrix).mean()
        expected = 6 / (1 + 5 * covariance / variance)
        assert float(found[label]) == pytest.approx(expected, rel=0.05)


def test_appearances_are_chances():
    ratings = assay.simulate(
        "ais", reference="gold", gold=0.6, n_items=60, n_raters=4, n_systems=2, rng=2
    )
    fit = at_the_truth(ratings, reference="gold")
    table = appearance_chances(FitView.of(fit).structure, "all", FitView.of(fit).draws)[0, 0]
    np.testing.assert_allclose(table.sum(axis=1), 1)
    blur = ratings.simulated.values["misperceived"][0]
    assert (np.diag(table) >= 1 - blur).all()


def test_perception_is_called_prior_driven_only_where_it_is():
    gold = assay.simulate(
        "single", classes=("a", "b"), reference="gold", gold=0.9, n_items=300, n_raters=4, rng=6
    )
    told = group_misperception(quick(gold, reference="gold"))
    assert not told["prior_driven"].iloc[0]
    assert told["lower"].iloc[0] < gold.simulated.values["misperceived"][0] < told["upper"].iloc[0]
    poor = assay.simulate(
        "single",
        classes=("a", "b"),
        reference="gold",
        gold=1.0,
        n_items=30,
        n_raters=1,
        ratings_per_item=1,
        rng=6,
    )
    # The SD is 0.87 of the prior's: few draws cannot tell it from the limit of 0.8.
    fit = quick(poor, draws=3000, reference="gold")
    assert group_misperception(fit)["prior_driven"].iloc[0]
    assert any(
        "on the prior: the posterior SD" in text for text in json.loads(fit.attrs["assumptions"])
    )


# -- consensus ---------------------------------------------------------------------------------


def test_a_consensus_that_is_never_wrong_changes_nothing():
    good = {"logit_mean": np.full((1, 6), 3.0), "logit_sd": np.full((1, 6), 0.2)}
    ratings = assay.simulate("retrieval", n_items=100, n_raters=4, n_systems=2, values=good, rng=1)
    fit = quick(ratings)
    table = sensitivity_to_consensus(fit, wrong=(0.0, 0.2), estimand="finite")
    plain = assay.summarize(assay.metrics(fit, estimand="finite"))
    same = table[table["wrong"] == 0.0].drop(columns="wrong").reset_index(drop=True)
    pd.testing.assert_frame_equal(same, plain)
    width = (table["upper"] - table["lower"]).groupby(table["wrong"]).mean()
    assert width[0.2] > 1.2 * width[0.0]


def test_of_few_clusters_the_population_moves_with_a_wrong_consensus(monkeypatch):
    monkeypatch.setattr(sensitivity, "TILT_SD", 50.0)
    ratings = assay.simulate("single", classes=("a", "b"), n_items=60, n_clusters=6, rng=3)
    fit = quick(ratings, draws=400)
    table = sensitivity_to_consensus(fit, wrong=(0.0, 0.1), metric="prevalence[label=b]")
    assert table["estimand"].str.startswith("population (model-based").all()
    # A tilt this strong has all errors of a draw on one class, either with a chance of 1/2.
    untouched, wrong = table["mean"]
    assert wrong == pytest.approx(untouched, abs=0.03)
    # Ends of intervals of so few draws would hang on the seed.
    assert table["sd"][1] ** 2 == pytest.approx(table["sd"][0] ** 2 + 0.1**2, rel=0.3)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("prevalence", [(0.95, 0.05), (0.5, 0.3, 0.2)])
def test_on_as_many_items_as_is_said_the_truth_is_another(
    share: float, prevalence: tuple[float, ...]
) -> None:
    """However rare a class is: what is drawn afresh must not be what it was."""
    count = len(prevalence)
    rng = np.random.default_rng(1)
    tilt = np.exp(rng.standard_normal((300, 1, count)))
    misjudged = sensitivity._Misjudged(
        steps=(prevalence * tilt).cumsum(axis=-1), context=np.zeros(200, np.int64), seed=2
    )
    states = rng.choice(count, (300, 200), p=prevalence).astype(np.int16)
    found = misjudged.wrong_on(share)(states)
    assert set(np.unique(found)) == set(range(count))
    assert (found != states).mean() == pytest.approx(share, rel=0.03)
    # In either direction, where a class has as many items as are wrong.
    moved = (found == 1).mean(axis=1) - (states == 1).mean(axis=1)
    assert moved.max() > 0
    assert moved.min() < 0 or share > min(prevalence)


def test_another_state_is_drawn_as_it_prevails_among_the_others() -> None:
    steps = np.array([0.5, 0.8, 1.0])[None, None].repeat(400, axis=0)
    misjudged = sensitivity._Misjudged(steps=steps, context=np.zeros(300, np.int64), seed=3)
    for was, others in enumerate([(0, 0.6, 0.4), (5 / 7, 0, 2 / 7), (0.625, 0.375, 0)]):
        states = np.full((400, 300), was, np.int16)
        found = misjudged.wrong_on(0.5)(states)
        shares = np.bincount(found[found != was], minlength=3) / (found != was).sum()
        np.testing.assert_allclose(shares, others, atol=0.01)


def test_consensus_sensitivity_refuses_a_known_reference():
    ratings = assay.simulate("single", reference="gold", gold=0.9, n_items=60, rng=1)
    fit = at_the_truth(ratings, reference="gold")
    with pytest.raises(FitError, match="group_misperception", check=refusal("learned-truth")):
        sensitivity_to_consensus(fit)
    plain = at_the_truth(assay.simulate("single", n_items=20, rng=1))
    with pytest.raises(
        FitError, match=r"`wrong=\(1\.5,\)`; they must", check=refusal("argument-number")
    ):
        sensitivity_to_consensus(plain, wrong=(1.5,))


# -- sessions and scores -----------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        ({"raters": "scored"}, {}),
        (
            {"raters": "scored + item_difficulty"},
            {"hard_share": 0.4, "difficulty_rate": [[2.5]]},
        ),
        ({"raters": "scored + item_difficulty_continuous"}, {"difficulty_rate": [[1.5]]}),
        ({"raters": "scored", "reference": "gold"}, {"misperceived": [0.4]}),
        ({"raters": "scored + drift"}, {"drift_sd": [[1.5]]}),
    ],
    ids=["plain", "hard items", "difficulty", "perception", "drift"],
)
def test_calibration_curve_is_bayes_rule(spec: dict[str, str], values: dict[str, Any]):
    """At the true parameters the curve is the share of each class among simulated scores."""
    ratings = assay.simulate(
        "relevance",
        **spec,
        n_items=6000,
        n_raters=2,
        ratings_per_item=2,
        sessions=2,
        gold=0.9 if "reference" in spec else 0.0,
        values={name: np.array(value) for name, value in values.items()},
        rng=8,
    )
    few = assay.take_ratings(ratings, np.arange(400))
    fit = at_the_truth(few, **spec)
    curve = assay.rater_calibration(fit)
    mine = ratings.rater == 0
    score, true = ratings.scores[mine, 0], ratings.simulated.truth[ratings.item[mine], 0]
    checked = 0
    rows = curve[curve["rater"] == "rater_1"]
    for line in rows.itertuples():
        here = np.abs(score - line.lowest_score) < 1e-9
        if here.sum() < 400:
            continue
        share = (
            true[here] == ["no", "partially", "yes"].index(rows.loc[line.Index, "class"])
        ).mean()
        error = np.sqrt(max(share * (1 - share), 0.01) / here.sum())
        assert line.mean == pytest.approx(share, abs=4.5 * error)
        checked += 1
    assert checked >= 6


def test_a_bin_that_no_class_gives_has_a_curve():
    """Where likelihood ratios rise steeply, middle bins underflow in every state."""
    ratings = assay.simulate(
        "relevance", raters="scored", n_items=60, n_raters=2, ratings_per_item=2, rng=8
    )
    fit = at_the_truth(ratings, raters="scored")
    fit["posterior"]["rise_mean"] = fit["posterior"]["rise_mean"] + 8.0
    curve = assay.rater_calibration(fit)
    total = curve.groupby(["rater", "bin"])["mean"].sum()
    np.testing.assert_allclose(total, 1.0)


def test_curves_are_refused_without_scores():
    with pytest.raises(FitError, match="raters='scored'", check=refusal("no-scores")):
        assay.rater_calibration(at_the_truth(assay.simulate("single", n_items=20, rng=1)))

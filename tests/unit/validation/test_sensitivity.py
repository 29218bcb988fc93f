"""Metrics if an assumption is wrong: informative abstentions, or a wrong consensus."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal
from scipy.special import logit
from true_fits import at_the_truth, quick

import assay
from assay._util.errors import FitError, ModelError, TaskError
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.validation import sensitivity
from assay.validation.sensitivity import (
    abstention_evidence,
    sensitivity_to_abstention,
    sensitivity_to_consensus,
)

RATIO = 4.0


GOOD = {
    "logit_mean": np.full((1, 2), 1.8),
    "logit_sd": np.full((1, 2), 0.4),
    "state_share": np.array([[0.6, 0.4]]),
}


def reluctant(
    *, items: int, raters: int, rng: int, ratio: float = RATIO, often: float = 0.2
) -> Ratings:
    """Raters who abstain more readily where the truth is the second class."""
    ratings = assay.simulate(
        "single", classes=("a", "b"), n_items=items, n_raters=raters, ratings_per_item=3,
        prevalence="dirichlet", values=GOOD, rng=rng,
    )  # fmt: skip
    assert ratings.simulated is not None
    kind = ratings.simulated.truth[ratings.item, 0] == 1
    odds = often / (1 - often) * np.where(kind, RATIO, 1.0)
    silent = np.random.default_rng(rng).random(len(kind)) < odds / (1 + odds)
    answers = np.where(silent[:, None], MISSING, ratings.answers).astype(np.int16)
    return replace(ratings, answers=answers, abstained=silent)


def fit_of(ratings: Ratings, **options: object) -> xr.DataTree:
    chosen = {"method": "map", "draws": 400, "chains": 2, "starts": 1, "rng": 1} | options
    return assay.fit(ratings, prevalence="dirichlet", progress=False, **chosen)


def test_evidence_is_the_likelihood_ratio_at_odds_that_explain_how_often_raters_abstain() -> None:
    ratings = reluctant(items=40, raters=3, rng=1)
    prior = np.random.default_rng(1).random(40)
    shift = abstention_evidence(ratings, prior, math.log(RATIO))
    chance = 1 / (1 + (1 - prior) / prior * np.exp(-shift))

    prevalence = logit(chance.mean()) - logit(prior.mean())

    def silent(own: float, kind: int) -> float:
        return 1 / (1 + math.exp(-own - kind * math.log(RATIO)))

    own = {}
    for j in range(3):
        mine = np.flatnonzero(ratings.rater == j)
        grid = np.linspace(-6, 6, 24_001)
        expected = sum(
            chance[i] / (1 + np.exp(-grid - math.log(RATIO)))
            + (1 - chance[i]) / (1 + np.exp(-grid))
            for i in ratings.item[mine]
        )
        own[j] = float(grid[np.abs(expected - ratings.abstained[mine].sum()).argmin()])
    for i in range(40):
        ratio = 1.0
        for e in np.flatnonzero(ratings.item == i):
            for kind in (0, 1):
                p = silent(own[ratings.rater[e]], kind)
                ratio *= (p if ratings.abstained[e] else 1 - p) ** (1 if kind else -1)
        assert shift[i] == pytest.approx(math.log(ratio) + prevalence, abs=5e-3)


def test_raters_who_never_or_always_abstain_tell_nothing() -> None:
    ratings = reluctant(items=30, raters=3, rng=2)
    abstained = ratings.rater == 1
    shift = abstention_evidence(replace(ratings, abstained=abstained), np.full(30, 0.5), 1.0)
    np.testing.assert_allclose(shift, 0, atol=1e-12)


@pytest.mark.slow
def test_the_true_odds_ratio_mends_what_informative_abstentions_did() -> None:
    """Three ratings an item, raters abstain from b four times as readily: b seems rarer."""
    off: dict[float, list[float]] = {1.0: [], RATIO: []}
    for seed in range(12):
        ratings = reluctant(items=300, raters=6, rng=100 + seed, often=0.35)
        assert ratings.simulated is not None
        truth = float((ratings.simulated.truth[:, 0] == 1).mean())
        table = sensitivity_to_abstention(
            fit_of(ratings), when="label == b", odds_ratio=(1.0, RATIO),
            metric="prevalence[label=b]", estimand="finite",
        )  # fmt: skip
        for line in table.itertuples():
            off[line.odds_ratio].append(line.mean - truth)
    missed, mended = (float(np.mean(off[ratio])) for ratio in (1.0, RATIO))
    assert missed < -0.01
    assert abs(mended) < abs(missed) / 2


def test_an_odds_ratio_of_one_is_the_fit_and_others_move_it_their_way() -> None:
    fit = fit_of(reluctant(items=120, raters=5, rng=5))
    table = sensitivity_to_abstention(fit, odds_ratio=(0.25, 1.0, 4.0))
    assert list(table["when"].unique()) == ["label == b"]
    plain = assay.summarize(assay.metrics(fit, estimand="finite"))
    same = table[table["odds_ratio"] == 1.0].drop(columns=["when", "odds_ratio"])
    assert same.reset_index(drop=True).equals(plain)
    fewer = sensitivity_to_abstention(fit, odds_ratio=(4.0,), draws=100)
    assert fewer["mean"].to_numpy() == pytest.approx(
        table[table["odds_ratio"] == 4.0]["mean"].to_numpy(), abs=0.02
    )
    means = table[table["metric"] == "prevalence[label=a]"].set_index("odds_ratio")["mean"]
    assert means[0.25] > means[1.0] > means[4.0]


def test_what_cannot_be_asked_is_said() -> None:
    ratings = reluctant(items=30, raters=3, rng=4)
    fit = fit_of(ratings, method="map", draws=50)
    with pytest.raises(FitError, check=refusal("argument-number")):
        sensitivity_to_abstention(fit, odds_ratio=(0.0,))
    with pytest.raises(ModelError, match="every state", check=refusal("condition-always-or-never")):
        sensitivity_to_abstention(fit, when="label == a or label == b")
    with pytest.raises(TaskError, check=refusal("unknown-class")):
        sensitivity_to_abstention(fit, when="label == c")
    clustered = assay.simulate("retrieval", n_items=40, n_clusters=4, missing=0.3, rng=1)
    few = assay.fit(clustered, method="map", draws=20, chains=1, starts=1, progress=False)
    with pytest.raises(FitError, match="estimand='finite'", check=refusal("modelled-abstentions")):
        sensitivity_to_abstention(few, when="misleading", odds_ratio=(2.0,), estimand="population")
    none = fit_of(reluctant(items=30, raters=3, rng=4, often=0.0), method="map", draws=50)
    with pytest.raises(FitError, check=refusal("no-abstentions")):
        sensitivity_to_abstention(none)


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

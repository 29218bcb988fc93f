"""What a model believes of the metrics before it has seen a rating."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refusal
from scipy import stats

import assay
from assay._util.errors import FitError, UnknownNameError
from assay.data.states import MISSING
from assay.evaluation.prior import metrics_before
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure


@pytest.fixture(scope="module")
def ratings() -> assay.Ratings:
    return assay.simulate("single", classes=("a", "b"), n_items=400, n_raters=3, rng=1)


def test_a_known_prior_of_a_share_comes_out(ratings: assay.Ratings) -> None:
    """Of 400 items with Dirichlet(2, 2) states: a beta-binomial share."""
    draws = assay.prior_metrics(
        ratings, raters="hierarchical", prevalence="dirichlet",
        priors={"prevalence": "Dirichlet(2)"}, metric="prevalence[label=b]", draws=4000, rng=2,
    )["prevalence[label=b]"]  # fmt: skip
    assert draws.dims == ("chain", "draw")
    assert draws.attrs["estimand"] == "prior"
    counts = np.round(draws.to_numpy().ravel() * 400).astype(int)
    law = stats.betabinom(400, 2, 2)
    for q in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert (counts <= law.ppf(q)).mean() == pytest.approx(law.cdf(law.ppf(q)), abs=0.03)


def test_hard_items_move_a_share_towards_one_half(ratings: assay.Ratings) -> None:
    """By the share of hard items and of the guesses about them, which have priors of their own."""
    rng = np.random.default_rng(3)
    hard, easy = rng.beta(4, 1, 4000), rng.beta(2, 2, 4000)
    # Of three degrees: answers that are no guesses, of an item that is hard at a rate of 1.
    seen = np.array([[(1 + x) / 2] for x in (-np.sqrt(0.6), 0, np.sqrt(0.6))])
    kept = np.array([5, 8, 5]) / 18 @ seen ** (2 * np.abs(rng.standard_normal(4000)))
    hoped = rng.binomial(400, easy + hard * (1 - kept) * (0.5 - easy)) / 400
    found = assay.prior_metrics(
        ratings, raters="hierarchical + item_difficulty", prevalence="dirichlet",
        priors={"prevalence": "Dirichlet(2)", "hard_share": "Beta(4, 1)"},
        metric="prevalence[label=b]", draws=4000, rng=2,
    )["prevalence[label=b]"]  # fmt: skip
    assert stats.ks_2samp(found.to_numpy().ravel(), hoped).pvalue > 1e-3


def test_answers_are_not_looked_at(ratings: assay.Ratings) -> None:
    other = replace(ratings, answers=np.where(ratings.answers == MISSING, MISSING, 1))
    one, two = (assay.prior_metrics(r, draws=50) for r in (ratings, other))
    assert one.equals(two)


def test_systems_and_the_models_own_priors() -> None:
    ratings = assay.simulate("retrieval", n_items=60, n_clusters=6, n_systems=2, rng=1)
    draws = assay.prior_metrics(ratings, by="system", draws=40)
    assert draws["ndcg_at_k"].dims == ("chain", "draw", "system")
    assert set(draws.data_vars) == set(ratings.task.metrics)
    table = assay.summarize(draws)
    assert set(table["estimand"]) == {"prior"}
    sure = build_structure(ratings, make_spec(priors={"main": "Normal(-6, 0.1)"}))
    assert metrics_before(sure, draws=40)["topical_precision_at_k"].mean() < 0.3


def test_what_cannot_be_asked_is_said(ratings: assay.Ratings) -> None:
    with pytest.raises(
        FitError, match="draws=0", check=refusal("argument-count", least=1, most=1000000)
    ):
        assay.prior_metrics(ratings, draws=0)
    with pytest.raises(UnknownNameError, check=refusal("unknown-metric")):
        assay.prior_metrics(ratings, metric="ndcg")

"""An opinion has the mean and the mass that its words say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit, logit

from assay._util.errors import AssayError, ModelError
from assay.modelling.elicitation import EXAMPLE, Opinion, opinion_beta, opinion_logit_normal
from assay.modelling.priors import override, parse_prior

OPINIONS = [
    EXAMPLE,
    "about 10 %, 90 % between 2 and 30",
    "About 60% 95% between 50% and 100%",
    "about 99.5 % right, 80 % between 99 and 99.9",
]


@pytest.mark.parametrize("text", OPINIONS)
def test_beta_has_the_mean_and_the_mass(text: str):
    opinion = Opinion.parse(text)
    found = stats.beta(*opinion_beta(opinion))
    assert found.mean() == pytest.approx(opinion.mean, abs=1e-9)
    mass = found.cdf(opinion.upper) - found.cdf(opinion.lower)
    assert mass == pytest.approx(opinion.mass, abs=1e-7)


@pytest.mark.parametrize("text", OPINIONS)
def test_log_odds_have_the_mean_and_the_mass(text: str):
    opinion = Opinion.parse(text)
    mu, sigma = opinion_logit_normal(opinion)
    normal = stats.norm(mu, sigma)
    with np.errstate(divide="ignore"):
        lower, upper = logit(opinion.lower), logit(opinion.upper)
    assert normal.cdf(upper) - normal.cdf(lower) == pytest.approx(opinion.mass, abs=1e-7)
    mean = quad(lambda x: expit(x) * normal.pdf(x), mu - 12 * sigma, mu + 12 * sigma)[0]
    assert mean == pytest.approx(opinion.mean, abs=1e-7)


@given(
    mean=st.floats(0.05, 0.95),
    below=st.floats(0.2, 0.9),
    above=st.floats(0.2, 0.9),
    mass=st.floats(0.85, 0.99),
)
@settings(max_examples=40, deadline=None)
def test_any_sensible_opinion_is_met(mean: float, below: float, above: float, mass: float):
    opinion = Opinion(
        mean=mean, mass=mass, lower=mean * (1 - below), upper=mean + (1 - mean) * above
    )
    beta = stats.beta(*opinion_beta(opinion))
    assert beta.mean() == pytest.approx(mean, abs=1e-9)
    assert beta.cdf(opinion.upper) - beta.cdf(opinion.lower) == pytest.approx(mass, abs=1e-6)


def test_words_come_back():
    opinion = Opinion.parse("about 85.5 % correct 90% between 70 and 95 %")
    assert str(opinion) == "about 85.5 %, 90 % between 70 and 95"
    assert Opinion.parse(str(opinion)) == opinion


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("about 85 %", "prior-syntax"),
        ("about 85 %, 90 % between 70 and high", "prior-syntax"),
        ("about 60 %, 90 % between 70 and 95", "opinion-impossible"),
        ("about 85 %, 100 % between 70 and 95", "opinion-impossible"),
        ("about 85 %, 90 % between 70 and 120", "opinion-impossible"),
    ],
)
def test_what_is_no_opinion_is_said_in_words(text: str, words: str):
    with pytest.raises(ModelError, check=refusal(words)):
        Opinion.parse(text, where="accuracy")


def test_a_mass_that_no_distribution_has_is_refused():
    opinion = Opinion.parse("about 85 %, 50 % between 70 and 100")
    for settle in (opinion_beta, opinion_logit_normal):
        with pytest.raises(ModelError, check=refusal("opinion-impossible")):
            settle(opinion)


@pytest.mark.parametrize(
    ("text", "mean", "mass", "lower", "upper"),
    [
        ("about 0.85 accurate, 90 % between 0.7 and 0.95", 0.85, 0.9, 0.7, 0.95),
        ("about .85, 0.9 between .7 and 1", 0.85, 0.9, 0.7, 1.0),
        ("about 0.5 %, 90 % between 0.1 and 1", 0.005, 0.9, 0.001, 0.01),
        ("about 0.5, 90 between 0.1 and 1 %", 0.005, 0.9, 0.001, 0.01),
        ("about 0.5, 90 between 0 and 2", 0.005, 0.9, 0.0, 0.02),
    ],
)
def test_fractions_are_not_per_cents(
    text: str, mean: float, mass: float, lower: float, upper: float
):
    expected = Opinion(mean=mean, mass=mass, lower=lower, upper=upper)
    assert Opinion.parse(text) == expected


def test_a_fraction_among_per_cents_contradicts_itself():
    with pytest.raises(
        ModelError, match="inside the interval", check=refusal("opinion-impossible")
    ):
        Opinion.parse("about 0.85, 90 % between 70 and 95")


@pytest.mark.parametrize("default", ["Normal(1, 1)", "Beta(2, 1)"])
@pytest.mark.parametrize(
    "opinion",
    [
        "about 99.9999 %, 1 % between 1 and 100",
        "about 50 %, 99.99999 % between 49.999 and 50.001",
        "about 0.0001 %, 99 % between 0 and 99",
    ],
)  # fmt: skip
def test_extreme_opinions_are_settled_or_refused(default: str, opinion: str) -> None:
    try:
        override({"mean_binary": parse_prior(default)}, {"mean_binary": opinion}, owner="x")
    except AssayError as error:
        assert "opinion" in str(error) or "impossible" in str(error)  # noqa: PT017

"""Claims: what can be said, and what is refused in words."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitError, ModelError, UnknownNameError
from assay.comparison import check_claim, claim_tests, parse_claim
from assay.comparison.claim_tests import Spread, what_would_decide
from assay.comparison.contrasts import contrast
from assay.comparison.decisions import OPEN, conclusion, verdict_on
from assay.comparison.systems import compare_draws
from assay.data.states import MISSING
from assay.evaluation import expected_width
from assay.fits import view
from assay.fits.view import FitView

INF = np.inf
Z = 1.959963985
"""Half the width of an interval of 95 %, in SDs."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B > A on m", ("m", "B", "A", ">", 0.0)),
        ("B>=A on m", ("m", "B", "A", ">=", 0.0)),
        ("B ≤ A by .5 on m", ("m", "B", "A", "<=", 0.5)),
        ("B < A by 1e-2 on m", ("m", "B", "A", "<", 0.01)),
        ("B > A by -0.02 on m", ("m", "B", "A", ">", -0.02)),
        ("B = A within 0.02 on m", ("m", "B", "A", "=", 0.02)),
        ("B == A within 0.02 on m", ("m", "B", "A", "=", 0.02)),
        ("m of B < 0.1", ("m", "B", None, "<", 0.1)),
        ("m >= 0.1", ("m", None, None, ">=", 0.1)),
        ("\"my system\" > 'on' on m", ("m", "my system", "on", ">", 0.0)),
        ("gpt-3.5:v1 > org/model_7b on m", ("m", "gpt-3.5:v1", "org/model_7b", ">", 0.0)),
        ("3 > 2 on m", ("m", "3", "2", ">", 0.0)),
        ("“my system” > 'on' on m", ("m", "my system", "on", ">", 0.0)),
        ("B\u00a0> A by \u22120.03\u2009on m", ("m", "B", "A", ">", -0.03)),
        ("by > ON BY 0.1 On m", ("m", "by", "ON", ">", 0.1)),
        ("1 > 2 by 3 on m", ("m", "1", "2", ">", 3.0)),
        ("m of 1 > 2", ("m", "1", None, ">", 2.0)),
        ("online > offline on onset", ("onset", "online", "offline", ">", 0.0)),
        (
            "B > A on prevalence[quality=very good]",
            ("prevalence[quality=very good]", "B", "A", ">", 0.0),
        ),
    ],
)
def test_forms(text, expected):
    claim = parse_claim(text)
    assert (claim.metric, claim.system, claim.other, claim.relation, claim.number) == expected
    assert claim.text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B < 0.5 * A on m", ("B", "A", 0.5, 0.0, "B - 0.5 * A")),
        ("B > 2*'A x' by 0.1 on m", ("B", "A x", 2.0, 0.1, 'B - 2 * "A x"')),
        ("B = 1.1 * 3 within 0.02 on m", ("B", "3", 1.1, 0.02, "B - 1.1 * 3")),
    ],
)
def test_multiples_of_a_system(text, expected):
    found = parse_claim(text)
    told = (found.system, found.other, found.factor, found.number, found.subject)
    assert told == expected


def test_a_claim_about_half_is_about_the_difference_from_half(draws):
    """A is 0, and half of B 0.4 or -0.2."""
    values = np.where(np.arange(100) < 60, 0.8, -0.4)
    result = check_claim(draws(values, values), "A < 0.5 * B by 0.3 on m")
    assert result.probability == pytest.approx(0.6)
    assert result.mean == pytest.approx(-0.5 * values.mean())
    assert "A - 0.5 * B is -0.16 (95% interval -0.40 to 0.20)" in result.sentence


@pytest.mark.parametrize("other", ["A", "a*b", "x>y", 'the "new" one', "by 2", "it's", "[b]", "o”"])
def test_differences_are_written_as_claims_read_them(other):
    first, second = contrast("B", other).split(" - ", 1)
    claim = parse_claim(f"{first} > {second} on m")
    assert (claim.system, claim.other) == ("B", other)


@pytest.mark.parametrize(
    ("text", "said", "code"),
    [
        ("", "cannot be read at its end", "claim-syntax"),
        ("B > A", "cannot be read at its end", "claim-syntax"),
        ("B A on m", "cannot be read at character 3", "claim-syntax"),
        ("B > A by x on m", "cannot be read at character 10", "claim-syntax"),
        (
            "m of B > 10%",
            "cannot be read at character 10; write a percentage as a share",
            "claim-syntax",
        ),
        ("B > A by 1e999 on m", "not finite", "claim-number"),
        ("B > 0 * A on m", "must be positive", "claim-number"),
        ("B > -2 * A on m", "must be positive", "claim-number"),
        ("B = A on m", "write one of: B > A on METRIC", "claim-syntax"),
        ("B > B on m", "with itself", "claim-itself"),
        ("B = A within 0 on m", "must be positive", "claim-number"),
        ("B = A within -1 on m", "must be positive", "claim-number"),
    ],
)
def test_what_is_no_claim_is_said(text, said, code):
    with pytest.raises(ModelError, match=said, check=refusal(code)):
        parse_claim(text)


@pytest.mark.parametrize(
    ("text", "region", "true", "false"),
    [
        ("B > A on m", (0.0, INF), [0.1], [0.0, -0.1, np.nan]),
        ("B >= A on m", (0.0, INF), [0.1, 0.0], [-0.1]),
        ("B > A by 0.1 on m", (0.1, INF), [0.2], [0.1, 0.0]),
        ("B >= A by 0.1 on m", (0.1, INF), [0.2, 0.1], [0.0]),
        ("B < A by 0.1 on m", (-INF, -0.1), [-0.2], [-0.1, 0.0]),
        ("B <= A by 0.1 on m", (-INF, -0.1), [-0.2, -0.1], [0.0]),
        ("B > A by -0.1 on m", (-0.1, INF), [-0.05], [-0.1, -0.2]),
        ("B = A within 0.1 on m", (-0.1, 0.1), [0.1, -0.1, 0.0], [0.11, -0.11]),
        ("m of B < 0.1", (-INF, 0.1), [0.0], [0.1, 0.2]),
        ("m of B >= 0.1", (0.1, INF), [0.1], [0.0]),
    ],
)
def test_where_a_claim_is_true(text, region, true, false):
    claim = parse_claim(text)
    assert claim.region == region
    assert claim.holds(np.array(true)).all()
    assert not claim.holds(np.array(false)).any()


def test_rounding_does_not_decide_a_tie():
    tie = np.array([0.1 + 0.2 - 0.3, 0.3 - 0.2 - 0.1])
    assert (tie != 0).all()
    assert not parse_claim("B > A on m").holds(tie).any()
    assert parse_claim("B >= A on m").holds(tie).all()


@pytest.fixture
def draws(monkeypatch):
    """Make fits whose metrics are given: B - A by estimand, and A constant."""

    def make(population, finite=None, *, system_b="B"):
        def metrics(fit, *, estimand, by, incomplete, metric):
            values = np.asarray(population if estimand == "population" else finite, float)
            values = values.reshape(2, -1)
            data = np.stack([np.zeros_like(values), values], axis=-1)
            variable = xr.DataArray(
                data if by else values,
                dims=("chain", "draw", "system") if by else ("chain", "draw"),
                attrs={"estimand": estimand},
            )
            coords = {"system": ["A", system_b]} if by else {}
            attributes = {"reference": "gold", "n_clusters": 100}
            return xr.Dataset({metric: variable}, coords, attributes)

        monkeypatch.setattr(claim_tests, "metrics", metrics)
        monkeypatch.setattr(view, "ratings_of", lambda tree: RATINGS)
        return FitView(xr.DataTree())

    return make


RATINGS = assay.simulate("generation", n_items=20, n_systems=2, ratings_per_item=2, rng=1)
RATINGS.panels["system"] = RATINGS.panels["system"].map({"system_1": "A", "system_2": "B"})


def shares(positive, count=200):
    """Draws of which a share is above 0, in an order without a trend."""
    values = np.where(np.arange(count) < round(positive * count), 0.1, -0.1)
    return np.random.default_rng(1).permutation(values)


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(1.0, "supported"), (0.975, "supported"), (0.97, "undecided"), (0.95, "undecided"),
     (0.05, "undecided"), (0.03, "undecided"), (0.025, "contradicted"), (0.0, "contradicted")],
)  # fmt: skip
def test_verdict_is_exact_at_its_limits(draws, share, verdict):
    result = check_claim(draws(shares(share), shares(0.5)), "B > A on m", level=0.95)
    assert result.probability == pytest.approx(share)
    assert result.verdict == verdict
    assert (result.would_decide is None) == (verdict != "undecided")


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("share", [0.01, 0.03, 0.3, 0.5, 0.92, 0.96, 0.98])
def test_a_claim_and_a_comparison_say_the_same_of_a_difference(draws, share, level):
    values = shares(share)
    result = check_claim(draws(values, values), "B > A on m", level=level)
    data = np.stack([np.zeros_like(values), values], axis=-1).reshape(2, -1, 2)
    variable = (("chain", "draw", "system"), data, {"estimand": "population"})
    drawn = xr.Dataset({"m": variable}, {"system": ["A", "B"]}, {"reference": "gold"})
    found = compare_draws(drawn, {"m": "higher"}, level=level)
    line = found.pairs.iloc[0]
    told = conclusion("A", "B", line["difference_lower"], line["difference_upper"])
    expected = {"supported": "B is higher", "contradicted": "A is higher", "undecided": OPEN}
    assert told == expected[result.verdict]
    # A sentence calls a system higher, not "B - A is", only where the claim is settled.
    assert ("is higher than" in found.sentences()[0]) == (result.verdict != "undecided")


@pytest.mark.parametrize(
    ("ends", "said"),
    [((-0.2, -1e-13), "B is at least as high"), ((-0.2, 0.0), "B is at least as high"),
     ((0.0, 0.2), "A is at least as high"), ((0.0, 0.0), "they are equal"),
     ((-0.2, -0.1), "B is higher"), ((-0.1, 0.2), OPEN), ((np.nan, np.nan), OPEN)],
)  # fmt: skip
def test_an_interval_that_ends_at_0_is_not_called_open(ends, said):
    assert conclusion("A", "B", *ends) == said
    # What is called open is contradicted of neither, and the other way round.
    one, other = (verdict_on(*ends, parse_claim(c).region) for c in ("A > B on m", "A < B on m"))
    assert ("contradicted" in (one, other)) == (said != OPEN)


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [((-0.01, 0.02), "supported"), ((-0.01, 0.04), "undecided"), ((0.04, 0.05), "contradicted"),
     ((-0.05, -0.04), "contradicted"), ((0.03, 0.05), "undecided"), ((-0.05, 0.05), "undecided"),
     ((-0.03, 0.03), "supported"), ((np.nan, np.nan), "undecided")],
)  # fmt: skip
def test_equality_is_that_of_the_whole_interval(ends, verdict):
    claim = parse_claim("B = A within 0.03 on m")
    assert verdict_on(*ends, claim.region, closed=claim.closed) == verdict


def test_an_end_that_is_not_the_margin_is_not_written_as_it(draws):
    values = np.linspace(0.0285, 0.9, 4000)
    sentence = check_claim(draws(values, values), "B > A by 0.05 on m", level=0.95).sentence
    assert sentence.startswith("Supported")
    assert "0.0503 to" in sentence
    values = np.linspace(-0.02, 0.9, 4000)  # its lower end is 0.003, which is not 0
    sentence = check_claim(draws(values, values), "B > A by 1 on m").sentence
    assert "interval 0.003 to 0.877" in sentence


def test_sentence_of_a_verdict(draws):
    result = check_claim(draws(shares(1.0)), "B > A by 0.05 on m")
    assert result.sentence == (
        "Supported: B > A by 0.05 on m. P > 0.999; m (estimand population; reference: gold): "
        "B - A is 0.10 (95% interval 0.10 to 0.10)."
    )
    assert str(result) == result.sentence
    (line,) = result.to_frame().to_dict("records")
    assert (line["claim"], line["verdict"]) == ("B > A by 0.05 on m", "supported")
    assert (line["mean"], line["probability"]) == (pytest.approx(0.1), 1.0)
    said = check_claim(draws(shares(0.0)), "m of B > 0").sentence
    assert said.startswith("Contradicted: m of B > 0. P < 0.001; m (estimand population;")


def test_sentence_says_what_would_decide(draws):
    result = check_claim(draws(shares(0.7), shares(0.9)), "B > A on m")
    assert result.verdict == "undecided"
    assert result.would_decide.verdict == "supported"
    assert result.sentence.endswith(result.would_decide.sentence)
    assert "more clusters rated as now (there are 10)" in result.sentence


def test_ratings_that_are_scores_alone_count_as_ratings_of_their_items(draws, monkeypatch):
    fit = draws(shares(0.7), shares(0.7))
    answered = check_claim(fit, "B > A on m", estimand="finite").would_decide
    scores = np.where(RATINGS.answers == 1, 0.9, 0.1)
    alone = replace(RATINGS, answers=np.full_like(RATINGS.answers, MISSING), scores=scores)
    monkeypatch.setattr(view, "ratings_of", lambda tree: alone)
    assert check_claim(FitView(fit.tree), "B > A on m", estimand="finite").would_decide == answered
    assert answered.ratings_per_item > 2
    assert "of each item (there are 2)" in answered.sentence


def test_probability_within_its_error_of_a_limit_is_told(draws):
    near = check_claim(draws(shares(0.98), shares(0.98)), "B > A on m")
    far = check_claim(draws(shares(0.5), shares(0.5)), "B > A on m")
    assert near.mc_error == pytest.approx(np.sqrt(0.98 * 0.02 / 200), rel=0.35)
    assert near.near
    assert "within its Monte Carlo error of the claim's boundary" in near.sentence
    assert not far.near
    assert "Monte Carlo" not in far.sentence


def test_near_is_within_two_errors_of_a_limit(draws):
    told = [check_claim(draws(shares(p), shares(p)), "B > A on m") for p in (0.96, 0.92)]
    distance = [0.975 - one.probability for one in told]
    assert told[0].mc_error < distance[0] < 2 * told[0].mc_error
    assert 2 * told[1].mc_error < distance[1]
    assert [one.near for one in told] == [True, False]


def test_a_doubt_about_differences_leaves_only_differences_undecided(draws):
    fit = draws(shares(1.0), shares(1.0))
    line = {
        "code": "rater-by-system",
        "mark": "raters favour a system",
        "labels": [],
        "teams": [],
        "differences_only": True,
    }
    fit.tree.attrs["data_doubts"] = json.dumps([line])
    told = {
        claim: check_claim(fit, claim)
        for claim in ("B > A on on_topic_rate", "on_topic_rate of B > 0", "on_topic_rate > 0")
    }
    assert [one.doubt for one in told.values()] == ["raters favour a system", "", ""]
    assert [one.verdict for one in told.values()] == ["undecided", "supported", "supported"]
    fit.tree.attrs["data_doubts"] = "[]"
    assert check_claim(fit, "B > A on on_topic_rate").verdict == "supported"


def test_undefined_draws_are_left_out_of_the_probability(draws):
    values = np.r_[shares(1.0, 100), np.full(100, np.nan)]
    result = check_claim(draws(values), "B > A on m")
    assert (result.probability, result.undefined) == (1.0, 0.5)
    assert "undefined in 50.0% of the draws" in result.sentence
    nothing = check_claim(draws(np.full(8, np.nan)), "B > A on m")
    assert nothing.verdict == "undecided"
    assert nothing.sentence.endswith("B - A is undefined in all draws.")


def test_claim_about_all_panels(draws):
    assert check_claim(draws(shares(1.0)), "m > 0").probability == 1.0


def test_names_are_checked(draws):
    fit = draws(shares(1.0))
    with pytest.raises(
        UnknownNameError, match="'C' is no system; valid: A, B", check=refusal("unknown-system")
    ):
        check_claim(fit, "C > A on m")
    with pytest.raises(UnknownNameError, match="write a bound as", check=refusal("unknown-system")):
        check_claim(fit, "B > 0,5 on m")
    with pytest.raises(FitError, check=refusal("argument-number")):
        check_claim(fit, "B > A on m", level=0.4)


def test_unknown_metric_of_a_fit_shows_the_nearest():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(RATINGS, raters="pooled", method="map", draws=5, chains=1, rng=1)
    with pytest.raises(
        UnknownNameError, match="did you mean helpfulness_rate", check=refusal("unknown-metric")
    ):
        check_claim(fit, "B > A on helpfullness_rate")


def spread(**changes):
    values = {"mean": 0.02, "variance": 4e-4, "clusters_share": 0.25}
    return Spread(**{**values, "n_clusters": 100, "ratings_per_item": 2.0, **changes})


def test_enough_clusters_in_closed_form():
    """An interval of m ± z sqrt(v) above 0 needs v = (m / z)^2: from 1 SD to 1.96 of them."""
    found = what_would_decide(spread(), (0.0, INF), 0.95, population=True)
    z = Z
    assert found.clusters == int(np.ceil(100 * (z**2 - 1)))
    room = 1 / z**2 - 0.25
    assert found.ratings_per_item == int(np.ceil(2 * (0.75 / room - 1)))
    assert found.verdict == "supported"


def test_ratings_alone_may_not_decide():
    found = what_would_decide(spread(clusters_share=0.6), (0.0, INF), 0.95, population=True)
    assert found.ratings_per_item is None
    assert "More ratings of the same items would not" in found.sentence


def test_no_number_of_ratings_is_given_for_a_population_of_the_model():
    usual = what_would_decide(spread(), (0.0, INF), 0.95, population=True)
    found = what_would_decide(spread(), (0.0, INF), 0.95, population=True, modelled=True)
    assert found.ratings_per_item is None
    assert found.clusters == usual.clusters
    assert "ratings of each item" not in found.sentence
    assert "too few clusters" not in found.sentence
    assert "effect of more ratings of the same items is unknown" in found.sentence


def test_few_clusters_of_one_system_are_a_population_of_the_model():
    ratings = assay.simulate("generation", n_items=12, n_systems=2, n_clusters=6, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(
            ratings, raters="hierarchical", method="map", draws=50, chains=1, starts=1, rng=1
        )
    told = {
        estimand: check_claim(
            fit, "system_1 > system_2 by 0.02 on helpfulness_rate", estimand=estimand
        )
        for estimand in ("population", "finite")
    }
    assert "model-based" in told["population"].estimand
    assert told["population"].would_decide.ratings_per_item is None
    assert told["finite"].would_decide.ratings_per_item is not None


def test_clusters_and_ratings_are_those_of_the_systems_that_a_claim_is_about():
    rows = [
        (
            f"{s}{c}",
            s,
            c + 25 * (s == "C"),
            r,
            ["no", "yes"][(c * 7 + r + (s == "B")) % (3 - (s == "C") * (c > 12)) > 0],
        )
        for s in "ABC"
        for c in range(25)
        for r in range(2 + 2 * (s == "C"))
    ]
    table = pd.DataFrame(rows, columns=["item", "system", "query", "rater", "label"])
    ratings = assay.read_ratings(table, task="single", cluster="query")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(ratings, method="map", draws=50, chains=1, starts=1, rng=1)
    metric = "prevalence[label=yes]"
    for claim, clusters in [(f"A > B on {metric}", 25), (f"A > C on {metric}", 50)]:
        found = check_claim(fit, claim)
        assert f"(there are {clusters})" in found.would_decide.sentence
    finite = check_claim(fit, f"A > B on {metric}", estimand="finite")
    assert "of each item (there are 2)" in finite.would_decide.sentence
    width = expected_width(fit, contrast=("A", "B")).iloc[0]
    assert width["ten_more_clusters"] == pytest.approx(width["width"] * np.sqrt(25 / 35))


def test_more_clusters_do_not_tell_more_of_these_items():
    found = what_would_decide(spread(clusters_share=0.0), (0.0, INF), 0.95, population=False)
    assert found.clusters is None
    assert found.ratings_per_item == int(np.ceil(2 * (Z**2 - 1)))
    assert "clusters" not in found.sentence


def test_equivalence_is_decided_both_ways():
    inside = what_would_decide(spread(), (-0.05, 0.05), 0.999, population=True)
    outside = what_would_decide(spread(mean=0.06), (-0.05, 0.05), 0.95, population=True)
    assert (inside.verdict, outside.verdict) == ("supported", "contradicted")
    assert outside.clusters == int(np.ceil(100 * (4 * Z**2 - 1)))


def test_estimate_on_the_boundary_is_never_decided():
    found = what_would_decide(spread(mean=1e-9), (0.0, INF), 0.95, population=True)
    assert (found.clusters, found.ratings_per_item) == (None, None)
    assert "near the boundary" in found.sentence

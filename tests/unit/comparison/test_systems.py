"""Comparisons of systems on draws that are known, and on a fit."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitError, ModelError, UnknownNameError
from assay._util.text import gap, rounded
from assay.comparison import Comparison, compare, compare_draws
from assay.comparison.contrasts import rank_table
from assay.reporting.comparisons import _clear

A = [0.1, 0.2, 0.3, 0.4]
B = [0.2, 0.2, 0.1, 0.8]
HIGHER = {"hit": "higher"}


def draws_of(*, reference="consensus of all raters", **systems):
    """One metric, one chain; a draw per value."""
    values = np.array(list(systems.values()), float).T[None]
    hit = xr.DataArray(values, dims=("chain", "draw", "system"), attrs={"estimand": "finite"})
    return xr.Dataset({"hit": hit}, {"system": list(systems)}, {"reference": reference})


@pytest.fixture(scope="module")
def fit():
    """A fit of three systems on 24 clusters each, 4 of them not shared by the third."""
    ratings = assay.simulate("generation", n_items=72, n_systems=3, n_clusters=24, rng=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        return assay.fit(
            ratings, raters="hierarchical", method="map", draws=150, chains=2, starts=1, rng=1
        )


def only_pair(**arguments):
    pairs = compare_draws(draws_of(A=A, B=B), HIGHER, **arguments).pairs
    assert len(pairs) == 1
    return pairs.iloc[0]


def test_difference_and_ratio_by_hand():
    line = only_pair(level=0.5)
    assert (line["a"], line["b"], line["estimand"], line["better"]) == (
        "A",
        "B",
        "finite",
        "higher",
    )
    differences = np.array([-0.1, 0.0, 0.2, -0.4])
    assert line["difference"] == pytest.approx(differences.mean())
    assert line["difference_sd"] == pytest.approx(differences.std())
    assert line["difference_lower"] == pytest.approx(np.quantile(differences, 0.25))
    assert line["difference_upper"] == pytest.approx(np.quantile(differences, 0.75))
    ratios = [0.5, 1.0, 3.0, 0.5]
    assert line["ratio"] == pytest.approx(np.median(ratios))
    assert line["ratio_lower"] == pytest.approx(np.quantile(ratios, 0.25))
    assert line["ratio_upper"] == pytest.approx(np.quantile(ratios, 0.75))
    assert (line["p_greater"], line["p_equal"]) == (0.25, 0.25)
    assert np.isnan(line["p_rope"])


def test_rope_holds_its_ends_and_has_a_direction():
    assert only_pair(rope=0.1)["p_rope"] == 0.5
    assert only_pair(rope=(0.0, 0.3))["p_rope"] == 0.5
    assert only_pair(rope=[0.1, 0.3])["p_rope"] == 0.25


@pytest.mark.parametrize("rope", [-0.1, (0.2, 0.1), (0.0, np.inf), "0.1", [0.1], [0.0, 0.1, 0.2]])
def test_rope_has_to_be_an_interval(rope):
    with pytest.raises(ModelError, check=refusal("rope-argument")):
        only_pair(rope=rope)


def test_undefined_draws_are_left_out_and_counted():
    data = draws_of(A=[np.nan, 0.2, 0.3, 0.4], B=[0.1, 0.0, np.nan, 0.8], C=[0.1, 0.3, 0.5, 0.7])
    found = compare_draws(data, HIGHER)
    line = found.pairs.iloc[0]
    assert line["undefined"] == 0.5
    assert line["difference"] == pytest.approx((0.2 - 0.4) / 2)
    assert line["p_greater"] == 0.5
    assert line["ratio_undefined"] == 3
    assert line["ratio"] == pytest.approx(0.5)
    systems = found.systems.set_index("system")
    assert systems["undefined"].tolist() == [0.25, 0.25, 0.0]
    assert systems["unranked"].tolist() == [0.5] * 3
    assert systems["p_best"].tolist() == [0.0, 0.5, 0.5]


def test_metric_that_is_never_defined_says_so():
    found = compare_draws(draws_of(A=[np.nan] * 4, B=B), HIGHER)
    assert np.isnan(found.pairs["p_greater"].iloc[0])
    assert found.systems["p_best"].isna().all()
    assert found.sentences() == [
        "hit (estimand finite; reference: consensus of all raters): A and B are never both defined."
    ]


def test_ties_share_their_ranks():
    values = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0]])
    table = rank_table(values, "higher")
    third = pytest.approx(1 / 3)
    np.testing.assert_allclose(table["p_rank_1"], [(1 / 2 + 1 / 3) / 2] * 2 + [1 / 6])
    np.testing.assert_allclose(table["p_rank_3"], [1 / 6, 1 / 6, (1 + 1 / 3) / 2])
    assert table["expected_loss"].tolist() == [0.0, 0.0, 0.5]
    assert rank_table(values[1:], "higher")["p_best"].tolist() == [third] * 3


def test_lower_is_better_turns_ranks_and_loss():
    found = compare_draws(draws_of(A=A, B=B), {"hit": "lower"}).systems.set_index("system")
    assert found["p_best"].to_dict() == {"A": 0.625, "B": 0.375}
    assert found.loc["A", "expected_loss"] == pytest.approx(0.2 / 4)
    assert found.loc["B", "expected_loss"] == pytest.approx(0.5 / 4)


def test_where_neither_is_better_no_system_is_the_best():
    data = draws_of(A=A, B=B, C=[0.1, np.nan, 0.2, 0.3])
    found, directed = (compare_draws(data, {"hit": better}) for better in ("neither", "higher"))
    ranks = [c for c in found.systems if c.startswith("p_")]
    assert found.systems[[*ranks, "expected_loss"]].isna().all(axis=None)
    assert found.clearly_worse().empty
    assert found.sentences() == directed.sentences()[1:]
    # Nothing else needs a direction.
    for one, other in ((found.pairs, directed.pairs), (found.systems, directed.systems)):
        assert set(one["better"]) == {"neither"}
        same = [c for c in one if c not in {*ranks, "expected_loss", "better"}]
        pd.testing.assert_frame_equal(one[same], other[same])
    assert found.pairs["p_greater"].iloc[0] == 0.25


def test_a_direction_is_one_of_three():
    with pytest.raises(ModelError, match="did you mean lower", check=refusal("argument-choice")):
        compare_draws(draws_of(A=A, B=B), {"hit": "lowest"})


def test_the_share_of_a_class_has_no_direction(fit):
    found = compare(fit, metric=["prevalence[helpful=yes]", "helpfulness_rate"])
    ranked = found.systems.groupby("metric")["p_best"].sum(min_count=1).to_dict()
    assert ranked["helpfulness_rate"] == pytest.approx(1)
    assert np.isnan(ranked["prevalence[helpful=yes]"])
    pairs = found.pairs.set_index("metric")
    columns = ["difference", "p_greater", "ratio"]
    np.testing.assert_allclose(
        pairs.loc["prevalence[helpful=yes]", columns], pairs.loc["helpfulness_rate", columns]
    )


def test_clearly_worse_is_against_the_best_mean():
    data = draws_of(A=[0.9] * 100, B=[0.8] * 99 + [0.95], C=[0.8] * 98 + [0.95] * 2)
    upward = compare_draws(data, HIGHER).clearly_worse(0.985).set_index("system")
    assert set(upward["best"]) == {"A"}
    assert upward["p_worse"].to_dict() == {"A": 0.0, "B": 0.99, "C": 0.98}
    assert upward[["p_worse", "comparisons"]].dtypes.tolist() == [float, int]
    assert upward["clearly_worse"].to_dict() == {"A": False, "B": True, "C": False}
    downward = compare_draws(data, {"hit": "lower"}).clearly_worse(0.985).set_index("system")
    assert set(downward["best"]) == {"B"}
    assert downward["clearly_worse"].to_dict() == {"A": True, "B": False, "C": False}
    with pytest.raises(ModelError, check=refusal("argument-number")):
        compare_draws(data, HIGHER).clearly_worse(0.3)


def test_sentences_name_the_higher_system_first():
    clear = compare_draws(draws_of(A=[0.1, 0.2], B=[0.35, 0.4]), HIGHER, rope=0.01)
    assert clear.sentences() == [
        "hit (estimand finite; reference: consensus of all raters): B is higher than A by 0.225 "
        "(95% interval 0.201 to 0.249), P(B > A) > 0.999, P(A - B from -0.01 to 0.01) < 0.001."
    ]
    found = compare_draws(draws_of(A=A, B=B), HIGHER)
    (unclear,) = found.sentences()
    assert str(found) == unclear
    assert ": B - A is 0.08 (95% interval -0.18 to 0.38), P(B > A) = 0.50." in unclear


@pytest.mark.parametrize("far", [-0.4, -1.0, 0.6])
@pytest.mark.parametrize("turned", [False, True])
def test_no_estimate_is_written_outside_its_interval(far, turned):
    """Of 200 draws four lie far away: the mean of the difference is not in the interval."""
    first, second = np.r_[np.full(196, 0.52), np.full(4, 0.5 + far)], np.full(200, 0.5)
    higher, lower = ("B", "A") if turned else ("A", "B")
    found = compare_draws(draws_of(**dict(sorted({higher: first, lower: second}.items()))), HIGHER)
    (line,) = found.pairs.to_dict("records")
    mean = (first - second).mean()
    assert not line["difference_lower"] <= line["difference"] <= line["difference_upper"]
    told = f"0.02 to 0.02 (95% interval; mean {rounded(mean, 2)})"
    assert f"{higher} is higher than {lower} by {told}" in found.sentences()[0]
    (finding,) = _clear(found.pairs, {})
    minus = "-" if turned else ""
    told = f"A - B is {minus}0.02 to {minus}0.02 (mean "
    assert f"{higher} is higher than {lower} on hit: {told}" in finding.text
    (cell,) = [gap(*(line[f"difference{end}"] for end in ("", "_lower", "_upper")))]
    sign = "-" if turned else ""
    assert cell.startswith(f"{sign}0.02 to {sign}0.02 (mean ")


def test_sentences_of_many_systems_say_which_to_choose():
    data = draws_of(A=[0.1, 0.2], B=[0.3, 0.4], C=[0.2, 0.45], reference="")
    said = compare_draws(data, HIGHER).sentences()
    assert len(said) == 5
    assert said[0] == (
        "hit (estimand finite): choose B of 3 systems (higher is better): P(best) = 0.50, "
        "expected loss 0.025."
    )


def test_baseline_takes_the_second_place():
    data = draws_of(A=A, B=B, C=A)
    pairs = compare_draws(data, HIGHER, baseline="B").pairs
    assert list(zip(pairs["a"], pairs["b"], strict=True)) == [("A", "B"), ("C", "B")]
    with pytest.raises(
        UnknownNameError, match="is no system; valid: A, B, C", check=refusal("unknown-system")
    ):
        compare_draws(data, HIGHER, baseline="zzz")


@pytest.mark.parametrize("data", [draws_of(A=A), draws_of(A=A).isel(system=0, drop=True)])
def test_one_system_cannot_be_compared(data):
    with pytest.raises(
        ModelError, match="`system=` when reading", check=refusal("too-few-systems")
    ):
        compare_draws(data, HIGHER)


@pytest.mark.parametrize("estimand", ["population", "finite"])
def test_numbers_are_those_of_metrics_and_summarize(fit, estimand):
    found = compare(fit, estimand=estimand, level=0.9)
    data = assay.metrics(fit, estimand=estimand)
    xr.testing.assert_identical(found.draws, data)
    columns = ["metric", "system", "estimand", "mean", "sd", "lower", "upper", "level"]
    table = assay.summarize(data, level=0.9)
    pd.testing.assert_frame_equal(found.systems[columns], table[columns])
    means = table.set_index(["metric", "system"])["mean"]
    for line in found.pairs.to_dict("records"):
        expected = means[line["metric"], line["a"]] - means[line["metric"], line["b"]]
        assert line["difference"] == pytest.approx(expected, abs=1e-12)


def test_directions_come_from_the_metrics(fit):
    better = compare(fit).systems.groupby("metric")["better"].first()
    assert better["helpfulness_rate"] == "higher"
    assert better["unsafe_content_rate"] == "lower"


def test_fit_says_how_many_clusters_systems_share(fit):
    found = compare(fit, metric="helpfulness_rate")
    assert isinstance(found, Comparison)
    assert found.pairs["shared_clusters"].tolist() == [24, 24, 24]
    cut = fit.copy()
    keep = ~(
        (fit["constant_data"]["place_system"] == "system_3")
        & fit["constant_data"]["place_cluster"].isin(found_clusters(fit)[:4])
    )
    cut["constant_data"] = xr.DataTree(fit["constant_data"].to_dataset().isel(place=keep.values))
    assert compare(cut, metric="helpfulness_rate").pairs["shared_clusters"].tolist() == [24, 20, 20]


def found_clusters(fit):
    return np.unique(fit["constant_data"]["place_cluster"].values.astype(str))


def test_paired_differences_are_narrower_than_unpaired_ones():
    """A cluster effect that all systems share cancels in the difference."""
    rng = np.random.default_rng(1)
    shared, own = rng.normal(size=2000), rng.normal(size=(2, 2000)) / 10
    line = compare_draws(draws_of(A=shared + own[0], B=shared + own[1]), HIGHER).pairs.iloc[0]
    assert line["difference_sd"] == pytest.approx(np.sqrt(2) / 10, rel=0.1)


def test_choices_are_checked(fit):
    with pytest.raises(ModelError, match="compare_groups", check=refusal("argument-choice")):
        compare(fit, by="stratum")
    with pytest.raises(
        UnknownNameError, match="did you mean helpfulness_rate", check=refusal("unknown-metric")
    ):
        compare(fit, metric="helpfulnes_rate")
    with pytest.raises(FitError, check=refusal("argument-number")):
        compare(fit, level=95)


def test_several_comparisons_say_how_many_would_seem_clear_by_chance():
    """Four systems on two metrics are twelve comparisons: 0.6 of their intervals by chance."""
    rng = np.random.default_rng(1)
    variables = {
        name: (("chain", "draw", "system"), rng.normal(size=(2, 50, 4)), {"estimand": "population"})
        for name in ("one", "two")
    }
    data = xr.Dataset(variables, {"system": list("ABCD")}, {"reference": "the labels given"})
    found = compare_draws(data, {"one": "higher", "two": "lower"})
    assert found.sentences()[-1] == (
        "Among 12 comparisons, up to 0.6 intervals (95%) exclude 0 by chance if no systems differ."
    )
    stars = found.clearly_worse(0.99)
    assert set(stars["comparisons"]) == {6}
    np.testing.assert_allclose(stars["expected_false"], 0.12)
    pair = compare_draws(data.sel(system=["A", "B"])[["one"]], {"one": "higher"})
    assert len(pair.sentences()) == 1

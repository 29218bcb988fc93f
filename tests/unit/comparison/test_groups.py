"""Contrasts within groups of clusters, and their partial pooling."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import FitError, ModelError
from assay.comparison import compare, compare_groups, groups
from assay.comparison.groups import MEAN_OF_GROUPS, pool
from assay.fits import view
from assay.fits.datatree import ratings_of

RNG = np.random.default_rng


def stratified(names=("de", "en"), sizes=(24, 30), draws=100):
    clusters = sum(sizes)
    ratings = assay.simulate(
        "generation", n_items=2 * clusters, n_systems=2, n_clusters=clusters, rng=6
    )
    stratum = np.repeat(names, sizes)
    order = {c: n for n, c in enumerate(dict.fromkeys(ratings.items["cluster"]))}
    of_items = stratum[ratings.items["cluster"].map(order).to_numpy()]
    ratings = replace(ratings, items=ratings.items.assign(stratum=of_items))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        # Contrasts hang on the labels, whatever the model of the raters: one that is quick to fit.
        return assay.fit(
            ratings, raters="pooled", method="map", draws=draws, chains=2, starts=1, rng=1
        )


@pytest.fixture(scope="module")
def fit():
    return stratified()


def test_groups_stand_alone_and_pooled(fit):
    table = compare_groups(fit, metric=["on_topic_rate", "helpfulness_rate"])
    assert table["group"].tolist() == ["de", "en", MEAN_OF_GROUPS] * 2
    assert table["clusters"].tolist() == [24, 30, 54] * 2
    assert set(table["estimand"]) == {"population"}
    own = table[table["group"] != MEAN_OF_GROUPS]
    assert (own["difference_lower"] < own["difference"]).all()
    assert table["difference"].isna().tolist() == [False, False, True] * 2
    assert table["pooled"].notna().all()


def test_finite_contrasts_of_groups_average_to_that_of_all(fit):
    """Each stratum has one panel per cluster and system, so that shares are numbers of clusters."""
    table = compare_groups(fit, metric="helpfulness_rate", estimand="finite")
    whole = compare(fit, metric="helpfulness_rate", estimand="finite").pairs["difference"].iloc[0]
    mean = np.average(table["difference"].iloc[:2], weights=table["clusters"].iloc[:2])
    assert mean == pytest.approx(whole, abs=1e-12)


def test_one_system_has_no_contrasts():
    ratings = assay.simulate("generation", n_items=40, n_clusters=40, rng=6)
    stratum = np.where(np.arange(40) < 20, "de", "en")
    ratings = replace(ratings, items=ratings.items.assign(stratum=stratum))
    fit = assay.fit(
        ratings, raters="hierarchical", method="map", draws=5, chains=1, starts=1, rng=1
    )
    with pytest.raises(ModelError, match="at least two", check=refusal("too-few-systems")):
        compare_groups(fit)


def test_small_groups_take_the_predictive_of_the_model():
    table = compare_groups(stratified(sizes=(4, 30), draws=30), metric="helpfulness_rate")
    assert table["estimand"].tolist() == [
        "population (40% model-based: 4 clusters)", "population",
        "population (model-based: in 1 of 2 groups)",
    ]  # fmt: skip


def test_the_mean_of_groups_is_the_models_where_all_groups_are():
    table = compare_groups(stratified(sizes=(2, 4), draws=30), metric="helpfulness_rate")
    assert table["estimand"].iloc[-1] == "population (model-based: in every group)"


def test_an_estimand_that_is_none_is_refused(fit):
    with pytest.raises(
        ModelError,
        match="`estimand='finit'`; did you mean finite",
        check=refusal("argument-choice"),
    ):
        compare_groups(fit, metric="helpfulness_rate", estimand="finit")


def test_a_stratum_without_one_of_the_systems_counts_in_no_mean():
    """The others are as they would be without it, and it stands there without numbers."""
    three = stratified(names=("de", "en", "fr"), sizes=(24, 26, 4), draws=30)
    whole = compare_groups(three, metric="helpfulness_rate", estimand="finite")
    ratings = ratings_of(three)
    french = ratings.items["stratum"].to_numpy()[ratings.panels["item"]] == "fr"
    second = (ratings.panels["system"] == "system_2").to_numpy()
    lacking = {"fr": replace(ratings, panels=ratings.panels[french & ~second])}
    lacking |= {name: part for name, part in groups._groups(ratings).items() if name != "fr"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "_groups", lambda _: dict(sorted(lacking.items())))
        table = compare_groups(three, metric="helpfulness_rate", estimand="finite")
    assert table["group"].tolist() == ["de", "en", "fr", MEAN_OF_GROUPS]
    pd.testing.assert_frame_equal(
        table.loc[:1, ["difference", "clusters"]], whole.loc[:1, ["difference", "clusters"]]
    )
    french = table.loc[2]
    assert french[["difference", "p_greater", "pooled", "group_sd"]].isna().all()
    assert (french["clusters"], french["undefined"], french["estimand"]) == (0, 1, "")
    assert table.loc[3, "clusters"] == 50
    assert table.loc[[0, 1, 3], "pooled"].notna().all()


def test_clusters_of_a_group_are_those_of_the_two_systems(fit):
    ratings = ratings_of(fit)
    apart = ratings.panels.assign(
        system=ratings.panels["system"] + ratings.panels["cluster"].str[-1]
    )
    keep = apart["system"].isin(["system_10", "system_21", "system_22"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view, "ratings_of", lambda _: replace(ratings, panels=apart[keep]))
        table = compare_groups(fit, metric="helpfulness_rate", estimand="finite")
    held = apart[keep].groupby("system")["cluster"].nunique()
    mean = table[table["group"] == MEAN_OF_GROUPS].set_index(["a", "b"])["clusters"]
    assert len(mean) == 3
    for (a, b), count in mean.items():
        assert count == held[a] + held[b]


def test_groups_are_needed():
    with pytest.raises(
        ModelError, match="`stratum=` when reading", check=refusal("too-few-strata", strata=1)
    ):
        compare_groups(stratified(names=("de", "de"), sizes=(2, 4), draws=5))


def test_arguments_are_checked(fit):
    with pytest.raises(ModelError, match="`scale=0`; it must", check=refusal("argument-number")):
        compare_groups(fit, metric="helpfulness_rate", scale=0)
    with pytest.raises(FitError, check=refusal("argument-number")):
        compare_groups(fit, level=2)


def quadrature(estimates, covariance, scale):
    """Posterior means of effects, their mean and SD, on a grid of mu and tau."""
    tau = (np.arange(400) + 0.5) / 400 * 6 * scale
    mu = np.linspace(-2, 2, 1601)
    size = len(estimates)
    total, sums = 0.0, np.zeros(size + 2)
    inverse_noise = np.linalg.inv(covariance)
    for t in tau:
        joint = np.linalg.inv(covariance + t**2 * np.eye(size))
        gap = estimates - mu[:, None]
        log_density = -0.5 * np.einsum("mg,gh,mh->m", gap, joint, gap)
        log_density += 0.5 * np.linalg.slogdet(joint)[1] - 0.5 * (t / scale) ** 2
        weight = np.exp(log_density)
        posterior = np.linalg.inv(inverse_noise + np.eye(size) / t**2)
        effects = (inverse_noise @ estimates + mu[:, None] / t**2) @ posterior
        values = np.column_stack([effects, mu, np.full_like(mu, t)])
        total += weight.sum()
        sums += weight @ values
    return sums / total


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_pooling_is_that_of_quadrature(correlation):
    estimates, sd = np.array([0.3, -0.1, 0.15]), np.array([0.05, 0.1, 0.2])
    covariance = np.outer(sd, sd) * (correlation + (1 - correlation) * np.eye(3))
    exact = quadrature(estimates, covariance, 0.15)
    found = pool(estimates, covariance, scale=0.15, draws=40_000, rng=RNG(1))
    draws = np.column_stack([found.effects, found.mean, found.sd])
    error = draws.std(axis=0) / np.sqrt(len(draws))
    # The grids of the two differ by parts of a thousand.
    np.testing.assert_allclose(draws.mean(axis=0), exact, atol=5 * error.max() + 1e-3)


def test_pooling_goes_from_one_mean_to_none():
    estimates, covariance = np.array([0.0, 1.0]), np.diag([0.01, 0.01])
    tight = pool(estimates, covariance, scale=1e-3, draws=2000, rng=RNG(1)).effects.mean(axis=0)
    loose = pool(estimates, covariance, scale=10.0, draws=2000, rng=RNG(1)).effects.mean(axis=0)
    np.testing.assert_allclose(tight, 0.5, atol=0.02)
    np.testing.assert_allclose(loose, estimates, atol=0.05)

"""Groups for ArviZ: priors and predictions of the fitted model, as ArviZ's functions take them."""

from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import ArgumentError, FitError
from assay.fits.arviz_groups import GROUPS
from assay.fits.view import FitView
from assay.modelling.parameters import Parameter
from assay.modelling.prior_densities import log_density
from assay.modelling.priors import Prior

CLASSES = ("a", "b", "c")
TRIPLE = {"class": CLASSES}


@pytest.fixture(scope="module")
def whole() -> xr.DataTree:
    ratings = assay.simulate(
        "single", n_items=30, n_raters=4, classes=["no", "yes"], missing=0.1, rng=3
    )
    fit = assay.fit(ratings, method="laplace", draws=40, chains=2, starts=1, rng=1)
    return assay.add_groups(fit, draws=60, rng=2)


@pytest.mark.parametrize(
    ("prior", "oracle"),
    [
        (Prior(name="Normal", values=(0.5, 2.0)), scipy.stats.norm(0.5, 2.0)),
        (Prior(name="HalfNormal", values=(1.5,)), scipy.stats.halfnorm(scale=1.5)),
        (Prior(name="Exponential", values=(3.0,)), scipy.stats.expon(scale=1 / 3)),
        (Prior(name="Gamma", values=(2.0, 3.0)), scipy.stats.gamma(2.0, scale=1 / 3)),
        (Prior(name="Beta", values=(2.0, 5.0)), scipy.stats.beta(2.0, 5.0)),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_log_densities_are_those_of_scipy(prior: Prior, oracle: object) -> None:
    block = Parameter(name="x", prior=prior, dims=("class",), coords=TRIPLE)
    values = np.array([[0.1, 0.4, 0.9]])
    assert log_density(block, values) == pytest.approx(oracle.logpdf(values))  # type: ignore[attr-defined]


def test_the_density_of_a_simplex_is_that_of_scipy() -> None:
    prior = Prior(name="Dirichlet", values=(np.array([1.0, 2.0, 3.0]),))
    block = Parameter(name="x", prior=prior, dims=("class",), coords=TRIPLE)
    values = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    wanted = [scipy.stats.dirichlet([1.0, 2.0, 3.0]).logpdf(one) for one in values]
    assert log_density(block, values) == pytest.approx(wanted)


@pytest.mark.slow
def test_log_priors_are_those_of_pymc(whole: xr.DataTree) -> None:
    from pymc.stats import compute_log_prior

    from assay.modelling.pymc_model import model_of

    few = xr.DataTree.from_dict({"posterior": whole["posterior"].to_dataset().isel(draw=[0, 7])})
    with model_of(FitView.of(whole).structure):
        wanted = compute_log_prior(few, extend_inferencedata=False, progressbar=False)
    found = whole["log_prior"].to_dataset().isel(draw=[0, 7])
    assert set(wanted.data_vars) == set(found.data_vars) - {"joint"}
    for name, values in wanted.data_vars.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9)


def test_replicates_are_missing_where_the_answers_are(whole: xr.DataTree) -> None:
    observed = whole["observed_data"]["answers"]
    for name in ("prior_predictive", "posterior_predictive"):
        answers = whole[name]["answers"]
        assert answers.dims == ("chain", "draw", *observed.dims)
        assert answers.sizes["draw"] == 60
        assert ((answers == -1) == (observed == -1)).all()
    # Replicates of the posterior resemble the data; those of the prior vary from draw to draw.
    shares = {
        name: (whole[name]["answers"] == 1).mean(("rating", "label")).to_numpy().ravel()
        for name in ("prior_predictive", "posterior_predictive")
    }
    seen = float((observed == 1).mean())
    assert abs(shares["posterior_predictive"].mean() - seen) < 0.1
    assert shares["prior_predictive"].std() > 2 * shares["posterior_predictive"].std()


def test_the_prior_has_the_parameters_of_the_posterior(whole: xr.DataTree) -> None:
    prior, posterior = (whole[name].to_dataset() for name in ("prior", "posterior"))
    assert {n: v.dims for n, v in prior.items()} == {n: v.dims for n, v in posterior.items()}
    assert prior["prevalence"].sum("state").to_numpy() == pytest.approx(1.0)


@pytest.mark.filterwarnings("ignore:In a future version of xarray:FutureWarning")  # of arviz_plots
def test_functions_of_arviz_run(whole: xr.DataTree) -> None:
    import arviz_plots
    import matplotlib as mpl
    from arviz_stats import psense_summary

    with mpl.rc_context({"backend": "agg"}):
        assert list(psense_summary(whole, var_names=["prevalence"])["diagnosis"])
        assert arviz_plots.plot_prior_posterior(whole, var_names=["prevalence"])
        assert arviz_plots.plot_ppc_dist(whole, kind="ecdf")


def test_groups_are_kept_in_a_file_and_the_fit_is_unchanged(
    whole: xr.DataTree, tmp_path: Path
) -> None:
    assay.save(whole, tmp_path / "fit.nc")
    again = assay.load(tmp_path / "fit.nc")
    assert set(GROUPS) <= set(again.children)
    assert assay.summarize(assay.metrics(again)).equals(assay.summarize(assay.metrics(whole)))
    one = assay.add_groups(again, "log_prior")
    assert one["log_prior"].equals(whole["log_prior"])
    bare = again.copy()
    for name in GROUPS:
        del bare[name]
    assay.add_groups(bare, "prior", draws=2)
    assert "prior" not in bare.children


def test_other_names_are_refused(whole: xr.DataTree) -> None:
    with pytest.raises(ArgumentError, check=refusal("argument-choice")):
        assay.add_groups(whole, "priors")
    with pytest.raises(FitError):
        assay.add_groups(whole, draws=0)
    with pytest.raises(FitError, check=refusal("not-a-fit")):
        assay.add_groups(xr.DataTree())

"""NUTS of PyMC on the model of build_model: the same posterior as that of nutpie."""

import json

import numpy as np
import pytensor
import pytest
import xarray as xr
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay._util.errors import ArgumentError, FitError
from assay.cli import app

MODEL = {"raters": "one_coin", "prevalence": "dirichlet", "rng": 1, "starts": 1}
RATINGS = {"classes": ("a", "b"), "n_items": 30, "n_raters": 4, "rng": 2}
pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")


def drawn(**size: int) -> xr.DataTree:
    ratings = assay.simulate("single", **RATINGS)
    return assay.fit(ratings, **MODEL, sampler="pymc", **size)


def by_nutpie() -> xr.DataTree:
    ratings = assay.simulate("single", **RATINGS)
    return assay.fit(ratings, **MODEL, draws=500, tune=300, chains=4, progress=False)


@pytest.mark.slow
def test_the_posterior_is_that_of_nutpie() -> None:
    fit, other = drawn(draws=1500, tune=500, chains=2), by_nutpie()
    here, there = (tree["posterior"]["accuracy"] for tree in (fit, other))
    error = there.std(("chain", "draw")) / np.sqrt(300)
    assert (abs(here.mean(("chain", "draw")) - there.mean(("chain", "draw"))) < 4.5 * error).all()
    shares = [tree["labels"]["state_probability"] for tree in (fit, other)]
    np.testing.assert_allclose(*shares, atol=0.03)
    assert json.loads(fit.attrs["diagnostics"])["r_hat_max"] < 1.02


def test_a_short_chain_lies_in_the_posterior_of_nutpie(capsys: pytest.CaptureFixture[str]) -> None:
    # Compiling takes a minute, and interpreting 200 draws a few seconds.
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        fit = drawn(draws=100, tune=100, chains=1)
    assert capsys.readouterr().out == ""
    assert {"diverging", "n_steps", "lp", "energy"} <= set(fit["sample_stats"].data_vars)
    here, there = (tree["posterior"]["accuracy"] for tree in (fit, by_nutpie()))
    away = here.mean(("chain", "draw")) - there.mean(("chain", "draw"))
    assert (abs(away) < 1.5 * there.std(("chain", "draw"))).all()
    assert (here.std(("chain", "draw")) > 0.3 * there.std(("chain", "draw"))).all()


def test_what_is_nutpies_alone_is_refused() -> None:
    ratings = assay.simulate("single", n_items=9, n_raters=3, rng=1)
    with pytest.raises(FitError, match="not with 'pymc'", check=refusal("nuts-option")):
        assay.fit(ratings, sampler="pymc", keep_interrupted=True)


def test_a_sampler_that_is_not_there_is_refused_with_those_that_are() -> None:
    ratings = assay.simulate("single", n_items=9, n_raters=3, rng=1)
    with pytest.raises(
        ArgumentError,
        match="`sampler='numpyro'`; valid: nutpie, pymc",
        check=refusal("argument-choice"),
    ):
        assay.fit(ratings, sampler="numpyro")  # type: ignore[arg-type]
    command = ["fit", "r.csv", "--task", "single", "-o", "fit.nc", "--sampler", "numpyro"]
    done = CliRunner().invoke(app, command, env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert "'numpyro' is not one of 'nutpie', 'pymc'" in done.output

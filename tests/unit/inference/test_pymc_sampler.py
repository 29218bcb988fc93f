"""NUTS of PyMC on the model of build_model: the same posterior as that of nutpie."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import assay
from assay._util.errors import ArgumentError, FitError
from assay.cli import app


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_the_posterior_is_that_of_nutpie(capsys: pytest.CaptureFixture[str]) -> None:
    ratings = assay.simulate("single", classes=("a", "b"), n_items=30, n_raters=4, rng=2)
    model = {"raters": "one_coin", "prevalence": "dirichlet", "rng": 1, "starts": 1}
    fit = assay.fit(ratings, **model, sampler="pymc", draws=1500, tune=500, chains=2)
    assert capsys.readouterr().out == ""
    other = assay.fit(ratings, **model, draws=1000, tune=500, chains=4, progress=False)
    here, there = (tree["posterior"]["accuracy"] for tree in (fit, other))
    error = there.std(("chain", "draw")) / np.sqrt(300)
    assert (abs(here.mean(("chain", "draw")) - there.mean(("chain", "draw"))) < 4.5 * error).all()
    shares = [tree["labels"]["state_probability"] for tree in (fit, other)]
    np.testing.assert_allclose(*shares, atol=0.03)
    assert {"diverging", "n_steps", "lp", "energy"} <= set(fit["sample_stats"].data_vars)
    assert json.loads(fit.attrs["diagnostics"])["r_hat_max"] < 1.02


def test_what_is_nutpies_alone_is_refused() -> None:
    ratings = assay.simulate("single", n_items=9, n_raters=3, rng=1)
    with pytest.raises(FitError, match="not with 'pymc'"):
        assay.fit(ratings, sampler="pymc", keep_interrupted=True)


def test_a_sampler_that_is_not_there_is_refused_with_those_that_are() -> None:
    ratings = assay.simulate("single", n_items=9, n_raters=3, rng=1)
    with pytest.raises(ArgumentError, match="`sampler='numpyro'`; valid: nutpie, pymc"):
        assay.fit(ratings, sampler="numpyro")  # type: ignore[arg-type]
    command = ["fit", "r.csv", "--task", "single", "-o", "fit.nc", "--sampler", "numpyro"]
    done = CliRunner().invoke(app, command, env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert "'numpyro' is not one of 'nutpie', 'pymc'" in done.output

"""What is no seed is refused in the same words everywhere."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import FitError
from assay._util.random import generator_of, seed_of
from assay.comparison import compare_counts
from assay.evaluation import expected_width, majority_metrics
from assay.studies.ais import ais_study
from assay.validation.posterior_predictive import posterior_predictive_check
from assay.validation.sensitivity import sensitivity_to_consensus

RATINGS = assay.simulate("ais", n_items=20, n_systems=2, ratings_per_item=2, rng=1)
COUNTS = pd.DataFrame({"system": ["A", "B"], "successes": [8, 5], "total": [10, 10]})


@pytest.fixture(scope="module")
def fit() -> Any:
    with pytest.warns(assay.FitWarning):
        return assay.fit(RATINGS, draws=5, tune=20, chains=1, starts=1, rng=1, progress=False)


WITHOUT_FIT: dict[str, Callable[[object], object]] = {
    "simulate": lambda rng: assay.simulate("single", n_items=5, rng=rng),
    "agreement": lambda rng: assay.agreement(RATINGS, rng=rng),
    "majority_metrics": lambda rng: majority_metrics(RATINGS, rng=rng),
    "compare_counts": lambda rng: compare_counts(COUNTS, rng=rng),
    "ais_study": lambda rng: ais_study(RATINGS, rng=rng),
    "fit": lambda rng: assay.fit(RATINGS, rng=rng),
    "fit_dataset": lambda rng: assay.fit_dataset(
        Path("nowhere"), task="ais", out="there.zarr", executor=None, rng=rng
    ),
}
OF_A_FIT: dict[str, Callable[..., object]] = {
    "sensitivity_to_consensus": sensitivity_to_consensus,
    "posterior_predictive_check": posterior_predictive_check,
    "expected_width": expected_width,
}


@pytest.mark.parametrize("rng", ["a", -1, 1.5, None])
@pytest.mark.parametrize("name", WITHOUT_FIT)
def test_what_is_no_seed_is_said(name: str, rng: object) -> None:
    with pytest.raises(FitError, check=refusal("argument-count", least=0)) as caught:
        WITHOUT_FIT[name](rng)
    assert f"rng={rng!r}" in str(caught.value)


@pytest.mark.parametrize("name", OF_A_FIT)
def test_what_is_no_seed_is_said_of_a_fit(name: str, fit: Any) -> None:
    with pytest.raises(FitError, check=refusal("argument-count", least=0)):
        OF_A_FIT[name](fit, rng="a")


def test_a_generator_goes_on_where_it_stands() -> None:
    generator = np.random.default_rng(3)
    assert generator_of(generator) is generator
    assert seed_of(generator) != seed_of(generator)
    assert seed_of(np.int64(4)) == 4
    first, again = (assay.simulate("single", n_items=9, rng=rng) for rng in (5, np.int32(5)))
    np.testing.assert_array_equal(first.answers, again.answers)

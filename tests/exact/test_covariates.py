"""Covariates of items: the likelihood by enumeration."""

import brute
import numpy as np
import pytest
from brute_prevalence import FORMULA
from small import draw_values, small_ratings, task_named, with_covariates

from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure


def structure(name: str, **options: object) -> Structure:
    few = small_ratings(task_named(name), 3, items=14, known=True, **options)
    return build_structure(with_covariates(few, 5), make_spec(formula=FORMULA))


@pytest.mark.parametrize("clusters", [None, 5])
@pytest.mark.parametrize("systems", [1, 2])
@pytest.mark.parametrize("name", ["retrieval", "relevance", "ais", "gated"])
def test_the_likelihood_is_that_of_enumeration(name: str, systems: int, clusters: int | None):
    found = structure(name, systems=systems, clusters=clusters)
    values = draw_values(found, 2)
    expected = sum(brute.log_likelihoods(found, values))
    assert found.log_likelihood(values) == pytest.approx(expected, rel=1e-11, abs=1e-9)


def test_without_effect_it_is_the_model_without_a_formula():
    found = structure("retrieval", systems=2, clusters=5)
    values = draw_values(found, 2)
    for name in ("coefficient", "by_source_sd"):
        values[name] = np.zeros_like(values[name])
    plain = build_structure(found.ratings, make_spec())
    assert plain.log_likelihood(values) == pytest.approx(found.log_likelihood(values), abs=1e-9)


def test_items_that_are_alike_share_a_context():
    found = structure("single")
    covariates = found.ratings.items[["length", "language", "source"]]
    assert found.prevalence.design.contexts == len(covariates.drop_duplicates())

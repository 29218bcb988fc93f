"""With one node and no perception layer there is a plain density, equal to the full one."""

import numpy as np
import pytest

import assay
from assay.inference.density import make_density
from assay.likelihood.c_functions import cards, value_and_gradient_at
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure


@pytest.mark.parametrize("raters", ["dawid_skene", "hierarchical + item_difficulty"])
@pytest.mark.parametrize("classes", [2, 4])
def test_the_plain_density_is_the_full_one(raters: str, classes: int) -> None:
    names = [f"class {n}" for n in range(classes)]
    ratings = assay.simulate("single", classes=names, n_items=30, n_raters=4, rng=2)
    density = make_density(build_structure(ratings, make_spec(raters, prevalence="dirichlet")))
    assert density.plain
    table = cards(*density.arrays)
    for x in np.random.default_rng(1).standard_normal((5, density.size)):
        value, gradient = value_and_gradient_at(x, table, plain=True)
        full, by_full = value_and_gradient_at(x, table, plain=False)
        assert value == pytest.approx(full, rel=1e-12)
        np.testing.assert_allclose(gradient, by_full, rtol=1e-9, atol=1e-9)


def test_cluster_effects_have_the_full_density() -> None:
    ratings = assay.simulate("retrieval", n_items=60, n_raters=4, n_clusters=12, rng=3)
    assert not make_density(build_structure(ratings, make_spec("hierarchical"))).plain


def test_perception_has_the_full_density() -> None:
    ratings = assay.simulate("single", classes=["no", "yes"], n_items=60, n_raters=4, rng=3)
    spec = make_spec("hierarchical + perception", reference="gold", prevalence="dirichlet")
    assert not make_density(build_structure(ratings, spec)).plain

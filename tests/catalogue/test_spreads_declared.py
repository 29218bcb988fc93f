"""Every SD of offsets is known as one: modes and centring treat it as what it is."""

import numpy as np
import pytest

import assay
from assay._util.errors import ModelError
from assay.data.ratings import Ratings
from assay.data.task_files import catalogue_names
from assay.modelling.parameters import Parameter
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

TASKS = ("relevance", "grounding")


@pytest.fixture(scope="module", params=TASKS)
def ratings(request: pytest.FixtureRequest) -> Ratings:
    return assay.simulate(
        request.param, n_items=60, n_systems=2, n_clusters=6, groups={"person": 3, "llm": 2},
        sessions=3, gold=0.8, rng=1,
    )  # fmt: skip


def parameters_of(ratings: Ratings, name: str) -> list[Parameter]:
    reference = "gold" if name == "perception" else None
    try:
        return build_structure(ratings, make_spec(name, reference=reference)).parameters()
    except ModelError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", catalogue_names("raters"))
def test_sds_and_offsets_name_each_other(ratings: Ratings, name: str):
    found = parameters_of(ratings, name)
    spreads = {p.spread for p in found} - {""}
    assert {p.name for p in found if p.name.endswith("_sd")} == spreads
    assert all(p.spread for p in found if p.name.endswith(("_offset", "_step")))


@pytest.mark.parametrize("name", catalogue_names("raters"))
def test_each_offset_has_an_sd_of_its_block(ratings: Ratings, name: str):
    found = {p.name: p for p in parameters_of(ratings, name)}
    for parameter in found.values():
        if parameter.spread:
            at = np.broadcast_to(parameter.spread_at, parameter.shape)
            assert set(at.ravel()) <= set(range(int(np.prod(found[parameter.spread].shape))))

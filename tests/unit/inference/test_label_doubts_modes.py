"""A reported mode of hardly any evidence: its comparisons are no conclusions."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import assay
from assay.inference.label_doubts import doubts_json, label_doubts, mode_doubts
from assay.inference.modes import Mode, reported_weight
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure
from assay.reporting.comparisons import comparison_section
from assay.reporting.material import Material
from assay.reporting.page import Section

MODE = Mode(x=np.zeros(1), height=0.0, precision=None, evidence=0.0, accuracy=0.8, chance=0.5)
HEAVIER = replace(MODE, weight=1.0, misnamed=True)


@pytest.mark.parametrize(
    ("first", "other", "weight"),
    [
        ({"weight": 1.0}, None, 1.0),
        ({"weight": 1e-9}, {"weight": 1.0, "misnamed": True}, 1e-9),
        ({"weight": 0.4}, {"weight": 0.6, "misnamed": True}, 0.4),
        # Draws that lie in the heavier mode are part of the result.
        ({"weight": 1e-9, "visited": 0.1}, {"weight": 1.0, "visited": 0.9}, 1.0),
        ({"weight": 1.0, "evidence": np.nan}, None, 1.0),
    ],
)
def test_the_weight_of_the_result_counts_modes_of_any_name(
    first: dict, other: dict | None, weight: float
) -> None:
    modes = [replace(MODE, **first), *([replace(MODE, **other)] if other else [])]
    assert reported_weight(modes) == pytest.approx(weight)


@pytest.fixture(scope="module")
def plain() -> xr.DataTree:
    ratings = assay.simulate("generation", n_items=80, n_systems=2, n_clusters=40, rng=1)
    return assay.fit(
        ratings, raters="hierarchical", method="map", draws=60, chains=1, starts=1, rng=1,
        progress=False,
    )  # fmt: skip


@pytest.mark.parametrize(("weight", "doubtful"), [(1e-6, True), (0.3, False)])
def test_comparisons_of_a_mode_without_weight_are_no_conclusions(
    plain: xr.DataTree, weight: float, doubtful: bool
) -> None:
    """As if the reported mode had that weight, by the evidence."""
    ratings = assay.simulate("generation", n_items=80, n_systems=2, n_clusters=40, rng=1)
    structure = build_structure(ratings, make_spec("pooled"))
    doubts = mode_doubts(structure, [replace(MODE, weight=weight), HEAVIER])
    assert {doubt.code for doubt in doubts} == ({"mode-weight"} if doubtful else set())
    assert len(doubts) == (5 if doubtful else 0)
    fit = plain.copy(deep=True)
    fit.attrs["label_doubts"] = doubts_json(doubts)
    mark = "the reported mode has a weight below 1%"
    found = assay.compare(fit)
    assert found.pairs["doubt"].str.contains(mark, regex=False).all() == doubtful
    assert not any("is higher than" in text for text in found.sentences()) or not doubtful
    for claim in ("helpfulness_rate of system_1 < 1.1", "helpfulness_rate of system_1 > 1.1"):
        result = assay.check_claim(fit, claim)
        assert (result.verdict == "undecided") == doubtful
        assert (mark in result.sentence) == doubtful
        assert result.sentence.count(mark) == doubtful
    section = comparison_section(Material(fit=fit))
    assert isinstance(section, Section)
    if doubtful:
        assert section.findings == ()


def test_a_fit_carries_the_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.inference.label_doubts.reported_weight", lambda modes: 1e-3)
    ratings = assay.simulate("single", n_items=30, n_raters=3, rng=1)
    fit = assay.fit(ratings, method="map", draws=5, chains=1, starts=1, rng=1, progress=False)
    assert {doubt.code for doubt in label_doubts(fit)} == {"mode-weight"}
    assert (assay.summarize(assay.metrics(fit))["doubt"] != "").all()

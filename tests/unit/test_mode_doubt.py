"""A reported mode of hardly any evidence: its comparisons are no conclusions."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import assay
from assay.cli.app import app
from assay.peaks import Mode, reported_weight
from assay.reporting.comparisons import comparison_section
from assay.reporting.material import Material
from assay.reporting.page import Callout, Section

MODE = Mode(x=np.zeros(1), height=0.0, precision=None, evidence=0.0, accuracy=0.8, chance=0.5)


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
    return assay.fit(ratings, method="map", draws=60, chains=1, starts=1, rng=1, progress=False)


def weighed(fit: xr.DataTree, weight: float) -> xr.DataTree:
    """Return the fit as if the reported mode had that weight, and system_1 were clearly higher."""
    found = fit.copy(deep=True)
    numbers = json.loads(found.attrs["diagnostics"])
    found.attrs["diagnostics"] = json.dumps({**numbers, "reported_weight": weight})
    return found


@pytest.mark.parametrize(("weight", "doubtful"), [(1e-6, True), (0.3, False)])
def test_comparisons_of_a_mode_without_weight_are_no_conclusions(
    plain: xr.DataTree, weight: float, doubtful: bool, tmp_path: Path
) -> None:
    fit = weighed(plain, weight)
    doubt = "The reported mode of the posterior has less than 1% of the evidence."
    found, sides = assay.compare(fit), assay.side_by_side(fit)
    for said in (found.sentences(), sides.sentences()):
        assert said[0].startswith(doubt) == doubtful
        assert all(text.startswith("In that mode: ") for text in said[1:]) == doubtful
    for claim in ("helpfulness_rate of system_1 < 1.1", "helpfulness_rate of system_1 > 1.1"):
        result = assay.check_claim(fit, claim)
        assert (result.verdict == "undecided") == doubtful
        assert (doubt in result.sentence) == doubtful
    path = tmp_path / "fit.nc"
    assay.save(fit, path)
    for command in ("metrics", "compare"):
        words = " ".join(CliRunner().invoke(app, [command, str(path)]).stdout.split())
        assert (doubt in words) == doubtful
    section = comparison_section(Material(fit=fit))
    assert isinstance(section, Section)
    warned = [b for b in section.blocks if isinstance(b, Callout) and b.text.startswith(doubt)]
    assert bool(warned) == doubtful
    if doubtful:
        assert section.findings == ()

"""Material of reports for tests: what depends on the fit alone is computed once for each fit."""

import json
from typing import Any

import xarray as xr

import assay
from assay.data.ratings import Ratings
from assay.reporting.material import Material

QUICK: dict[str, Any] = {"method": "laplace", "draws": 100, "chains": 2, "starts": 1, "rng": 1}

OF_THE_FIT = (
    "data_check", "draws", "summaries", "vote", "reliability", "kinds", "labels", "standing",
    "agreed", "predictive", "sensitivity", "equal_difficulty",
)  # fmt: skip
"""They change neither with claims nor with a baseline nor with the raters who are people."""
OF_THE_ORDER = ("variance", "contrast_variance", "widths")
"""They change with the baseline."""
_KNOWN: dict[tuple[int, object], tuple[xr.DataTree, dict[str, object]]] = {}


def trusted(ratings: Ratings, **model: Any) -> xr.DataTree:
    """Fit quickly, without the warnings that the approximation is rough."""
    fit = assay.fit(ratings, **QUICK, **model)
    notes = [one for one in json.loads(fit.attrs["warnings"]) if "laplace" not in one["code"]]
    fit.attrs = {**fit.attrs, "warnings": json.dumps(notes)}
    return fit


def material_of(
    fit: xr.DataTree, *, like: xr.DataTree | None = None, **options: object
) -> Material:
    """Return material without a budget, unless asked for; ``like`` is a fit with the same draws."""
    found = Material(fit=fit, **{"budget": False, **options})  # type: ignore[arg-type]
    source = fit if like is None else like
    asked = [((id(source), found.level), OF_THE_FIT)]
    if found.budget:
        asked.append(((id(source), (found.level, found.baseline)), OF_THE_ORDER))
    for key, names in asked:
        if key not in _KNOWN:
            # The fit is kept, so that no other fit takes its id.
            _KNOWN[key] = (source, {name: getattr(found, name) for name in names})
        found.__dict__.update(_KNOWN[key][1])
    return found

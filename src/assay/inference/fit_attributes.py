"""The attributes of a fit: what it is, how it was made, and what to know of it."""

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from assay._util.errors import Note, notes_json
from assay.data.states import MISSING
from assay.fits.datatree import SCHEMA_VERSION, accounting_json
from assay.inference.peaks import Mode, reported_weight, seen_weight
from assay.modelling.model import Structure
from assay.modelling.spec import CONSENSUSES, IN_PART, KNOWN

VERSIONS = (
    *("assay", "numpy", "numba", "nutpie", "pymc", "arviz", "xarray", "pandas"),
    "distributed",
)


def attributes(
    structure: Structure,
    modes: list[Mode],
    notes: list[Note],
    stated: list[str],
    diagnostics: Mapping[str, Any],
    *,
    method: str,
    seed: int,
    **effort: Any,
) -> dict[str, Any]:
    """Return the attributes of a fit: what it is, how it was made, and what to know of it."""
    ratings, spec = structure.ratings, structure.spec
    weights = {"mode_weight": seen_weight(modes), "reported_weight": reported_weight(modes)}
    return {
        "schema_version": SCHEMA_VERSION,
        "task": ratings.task.to_json(),
        "spec": json.dumps(asdict(spec)),
        "reference": whose_truth(structure),
        "method": method,
        "seed": seed,
        "effort": json.dumps(effort),
        "partial": ratings.partial,
        "resolve": ratings.resolve,
        "versions": json.dumps(_versions()),
        "accounting": accounting_json(ratings.accounting),
        "warnings": notes_json(notes),
        "assumptions": json.dumps(stated),
        "diagnostics": json.dumps({**diagnostics, **{k: w for k, w in weights.items() if w < 1}}),
        "modes": json.dumps([str(mode) for mode in modes]),
    }


def whose_truth(structure: Structure) -> str:
    """Say whose truth the numbers of a fit are about: a consensus is none where truth is given."""
    reference, truth = structure.spec.truth, structure.ratings.truth
    if reference not in CONSENSUSES or (truth == MISSING).all():
        return reference
    return KNOWN if (truth != MISSING).all() else f"{reference}{IN_PART}"


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in VERSIONS:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found

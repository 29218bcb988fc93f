"""Refits of a model: to other ratings, or with one change."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import xarray as xr

from assay._util.errors import FitWarning, RatingsError, UnknownNameError, suggest
from assay.data.ratings import Ratings, take_ratings
from assay.fits.view import Fit, FitView
from assay.inference.fit import fit as fit_model
from assay.inference.settings import SamplerSettings
from assay.modelling.prior_names import prior_names
from assay.modelling.spec import Spec
from assay.modelling.structure import build_structure, used_priors

SHORT = SamplerSettings(draws=500, tune=500, chains=2)
"""Effort of one refit among many."""


def refit(
    fit: Fit, ratings: Ratings, effort: SamplerSettings, changes: Mapping[str, Any] | None = None
) -> tuple[xr.DataTree, list[str]]:
    """Fit the model of a fit to other ratings, without raters who have none; return the fit and its
    warnings. ``changes`` are other arguments of :func:`assay.fit`.
    """
    other = dict(changes or {})
    specified = {f.name: other.pop(f.name) for f in fields(Spec) if f.name in other}
    ratings, spec = _rated(ratings, replace(FitView.of(fit).spec, **specified))
    spec = _with_use(ratings, spec)
    arguments = {field.name: getattr(spec, field.name) for field in fields(spec)}
    arguments |= {"draws": effort.draws, "tune": effort.tune, "chains": effort.chains}
    arguments["starts"] = json.loads(fit.attrs["effort"]).get("starts", 4)
    arguments |= {"method": fit.attrs["method"], "rng": int(fit.attrs["seed"]), "progress": False}
    arguments |= other
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tree = fit_model(ratings, **arguments)
    said = [w.message.text for w in caught if isinstance(w.message, FitWarning)]
    return tree, said


def _with_use(ratings: Ratings, spec: Spec) -> Spec:
    """Leave out copies of absent raters, and priors that the model has no use for."""
    there = set(map(str, ratings.raters.index))
    copies = {one: source for one, source in spec.copies.items() if {one, source} <= there}
    spec = replace(spec, copies=copies)
    known = prior_names(ratings, spec)
    spec = replace(spec, priors={k: prior for k, prior in spec.priors.items() if k in known})
    used = used_priors(build_structure(ratings, spec))
    return replace(spec, priors={k: prior for k, prior in spec.priors.items() if k in used})


def _rated(ratings: Ratings, spec: Spec) -> tuple[Ratings, Spec]:
    """Leave out raters without a rating, and the recipes of groups without other raters."""
    groups = ratings.raters["group"].astype(str)
    keep = np.isin(np.arange(len(groups)), ratings.rater) | (groups == spec.reference).to_numpy()
    # Counts may hold a table for each rater, by position.
    if keep.all() or any(text.startswith("Counts") for text in map(str, spec.priors.values())):
        return ratings, spec
    places = np.cumsum(keep) - 1
    fewer = replace(
        ratings,
        raters=ratings.raters[keep],
        rater=places[ratings.rater].astype(ratings.rater.dtype),
    )
    recipes = spec.raters
    if not isinstance(recipes, str):
        left = set(groups[keep])
        recipes = {group: recipe for group, recipe in recipes.items() if group in left}
    return fewer, replace(spec, raters=recipes)


def rated_by(ratings: Ratings, names: list[str]) -> Ratings:
    """Return the ratings by the given raters or rater groups; all items and panels stay."""
    raters = ratings.raters.index.astype(str)
    groups = ratings.raters["group"].astype(str)
    known = [*raters, *dict.fromkeys(groups)]
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"{name!r} is neither a rater nor a rater group; {suggest(name, known)}",
                code="unknown-rater",
            )
    chosen = raters.isin(names) | groups.isin(names).to_numpy()
    found = take_ratings(ratings, np.asarray(chosen)[ratings.rater])
    if not len(found.answers):
        raise RatingsError(
            f"the named raters ({', '.join(names)}) gave no ratings",
            code="no-rating-of-raters",
        )
    return found

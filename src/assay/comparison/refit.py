"""The same model again: on other ratings, or with one thing changed."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import xarray as xr

from assay._util.errors import FitWarning, RatingsError, UnknownNameError, suggest
from assay.data.ratings import Ratings, take_ratings
from assay.fits.datatree import spec_of
from assay.inference.fit import fit as fit_model
from assay.inference.settings import Effort
from assay.modelling.prior_names import prior_names
from assay.modelling.spec import Spec
from assay.modelling.structure import build_structure, used_priors

SHORT = Effort(draws=500, tune=500, chains=2)
"""Of one refit among many."""


def refit(
    fit: xr.DataTree, ratings: Ratings, effort: Effort, changes: Mapping[str, Any] | None = None
) -> tuple[xr.DataTree, list[str]]:
    """Fit the model of a fit to other ratings.

    Parameters
    ----------
    fit : xarray.DataTree
        Whose specification, method, starts and seed to take.
    ratings : Ratings
    effort : Effort
        Its draws, warm-up and chains.
    changes : mapping, optional
        Arguments of :func:`assay.fit` that differ, such as ``priors``.

    Returns
    -------
    fit : xarray.DataTree
    warnings : list of str
        What the fit warns of; the caller says it where its numbers stand.

    Notes
    -----
    Raters without a rating are left out, which changes no posterior but their own: given all else
    their numbers have their prior, which a sampler would have to explore.
    """
    other = dict(changes or {})
    specified = {f.name: other.pop(f.name) for f in fields(Spec) if f.name in other}
    ratings, spec = _rated(ratings, replace(spec_of(fit), **specified))
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
    """Leave out priors that the model does not know, or has no use for with these ratings."""
    known = prior_names(ratings, spec)
    spec = replace(spec, priors={k: prior for k, prior in spec.priors.items() if k in known})
    used = used_priors(build_structure(ratings, spec))
    return replace(spec, priors={k: prior for k, prior in spec.priors.items() if k in used})


def _rated(ratings: Ratings, spec: Spec) -> tuple[Ratings, Spec]:
    """Leave out raters without a rating, and the recipes of groups of them alone."""
    groups = ratings.raters["group"].astype(str)
    keep = np.isin(np.arange(len(groups)), ratings.rater) | (groups == spec.reference).to_numpy()
    # Counts may be a table for each rater, by place.
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
    """Return the ratings of some raters, or of rater groups; all items and panels stay.

    Raises
    ------
    UnknownNameError
        If a name is that of no rater and of no group.
    RatingsError
        If none of them has rated anything.
    """
    raters = ratings.raters.index.astype(str)
    groups = ratings.raters["group"].astype(str)
    known = [*raters, *dict.fromkeys(groups)]
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"{name!r}: no rater, no rater group; {suggest(name, known)}", code="unknown-rater"
            )
    chosen = raters.isin(names) | groups.isin(names).to_numpy()
    found = take_ratings(ratings, np.asarray(chosen)[ratings.rater])
    if not len(found.answers):
        raise RatingsError(
            f"no rating is by any of the raters named ({', '.join(names)})",
            code="no-rating-of-raters",
        )
    return found

"""Fits of one set: at the mode, or by NUTS with leave-one-out scores of the items."""

import json
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

import assay
from assay._util.errors import FitWarning
from assay.data.ratings import Ratings
from assay.fits.latent_states import sample_states
from assay.inference.density import make_density
from assay.inference.group_sds import maximise_group_sds
from assay.inference.mode_search import labels_kept
from assay.inference.optimise import equally_hard, hold, prior_centre, spreads_of
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

Floats = NDArray[np.float64]
Line = dict[str, Any]
NUTS: Line = {"draws": 300, "tune": 300, "chains": 2}
FEW = 400
"""Items up to which a set is sampled as ``fit`` does by default: four chains of 1,000 draws."""
BAD_K = 0.7
NAMED = ("misperceived", "hard_share", "difficulty_rate")
"""Parameters that are told beside the scores."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What a method says of a set.

    Attributes
    ----------
    probability : ndarray (item, class)
    line : dict
        How it was found: method, R-hat, effective sample size, seconds, ...
    elpd : ndarray (item,) or None
        Leave-one-out log predictive density of each item's ratings.
    gold_elpd : ndarray (item with gold,) or None
        The same of its gold, where some is given.
    """

    probability: Floats
    line: Line
    elpd: Floats | None = None
    gold_elpd: Floats | None = None


def at_mode(ratings: Ratings, recipe: str, reference: str | None = None) -> Found:
    """Probabilities at the mode above the centre of the prior, or above that without hard items.

    At the higher of the two; ``fit(method="map", starts=1)`` looks further, and for the widths.
    """
    start = time.perf_counter()
    structure = build_structure(ratings, make_spec(recipe, reference=reference))
    density = make_density(structure, threads=1)
    starts = [prior_centre(density), equally_hard(density)]
    peaks = [hold(density, start) for start in starts if start is not None]
    x, height = max(peaks, key=lambda peak: peak[1])
    settled = None
    if len(spreads_of(density)):
        settled = maximise_group_sds(density, x, labels_kept(structure, density, x))
    if settled is not None:
        x, _ = settled
        height = density(x)[0]
    values = {name: value[None] for name, value in density.constrain(x).items()}
    states = sample_states(structure, values, np.random.default_rng(0)).probabilities
    # A task with one label and no rules: a state is a class.
    line: Line = {"method": "map", "height": height, "values": density.size}
    point = {name: value[0] for name, value in values.items()}
    line["log_likelihood"] = structure.log_likelihood(point)
    line |= {name: float(values[name].ravel()[0]) for name in NAMED if name in values}
    line["seconds"] = time.perf_counter() - start
    return Found(probability=np.asarray(states), line=line)


def by_nuts(ratings: Ratings, recipe: str, seed: int, reference: str | None = None) -> Found:
    """Posterior probabilities of the classes, and leave-one-out by item."""
    start = time.perf_counter()
    effort = {} if len(ratings.items) <= FEW else NUTS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(
            ratings, raters=recipe, reference=reference, rng=seed, progress=False, **effort
        )
    said = json.loads(fit.attrs["diagnostics"])
    line: Line = {
        "method": "nuts",
        "r_hat": said["r_hat_max"],
        "ess": said["ess_min"],
        "divergences": said["divergences"],
    }
    posterior = fit["posterior"]
    line |= {name: float(posterior[name].mean()) for name in NAMED if name in posterior}
    elpd, summary = leave_one_out(fit)
    line |= summary | {"seconds": time.perf_counter() - start}
    gold_elpd = None
    if ratings.has_truth.any():
        foretold = assay.loo_gold(fit)
        gold_elpd = foretold.elpd_i.to_numpy()
        line["gold_bad_k"] = float((foretold.pareto_k > BAD_K).mean())
    probability = assay.label_probabilities(fit).to_numpy()[:, 0]
    return Found(probability=probability, line=line, elpd=elpd, gold_elpd=gold_elpd)


def leave_one_out(fit: xr.DataTree) -> tuple[Floats, Line]:
    """PSIS leave-one-out by item (Vehtari, Gelman & Gabry 2017)."""
    import arviz_stats

    compute: Any = arviz_stats.loo  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = compute(fit, pointwise=True)
    k = np.asarray(found.pareto_k).ravel()
    line = {"elpd": float(found.elpd), "elpd_se": float(found.se), "p_loo": float(found.p)}
    return np.asarray(found.elpd_i).ravel(), line | {"bad_k": float((k > BAD_K).mean())}

"""Would Pathfinder help? Its draws beside those of Laplace's approximation and of NUTS.

Three posteriors: the ratings of Dawid & Skene's Table 1, simulated ratings of the retrieval task,
and, if ``--ratings`` names it, a file of single labels (the table in the documentation has
snow_rte). Pathfinder is BlackJAX's (Zhang et al. 2022), on this package's density in JAX: one path
from the centre of the prior, and four paths with PSIS resampling where one takes less than ten
seconds. ``compiled_seconds`` is what
its evaluations alone would take on the density that the other methods use. Errors are those of the
probabilities that the model is about, in posterior SDs of NUTS.

    pip install blackjax
    python benchmarks/pathfinder.py --ratings snow_rte.csv --seed 1

writes ``docs/speed/pathfinder.csv``; posteriors that are there are not run again.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from price import beside

import assay
from assay.anesthesia import anesthesia_ratings
from assay.climbs import prior_centre
from assay.density import Density, make_density
from assay.fit_data import parameter_draws
from assay.jax_density import double_precision, make_jax_density
from assay.model import Structure, build_structure
from assay.ratings import Ratings
from assay.spec import make_spec

Floats = NDArray[np.float64]
FOLDER = Path(__file__).resolve().parents[1] / "docs" / "speed"
DRAWS = 1000
PATHS = 4
TRIED = 20
"""Draws from which each approximation along a path has its evidence estimated."""
MANY_BELOW = 10.0
"""Seconds of one path up to which four are run."""
LBFGS = {"maxiter": 60, "maxcor": 10, "ftol": 1e-8}


def studies(path: Path | None, seed: int) -> Iterator[tuple[str, Ratings]]:
    """Yield the ratings of each posterior."""
    yield "anesthesia", anesthesia_ratings()
    sizes = {"n_items": 300, "n_raters": 6, "n_clusters": 30, "n_systems": 2}
    yield (
        "retrieval, simulated",
        assay.simulate("retrieval", raters="hierarchical", rng=seed, **sizes),
    )
    if path is not None:
        yield path.parent.name, assay.read_ratings(path, task="single")


def quantities(structure: Structure, values: Mapping[str, Floats]) -> Floats:
    """Probabilities that the model is about, from its parameters (draw, ...): (draw, quantity)."""
    table = structure.prevalence.table(values, np)
    prevalence = structure.prevalence.marginal(table, np)
    found = [prevalence.reshape(len(prevalence), -1)]
    for part in structure.parts:
        right = np.diagonal(part.reliability(values), axis1=-2, axis2=-1)
        found.append(right.reshape(len(right), -1))
    every = np.concatenate(found, axis=1)
    return np.asarray(every[:, ~np.isnan(every).any(axis=0)], float)


def one_path(density: Density, function: Callable[..., Any], seed: int) -> tuple[Floats, float]:
    """Run Pathfinder once: draws, and the k-hat of their importance ratios."""
    pathfinder: Any = import_module("blackjax.vi.pathfinder")
    key, after = jax.random.split(jax.random.key(seed))
    start = prior_centre(density)
    state, _ = pathfinder.approximate(key, function, start, TRIED, **LBFGS)
    x, log_q = pathfinder.sample(after, state, DRAWS)
    return np.asarray(x), k_hat_of(jax.vmap(function)(x) - log_q)


def many_paths(density: Density, function: Callable[..., Any], seed: int) -> tuple[Floats, float]:
    """Run four paths from scattered starts, and resample their draws by PSIS."""
    module: Any = import_module("blackjax.vi.multipathfinder")
    noise = np.random.default_rng(seed).standard_normal((PATHS, density.size))
    starts = prior_centre(density) + 0.5 * noise
    run, after = jax.random.split(jax.random.key(seed))
    algorithm = module.as_top_level_api(function)
    state, _ = algorithm.init(run, starts, DRAWS // PATHS, **LBFGS)
    return np.asarray(algorithm.sample(after, state, DRAWS)), k_hat_of(state.logp - state.logq)


def k_hat_of(log_ratio: Any) -> float:
    """Shape of the tail of importance ratios."""
    from arviz_stats.base.array import BaseArray

    ratio = np.asarray(log_ratio, float).ravel()
    statistics: Any = BaseArray()
    # ArviZ takes what the ratios are the inverse of.
    return float(statistics.psislw(-np.where(np.isfinite(ratio), ratio, -1e300))[1])


def fit(ratings: Ratings, method: str, seed: int) -> tuple[xr.DataTree, float]:
    """Fit the default model: the fit, and the seconds it took."""
    started = time.perf_counter()
    chains = {"draws": DRAWS // 2, "chains": 2} if method == "laplace" else {"chains": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        found = assay.fit(
            ratings, raters="hierarchical", method=method, rng=seed, progress=False, **chains
        )
    return found, time.perf_counter() - started


def seconds_of_a_pass(density: Density) -> float:
    """Time one evaluation of this package's compiled density."""
    start = prior_centre(density)
    density(start)
    started = time.perf_counter()
    for _ in range(50):
        density(start)
    return (time.perf_counter() - started) / 50


def lines(name: str, ratings: Ratings, seed: int) -> Iterator[dict[str, Any]]:
    """Run all methods on one posterior, approximations twice: the second finds things compiled."""
    nuts, seconds = fit(ratings, "nuts", seed)
    structure = build_structure(ratings, make_spec("hierarchical", "loglinear"))
    reference = quantities(structure, parameter_draws(nuts))
    about = json.loads(nuts.attrs["diagnostics"])
    common = {"posterior": name, "seed": seed}
    yield common | {"method": "nuts", "again_seconds": seconds, "r_hat": about["r_hat_max"]}
    fit(ratings, "laplace", seed)
    laplace, seconds = fit(ratings, "laplace", seed)
    k_hat = json.loads(laplace.attrs["diagnostics"])["k_hat"]
    found = beside(quantities(structure, parameter_draws(laplace)), reference)
    yield common | {"method": "laplace", "again_seconds": seconds, "k_hat": k_hat} | found
    density, engine = make_density(structure), make_jax_density(structure)
    per_pass = seconds_of_a_pass(density)
    with double_precision():

        @jax.jit
        def function(x: Any) -> Any:
            return engine.function(engine.constants, x)

        taken: list[float] = []
        for method, run in (("pathfinder", one_path), ("pathfinder, 4 paths", many_paths)):
            if run is many_paths and taken[-1] > MANY_BELOW:
                continue
            taken = []
            for _ in range(2):
                started = time.perf_counter()
                x, k_hat = run(density, function, seed)
                taken.append(time.perf_counter() - started)
            line = {"method": method, "first_seconds": taken[0], "again_seconds": taken[1]}
            paths = 1 if run is one_path else PATHS
            line["compiled_seconds"] = paths * LBFGS["maxiter"] * TRIED * per_pass
            found = beside(quantities(structure, density.constrain(x)), reference)
            yield common | line | {"k_hat": k_hat} | found


def main() -> None:
    """Run every posterior and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ratings", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    asked = parser.parse_args()
    path = asked.folder / "pathfinder.csv"
    found = pd.read_csv(path).to_dict("records") if path.exists() else []
    for name, ratings in studies(asked.ratings, asked.seed):
        if any(line["posterior"] == name and line["seed"] == asked.seed for line in found):
            continue
        for line in lines(name, ratings, asked.seed):
            found.append(line)
        pd.DataFrame(found).to_csv(path, index=False, float_format="%.3g")


if __name__ == "__main__":
    main()

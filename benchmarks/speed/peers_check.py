"""Whether all sides have the same model: their log densities differ by a constant only."""

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import ROOT
from benchmarks.speed.peers_designs import Design, load_design, make_design
from benchmarks.speed.peers_numpyro import make_model, prepare
from benchmarks.speed.peers_side import PARAMETERS, Floats
from benchmarks.speed.peers_stan import stan_data

RATINGS = 1_000
POINTS = 5
TOLERANCE = 1e-8
"""Relative to the log densities, which the sides add up in different orders."""
PROGRAMS = ("peers.stan", "peers_loop.stan")


def points(raters: int, seed: int) -> list[dict[str, Floats]]:
    """Draw values of the parameters."""
    rng = np.random.default_rng(seed)
    return [
        {
            "logit_mean": rng.normal(1.5, 0.5, 2),
            "logit_sd": rng.uniform(0.3, 1.5, 2),
            "logit_offset": rng.standard_normal((raters, 2)),
            "prevalence": rng.dirichlet([5.0, 5.0]),
        }
        for _ in range(POINTS)
    ]


def assay_densities(design: Design, where: list[dict[str, Floats]]) -> list[float]:
    """Log density of this package, the Jacobians of its transforms taken off."""
    from assay.inference.density import make_density, unconstrain
    from assay.modelling.spec import make_spec
    from assay.modelling.structure import build_structure
    from benchmarks.speed.peers_assay import as_ratings

    ratings = as_ratings(design)
    density = make_density(build_structure(ratings, make_spec("hierarchical", "dirichlet")))
    order = ratings.raters.index.astype(int).to_numpy()
    found = []
    for point in where:
        values = {
            "state_share": point["prevalence"][None],
            "logit_mean": point["logit_mean"][None],
            "logit_sd": point["logit_sd"][None],
            "logit_offset": point["logit_offset"][order],
        }
        found.append(density(unconstrain(density, values))[0] - jacobian(point))
    return found


def jacobian(point: Mapping[str, Floats]) -> float:
    """Log Jacobian of positive SDs and of a simplex of two, up to a constant."""
    return float(np.log(point["logit_sd"]).sum() + np.log(point["prevalence"]).sum())


def stan_densities(program: str, design: Design, where: list[dict[str, Floats]]) -> list[float]:
    """Log density of a Stan program; its Jacobians are the same functions."""
    stan = import_module("stan")
    code = Path(__file__).with_name(program).read_text("utf-8")
    model = stan.build(code, data=stan_data(design), random_seed=1)
    found = []
    for point in where:
        free = model.unconstrain_pars({name: point[name].tolist() for name in PARAMETERS})
        found.append(model.log_prob(free) - jacobian(point))
    return found


def numpyro_densities(design: Design, where: list[dict[str, Floats]]) -> list[float]:
    """Log density of the NumPyro model at constrained values: no Jacobians."""
    prepare(1)
    log_density = import_module("numpyro.contrib.funsor").log_density
    jnp = import_module("jax.numpy")
    enum: Any = import_module("numpyro.contrib.funsor").enum
    model = enum(make_model(), first_available_dim=-3)
    data = (jnp.asarray(design.rater), jnp.asarray(design.answer), design.raters)
    found = []
    for point in where:
        values = {**point, "logit_decentered": point["logit_offset"]}
        del values["logit_offset"]
        found.append(float(log_density(model, data, {}, values)[0]))
    return found


def check_densities(
    peers_python: str, seed: int, folder: Path, environment: Mapping[str, str]
) -> int:
    """Compare the sides; return 0 if they agree, 1 if not."""
    design = make_design(RATINGS, seed)
    design.save(folder / "design.npz")
    ours = np.array(assay_densities(design, points(design.raters, seed)))
    command = [peers_python, "-m", "benchmarks.speed.peers_check"]
    command += [str(folder / "design.npz"), str(seed), str(folder / "found")]
    subprocess.run(command, cwd=ROOT, env=dict(environment), check=True, stdout=subprocess.DEVNULL)
    worst = 0.0
    for name, values in json.loads((folder / "found").read_text("utf-8")).items():
        gap = np.array(values) - ours
        error = float(np.ptp(gap) / np.abs(ours).max())
        sys.stdout.write(f"{name}: differs by {gap.mean():.6f}, +- {error:.1e} of the density\n")
        worst = max(worst, error)
    return int(worst > TOLERANCE)


def main() -> None:
    """Compute the peers' log densities, in their own interpreter."""
    design = load_design(Path(sys.argv[1]))
    where = points(design.raters, int(sys.argv[2]))
    found = {program: stan_densities(program, design, where) for program in PROGRAMS}
    found["numpyro"] = numpyro_densities(design, where)
    Path(sys.argv[3]).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()

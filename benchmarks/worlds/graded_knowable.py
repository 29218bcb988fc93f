"""Is graded evidence knowable? The model of its true form, fitted to the ratings alone.

    python -m benchmarks graded_knowable --sets 24 --seed 1

A world of the zoo is knowable if this model covers the true values in at least 0.90 of the cases,
at less than half of the prior's width. The sets are those of the zoo. The model has the evidence
of each item, with an ease for each query, a difference of systems and a slope by place. Each rater
has a threshold, drawn around 0, and noise; the SDs are estimated. Writes
``results/graded_knowable.csv``: a line per set and value, with the widths of oracle and vote.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import nutpie
import pandas as pd
import pymc as pm
import pytensor.tensor as pt

from benchmarks.worlds.zoo import draw_study, known_set
from benchmarks.worlds.zoo_worlds.catalogue import ZOO

TARGET = Path(__file__).resolve().parent / "results" / "graded_knowable.csv"
WORLD = "graded_evidence"


def arrays(study: Any) -> dict[str, np.ndarray]:
    """Return item, rater and answer of each rating."""
    frame = study.frame
    raters = sorted(frame["rater"].unique())
    return {
        "item": frame["item"].map(study.item_places).to_numpy(),
        "rater": frame["rater"].map(raters.index).to_numpy(),
        "yes": (frame["label"] == "yes").to_numpy().astype(np.int64),
    }


def true_form(study: Any) -> Any:
    """Return the compiled model; ratings of other sets can take the place of these."""
    sizes, given = study.sizes, arrays(study)
    with pm.Model() as model:
        item, rater = pm.Data("item", given["item"]), pm.Data("rater", given["rater"])
        yes = pm.Data("yes", given["yes"])
        base, slope = pm.Normal("base", 0, 1.5), pm.Normal("slope", 0, 0.5)
        difference = pm.Normal("difference", 0, 1)
        sd = pm.HalfNormal("sd", 1.5)
        ease = pm.Normal("ease", 0, 1, shape=sizes.clusters)
        noise = pm.Logistic("noise", 0, 1, shape=sizes.items)
        side = np.array([0.5, -0.5])[sizes.system]
        mean = base + difference * side + slope * sizes.place + sd * ease[sizes.cluster]
        evidence = pm.Deterministic("evidence", mean + noise)
        spread = pm.HalfNormal("spread", 1)
        threshold = pm.Deterministic(
            "threshold", spread * pm.Normal("offset", 0, 1, shape=sizes.raters)
        )
        blur = pm.LogNormal("blur", 0, 0.5, shape=sizes.raters)
        seen = (evidence[item] - threshold[rater]) / blur[rater]
        chance = pt.clip(pm.math.invprobit(seen), 1e-9, 1 - 1e-9)
        pm.Bernoulli("answer", p=chance, observed=yes)
    return nutpie.compile_pymc_model(model)


def lines_of(compiled: Any, seed: int, number: int) -> pd.DataFrame:
    """Fit one set: a line for the value of each system and their difference."""
    world = ZOO[WORLD]
    study, known = known_set(world, seed, number)
    trace = nutpie.sample(
        compiled.with_data(**arrays(study)), draws=500, tune=500, chains=2, cores=1,
        seed=number + 1, target_accept=0.9, progress_bar=False,
    )  # fmt: skip
    yes = trace.posterior["evidence"].to_numpy().reshape(1000, -1) > 0
    shares = [yes[:, study.sizes.system == k].mean(axis=1) for k in (0, 1)]
    found = []
    for part, draws in zip("abd", (*shares, shares[0] - shares[1]), strict=True):
        lower, upper = np.quantile(draws, [0.025, 0.975])
        truth = float(known[f"truth_{part}"].iloc[0])
        found.append(
            {
                "set": number, "seed": seed, "part": part, "truth": truth, "mean": draws.mean(),
                "lower": lower, "upper": upper, "held": lower <= truth <= upper,
                "width": upper - lower,
                "oracle_width": float(
                    known[f"oracle_{part}_upper"].iloc[0] - known[f"oracle_{part}_lower"].iloc[0]
                ),
                "vote_width": float(
                    known[f"vote_{part}_upper"].iloc[0] - known[f"vote_{part}_lower"].iloc[0]
                ),
                "divergences": int(trace.sample_stats["diverging"].sum()),
            }
        )  # fmt: skip
    return pd.DataFrame(found)


def main() -> None:
    """Fit the sets and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", type=Path, default=TARGET)
    chosen = parser.parse_args()
    compiled = true_form(draw_study(ZOO[WORLD], chosen.seed, 0))
    parts = []
    for number in range(chosen.sets):
        parts.append(lines_of(compiled, chosen.seed, number))
        pd.concat(parts).to_csv(chosen.file, index=False, float_format="%.5g")


if __name__ == "__main__":
    main()

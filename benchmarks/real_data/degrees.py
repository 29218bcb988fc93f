"""Difficulty by degrees beside easy and hard items: what it costs, how exact, and what it gains.

    python -m benchmarks degrees --data ../shared/data --seed 1 [--sets snow_rte zencrowd]

For each set the model without difficulty, the default, and the default with difficulty by degrees
are fitted by Laplace. Writes a line a set and model into ``results/degrees/``: ``exactness.csv``
(errors against a rule of many more nodes, at the mode and at 100 draws: of the log-likelihood of
all items, of the worst item, and of the gradient), ``costs.csv`` (CPU time of the density with its
gradient), and ``gold.csv`` (accuracy and log loss of the labels against gold, and on how many of
the classes the 95 % interval of the share holds that of the gold). With ``--nuts`` they are
sampled, into ``effective.csv``: CPU time an effective draw of the parameter that mixes worst.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import assay
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.inference.density import Density, make_density, unconstrain
from assay.likelihood.marginal import bundle_nodes
from assay.modelling import structure as structures
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure
from benchmarks.measuring import write_machine
from benchmarks.real_data.family_sets import SETS, read_gold_set
from benchmarks.real_data.real_sets import fit_timed, gold_scores, read_convabuse

Floats = NDArray[np.float64]
Line = dict[str, Any]
TARGET = Path(__file__).resolve().parent / "results" / "degrees"
PLAIN = (
    "carcinoma", "hiv_tests", "anesthesia", "fleiss_diagnoses", "caries", "pandalm", "xstest",
    "dices_350",
)  # fmt: skip
"""Sets of one label, read without gold."""
MANY = {
    "hs_brexit": ("hate_speech", "aggressive", "offensive"),
    "varierr_nli": ("entailment", "neutral", "contradiction"),
    "xsum_hallucination": ("hallucinated",),
}
"""Sets of several labels without rules."""
FINE = 80
"""Nodes of the rule that is taken for the truth."""
DRAWS = 100
NUTS: Line = {"method": "nuts", "draws": 300, "tune": 300, "chains": 2}
LAPLACE: Line = {"method": "laplace", "draws": 250, "chains": 2}


def read(data: Path, name: str, scratch: Path) -> Ratings:
    """Read one of the sets, without its gold."""
    if name in SETS:
        return read_gold_set(data, name).ratings
    if name == "convabuse":
        return read_convabuse(data)
    path = next(iter(sorted((data / name).glob("annotations.csv*"))))
    table = pd.read_csv(path, dtype=str)
    if name in PLAIN:
        names = [c for c in ("item", "rater", "label", "replicate") if c in table]
        again = "replicate" if "replicate" in names else None
        return assay.read_ratings(table[names].dropna(), task="single", replicate=again)
    labels = MANY[name]
    task = scratch / f"{name}.toml"
    every = (f'[[labels]]\nname = "{label}"\n' for label in labels)
    task.write_text(f'name = "{name}"\n' + "".join(every), encoding="utf-8")
    return assay.read_ratings(table[["item", "rater", *labels]], task=task)


def recipes(ratings: Ratings) -> dict[str, str]:
    """Return the recipes that are compared, by name."""
    two = all(len(label.classes) == 2 for label in ratings.task.labels)
    family = "hierarchical" if two else "ability_bias"
    return {
        "none": family,
        "classes": f"{family} + item_difficulty",
        "degrees": f"{family} + item_difficulty_continuous",
    }


def with_nodes(ratings: Ratings, recipe: str, count: int | None = None) -> Structure:
    """Build a model, with so many nodes of difficulty if the number is given."""
    if count is None:
        return build_structure(ratings, make_spec(recipe))
    with patch.object(structures, "node_count", lambda answers, longer: count):
        return build_structure(ratings, make_spec(recipe))


def cpu(step: Callable[[], object], times: int = 15) -> float:
    """Return the least CPU time of a step, in microseconds."""
    step()
    found = []
    for _ in range(times):
        start = time.process_time()
        for _ in range(3):
            step()
        found.append((time.process_time() - start) / 3e-6)
    return min(found)


def by_bundle(structure: Structure, values: dict[str, Floats]) -> Floats:
    """Log-likelihood of each item or cluster of items, as often as it is there."""
    tables: Any = [np.ascontiguousarray(t) for t in structure.tables(values, np).by_state()]
    data = structure.pattern.data
    value = bundle_nodes(*tables, structure.prevalence.log_weight, data)[0]
    return np.asarray(np.repeat(value, data.bundle_weight.astype(int)))


def exactness(ratings: Ratings, recipe: str, draws: list[dict[str, Floats]]) -> Line:
    """Largest errors over the draws."""
    few, many = (with_nodes(ratings, recipe, count) for count in (None, FINE))
    densities: list[Density] = [make_density(s, threads=1) for s in (few, many)]
    total, worst, slope, steep = [], [], [], []
    for values in draws:
        apart = by_bundle(few, values) - by_bundle(many, values)
        total.append(abs(apart.sum()))
        worst.append(np.abs(apart).max())
        x = unconstrain(densities[0], values)
        gradients = [density(x)[1] for density in densities]
        slope.append(np.abs(gradients[0] - gradients[1]).max())
        steep.append(np.abs(gradients[1]).max())
    return {
        "nodes": few.difficulty.classes,
        "most answers of an item": int(np.bincount(ratings.item).max()),
        "error, all items": max(total),
        "error, worst item": max(worst),
        "error, gradient": max(slope),
        "largest gradient": max(steep),
    }


def shares(fit: Any, known: NDArray[np.integer], gold: NDArray[np.integer], classes: int) -> Line:
    """Say on how many classes the interval of the share among items with gold holds the gold's."""
    drawn = assay.label_draws(fit).stack(sample=("chain", "draw")).to_numpy()
    drawn = drawn.reshape(len(drawn), -1, drawn.shape[-1])[known, 0]
    held, score = 0, []
    for k in range(classes):
        low, high = np.quantile((drawn == k).mean(axis=0), [0.025, 0.975])
        true = (gold[known] == k).mean()
        held += bool(low <= true <= high)
        score.append(high - low + 40 * (max(low - true, 0) + max(true - high, 0)))
    return {"classes": classes, "shares held": held, "interval score": float(np.mean(score))}


def by_nuts(data: Path, name: str, seed: int, scratch: Path) -> dict[str, list[Line]]:
    """Sample each model: CPU time of an effective draw, and what it says of the gold."""
    ratings, found = read(data, name, scratch), []
    for model, recipe in recipes(ratings).items():
        start = time.process_time()
        fit, said = fit_timed(ratings, raters=recipe, rng=seed, **NUTS)
        took = time.process_time() - start
        line: Line = {"set": name, "model": model, "r_hat": said["r_hat"], "ess": said["ess"]}
        line |= {"CPU seconds": took, "CPU ms a draw": 1e3 * took / said["ess"]}
        found.append(line | (_of_gold(data, name, fit) if name in SETS else {}))
    return {"effective": found}


def _of_gold(data: Path, name: str, fit: Any) -> Line:
    gold = read_gold_set(data, name).gold
    chance = assay.label_probabilities(fit).to_numpy()[:, 0]
    accuracy, loss = gold_scores(chance, gold)
    known = np.flatnonzero(gold != MISSING)
    return {"accuracy": accuracy, "log loss": loss} | shares(fit, known, gold, chance.shape[1])


def lines_of(data: Path, name: str, seed: int, scratch: Path) -> dict[str, list[Line]]:
    """Fit and measure one set."""
    ratings = read(data, name, scratch)
    found: dict[str, list[Line]] = {"costs": [], "gold": [], "exactness": []}
    cost: Line = {"set": name, "items": len(ratings.items), "ratings": len(ratings.answers)}
    for model, recipe in recipes(ratings).items():
        density = make_density(with_nodes(ratings, recipe), threads=1)
        x = np.full(density.size, 0.1)
        cost[model] = cpu(lambda density=density, x=x: density(x))
        start = time.process_time()
        fit, said = fit_timed(ratings, raters=recipe, rng=seed, **LAPLACE)
        took = time.process_time() - start
        line: Line = {"set": name, "model": model, "k_hat": said["k_hat"], "CPU seconds": took}
        posterior = fit["posterior"]
        for key in ("hard_share", "difficulty_rate"):
            if key in posterior:
                line[key] = float(posterior[key].mean())
        if name in SETS:
            line |= _of_gold(data, name, fit)
        found["gold"].append(line)
        if model == "degrees":
            flat = {
                k: v.to_numpy().reshape(-1, *v.shape[2:]) for k, v in posterior.data_vars.items()
            }
            wanted = {p.name for p in density.parameters}
            draws = [{k: v[n] for k, v in flat.items() if k in wanted} for n in range(DRAWS)]
            found["exactness"].append({"set": name, **exactness(ratings, recipe, draws)})
    cost["classes / none"], cost["degrees / none"] = (
        cost[model] / cost["none"] for model in ("classes", "degrees")
    )
    found["costs"].append(cost)
    return found


def main() -> None:
    """Run the sets, and add their lines to the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sets", nargs="+", default=[*PLAIN, *MANY, *SETS, "convabuse"])
    parser.add_argument("--target", type=Path, default=TARGET)
    parser.add_argument("--nuts", action="store_true", help="sample, into effective.csv")
    given = parser.parse_args()
    measure = by_nuts if given.nuts else lines_of
    given.target.mkdir(parents=True, exist_ok=True)
    scratch = given.target / "build"
    scratch.mkdir(exist_ok=True)
    for name in given.sets:
        for table, lines in measure(given.data, name, given.seed, scratch).items():
            path = given.target / f"{table}.csv"
            new = pd.DataFrame(lines)
            if path.exists():
                before = pd.read_csv(path)
                new = pd.concat([before[before["set"] != name], new])
            new.to_csv(path, index=False, float_format="%.5g")
        sys.stdout.write(f"{name}\n")
    write_machine(given.target / "versions.json", "difficulty by degrees")


if __name__ == "__main__":
    main()

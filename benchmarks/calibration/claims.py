"""Whether outputs are right as often as they say: claims beside what is so in simulated sets.

Each study draws sets of ratings from a model (parameters from its prior, or planted), fits them,
and notes what an output states with a probability, and whether it is so: an interval of 95 %
states 0.95. Claims of one bin of the stated probability are averaged; ``z`` is the difference of
what is so and what was stated over its standard error: the larger of that of independent claims and
that of independent sets, whose claims are not.

    python -m benchmarks claims --study kinds drift --sets 100 --seed 1

replaces the lines of these studies in ``results/claims_worlds.csv`` (by world) and
``claims.csv`` (all worlds together that the fitted model and its prior made, and all others).
"""

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.calibration import claims_raters, claims_studies

FOLDER = Path(__file__).resolve().parent / "results"
STUDIES = claims_raters.STUDIES | claims_studies.STUDIES | claims_raters.LATER
EDGES = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)
TABLES = {
    "claims_worlds.csv": ["study", "world", "claim"],
    "claims.csv": ["study", "parameters", "claim"],
}
"""Files, and what stands in one line of them but for the bin."""


def run(study: str, world: str, number: int, seed: int) -> list[dict[str, object]]:
    """One set: a line per claim."""
    function, worlds = STUDIES[study]
    places = list(STUDIES).index(study), list(worlds).index(world)
    rng = np.random.default_rng([seed, number, *places])
    return [
        {
            "study": study,
            "world": world,
            "parameters": "planted" if worlds[world].plant or worlds[world].made_by else "prior",
            "claim": claim.what,
            "set": number,
            "stated": claim.stated,
            "so": float(claim.so),
        }
        for claim in function(worlds[world], rng)
    ]


def summary(lines: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Stated and true shares, by ``keys`` and bin of what was stated."""
    place = np.digitize(lines["stated"], EDGES[1:-1])
    names = np.array([f"{a:g}-{b:g}" for a, b in pairwise(EDGES)])
    single = lines.groupby(keys)["stated"].transform("nunique") <= 1
    lines = lines.assign(
        bin=np.where(single, "", names[place]),
        excess=lines["so"] - lines["stated"],
        expected=lines["stated"] * (1 - lines["stated"]),
    )
    groups = lines.groupby([*keys, "bin"], sort=False)
    by_set = lines.groupby([*keys, "bin", "world", "set"], sort=False)["excess"].sum(min_count=1)
    robust = (by_set**2).groupby([*keys, "bin"], sort=False).sum(min_count=1)
    spread = np.maximum(robust, groups["expected"].sum()) ** 0.5
    sets = by_set.groupby([*keys, "bin"], sort=False).size()
    found = groups.agg(claims=("so", "size"), stated=("stated", "mean"), so=("so", "mean"))
    found.insert(0, "sets", sets)
    found["z"] = groups["excess"].sum(min_count=1) / spread.where(spread > 0)
    found = found.reset_index()
    order = found["bin"].map({name: n for n, name in enumerate(names)})
    block = found.groupby(keys, sort=False).ngroup()
    return found.iloc[np.lexsort([order, block])].reset_index(drop=True)


def write(lines: pd.DataFrame, study: str, seed: int, folder: Path) -> None:
    """Replace the lines of a study in both tables."""
    for name, keys in TABLES.items():
        found, path = summary(lines, keys).assign(seed=seed), folder / name
        if path.exists():
            old = pd.read_csv(path)
            every = pd.concat([old[old["study"] != study], found])
            rank = every["study"].map(list(STUDIES).index)
            found = every.iloc[np.argsort(rank, kind="stable")]
        found.to_csv(path, index=False, float_format="%.4g")


def main() -> None:
    """Run what the command line asks for; the tables are written after each world."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", nargs="+", default=list(STUDIES), choices=list(STUDIES))
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    for study in chosen.study:
        lines: list[dict[str, object]] = []
        for world in STUDIES[study][1]:
            for number in range(chosen.sets):
                lines += run(study, world, number, chosen.seed)
            write(pd.DataFrame(lines), study, chosen.seed, chosen.folder)


if __name__ == "__main__":
    main()

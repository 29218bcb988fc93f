"""How often the detectors of ``check`` speak: without a reason, and with one.

Each world of :mod:`departure_worlds`, and three of the zoo, is drawn ``--sets`` times. A false
alarm is any code in a world without a fault; power is how often the code of a fault comes up in
its world.

    python -m benchmarks departures --sets 100 --seed 1

writes ``results/departures.csv``, a line for each world and code, with exact 95 % bounds, and
``results/departures_summary.csv``, a line for each world.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from assay.checks.departures.report import MEANINGS
from assay.checks.departures.search import search
from assay.checks.departures.teams import separate_teams
from benchmarks.worlds.departure_worlds import FAULTLESS, Draw
from benchmarks.worlds.departure_worlds import FAULTS as PLANTED
from benchmarks.worlds.zoo import read
from benchmarks.worlds.zoo_worlds.catalogue import ZOO

OUT = Path(__file__).resolve().parent / "results" / "departures.csv"
SUMMARY = OUT.with_name("departures_summary.csv")
ANY = "any"


def _of_zoo(name: str) -> Draw:
    world = ZOO[name]
    return lambda rng: read(world.draw(rng, world.sizes))


ALL_BY_SYSTEM = ("all_trust_one", "errors_hard_to_see", "one_system_unclear")
"""Worlds of the zoo in which all raters judge one system otherwise."""
FAULTS = PLANTED | {name: ("all-raters-by-system", _of_zoo(name)) for name in ALL_BY_SYSTEM}


def spoken(world: str, sets: int, seed: int) -> tuple[Counter[str], float]:
    """Count how often each code comes up in a world, and the seconds a set."""
    draw = FAULTLESS[world] if world in FAULTLESS else FAULTS[world][1]
    found: Counter[str] = Counter()
    taken = 0.0
    for number in range(sets):
        ratings = draw(np.random.default_rng([seed, number]))
        start = time.process_time()
        codes = {one.code for one in search(ratings).found}
        codes |= {"separate-teams"} if separate_teams(ratings) else set()
        taken += time.process_time() - start
        found.update([*codes, *([ANY] if codes else [])])
    return found, taken / sets


def lines(world: str, sets: int, seed: int) -> list[dict[str, object]]:
    """Return a line for each code."""
    found, seconds = spoken(world, sets, seed)
    told = []
    for code in (*MEANINGS, "separate-teams", ANY):
        bounds = binomtest(found[code], sets).proportion_ci()
        told.append({
            "world": world, "fault": FAULTS[world][0] if world in FAULTS else "", "code": code,
            "spoke": found[code], "sets": sets, "lower": bounds.low, "upper": bounds.high,
            "seconds": round(seconds, 2), "seed": seed,
        })  # fmt: skip
    return told


def summed(table: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each world: how often its fault was named, and how often another."""
    found = []
    for world, part in table.groupby("world", sort=False):
        spoke, sets = part.set_index("code")["spoke"], int(part["sets"].iloc[0])
        fault = FAULTS[str(world)][0] if world in FAULTS else ""
        bounds = part.set_index("code").loc[fault or ANY, ["lower", "upper"]]
        others = spoke.drop([ANY, *([fault] if fault else [])])
        found.append({
            "world": world, "fault": fault, "sets": sets,
            "fault named": spoke[fault] if fault else "", "any code": spoke[ANY],
            "95 % bounds": f"{bounds['lower']:.2f} to {bounds['upper']:.2f}",
            "most often besides": others.idxmax() if others.max() else "",
            "times": others.max(), "CPU seconds": part["seconds"].iloc[0],
        })  # fmt: skip
    return pd.DataFrame(found)


def main(given: Sequence[str] | None = None) -> None:
    """Run the worlds that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worlds", nargs="*", default=[*FAULTLESS, *FAULTS])
    chosen = parser.parse_args(given)
    parts = []
    for world in chosen.worlds:
        parts += lines(world, chosen.sets, chosen.seed)
        table = pd.DataFrame(parts)
        old = pd.read_csv(OUT) if OUT.exists() else table.iloc[:0]
        table = pd.concat([old[~old["world"].isin(table["world"])], table])
        table.to_csv(OUT, index=False, float_format="%.3f")
        summed(table).to_csv(SUMMARY, index=False)
        said = {line["code"]: line["spoke"] for line in parts if line["world"] == world}
        sys.stdout.write(f"{world}: {said}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

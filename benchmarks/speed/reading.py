"""A million ratings read from CSV, Parquet and nested JSON: seconds and memory.

    python -m benchmarks reading           # about a minute; writes results/reading.csv

Each file is read in a process of its own. CPU seconds are those of one core.
"""

import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import assay

RESULTS = Path(__file__).resolve().parent / "results" / "reading.csv"
RATINGS, EACH, RATERS, SEED = 1_000_000, 5, 500, 20261126
LIMITS = {"csv": 10, "parquet": 10, "json": 60}
"""Seconds that each kind of file may take."""
MOST_MEMORY = 4.0
"""Gigabytes."""


def simulate() -> pd.DataFrame:
    """Return ratings of three classes, with the seconds that each took."""
    rng = np.random.default_rng(SEED)
    item = np.repeat(np.arange(RATINGS // EACH), EACH)
    rater = (item * 7 + np.tile(np.arange(EACH), RATINGS // EACH)) % RATERS
    return pd.DataFrame(
        {
            "item": np.char.add("item-", item.astype(str)),
            "rater": np.char.add("rater-", rater.astype(str)),
            "label": rng.choice(["negative", "neutral", "positive"], RATINGS),
            "seconds": rng.gamma(4, 5, RATINGS).round(1),
        }
    )


def write(frame: pd.DataFrame, folder: Path) -> None:
    """Write the ratings to a file of each kind; the JSON has the ratings of an item in a list."""
    frame.to_csv(folder / "ratings.csv", index=False)
    frame.to_parquet(folder / "ratings.parquet")
    rows = frame.to_numpy()
    with (folder / "ratings.json").open("w", encoding="utf-8") as file:
        file.write('{"version": 1, "tasks": [')
        for n in range(0, RATINGS, EACH):
            ratings = [
                {"rater": {"id": rater}, "label": label, "seconds": seconds}
                for _, rater, label, seconds in rows[n : n + EACH]
            ]
            record = {"id": rows[n, 0], "data": {"text": "a text " * 4}, "ratings": ratings}
            file.write((", " if n else "") + json.dumps(record))
        file.write("]}")


def read_one(path: Path) -> dict[str, float]:
    """Read a file in this process."""
    begin, cpu = time.perf_counter(), time.process_time()
    ratings = assay.read_ratings(path)
    taken = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu}
    assert len(ratings.answers) == RATINGS
    return taken | {
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "file_megabytes": path.stat().st_size / 1e6,
    }


def main() -> None:
    """Measure every kind of file, and write the table."""
    if len(sys.argv) > 2 and sys.argv[-2] == "--one":
        sys.stdout.write(json.dumps(read_one(Path(sys.argv[-1]))))
        return
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        write(simulate(), Path(folder))
        for kind in LIMITS:
            command = [sys.executable, "-m", "benchmarks.speed.reading", "--one"]
            done = subprocess.run(
                [*command, f"{folder}/ratings.{kind}"], check=True, capture_output=True, text=True
            )
            found = {name: round(value, 2) for name, value in json.loads(done.stdout).items()}
            lines.append({"file": kind, "ratings": RATINGS, **found})
            assert found["cpu_seconds"] <= LIMITS[kind]
            assert found["gigabytes"] <= MOST_MEMORY
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()

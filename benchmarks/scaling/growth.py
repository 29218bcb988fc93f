"""How time and memory grow with items, states and raters: the fused pass, EM, Laplace.

    python -m benchmarks growth --seed 1

adds a line for each measurement to ``results/growth.csv`` (measurements that are there are not
made again), and from them writes ``exponents.csv`` and ``growth.png``. ``--largest 100000`` leaves
out what is larger along an axis, ``--summary`` measures nothing. Each measurement is a process of
its own that is ended after ``--limit`` seconds; what is larger along that axis is then left out.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measuring import ROOT, write_machine
from benchmarks.scaling.growth_point import WORKS

FOLDER = Path(__file__).resolve().parent / "results"
AXES: dict[str, tuple[int, ...]] = {
    "items": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "states": (4, 9, 36, 100, 324, 1_024),
    "raters": (5, 20, 100, 500, 2_000, 10_000),
}
REST = {
    "items": {"states": 2, "raters": 200},
    "states": {"items": 500, "raters": 20},
    "raters": {"items": 30_000, "states": 2},
}
"""What is held fixed along each axis; three ratings an item, however many raters share them."""
COSTS = {"seconds": "seconds", "added_megabytes": "megabytes added"}
FLOOR = {"seconds": 1e-9, "added_megabytes": 1.0}
"""What is less counts as so much: the page size and the allocator decide it."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One measurement."""

    work: str
    axis: str
    value: int

    def command(self, seed: int) -> list[str]:
        """Command line of its process."""
        sizes = {**REST[self.axis], self.axis: self.value, "seed": seed}
        options = [text for name, size in sizes.items() for text in (f"--{name}", str(size))]
        return [sys.executable, "-m", "benchmarks.scaling.growth_point", self.work, *options]


def points(table: pd.DataFrame, largest: int, seed: int) -> Iterator[Point]:
    """Yield what is not in the table yet, small before large."""
    done = set(table.loc[table["seed"] == seed, ["work", "axis", "value"]].itertuples(index=False))
    for work in WORKS:
        for axis, values in AXES.items():
            for value in values:
                if value <= largest and (work, axis, value) not in done:
                    yield Point(work=work, axis=axis, value=value)


def measure(point: Point, seed: int, limit: float) -> dict[str, Any]:
    """Measure one point; no seconds where it took too long or ran out of memory."""
    line = {"work": point.work, "axis": point.axis, "value": point.value, "seed": seed}
    try:
        done = subprocess.run(
            point.command(seed), cwd=ROOT, stdout=subprocess.PIPE, timeout=limit, check=True
        )
    except subprocess.TimeoutExpired:
        return {**line, "failed": f"more than {limit:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {**line, "failed": f"status {error.returncode}"}
    return {**line, "failed": "", **json.loads(done.stdout)}


def read_table(path: Path) -> pd.DataFrame:
    """Read what was measured so far."""
    if not path.exists():
        return pd.DataFrame(columns=["work", "axis", "value", "seed", "failed"])
    return pd.read_csv(path, dtype={"failed": str}).fillna({"failed": ""})


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    r"""Slopes of cost against size, logarithms of both, over the upper half of the sizes.

    .. math:: b = \frac{\sum_k (x_k - \bar x)(y_k - \bar y)}{\sum_k (x_k - \bar x)^2},
              \quad x_k = \log \text{size}_k, \; y_k = \log \text{cost}_k
    """
    lines = []
    measured = table[table["failed"] == ""]
    for (work, axis), found in measured.groupby(["work", "axis"]):
        upper = found.sort_values("value").iloc[(len(found) - 1) // 2 :]
        if len(upper) < 2:
            continue
        x = np.log(upper["value"].astype(float))
        slopes = {
            cost: np.polyfit(x, np.log(upper[cost].clip(lower=FLOOR[cost])), 1)[0] for cost in COSTS
        }
        lines.append(
            {
                "work": work,
                "axis": axis,
                "from": upper["value"].min(),
                "to": upper["value"].max(),
                "exponent_of_seconds": slopes["seconds"],
                "exponent_of_memory": slopes["added_megabytes"],
                "seconds_at_largest": upper["seconds"].iloc[-1],
                "megabytes_at_largest": upper["added_megabytes"].iloc[-1],
            }
        )
    return pd.DataFrame(lines)


def draw_figure(table: pd.DataFrame, path: Path) -> None:
    """Draw time and memory against each axis, logarithmic both ways."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(len(COSTS), len(AXES), figsize=(9, 5.2), layout="constrained")
    measured = table[table["failed"] == ""]
    for row, (cost, words) in zip(panels, COSTS.items(), strict=True):
        for panel, axis in zip(row, AXES, strict=True):
            for work, found in measured[measured["axis"] == axis].groupby("work"):
                ordered = found.sort_values("value")
                height = ordered[cost].clip(lower=FLOOR[cost])
                panel.plot(ordered["value"], height, "o-", label=str(work), markersize=3)
            panel.set(xscale="log", yscale="log", xlabel=axis)
        row[0].set_ylabel(words)
    handles, names = max(
        (p.get_legend_handles_labels() for p in panels.flat), key=lambda h: len(h[1])
    )
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Read the command line, measure what is missing, summarise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, default=max(max(v) for v in AXES.values()))
    parser.add_argument("--limit", type=float, default=900.0, help="seconds of a measurement")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    path = chosen.folder / "growth.csv"
    table = read_table(path)
    if not chosen.summary:
        write_machine(chosen.folder / "versions.json", "growth")
    given_up: set[tuple[str, str]] = set()
    for point in [] if chosen.summary else points(table, chosen.largest, chosen.seed):
        if (point.work, point.axis) in given_up:
            continue
        line = measure(point, chosen.seed, chosen.limit)
        if line["failed"]:
            given_up.add((point.work, point.axis))
        table = pd.concat([table, pd.DataFrame([line])], ignore_index=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(path, index=False, float_format="%.5g")
    exponents(table).to_csv(chosen.folder / "exponents.csv", index=False, float_format="%.3g")
    draw_figure(table, chosen.folder / "growth.png")


if __name__ == "__main__":
    main()

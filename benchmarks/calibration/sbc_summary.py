"""Judge the ranks that ``sbc.py`` wrote: bands, coverage, two tables and figures.

    python -m benchmarks sbc_summary

writes ``results/sbc_summary.csv`` (a line per run and kind of quantity), ``sbc_quantities.csv`` (a
line per quantity) and the figure of one run; with ``--figures FOLDER`` those of all runs.

For every quantity: is the ECDF of its ranks inside the simultaneous 99 % band (Sailynoja et al.
2022), and is the coverage of its central 95 % intervals inside the exact 99 % binomial region, with
Holm's correction over the quantities of a run? Coverage counts ranks, with ties broken at random:
metrics of a few items are discrete, and closed intervals of discrete quantities cover more.
"""

import argparse
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

FOLDER = Path(__file__).resolve().parent / "results"
RANKS = 100
BAND = 0.99
SHOWN = "sbc_hierarchical_retrieval"
"""The run whose figure the page shows."""


@cache
def band(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, lower and upper end of the simultaneous band of an ECDF of so many ranks."""
    from arviz_stats.ecdf_utils import ecdf_pit

    uniform = np.random.default_rng(1).random(count)
    points, _, lower, upper = ecdf_pit(uniform, BAND, 2000, rng=np.random.default_rng(1))
    return points, lower, upper


def judge(table: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """Make a line per quantity: outside the band or not, coverage and its p-value.

    A quantity that is undefined in more than half of the replicates is not judged: it stands at
    the end without numbers.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for column in [c for c in table.columns if c.startswith("rank:")]:
        name = column.removeprefix("rank:")
        ranks = table[column].dropna().to_numpy()
        if len(ranks) < len(table) / 2:
            rows.append({"quantity": name, "kind": kind_of(name), "replicates": len(ranks)})
            continue
        pit = np.sort((ranks + rng.random(len(ranks))) / RANKS)
        points, lower, upper = band(len(ranks))
        ecdf = np.searchsorted(pit, points, side="right") / len(pit)
        inside = table[f"inside:{name}"][table[column].notna()]
        hits = int(((pit >= 0.025) & (pit <= 0.975)).sum())
        rows.append(
            {
                "quantity": name,
                "kind": kind_of(name),
                "replicates": len(ranks),
                "largest ECDF difference": np.abs(ecdf - points).max(),
                "inside 99 % band": bool(((ecdf >= lower - 1e-12) & (ecdf <= upper + 1e-12)).all()),
                "coverage": hits / len(ranks),
                "coverage of closed intervals": inside.mean(),
                "p": binomtest(hits, len(ranks), 0.95).pvalue,
            }
        )
    found = pd.DataFrame(rows).sort_values("p").reset_index(drop=True)
    steps = found["p"] * (found["p"].notna().sum() - np.arange(len(found)))
    found["p (Holm)"] = np.minimum(np.maximum.accumulate(steps), 1)
    return found


def kind_of(name: str) -> str:
    """Say whether a quantity is a parameter, a metric, a contrast or the log-likelihood."""
    if name == "log likelihood":
        return "log-likelihood"
    if "system_2 - system_1" in name:
        return "contrast"
    return "metric" if " system_" in name else "parameter"


def draw(table: pd.DataFrame, found: pd.DataFrame, title: str, file: Path) -> None:
    """Draw ECDF differences of all quantities in one panel for each kind."""
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(1)
    kinds = ["parameter", "metric", "contrast", "log-likelihood"]
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.2), sharey=True, layout="constrained")
    for axis, kind in zip(axes, kinds, strict=True):
        judged = found[(found["kind"] == kind) & found["p"].notna()]
        for name in judged["quantity"]:
            ranks = table[f"rank:{name}"].dropna().to_numpy()
            pit = (ranks + rng.random(len(ranks))) / RANKS
            points = np.linspace(0, 1, 201)
            ecdf = np.searchsorted(np.sort(pit), points, side="right") / len(pit)
            axis.plot(points, ecdf - points, color="#33658a", alpha=0.35, linewidth=0.8)
        points, lower, upper = band(len(table))
        axis.fill_between(points, lower - points, upper - points, color="#f6ae2d", alpha=0.3)
        axis.set_title(f"{kind} ({len(judged)})", fontsize=10)
        axis.set_xlabel("fractional rank")
    axes[0].set_ylabel("ECDF - uniform")
    figure.suptitle(f"{title}: {len(table)} replicates, simultaneous 99 % band of one quantity")
    figure.savefig(file, dpi=110)
    plt.close(figure)


def main() -> None:
    """Summarize every run in the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", type=Path, help="folder for the figures of all runs")
    figures = parser.parse_args().figures
    overall, quantities = [], []
    for path in sorted(FOLDER.glob("sbc_*_*.csv.gz")):
        table = pd.read_csv(path)
        found = judge(table)
        name = path.name.removesuffix(".csv.gz")
        title = name.removeprefix("sbc_").replace("_", " ")
        quantities.append(found.round(4).assign(run=title))
        if name == SHOWN or figures is not None:
            draw(table, found, title, (figures or FOLDER) / f"{name}.png")
        for kind, whole in found.groupby("kind"):
            part = whole[whole["p"].notna()]
            overall.append(
                {
                    "run": title,
                    "kind": kind,
                    "replicates": len(table),
                    "quantities": len(part),
                    "not judged": len(whole) - len(part),
                    "outside the 99 % band": int((part["inside 99 % band"] == False).sum()),  # noqa: E712
                    "expected outside": round(0.01 * len(part), 2),
                    "lowest coverage": round(part["coverage"].min(), 3),
                    "highest coverage": round(part["coverage"].max(), 3),
                    "mean coverage": round(part["coverage"].mean(), 4),
                    "closed intervals": round(part["coverage of closed intervals"].mean(), 4),
                    "smallest p (Holm)": round(part["p (Holm)"].min(), 4),
                }
            )
    pd.DataFrame(overall).to_csv(FOLDER / "sbc_summary.csv", index=False)
    every = pd.concat(quantities)
    every.insert(0, "run", every.pop("run"))
    every.to_csv(FOLDER / "sbc_quantities.csv", index=False)


if __name__ == "__main__":
    main()

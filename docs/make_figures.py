"""Make the figures of the README: python docs/make_figures.py.

They show the SIMULATED part of ``assay demo`` with its default seed.
"""

import re
from io import StringIO
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console

from assay.cli.demo import (
    EFFORT,
    METHODS,
    QUERIES,
    SimulatedStudy,
    simulated_fit,
    simulated_metrics_table,
    simulated_study,
)

FOLDER = Path(__file__).parent / "figures"
# Colours that people with any colour vision can tell apart (Okabe & Ito).
COLOURS = {"posterior": "#0072B2", "majority vote": "#D55E00"}
NAMES = {
    "posterior": "assay: posterior mean, 95% interval",
    "majority vote": "majority vote, 95% cluster bootstrap",
}


def main() -> None:
    """Fit the SIMULATED study and write both figures."""
    study = simulated_study(simulated_fit(EFFORT))
    FOLDER.mkdir(exist_ok=True)
    draw_metrics(study, FOLDER / "demo_metrics.png")
    draw_table(study, FOLDER / "demo.svg")


def draw_metrics(study: SimulatedStudy, path: Path) -> None:
    """Draw each metric's truth, posterior and majority vote."""
    table = study.metrics.loc["finite"]
    figure = Figure(figsize=(9, 6.2), layout="constrained")
    axes = figure.subplots()
    names = [f"{study.titles[metric]}   {system}" for metric, system in table.index]
    for method, shift in zip(METHODS, (-0.16, 0.16), strict=True):
        _draw_intervals(axes, table[method], shift, method)
    truths = axes.scatter(
        table["truth", "value"], range(len(table)), marker="D", color="black", s=28, zorder=3
    )
    truths.set_label("truth of these items (known: SIMULATED)")
    axes.set_yticks(range(len(table)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title(
        f"SIMULATED: 2 systems, {QUERIES} queries, 6 raters, a third of items rated three times",
        loc="right", fontsize=11,
    )  # fmt: skip
    axes.set_xlabel("metric, estimand finite (these items)")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.savefig(path, dpi=150)


def _draw_intervals(axes: Axes, lines: pd.DataFrame, shift: float, method: str) -> None:
    axes.errorbar(
        lines["mean"],
        [n + shift for n in range(len(lines))],
        xerr=[lines["mean"] - lines["lower"], lines["upper"] - lines["mean"]],
        fmt="o", ms=5, lw=2, color=COLOURS[method], label=NAMES[method],
    )  # fmt: skip


def draw_table(study: SimulatedStudy, path: Path) -> None:
    """Write the table that the demo prints."""
    console = Console(record=True, width=82, file=StringIO(), highlight=False)
    console.print(simulated_metrics_table(study, "finite"))
    drawing = console.export_svg(title="assay demo (SIMULATED)")
    # The reader's own monospaced font will do: a figure that fetches one does not stand alone.
    path.write_text(re.sub(r"@font-face\s*{[^}]*}", "", drawing), encoding="utf-8")


if __name__ == "__main__":
    main()

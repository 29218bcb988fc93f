"""The figure of ``sign_that_turns``: one hundred in detail, then all of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from assay.plots.style import COLOURS, RC, bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Line = Any
"""A mapping or a row with ``difference``, ``lower`` and ``upper``."""
SHOWN = {
    "default model": ("judge and people,\none error rate per rater", "second", "D"),
    "people alone": ("people alone\n(100 answers)", "fourth", "s"),
    "assay": ("judge and people,\nbias by system", "first", "o"),
}
"""Name, colour and marker of each approach, in the order of the rows from the judge downwards."""
JUDGE = ("judge alone\n(900 answers)", "muted", "^")
LETTERS = 11.0
POINTS = 100


def draw_figure(runs: pd.DataFrame, judge: Line, gold: float, path: Path) -> None:
    """Draw the difference by each approach: left the first hundred, right every hundred.

    Parameters
    ----------
    runs : pandas.DataFrame
        Lines of ``runs.csv``.
    judge : mapping
        The judge alone: ``difference``, ``lower``, ``upper``.
    gold : float
        The difference in truth.
    path : Path
        Of the PNG.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    runs = runs[(runs["of"] == "answers") & (runs["estimand"] == "finite")]
    letters = {name: LETTERS for name in RC if name.endswith("size")}
    with mpl.rc_context({**RC, **letters}):
        figure = Figure(figsize=(10, 5.4), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.25), sharex=True)
        first = runs[runs["hundred"] == runs["hundred"].min()].set_index("approach")
        for place, name in enumerate(("judge", *SHOWN)):
            colour, marker = (JUDGE if name == "judge" else SHOWN[name])[1:]
            line = judge if name == "judge" else first.loc[name]
            _draw_interval(left, line, place, COLOURS[colour], marker)
            every = runs[runs["approach"] == name].sort_values("hundred")
            for step, (_, one) in zip(_steps(len(every)), every.iterrows(), strict=True):
                _draw_interval(right, one, place + step, COLOURS[colour], marker, small=True)
            if name == "judge":
                _draw_interval(right, judge, place, COLOURS[colour], marker)
        names = [JUDGE[0], *(label for label, _, _ in SHOWN.values())]
        left.set_yticks(range(len(names)), names)
        right.set_yticks([])
        left.set_title("One random hundred", loc="left", fontsize=LETTERS + 1)
        count = runs["hundred"].nunique()
        right.set_title(f"{count} random hundreds", loc="left", fontsize=LETTERS + 1)
        for axes in (left, right):
            _dress(axes, gold, len(names))
        left.annotate(
            f"gold {POINTS * gold:+.1f}", (POINTS * gold, -0.55), color=COLOURS["third"],
            ha="left", va="center", xytext=(5, 0), textcoords="offset points", weight="bold",
        )  # fmt: skip
        figure.supxlabel(
            "compliance of gpt4 minus mistralguard, percentage points (95 % intervals)",
            fontsize=LETTERS,
        )
        figure.savefig(path, dpi=160)


def _steps(count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Where the intervals of one approach lie around their row."""
    return np.linspace(-0.36, 0.36, count)


def _draw_interval(
    axes: "Axes", line: Line, at: float, colour: str, marker: str, *, small: bool = False
) -> None:
    low, mid, high = (POINTS * line[name] for name in ("lower", "difference", "upper"))
    axes.plot([low, high], [at, at], color=colour, lw=1.3 if small else 2.8, solid_capstyle="butt")
    axes.plot(mid, at, marker, color=colour, ms=2.6 if small else 8)


def _dress(axes: "Axes", gold: float, rows: int) -> None:
    bare(axes)
    axes.set_ylim(rows - 0.4, -0.75)
    axes.axvline(0, color=COLOURS["ink"], lw=1)
    axes.axvline(POINTS * gold, color=COLOURS["third"], lw=2, ls=(0, (4, 2)))
    axes.grid(axis="x")
    axes.set_axisbelow(True)

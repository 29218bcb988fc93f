"""How figures look: one palette, one size of letters, no state shared with pyplot."""

from collections.abc import Sequence
from math import ceil, inf
from typing import TYPE_CHECKING, Any

import pandas as pd

from assay._util.validation import require_number
from assay._util.words import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "ink": "#1b2430",
    "muted": "#566172",
    "line": "#d5dbe3",
    "paper": "#ffffff",
    "first": "#0b62a4",
    "second": "#b4450c",
    "third": "#2b7a4b",
    "fourth": "#7a4fa3",
}
"""By their use. A reader with any colour vision can tell first and second apart; markers differ
besides. The report replaces each by a variable of its page, so that figures follow its theme."""

SERIES = ("first", "second", "third", "fourth")
MARKERS = ("o", "D", "s", "^")
WIDTH = 6.0
ACROSS = 2
"""Panels side by side, in figures of several."""

LETTERS = 8.5
RC: Any = {
    "font.size": LETTERS,
    "font.family": "sans-serif",
    "axes.labelsize": LETTERS,
    "axes.titlesize": LETTERS,
    "xtick.labelsize": LETTERS,
    "ytick.labelsize": LETTERS,
    "legend.fontsize": LETTERS,
    "legend.frameon": False,
    "text.color": COLOURS["ink"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.edgecolor": COLOURS["muted"],
    "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
    "grid.color": COLOURS["line"],
    "grid.linewidth": 0.7,
    "figure.facecolor": COLOURS["paper"],
    "axes.facecolor": "none",
    # Names are shown as they are: a dollar sign is no mathematics.
    "text.parse_math": False,
    "axes.unicode_minus": True,
}


DOUBTED = " *"
"""Behind the name of what may mislead."""


def doubt_marks(frame: pd.DataFrame) -> pd.Series:
    """Return what stands behind the names of a table's lines: a mark where there is a doubt."""
    return frame["doubt"].map(lambda doubt: DOUBTED if doubt else "")


def doubt_note(frame: pd.DataFrame) -> str:
    """Say what the mark means; nothing if no line has it."""
    doubted = bool((frame["doubt"] != "").any())
    return "\n* may mislead: the warnings of the fit say why" * doubted


def require_width(width: object) -> None:
    """Refuse what is no width of a figure, in inches."""
    require_number(
        "width", width, lambda x: 0 < x < inf, allowed="a number of inches above 0, such as 6.0"
    )


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of a size in inches that lays itself out."""
    from matplotlib.figure import Figure

    require_width(width)
    return Figure(figsize=(width, height), layout="constrained")


def panel_grid(
    number: int, width: float, *, ratio: float, extra: float, label: str
) -> "tuple[Figure, list[Axes]]":
    """Return a figure of panels, two side by side, that share their vertical axis.

    Parameters
    ----------
    number : int
        How many panels.
    width : float
        Inches.
    ratio : float
        Height of a panel over its width.
    extra : float
        Inches besides the panels: for legends and names.
    label : str
        Of the vertical axis, at the first panel of each row.
    """
    require_width(width)
    across = min(ACROSS, number)
    down = ceil(number / across)
    figure = new_figure(width, width / ACROSS * ratio * down + extra)
    panels = list(figure.subplots(down, across, squeeze=False, sharey=True).ravel())
    for axes in panels[:number:across]:
        axes.set_ylabel(label)
    for axes in panels[number:]:
        axes.set_visible(False)
    return figure, panels[:number]


def bare(axes: "Axes") -> None:
    """Take away the frame but for its bottom."""
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
    axes.tick_params(axis="y", length=0)


def short(name: object, limit: int = 26) -> str:
    """Cut a long name in its middle, where names differ least.

    Examples
    --------
    >>> short("a_very_long_name_of_a_rater_01", 13)
    'a_very…ter_01'
    """
    text = printable(name)
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[: limit - 1 - half]}…{text[-half:]}"


def add_legend(figure: "Figure", names: Sequence[str]) -> None:
    """Put a legend above the axes: side by side if the names fit, else one below the other."""
    letters = sum(len(name) + 6 for name in names)
    wide = letters * LETTERS * 0.55 / 72 < figure.get_figwidth()
    figure.legend(
        loc="outside upper left", ncols=len(names) if wide else 1, handletextpad=0.3,
        handlelength=1.0, borderpad=0.1, labelspacing=0.2,
    )  # fmt: skip

"""The style of figures: the palette, and the forest plot that most of them are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from math import ceil, inf
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from assay._util.errors import ArgumentError
from assay._util.text import printable
from assay._util.typing import Floats
from assay._util.validation import require_number, written

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
"""Colours by their use. The first two are distinct for any colour vision, and markers differ too.
The report replaces each by a variable of its page, so that figures follow its theme.
"""
SERIES = ("first", "second", "third", "fourth")
MARKERS = ("o", "s", "^", "D")
LINES: Any = ("-", (0, (4, 1.6)), (0, (1, 1.2)), (0, (5, 1.4, 1, 1.4)))
"""Styles of curves: solid, dashed, dotted, dash-dotted."""
HATCHES = ("", "///", "...", "xx")
"""Hatches of bars, which are distinct in grey."""
FADE = 0.75
"""Opacity of each repetition of the colours of bars, if there are more parts than colours."""
DPI = 150
WIDTH = 6.0
ACROSS = 2
"""Panels side by side, in figures with several panels."""
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
    # Names are shown unchanged: a dollar sign starts no formula.
    "text.parse_math": False,
    "axes.unicode_minus": True,
}


HANDLE = 3.2
"""Length of a curve in a legend, which shows its dashes."""


def point_style(n: int) -> dict[str, Any]:
    """Return colour and marker of the series ``n``; each second marker is hollow, as for print."""
    colour, hollow = COLOURS[SERIES[n % len(SERIES)]], (n + n // len(SERIES)) % 2
    return {
        "color": colour, "marker": MARKERS[n % len(MARKERS)], "markersize": 4.2,
        "markerfacecolor": COLOURS["paper"] if hollow else colour,
    }  # fmt: skip


def draw_curve(axes: "Axes", x: Any, mean: Any, lower: Any, upper: Any, n: int, name: str) -> None:
    """Draw the curve of the series ``n`` in its band, whose edges have the style of the line."""
    from matplotlib.colors import to_rgba

    style, line = point_style(n), LINES[n % len(LINES)]
    shade = to_rgba(style["color"], 0.18)
    axes.fill_between(
        x, lower, upper, facecolor=shade, edgecolor=style["color"], linestyle=line, linewidth=0.6
    )
    axes.plot(x, mean, linestyle=line, linewidth=1.4, label=name, **style)


DOUBTED = " *"
"""Mark behind a name that may mislead."""


def doubt_marks(frame: pd.DataFrame) -> pd.Series:
    """Return the mark of each line of a table, empty without doubt."""
    return frame["doubt"].map(lambda doubt: DOUBTED if doubt else "")


def doubt_note(frame: pd.DataFrame) -> str:
    """Explain the mark; empty if no line has it."""
    doubted = bool((frame["doubt"] != "").any())
    return "\n* may mislead: the warnings of the fit say why" * doubted


def require_width(width: object) -> None:
    """Refuse an invalid width of a figure."""
    require_number(
        "width", width, lambda x: 0 < x < inf, allowed="a number of inches above 0, such as 6.0"
    )


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of a size in inches that lays itself out."""
    from matplotlib.figure import Figure

    require_width(width)
    return Figure(figsize=(width, height), layout="constrained")


@cache
def shown_axes() -> "type[Axes]":
    """Return the axes class of this package's figures: a notebook shows them without pyplot."""
    from matplotlib.axes import Axes

    class ShownAxes(Axes):
        """Axes that a notebook shows."""

        def _repr_png_(self) -> bytes:
            return png_of(self.figure)

    return ShownAxes


class Panels(np.ndarray[Any, np.dtype[np.object_]]):
    """Axes of several panels, as an array; a notebook shows their figure."""

    def _repr_png_(self) -> bytes:
        first: Any = self.flat[0]
        return png_of(first.figure)


def png_of(figure: Any) -> bytes:
    """Return a figure as PNG."""
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=DPI)
    return stream.getvalue()


def canvas(ax: "Axes | None", width: float, height: float) -> "tuple[Figure, Axes]":
    """Return a figure and its axes: the given axes, or new ones of a size in inches."""
    require_width(width)
    if ax is None:
        figure = new_figure(width, height)
        return figure, figure.subplots(subplot_kw={"axes_class": shown_axes()})
    (axes,) = require_axes(ax, 1)
    return figure_of(axes), axes


def require_axes(ax: Any, number: int) -> "list[Axes]":
    """Return ``number`` axes; refuse anything else."""
    from matplotlib.axes import Axes

    given = [ax] if isinstance(ax, Axes) else list(np.ravel(ax)) if np.ndim(ax) else []
    if len(given) != number or not all(isinstance(one, Axes) for one in given):
        what = "one matplotlib Axes" if number == 1 else f"{number} matplotlib Axes, one a panel"
        raise ArgumentError(f"`ax={written(ax)}`; this figure needs {what}", code="axes-argument")
    return given


def figure_of(drawn: "Figure | Axes") -> "Figure":
    """Return the figure of axes, or the figure itself."""
    figure = drawn.get_figure(root=True)
    assert figure is not None
    return figure


def axes_of(figure: "Figure", ax: Any) -> Any:
    """Return the result of a plot: the given axes, or those of its figure."""
    if ax is not None:
        return ax
    drawn = [axes for axes in figure.axes if axes.get_visible()]
    if len(drawn) == 1:
        return drawn[0]
    found = np.empty(len(drawn), object)
    found[:] = drawn
    return found.view(Panels)


def panel_grid(
    number: int, width: float, *, ratio: float, extra: float, label: str, ax: Any = None
) -> "tuple[Figure, list[Axes]]":
    """Return a figure of panels, two side by side, that share their vertical axis with its
    ``label``. ``ratio`` is their height over width, ``extra`` the inches for legends and names.
    """
    require_width(width)
    if ax is not None:
        given = require_axes(ax, number)
        given[0].set_ylabel(label)
        return figure_of(given[0]), given
    across = min(ACROSS, number)
    down = ceil(number / across)
    figure = new_figure(width, width / ACROSS * ratio * down + extra)
    kind = {"axes_class": shown_axes()}
    grid = figure.subplots(down, across, squeeze=False, sharey=True, subplot_kw=kind)
    panels = list(grid.ravel())
    for axes in panels[:number:across]:
        axes.set_ylabel(label)
    for axes in panels[number:]:
        axes.set_visible(False)
    return figure, panels[:number]


def bare(axes: "Axes") -> None:
    """Hide the frame except for its bottom."""
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
    axes.tick_params(axis="y", length=0)


def stacked_bars(
    axes: "Axes", shares: Floats, parts: Sequence[str], names: Sequence[str], *, height: float
) -> None:
    """Draw shares (line, part) that add up to 1 as bars, a line each with its name."""
    left = np.zeros(len(shares))
    for n, (share, part) in enumerate(zip(shares.T, parts, strict=True)):
        axes.barh(
            range(len(shares)), share, left=left, height=height, label=part,
            color=COLOURS[SERIES[n % len(SERIES)]], alpha=FADE ** (n // len(SERIES)),
            hatch=HATCHES[n % len(HATCHES)], edgecolor=COLOURS["paper"], linewidth=0.8,
        )  # fmt: skip
        left += share
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    bare(axes)


def short(name: object, limit: int = 26) -> str:
    """Cut a long name in its middle, where names differ least."""
    text = printable(name)
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[: limit - 1 - half]}…{text[-half:]}"


def label_below(axes: "Axes", *parts: str) -> str:
    """Join the parts of a label by a comma, with a line for each if the axes are too narrow."""
    label = ", ".join(parts)
    # Names to the left take about a fifth of new axes.
    room = 0.78 * axes.get_position().width * figure_of(axes).get_figwidth()
    return label if _inches(len(label)) < room else ",\n".join(parts)


def _inches(letters: int) -> float:
    """Return the usual width of a text."""
    return letters * LETTERS * 0.55 / 72


def add_legend(figure: "Figure", names: Sequence[str], ax: "Axes | None" = None) -> None:
    """Add a legend above new axes, side by side if the names fit, or inside given axes."""
    if ax is not None:
        ax.legend()
        return
    figure.legend(
        loc="outside upper left", ncols=legend_columns(names, figure.get_figwidth()),
        handletextpad=0.3, handlelength=1.0, borderpad=0.1, labelspacing=0.2,
    )  # fmt: skip


def legend_below(figure: "Figure", axes: "Axes", title: str = "") -> None:
    """Add the legend of one panel below a figure, in as many columns as fit."""
    lines, names = axes.get_legend_handles_labels()
    columns = legend_columns(names, figure.get_figwidth(), room=10)
    figure.legend(
        lines, names, title=title, loc="outside lower center", ncols=columns, handlelength=HANDLE
    )


def legend_columns(names: Sequence[str], width: float, room: int = 6) -> int:
    """Return how many names stand side by side; each line or marker takes ``room`` letters."""
    letters = [len(name) + room for name in names]
    return (
        len(names) if _inches(sum(letters)) < width else max(1, int(width / _inches(max(letters))))
    )


Line = tuple[str, str]
LINE = 0.2
"""Height of one line in inches; a heading is one line."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """One kind of estimate.

    name : for the legend
    values : columns ``mean``, ``lower``, ``upper``; index (heading, name), equal in all series
        except for missing lines; a heading of ``""`` is not written
    """

    name: str
    values: pd.DataFrame


def forest(
    series: Sequence[Series],
    *,
    label: str,
    limits: tuple[float, float] | None = None,
    reference: float | None = None,
    width: float = WIDTH,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw estimates and intervals, a line each; the first series gives the order of the lines.

    ``label`` and ``limits`` are those of the horizontal axis; ``reference`` is a vertical line.
    """
    import matplotlib as mpl

    heights, headings = _places(series)
    lines = list(heights)
    rows = len(lines) + len(headings)
    with mpl.rc_context(RC):
        figure, axes = canvas(ax, width, LINE * len(series) ** 0.5 * rows + 0.9)
        for n, one in enumerate(series):
            _draw(axes, one, heights, shift=(n - (len(series) - 1) / 2) * 0.64 / len(series), n=n)
        _name_lines(axes, heights, headings)
        axes.set_ylim(rows - 0.4, -0.7)
        if limits is not None:
            axes.set_xlim(*limits)
        if reference is not None:
            axes.axvline(reference, color=COLOURS["muted"], linewidth=1, zorder=0)
        axes.set_xlabel(label)
        axes.grid(axis="x")
        bare(axes)
        if len(series) > 1:
            add_legend(figure, [one.name for one in series], ax)
    return figure


def _places(series: Sequence[Series]) -> tuple[dict[Line, int], dict[str, int]]:
    """Return the height of each line and each heading; lines of one heading are adjacent."""
    keys = dict.fromkeys((str(h), str(n)) for one in series for h, n in one.values.index)
    heights: dict[Line, int] = {}
    headings: dict[str, int] = {}
    for heading in dict.fromkeys(key[0] for key in keys):
        if heading:
            headings[heading] = len(heights) + len(headings)
        for key in keys:
            if key[0] == heading:
                heights[key] = len(heights) + len(headings)
    return heights, headings


def _draw(axes: "Axes", one: Series, heights: dict[Line, int], *, shift: float, n: int) -> None:
    values = one.values[["mean", "lower", "upper"]].dropna(subset=["mean"])
    y = np.array([heights[str(h), str(n)] for h, n in values.index], float) + shift
    colour = COLOURS[SERIES[n % len(SERIES)]]
    axes.hlines(y, values["lower"], values["upper"], color=colour, linewidth=1.6)
    axes.plot(values["mean"], y, linestyle="", label=one.name, **point_style(n))


def _name_lines(axes: "Axes", heights: dict[Line, int], headings: dict[str, int]) -> None:
    axes.set_yticks(list(heights.values()), [short(name) for _, name in heights])
    for heading, height in headings.items():
        axes.text(
            0.0, height, short(heading, 60), transform=axes.get_yaxis_transform(),
            fontweight="bold", va="center", clip_on=False,
        )  # fmt: skip

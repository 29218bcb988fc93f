"""Figures of raters: reliability, confusions, drift, and calibration of scores."""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.errors import UnknownNameError, suggest
from assay._util.intervals import interval_ends, require_level
from assay._util.text import percent
from assay._util.validation import names_given
from assay.data.task import Task
from assay.display.frames import Kind, reliability_frame
from assay.display.notes import KIND_WORDS
from assay.display.terminal import binary_heading
from assay.fits.view import Fit, FitView
from assay.plots.style import (
    COLOURS,
    HANDLE,
    LETTERS,
    RC,
    SERIES,
    WIDTH,
    Series,
    axes_of,
    doubt_marks,
    doubt_note,
    draw_curve,
    figure_of,
    forest,
    legend_below,
    new_figure,
    panel_grid,
    require_axes,
    require_width,
    short,
    shown_axes,
)
from assay.raters.calibration import rater_calibration
from assay.raters.drift import reliability_by_session

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SHOWN_CURVES = 6


def plot_calibration(fit: Fit, *, level: float = 0.95, width: float = WIDTH, ax: Any = None) -> Any:
    """Draw the calibration of scores: the probability of each class given a rater's score.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of raters who give scores (``raters="scored"``).
    level : float
        Probability of the bands.
    width : float
        Inches.
    ax : sequence of matplotlib.axes.Axes, optional
        Axes to draw on, one for each panel, instead of a new figure of that width.

    Returns
    -------
    matplotlib.axes.Axes or array of them
        A panel per rater and label, as many as fit a page, with all classes except the lowest. A
        label with two classes has the diagonal on which a calibrated score lies.

    Raises
    ------
    FitError
        If no rater gives scores.

    Examples
    --------
    >>> import assay
    >>> two = {"n_raters": 2, "ratings_per_item": 2}
    >>> ratings = assay.simulate("relevance", raters="scored", n_items=40, **two, rng=1)
    >>> fit = assay.fit(ratings, raters="scored", method="map", draws=20, chains=1, starts=1, rng=1)
    >>> plot_calibration(fit).size
    2
    """
    view = FitView.of(fit)
    table = upper_classes(rater_calibration(view, level=level), view.task)
    return axes_of(draw_calibration(table, width=width, ax=ax), ax)


def upper_classes(table: pd.DataFrame, task: Task) -> pd.DataFrame:
    """Return the lines of a calibration table without those of the lowest class."""
    lowest = {label.name: label.classes[0] for label in task.labels}
    return table[table["class"].astype(str) != table["label"].map(lowest)]


def draw_calibration(table: pd.DataFrame, *, width: float = WIDTH, ax: Any = None) -> "Figure":
    """Draw the lines of :func:`assay.rater_calibration`: posterior means with bands over the
    scores, and the diagonal if one class of each label is shown.
    """
    import matplotlib as mpl

    every = list(table.groupby(["rater", "label"], sort=False))
    curves = every[:SHOWN_CURVES]
    with mpl.rc_context(RC):
        figure, panels = panel_grid(
            len(curves), width, ratio=1.15, extra=0.2, label="probability of the class", ax=ax
        )
        for axes, ((rater, label), part) in zip(panels, curves, strict=True):
            axes.set_title(f"{short(rater)}\n{short(label)}")
            _draw_curves(axes, part)
            axes.set_xlabel("score")
        named = [axes.get_legend_handles_labels()[1] for axes in panels]
        some_left_out = ax is None and len(curves) < len(every)
        left_out = f"the first {len(curves)} of {len(every)} panels" * some_left_out
        if ax is None and len(named[0]) > 1 and all(names == named[0] for names in named):
            legend_below(figure, panels[0], left_out)
            return figure
        for axes, names in zip(panels, named, strict=True):
            if len(names) > 1:
                axes.legend(handlelength=HANDLE)
        if left_out:
            figure.supxlabel(left_out, fontsize=LETTERS)
    return figure


def _draw_curves(axes: "Axes", part: pd.DataFrame) -> None:
    """Draw each class of one rater and label over the middles of its bins."""
    if part["class"].nunique() == 1:
        axes.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=1, zorder=0)
    for n, (name, line) in enumerate(part.groupby("class", sort=False, observed=True)):
        x = np.asarray((line["lowest_score"] + line["highest_score"]) / 2)
        draw_curve(axes, x, line["mean"], line["lower"], line["upper"], n, str(name))
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.grid()


SHOWN_RATERS = 24
SHOWN_LINES = 72
"""Most lines of a forest; fewer raters are shown to keep it."""
SHOWN_CONFUSIONS = 12
SHOWN_ROWS = 36
"""Most rows of heat maps of one label; fewer raters are shown to keep it."""
FEWEST = 4
SHADE = 0.55
"""Opacity of a cell of probability 1, on which text is readable in either theme."""
CELL = 0.28
"""Width in inches that the number in a cell of a heat map needs."""
MARGIN = 0.65
"""Width in inches of the names of classes beside a heat map."""
UPRIGHT = 5
"""Longest names that are horizontal below a heat map; longer ones are rotated."""


def plot_raters(
    fit: Fit,
    *,
    kind: Kind = "recorded",
    level: float = 0.95,
    width: float = WIDTH,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw each rater's probability of the right answer, by label and true class.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    kind : {"recorded", "raw"}
        As for :func:`assay.rater_reliability`.
    level : float
        Probability of the intervals, between 0 and 1.
    width : float
        Inches.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, instead of a new figure of that width.

    Returns
    -------
    matplotlib.axes.Axes
        The raters with the lowest probabilities: 24, or fewer if there are many classes.

    Raises
    ------
    ModelError
        If ``kind`` is none of the two.
    FitError
        If ``level`` is out of range, or the tree is not a fit.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["no", "yes"], rng=1)
    >>> fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> axes = plot_raters(fit)
    >>> [name.get_text() for name in axes.get_yticklabels()]
    ['rater_1', 'rater_2', 'rater_3']
    """
    view = FitView.of(fit)
    frame = reliability_frame(view, kind, level)
    figure = draw_raters(frame, view.task, width=width, ax=ax)
    return cast("Axes", axes_of(figure, ax))


def draw_raters(
    frame: pd.DataFrame,
    task: Task,
    *,
    width: float = WIDTH,
    ax: Any = None,
) -> "Figure":
    """Draw the right answers of :func:`assay.display.frames.reliability_frame`."""
    right = frame[frame["true_class"] == frame["reported_class"]]
    count = right["rater"].nunique()
    right = right[right["rater"].isin(weakest(right, shown_raters(right)))]
    binary = [label.name for label in task.labels if len(label.classes) == 2]
    series = [
        Series(name=name, values=_by_label(right[right["label"].isin(binary)], task, place))
        for place, name in ((1, "sensitivity"), (0, "specificity"))
        if binary
    ]
    others = right[~right["label"].isin(binary)]
    if len(others):
        heads = others["label"] + " = " + others["true_class"] + doubt_marks(others)
        values = others.set_index([heads, others["rater"]])[["mean", "lower", "upper"]]
        series.append(Series(name="right, given the true class", values=values))
    line = frame.iloc[0]
    label = f"probability, {percent(line['level'])} interval\n{KIND_WORDS[line['kind']]}"
    label += weakest_words(right["rater"].nunique(), count, "\n") + doubt_note(right)
    return forest(series, label=label, limits=(0, 1), width=width, ax=ax)


def weakest_words(shown: int, count: int, before: str) -> str:
    """State, after ``before``, that a figure shows some of the raters; empty if it shows all."""
    return f"{before}the {shown} weakest of {count} raters" if shown < count else ""


def _by_label(right: pd.DataFrame, task: Task, place: int) -> pd.DataFrame:
    """Return lines of one true class of each binary label, by label and rater."""
    wanted = {label.name: label.classes[place] for label in task.labels}
    part = right[right["true_class"] == right["label"].map(wanted)]
    heads = {label.name: binary_heading(label) for label in task.labels if len(label.classes) == 2}
    doubted = right[right["doubt"] != ""].groupby("label")["true_class"].nunique()
    marks = part["label"].map(doubted).eq(2).map({True: " *", False: ""})
    values = part.set_index([part["label"].map(heads) + marks, part["rater"]])
    return values[["mean", "lower", "upper"]]


def shown_raters(right: pd.DataFrame) -> int:
    """Return how many raters a forest shows, with a line for every class of three and more."""
    classes = right.groupby("label")["true_class"].nunique()
    lines = int(classes.where(classes > 2, 1).sum())
    return min(SHOWN_RATERS, max(FEWEST, SHOWN_LINES // lines))


def shown_confusions(frame: pd.DataFrame) -> int:
    """Return how many raters the heat maps show, with a row for every class of a label."""
    classes = int(frame.groupby("label")["true_class"].nunique().max())
    return min(SHOWN_CONFUSIONS, max(FEWEST, SHOWN_ROWS // classes))


def weakest(right: pd.DataFrame, count: int) -> list[str]:
    """Return the raters with the lowest mean probability of a right answer, in their order.

    Lines in doubt do not count; if all are, raw agreement decides.
    """
    told = right[right["doubt"] == ""]
    by = "agreement" if told.empty else "mean"  # who is right cannot be told
    means = (right if told.empty else told).groupby("rater", sort=False)[by].mean()
    chosen = set(means.nsmallest(count).index)
    return [str(name) for name in means.index if name in chosen]


def plot_confusions(
    fit: Fit,
    *,
    kind: Kind = "recorded",
    raters: Sequence[str] | str | None = None,
    width: float = WIDTH,
    ax: Any = None,
) -> Any:
    """Draw the confusion of each rater, a heat map per rater and label.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    kind : {"recorded", "raw"}
        As for :func:`assay.rater_reliability`.
    raters : str or sequence of str, optional
        Names; the 12 weakest by default, or fewer if there are many classes.
    width : float
        Inches.
    ax : sequence of matplotlib.axes.Axes, optional
        Axes to draw on, one for each panel, instead of a new figure of that width.

    Returns
    -------
    matplotlib.axes.Axes or array of them
        Posterior means; rows are true classes, columns reported ones.

    Raises
    ------
    ModelError
        If ``kind`` is none of the two, or ``raters`` are no names.
    UnknownNameError
        If no rater has a name.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["no", "yes"], rng=1)
    >>> fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> plot_confusions(fit, raters=["rater_1", "rater_2"]).size
    2
    """
    frame = reliability_frame(fit, kind)
    if raters is None:
        return axes_of(draw_confusions(frame, width=width, ax=ax), ax)
    known = list(dict.fromkeys(frame["rater"]))
    names = names_given("raters", raters, what="rater")
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"no rater is called {name!r}; {suggest(name, known)}", code="unknown-rater"
            )
    return axes_of(draw_confusions(frame, raters=names, width=width, ax=ax), ax)


def draw_confusions(
    frame: pd.DataFrame,
    *,
    raters: Sequence[str] | None = None,
    width: float = WIDTH,
    ax: Any = None,
) -> "Figure":
    """Draw the lines of :func:`assay.display.frames.reliability_frame` as heat maps."""
    import matplotlib as mpl

    require_width(width)
    right = frame[frame["true_class"] == frame["reported_class"]]
    names = list(raters) if raters is not None else weakest(right, shown_confusions(frame))
    labels = list(dict.fromkeys(frame["label"]))
    maps = [(name, label) for name in names for label in labels]
    classes = int(frame.groupby("label")["true_class"].nunique().max())
    across = min(len(labels) if len(labels) > 1 else len(names), _most_across(classes, width))
    down = -(-len(maps) // across)
    room = (width / across - MARGIN) / classes
    letters = (LETTERS - 1) * min(1.0, room / CELL)
    with mpl.rc_context(RC):
        if ax is None:
            figure = new_figure(width, down * (0.75 + 0.27 * classes) + 0.3)
            kind = {"axes_class": shown_axes()}
            grid = figure.subplots(down, across, squeeze=False, subplot_kw=kind).ravel()
        else:
            grid = np.array(require_axes(ax, len(maps)), object)
            figure = figure_of(grid[0])
        for axes, (name, label) in zip(grid, maps, strict=False):
            part = frame[(frame["rater"] == name) & (frame["label"] == label)]
            _heat_map(axes, part, letters)
            mark = " *" * bool((part["doubt"] != "").all())
            one = f"{short(name)}{mark}"
            title = f"{short(name, 18)}\n{short(label, 22)}{mark}" if len(labels) > 1 else one
            axes.set_title(title, fontsize=LETTERS - 1)
        for axes in grid[len(maps) :]:
            axes.set_visible(False)
        if ax is not None:  # a given figure keeps its own labels
            grid[0].set_ylabel("true class")
            return figure
        count = len(names) if raters is not None else frame["rater"].nunique()
        left_out = weakest_words(len(names), count, "\n")
        note = doubt_note(frame)
        figure.supxlabel(f"reported class{left_out}{note}", fontsize=LETTERS)
        figure.supylabel("true class", fontsize=LETTERS)
    return figure


def _most_across(classes: int, width: float) -> int:
    """Return how many heat maps fit side by side with readable numbers."""
    fitting = int(width / (classes * CELL + MARGIN))
    return min(max(fitting, 1), 3)


def _heat_map(axes: "Axes", part: pd.DataFrame, letters: float) -> None:
    """Draw one confusion: shaded cells with their numbers, in a font size of ``letters``."""
    from matplotlib.patches import Rectangle

    true, reported = (list(dict.fromkeys(part[c])) for c in ("true_class", "reported_class"))
    for t, r, mean in zip(part["true_class"], part["reported_class"], part["mean"], strict=True):
        x, y = reported.index(r), true.index(t)
        shade = SHADE * float(np.clip(mean, 0, 1))
        corner = (x - 0.5, y - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, linewidth=0, color=COLOURS["first"], alpha=shade))
        axes.text(x, y, f"{mean:.2f}", ha="center", va="center", fontsize=letters)
    axes.set_xlim(-0.5, len(reported) - 0.5)
    axes.set_ylim(len(true) - 0.5, -0.5)
    below, beside = [short(c, 9) for c in reported], [short(c, 9) for c in true]
    axes.set_xticks(range(len(below)), below, fontsize=letters)
    axes.set_yticks(range(len(beside)), beside, fontsize=letters)
    if max(map(len, below)) > UPRIGHT:
        for name in axes.get_xticklabels():
            name.set(rotation=40, ha="right", rotation_mode="anchor")
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_color(COLOURS["line"])


SHOWN_RATERS_SESSIONS = len(SERIES)
TICKS = 3
"""Number of sessions named below a panel."""


def plot_drift(fit: Fit, *, level: float = 0.95, width: float = WIDTH, ax: Any = None) -> Any:
    """Draw the reliability of raters by session.

    Parameters
    ----------
    fit : xarray.DataTree
        From ``assay.fit(ratings, raters="... + drift")``.
    level : float
        Probability of the bands.
    width : float
        Inches.
    ax : sequence of matplotlib.axes.Axes, optional
        Axes to draw on, one for each panel, instead of a new figure of that width.

    Returns
    -------
    matplotlib.axes.Axes or array of them
        A panel per label: posterior means over the sessions with bands, of the raters who change
        most.

    Raises
    ------
    FitError
        If no rater drifts, or ``level`` is not between 0 and 1.

    Examples
    --------
    >>> import assay
    >>> drifting = "dawid_skene + drift"
    >>> ratings = assay.simulate("single", raters=drifting, n_items=30, sessions=3, rng=2)
    >>> fit = assay.fit(ratings, raters=drifting, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> plot_drift(fit).get_ylabel()
    'mean P(right answer)'
    """
    import matplotlib as mpl

    require_level(level)
    table = reliability_by_session(fit).stack(sample=("chain", "draw"))
    means = table.mean("sample").dropna("rater", how="all")
    moves = (means.max("session") - means.min("session")).max("label")
    shown = means["rater"].values[np.argsort(-moves.values, kind="stable")[:SHOWN_RATERS_SESSIONS]]
    labels = list(table["label"].values)
    with mpl.rc_context(RC):
        figure, panels = panel_grid(
            len(labels), width, ratio=0.75, extra=0.4, label="mean P(right answer)", ax=ax
        )
        for axes, label in zip(panels, labels, strict=True):
            _draw_walks(axes, table.sel(label=label, rater=shown), level)
            axes.set_title(short(label))
        if ax is None:
            cut = len(shown) < means.sizes["rater"]
            title = f"the {len(shown)} of {means.sizes['rater']} raters that change most" * cut
            legend_below(figure, panels[0], title)
        else:
            panels[0].legend(handlelength=HANDLE)
    return axes_of(figure, ax)


def _draw_walks(axes: "Axes", table: xr.DataArray, level: float) -> None:
    """Draw each rater of one label over the sessions."""
    x = np.arange(table.sizes["session"])
    for n, rater in enumerate(table["rater"].values):
        draws = table.sel(rater=rater).transpose("session", "sample").values
        lower, upper = interval_ends(draws, level)
        draw_curve(axes, x, draws.mean(axis=1), lower, upper, n, short(rater))
    shown = x[:: ceil(len(x) / TICKS)]
    axes.set_xticks(shown, [short(table["session"].values[n], 12) for n in shown])
    axes.set_ylim(0, 1)
    axes.grid()

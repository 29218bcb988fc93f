"""Figures of labels: the least certain ones, and agreement on each."""

from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from assay._util.errors import ModelError
from assay._util.text import percent
from assay._util.validation import require_count
from assay.display.frames import labels_frame, least_certain
from assay.fits.view import Fit
from assay.plots.style import (
    RC,
    WIDTH,
    Series,
    add_legend,
    axes_of,
    canvas,
    forest,
    short,
    stacked_bars,
)
from assay.raters.agreements import Agreement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COUNT = 20


def plot_labels(
    fit: Fit, *, count: int = COUNT, width: float = WIDTH, ax: "Axes | None" = None
) -> "Axes":
    """Draw the posterior probabilities of the least certain labels.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    count : int
        Number of labels of items.
    width : float
        Inches.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, instead of a new figure of that width.

    Returns
    -------
    matplotlib.axes.Axes
        A bar per label of an item, divided by the classes' probabilities.

    Raises
    ------
    ModelError
        If ``count`` is no whole number above 0.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["no", "yes"], rng=1)
    >>> fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> plot_labels(fit, count=3).get_xlabel()
    'posterior probability of each class'
    """
    require_count("count", count)
    figure = draw_labels(least_certain(labels_frame(fit), count), width=width, ax=ax)
    return cast("Axes", axes_of(figure, ax))


def draw_labels(frame: pd.DataFrame, *, width: float = WIDTH, ax: Any = None) -> "Figure":
    """Draw lines of :func:`assay.display.frames.labels_frame`, in their order."""
    import matplotlib as mpl

    chance = frame.filter(regex=r"^p\[").fillna(0.0)
    chance = chance.loc[:, chance.gt(0).any()]
    several = frame["label"].nunique() > 1
    names = [
        f"{short(item, 22)}  {short(label, 20)}" if several else short(item)
        for item, label in zip(frame["item"], frame["label"], strict=True)
    ]
    with mpl.rc_context(RC):
        figure, axes = canvas(ax, width, 0.19 * len(frame) + 0.9)
        classes = [str(column)[2:-1] for column in chance]
        stacked_bars(axes, chance.to_numpy(), classes, names, height=0.72)
        axes.set_xlabel("posterior probability of each class")
        add_legend(figure, classes, ax)
    return figure


def plot_agreement(found: Agreement, *, width: float = WIDTH, ax: "Axes | None" = None) -> "Axes":
    """Draw the coefficients of agreement with their intervals.

    Parameters
    ----------
    found : Agreement
        From :func:`assay.agreement`; with ``fit=``, the model's expectation is drawn too.
    width : float
        Inches.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, instead of a new figure of that width.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ModelError
        If it is given anything else.

    Examples
    --------
    >>> import assay
    >>> found = assay.agreement(assay.load_example("rater_audit"))
    >>> plot_agreement(found).get_xlabel()
    'coefficient, 95% interval'
    """
    if not isinstance(found, Agreement):
        raise ModelError(
            f"plot_agreement takes an Agreement, not {type(found).__name__}; make it with "
            "`assay.agreement(ratings, fit=fit)`",
            code="argument-type",
        )
    table = found.table.set_index(["label", "statistic"])
    observed = table[["value", "lower", "upper"]].set_axis(["mean", "lower", "upper"], axis=1)
    series = [Series(name="observed", values=observed)]
    if table["expected"].notna().any():
        model = table[["expected", "expected_lower", "expected_upper"]]
        expected = model.set_axis(["mean", "lower", "upper"], axis=1)
        series.append(Series(name="expected by the model", values=expected))
    label = f"coefficient, {percent(found.level)} interval"
    figure = forest(series, label=label, reference=0.0, width=width, ax=ax)
    return cast("Axes", axes_of(figure, ax))

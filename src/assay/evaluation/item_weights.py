"""Design weights of items within a panel: which metrics can count them, and how."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import ModelError
from assay.data.ratings import Ratings
from assay.evaluation.choosing import choose_metrics
from assay.evaluation.panels import PanelLayout
from assay.evaluation.registry import Metric

MEND = "To count all items alike, read the ratings again without their weights (weight='')"


def weighable_metrics(
    ratings: Ratings, names: Sequence[str] | str | None = None
) -> tuple[Metric, ...]:
    """Return the named metrics, or those that the task reports and that can count all weights.

    Parameters
    ----------
    ratings : Ratings
    names : str or sequence of str, optional
        As for :func:`assay.evaluation.choosing.choose_metrics`.

    Returns
    -------
    tuple of Metric
        Without names, those of the task but for the ones that :func:`left_out_metrics` names.

    Raises
    ------
    UnknownNameError, ModelError
        As ``choose_metrics``; or if design weights differ within a panel, and a metric that is
        named, or every metric of the task, is not ``additive``.
    """
    chosen = choose_metrics(ratings.task, names)
    blocked = () if _all_additive(chosen) else _blocked(ratings, chosen)
    kept = tuple(metric for metric in chosen if metric not in blocked)
    if blocked and (names is not None or not kept):
        raise ModelError(_refusal(ratings, blocked), code="uneven-design-weights")
    return kept


def left_out_metrics(ratings: Ratings, names: Sequence[str] | str | None = None) -> pd.DataFrame:
    """Say which metrics :func:`weighable_metrics` leaves out, and why.

    Returns
    -------
    pandas.DataFrame
        ``metric`` and ``reason``, a line for each; none if metrics are named.
    """
    chosen = () if names is not None else choose_metrics(ratings.task)
    blocked = () if _all_additive(chosen) else _blocked(ratings, chosen)
    reason = f"{_differ(ratings)}, and orders cannot count them." if blocked else ""
    return pd.DataFrame({"metric": [m.name for m in blocked], "reason": reason}, dtype="str")


def left_out_attributes(
    ratings: Ratings, names: Sequence[str] | str | None = None
) -> dict[str, object]:
    """Return :func:`left_out_metrics` as attributes of draws; none if nothing is left out."""
    table = left_out_metrics(ratings, names)
    if table.empty:
        return {}
    return {"left_out": table["metric"].tolist(), "left_out_because": table["reason"].iloc[0]}


def _all_additive(chosen: Sequence[Metric]) -> bool:
    return all(metric.additive for metric in chosen)


def _blocked(ratings: Ratings, chosen: Sequence[Metric]) -> tuple[Metric, ...]:
    """Metrics that cannot count the weights of items, where these differ within a panel."""
    return () if _uneven(ratings).empty else tuple(m for m in chosen if not m.additive)


def _uneven(ratings: Ratings) -> pd.DataFrame:
    """Panel and weight of the items of those panels whose items differ in weight."""
    table = ratings.panels[["system", "panel"]]
    weight = ratings.items["weight"].to_numpy(float)[ratings.panels["item"]]
    weights = table.assign(weight=weight).groupby(["system", "panel"])["weight"]
    differ = weights.transform("min") < weights.transform("max")
    return table.assign(weight=weight)[differ]


def _differ(ratings: Ratings) -> str:
    """Say that weights differ within panels, from what to what, and where for the first time."""
    items = _uneven(ratings)
    return (
        f"Design weights differ within panels (from {items['weight'].min():g} to "
        f"{items['weight'].max():g}, for example in panel {items['panel'].iloc[0]!r})"
    )


def _refusal(ratings: Ratings, blocked: Sequence[Metric]) -> str:
    names = ", ".join(metric.name for metric in blocked)
    able = ", ".join(m.name for m in choose_metrics(ratings.task) if m.additive)
    others = f"Name metrics that can: {able}. " if able else ""
    return (
        f"{_differ(ratings)}, and {names} cannot count them: the result would be about the sample "
        f"alone. {others}{MEND}. A metric of your own that is a mean over items, or a ratio of "
        "sums over them, is registered with additive=True"
    )


def weighed_layout(metric: Metric, layout: PanelLayout) -> PanelLayout:
    r"""Return the layout on which a metric counts the design weights of items.

    Parameters
    ----------
    metric : Metric
    layout : PanelLayout

    Returns
    -------
    PanelLayout
        Each item a panel of its own if the items of a panel weigh differently; else ``layout``
        itself.

    Raises
    ------
    ModelError
        If the items of a panel weigh differently and the metric is not ``additive``.

    Notes
    -----
    With :math:`d_i` the weight of item :math:`i`, :math:`d_p` that of its panel of :math:`n_p`
    items and :math:`a_i, b_i` what the metric makes of the item alone, the panel's numerator and
    denominator become

    .. math:: \sum_{i \in p} d_i a_i, \quad \sum_{i \in p} d_i b_i

    for a ratio, and a panel's value the weighted mean of its items,

    .. math:: d_p \frac{\sum_{i \in p} d_i a_i}{\sum_{i \in p} d_i}, \quad d_p

    otherwise.

    References
    ----------
    Hájek, J. (1971). Comment on "An essay on the logical foundations of survey sampling" by
    D. Basu. Foundations of Statistical Inference, 236.
    """
    if layout.item_weight is None:
        return layout
    if not metric.additive:
        raise ModelError(
            f"design weights differ within panels, and {metric.name} cannot count them. {MEND}",
            code="uneven-design-weights",
        )
    weight = np.where(layout.mask, layout.item_weight, 0.0)
    if metric.kind == "per_panel":
        total = weight.sum(axis=1)
        weight = weight * np.divide(layout.weight, total, out=total * 0, where=total > 0)[:, None]
    size = layout.mask.sum(axis=1)
    return replace(
        layout,
        item=layout.item[layout.mask][:, None],
        mask=np.ones((int(size.sum()), 1), bool),
        bounds=np.concatenate([[0], size.cumsum()])[layout.bounds],
        cluster=np.repeat(layout.cluster, size),
        weight=weight[layout.mask],
        item_weight=None,
    )

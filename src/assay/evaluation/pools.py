"""Layouts of metrics that need all items of a cluster, those of its other lists too."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.panels import PanelLayout, Positions, weighed_layout
from assay.evaluation.registry import Metric


def layout_for(metric: Metric, layout: PanelLayout, *, weighted: bool = True) -> PanelLayout:
    """Return the layout on which a metric is computed.

    That of :func:`weighed_layout` where design weights count (``weighted``); of a metric that
    needs a cluster's other items, that of :func:`pooled_layout`.
    """
    own = weighed_layout(metric, layout) if weighted else layout
    return pooled_layout(own) if metric.pooled else own


def pooled_layout(layout: PanelLayout) -> PanelLayout:
    """Append to each panel the items of its cluster that stand in other lists alone.

    Examples
    --------
    >>> one, two = np.array([[0, 1], [1, 2]]), np.ones((2, 2), bool)
    >>> layout = PanelLayout(
    ...     item=one, mask=two, bounds=np.array([0, 1, 2]), cluster=np.zeros(2, int),
    ...     weight=np.ones(2), systems=("A", "B"), clusters=("q",), stratum=np.zeros(1, int),
    ...     pool=np.array([[0, 0, 0], [0, 1, 2]]),
    ... )
    >>> pooled_layout(layout).item.tolist(), pooled_layout(layout).listed
    ([[0, 1, 2], [1, 2, 0]], 2)
    """
    cluster, item = layout.pool
    order = np.argsort(cluster, kind="stable")
    size = np.bincount(cluster, minlength=len(layout.clusters))
    start = np.concatenate([[0], size.cumsum()])
    panel = np.repeat(np.arange(len(layout.item)), size[layout.cluster])
    step = np.arange(len(panel)) - np.repeat(
        np.concatenate([[0], size[layout.cluster].cumsum()])[:-1], size[layout.cluster]
    )
    other = item[order][start[layout.cluster][panel] + step]
    elsewhere = ~_listed(layout, panel, other)
    panel, other = panel[elsewhere], other[elsewhere]
    number = np.arange(len(panel)) - np.searchsorted(panel, panel)
    width = int(number.max(initial=-1)) + 1
    added = np.zeros((len(layout.item), width), np.int64)
    there = np.zeros(added.shape, bool)
    added[panel, number], there[panel, number] = other, True
    return replace(
        layout,
        item=np.concatenate([layout.item, added], axis=1),
        mask=np.concatenate([layout.mask, there], axis=1),
        listed=layout.item.shape[1],
    )


def _listed(layout: PanelLayout, panel: Positions, item: Positions) -> NDArray[np.bool_]:
    """Whether items (pair,) stand in the lists of panels (pair,)."""
    many = int(max(layout.item.max(initial=0), item.max(initial=0))) + 1
    own = (np.arange(len(layout.item))[:, None] * many + layout.item)[layout.mask]
    return np.isin(panel * many + item, own)

"""Layouts of metrics that need all items of a cluster, including those of its other lists."""

from dataclasses import replace

import numpy as np

from assay._util.typing import Bools, Ints
from assay.evaluation.panels import PanelLayout, weighed_layout
from assay.evaluation.registry import Metric


def layout_for(metric: Metric, layout: PanelLayout, *, weighted: bool = True) -> PanelLayout:
    """Return the layout on which a metric is computed, ``weighted`` and pooled as it needs."""
    own = weighed_layout(metric, layout) if weighted else layout
    return pooled_layout(own) if metric.pooled else own


def pooled_layout(layout: PanelLayout) -> PanelLayout:
    """Append to each panel the items of its cluster that stand only in other lists."""
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


def _listed(layout: PanelLayout, panel: Ints, item: Ints) -> Bools:
    """Return whether items (pair,) stand in the lists of panels (pair,)."""
    many = int(max(layout.item.max(initial=0), item.max(initial=0))) + 1
    own = (np.arange(len(layout.item))[:, None] * many + layout.item)[layout.mask]
    return np.isin(panel * many + item, own)

"""Results as data frames: what the command line shows, writes and hands to the report."""

from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from assay.labels import label_probabilities
from assay.reliability import rater_reliability
from assay.summary import summarize

Kind = Literal["recorded", "raw"]


def reliability_frame(
    fit: xr.DataTree, kind: Kind = "recorded", level: float = 0.95
) -> pd.DataFrame:
    """Return a line per rater, label, true and reported class, of those that exist.

    Parameters
    ----------
    fit : xarray.DataTree
    kind : {"recorded", "raw"}
    level : float
        Probability of the intervals.
    """
    draws = rater_reliability(fit, kind=kind)
    lines = summarize(draws, level=level)
    lines = lines[lines["undefined"] < 1].assign(kind=kind)
    front = ["rater", "label", "true_class", "reported_class", "mean", "sd", "lower", "upper"]
    return lines[[*front, "level", "kind", "reference"]].reset_index(drop=True)


def labels_frame(fit: xr.DataTree) -> pd.DataFrame:
    """Return a line per item and label: the most likely class, and the probability of each."""
    table = label_probabilities(fit)
    chance = table.values.reshape(-1, table.sizes["class"])
    classes = table["class"].values.astype(object)
    best = np.nanargmax(chance, axis=1)
    items, labels = table["item"].values, table["label"].values
    frame = pd.DataFrame(
        {
            "item": np.repeat(items, len(labels)),
            "label": np.tile(labels, len(items)),
            "class": classes[best],
            "probability": chance[np.arange(len(best)), best],
        }
    )
    each = pd.DataFrame(chance, columns=[f"p[{name}]" for name in classes])
    return pd.concat([frame, each], axis=1).assign(reference=fit.attrs["reference"])


def least_certain(labels: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return the lines of :func:`labels_frame` whose most likely class is least likely."""
    return labels.sort_values("probability", kind="stable").head(count)

"""The truth of the items: probabilities and draws of states and labels."""

import numpy as np
import xarray as xr

from assay.data.rules import NOT_ASKED
from assay.data.task import Task
from assay.fits.view import Fit, FitView

NOT_ASKED_NAME = "not asked"


def state_probabilities(fit: Fit) -> xr.DataArray:
    """Posterior probabilities of the states of each item.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.

    Returns
    -------
    xarray.DataArray
        (item, state), in [0, 1], adding up to 1 over ``state``; averaged exactly over the draws
        of the parameters.

    Raises
    ------
    FitError
        If the tree is not a fit.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> state_probabilities(tree).sizes["state"]
    2
    """
    view = FitView.of(fit)
    table = view["labels"]["state_probability"].rename(state_name="state")
    return table.rename("state_probability").assign_attrs(reference=view.attrs["reference"])


def asked_class_names(task: Task) -> list[str]:
    """Return the names of the classes of all labels, in order of appearance."""
    return list(dict.fromkeys(name for label in task.labels for name in label.classes))


def class_names(task: Task) -> list[str]:
    """Return the names of the classes of all labels, with "not asked" last if a label is gated."""
    gated = any(label.asked_if for label in task.labels)
    return [*asked_class_names(task), *([NOT_ASKED_NAME] if gated else [])]


def label_probabilities(fit: Fit) -> xr.DataArray:
    """Posterior probabilities of the classes of each label of each item.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.

    Returns
    -------
    xarray.DataArray
        (item, label, class), in [0, 1], adding up to 1 over ``class``; NaN where a label does not
        have the class. Gated labels have the class "not asked".

    Raises
    ------
    FitError
        If the tree is not a fit.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> label_probabilities(tree).sel(item="item_1", label="label")["class"].values.tolist()
    ['a', 'b']
    """
    view = FitView.of(fit)
    states, task, codes = state_probabilities(view), view.task, view.codes
    names = class_names(task)
    holds = np.full((len(codes), len(task.labels), len(names)), np.nan)
    for n, label in enumerate(task.labels):
        known = {name: k for k, name in enumerate(label.classes)}
        if label.asked_if:
            known[NOT_ASKED_NAME] = NOT_ASKED
        for name, code in known.items():
            holds[:, n, names.index(name)] = codes[:, n] == code
    table = np.tensordot(states.values, holds, axes=1)
    return xr.DataArray(
        table,
        dims=("item", "label", "class"),
        coords={"item": states["item"].values, "label": list(task.label_names), "class": names},
        name="label_probability",
        attrs={"reference": view.attrs["reference"]},
    )


def label_draws(fit: Fit) -> xr.DataArray:
    """Joint posterior draws of the labels of all items.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.

    Returns
    -------
    xarray.DataArray
        (chain, draw, item, label), class codes: 0, 1, ... in the order of the label's classes,
        -2 where the label does not apply. The draws are those that all metrics use.

    Raises
    ------
    FitError
        If the tree is not a fit.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> dict(label_draws(tree).sizes)
    {'chain': 1, 'draw': 20, 'item': 20, 'label': 1}
    """
    view = FitView.of(fit)
    states, data = view["labels"]["state"], view["constant_data"]
    return xr.DataArray(
        view.codes[states.values],
        dims=(*states.dims, "label"),
        coords={**states.coords, "label": data["label"].values},
        name="label",
        attrs={"reference": view.attrs["reference"]},
    )

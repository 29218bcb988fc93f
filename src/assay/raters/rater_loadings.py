"""How much the difficulty of an item matters to each rater."""

import numpy as np
import xarray as xr

from assay._util.errors import FitError
from assay.fits.datatree import array_of_draws, parameter_draws, structure_of
from assay.fits.labels import asked_class_names
from assay.modelling.confusion import confusion_layout


def difficulty_loadings(fit: xr.DataTree) -> xr.DataArray:
    r"""Say what difficulty takes from the log odds of a rater's right answers.

    Parameters
    ----------
    fit : xarray.DataTree
        With a layer of difficulty; with ``"hierarchical + item_difficulty_by_rater"`` each rater
        has its own, with ``"hierarchical + item_difficulty_by_class"`` one for each class, else
        raters of a group have one.

    Returns
    -------
    xarray.DataArray
        (chain, draw, rater, label, true_class): :math:`\lambda_{jlk} \ge 0`, for a hard item in the
        place of an easy one, or for each SD of continuous difficulty. With
        ``item_difficulty`` the log odds between answers are :math:`e^{-\lambda}` times
        those on easy items. NaN for raters of a group without the layer, and where a label does not
        have the class.

    Raises
    ------
    FitError
        If items have no difficulty in this fit.

    References
    ----------
    Qu, Y., Tan, M. and Kutner, M. H. (1996). Random effects models in latent class analysis for
    evaluating accuracy of diagnostic tests. Biometrics 52, 797-810.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("ais", n_items=20, n_raters=3, ratings_per_item=2, rng=1)
    >>> model = {"raters": "one_coin + item_difficulty_by_rater", "method": "map", "draws": 5}
    >>> difficulty_loadings(assay.fit(ratings, **model, chains=1, rng=1, progress=False)).dims
    ('chain', 'draw', 'rater', 'label', 'true_class')
    """
    structure, values = structure_of(fit), parameter_draws(fit)
    parts = [part for part in structure.parts if part.loading is not None]
    if not parts:
        raise FitError(
            "items have no difficulty in this fit; fit with raters='hierarchical + "
            "item_difficulty_by_rater', or another layer of difficulty",
            code="no-difficulty",
        )
    task, raters = structure.ratings.task, structure.ratings.raters.index
    layout, names = confusion_layout(task), asked_class_names(task)
    draws = len(next(iter(values.values())))
    found = np.full((draws, len(raters), len(task.labels), len(names)), np.nan)
    for part in parts:
        assert part.loading is not None
        of_rows = part.loading.of_raters(part.own(values), np)
        for row, (label, true) in enumerate(zip(layout.labels, layout.true_classes, strict=True)):
            column = names.index(task.labels[label].classes[true])
            found[:, part.members, label, column] = of_rows[..., row]
    coords = {
        "rater": raters.to_numpy(object),
        "label": list(task.label_names),
        "true_class": names,
    }
    return array_of_draws(fit, found, "difficulty_rate", coords)

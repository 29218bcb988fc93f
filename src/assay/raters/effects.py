"""Parameters of layers for each rater: loadings of difficulty, and lapses."""

import numpy as np
import xarray as xr
from scipy.special import expit

from assay._util.errors import FitError
from assay.fits.labels import asked_class_names
from assay.fits.view import Fit, FitView
from assay.modelling.confusion import confusion_layout
from assay.modelling.rater_model import CategoricalRaterModel


def rater_difficulty(fit: Fit) -> xr.DataArray:
    r"""Return how much difficulty lowers the log odds of a rater's right answers.

    Parameters
    ----------
    fit : xarray.DataTree
        With a layer of difficulty. With ``"hierarchical + item_difficulty_by_rater"`` each rater
        has a loading, with ``"hierarchical + item_difficulty_by_class"`` one for each class;
        otherwise the raters of a group share one.

    Returns
    -------
    xarray.DataArray
        (chain, draw, rater, label, true_class): :math:`\lambda_{jlk} \ge 0` of the hardest items:
        a share :math:`e^{-\lambda}` of the answers to them are not guesses. NaN for raters of a
        group without the layer, and where a label does not have the class.

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
    >>> rater_difficulty(assay.fit(ratings, **model, chains=1, rng=1, progress=False)).dims
    ('chain', 'draw', 'rater', 'label', 'true_class')
    """
    view = FitView.of(fit)
    structure, values = view.structure, view.draws
    parts = [part for part in structure.parts if part.loading is not None]
    if not parts:
        raise FitError(
            "items have no difficulty in this fit; fit with `raters='hierarchical + "
            "item_difficulty_by_rater'`, or another layer of difficulty",
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
    return view.by_chain(found, "difficulty_rate", coords)


def rater_lapses(fit: Fit) -> xr.DataArray:
    r"""Share of each rater's ratings that are lapses: answers that ignore the item.

    Parameters
    ----------
    fit : xarray.DataTree
        From ``assay.fit(ratings, raters="hierarchical + lapses")``.

    Returns
    -------
    xarray.DataArray
        (chain, draw, rater): :math:`\epsilon_j`, the probability that a rating is a lapse, in
        [0, 1]; NaN for raters of a group without the layer. Where all labels have two classes,
        it is weakly identified and depends on the prior.

    Raises
    ------
    FitError
        If no rater has lapses in this fit.

    References
    ----------
    Hovy, D., Berg-Kirkpatrick, T., Vaswani, A. and Hovy, E. (2013). Learning whom to trust with
    MACE. NAACL-HLT 2013, 1120-1130.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("ais", n_items=20, n_raters=3, ratings_per_item=2, rng=1)
    >>> model = {"raters": "hierarchical + lapses", "method": "map", "draws": 5, "chains": 1}
    >>> rater_lapses(assay.fit(ratings, **model, rng=1, progress=False)).dims
    ('chain', 'draw', 'rater')
    """
    view = FitView.of(fit)
    structure, values = view.structure, view.draws
    parts = [
        part for part in structure.parts if isinstance(part, CategoricalRaterModel) and part.lapses
    ]
    if not parts:
        raise FitError(
            "no rater has lapses in this fit; fit with `raters='hierarchical + lapses'`. The "
            "corresponding parameter of mace is 'spamming'",
            code="no-lapses",
        )
    raters, draws = structure.ratings.raters.index, len(next(iter(values.values())))
    found = np.full((draws, len(raters)), np.nan)
    for part in parts:
        assert part.lapses is not None
        found[:, part.members] = expit(part.lapses.log_odds(part.own(values)))
    return view.by_chain(found, "lapse_share", {"rater": raters.to_numpy(object)})

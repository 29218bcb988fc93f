"""The effective number of independent raters in a group, and perception layers."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.intervals import interval_ends, require_level
from assay._util.typing import Floats, Ints
from assay.fits.view import Fit, FitView
from assay.inference.assumptions import PRIOR_DRIVEN, prior_driven_layers
from assay.modelling.rater_model import RaterModel
from assay.modelling.structure import Structure
from assay.raters.reliability import average_difficulty, average_prevalence, difficulty_by_state

AT_ONCE = 200


def effective_number_of_raters(fit: Fit) -> xr.DataArray:
    r"""Return the effective number of independent raters in each group.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.

    Returns
    -------
    xarray.DataArray
        (chain, draw, group, label), between 1 and the number of raters of the group unless errors
        are negatively correlated. Without a layer (perception, item difficulty) raters err
        independently by assumption, and each counts one.

    Notes
    -----
    With J raters whose errors, given the truth, have the mean correlation :math:`\bar\rho`,

    .. math:: J_{\mathrm{eff}} = \frac{J}{1 + (J - 1)\, \bar\rho}, \qquad
              \bar\rho = \frac{\sum_s \pi(s)\, \overline{\operatorname{cov}}_s}
                              {\sum_s \pi(s)\, \overline{\operatorname{var}}_s},

    the design effect of Kish (1965). Variances and covariances of the error indicators follow from
    the model, averaged over raters and over pairs of raters.

    References
    ----------
    Kish, L. (1965). Survey Sampling. Wiley.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_raters=5, rng=2)
    >>> fit = assay.fit(ratings, raters="hierarchical", method="map", draws=2, chains=1, rng=1)
    >>> float(effective_number_of_raters(fit).mean())
    5.0
    """
    view = FitView.of(fit)
    structure, values = view.structure, view.draws
    found, names = [], []
    for part in structure.parts:
        for g, name in enumerate(part.raters.groups):
            some = [_group_worth(structure, part, g, v) for v in _at_once(values)]
            found.append(np.concatenate(some))
            names.append(name)
    order = np.argsort(np.array(names, str), kind="stable")
    table = np.stack(found, axis=1)[:, order]
    coords = {
        "group": np.array(names, object)[order],
        "label": list(structure.ratings.task.label_names),
    }
    return view.by_chain(table, "effective_raters", coords)


def _at_once(values: Mapping[str, Floats]) -> Iterator[dict[str, Floats]]:
    """Yield the draws in runs: tables of all draws, for many raters, need gigabytes."""
    draws = len(next(iter(values.values())))
    for start in range(0, draws, AT_ONCE):
        yield {name: value[start : start + AT_ONCE] for name, value in values.items()}


def _group_worth(
    structure: Structure, part: RaterModel, g: int, values: Mapping[str, Floats]
) -> Floats:
    """Return the effective number of raters of one group, (draw, label)."""
    states = structure.prevalence.space.states
    draws, labels = len(next(iter(values.values()))), states.shape[1]
    members = np.flatnonzero(part.raters.group == g)
    count, name = len(members), part.raters.groups[g]
    if count < 2 or not (name in structure.perception.groups or part.loading is not None):
        return np.full((draws, labels), float(count))
    looks = appearance_chances(structure, name, values)
    chance = _class_chances(structure, part, members, values)
    weight = difficulty_by_state(structure, values)
    share = average_prevalence(structure, values)
    worth = np.empty((draws, labels))
    for label in range(labels):
        covariance, variance = np.zeros(draws), np.zeros(draws)
        for s in np.flatnonzero(states[:, label] >= 0):
            error = 1 - chance[..., label, states[s, label]]
            found = _error_moments(error, looks[:, :, s], weight[..., s])
            covariance += share[:, s] * found[0]
            variance += share[:, s] * found[1]
        rho = np.divide(covariance, variance, out=np.zeros(draws), where=variance > 0)
        worth[:, label] = count / (1 + (count - 1) * rho)
    return worth


def _error_moments(error: Floats, looks: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return mean covariance of pairs of raters, and mean variance, of their errors, (draw,).
    Shapes: ``error`` (difficulty, draw, rater, appearance), ``looks`` (difficulty, draw,
    appearance), ``weight`` (draw, difficulty).
    """
    count = error.shape[2]
    mean = np.einsum("qdra,qda,dq->dr", error, looks, weight)
    total, squares = error.sum(axis=2), (error**2).sum(axis=2)
    pairs = np.einsum("qda,qda,dq->d", total**2 - squares, looks, weight)
    apart = mean.sum(axis=1) ** 2 - (mean**2).sum(axis=1)
    covariance = (pairs - apart) / (count * (count - 1))
    return covariance, (mean * (1 - mean)).mean(axis=1)


def appearance_chances(structure: Structure, name: str, values: Mapping[str, Floats]) -> Floats:
    r"""Return :math:`\Gamma` = P(appearance | state) for a group, averaged over contexts:
    (difficulty, draw, state, appearance); the identity without a perception layer.
    """
    clear = np.eye(len(structure.prevalence.space.states))
    if name not in structure.perception.groups:
        draws = len(next(iter(values.values())))
        return np.broadcast_to(clear, (structure.difficulty.classes, draws, *clear.shape))
    chance, looks = structure.perception.of_group(name, values)
    blur = chance.T[:, :, None, None]
    return np.asarray((1 - blur) * clear + blur * looks.mean(axis=1))


def _class_chances(
    structure: Structure, part: RaterModel, members: Ints, values: Mapping[str, Floats]
) -> Floats:
    """Return P(reported class | appearance) of an answer, by class of difficulty.

    The shape is (difficulty, draw, rater, appearance, label, class).
    """
    own, shares = part.own(values), part.shares[members]
    found = []
    for tilt in part.tilts(own, structure.difficulty.positions, np):
        chance = part.label_chances(values, tilt)
        chance = np.einsum("ru,du...->dr...", shares, chance)
        total = chance.sum(axis=-1, keepdims=True)
        found.append(np.divide(chance, total, out=np.zeros_like(chance), where=total > 0))
    return np.stack(found)


def group_misperception(fit: Fit, *, level: float = 0.95) -> pd.DataFrame:
    """Return how often each group misperceives items, and whether this follows from the data.

    Returns
    -------
    pandas.DataFrame
        A line for each rater group with a perception layer: ``group``, ``mean``, ``sd``,
        ``lower``, ``upper`` of the probability that the whole group misperceives an item, averaged
        over difficulty. For an item of no difficulty: ``prior_sd``, and ``prior_share``, the ratio
        of the posterior's SD to it (near 1, the data are uninformative). ``prior_driven`` is
        whether this ratio exceeds 0.8, so that the estimate reflects the prior.

    Raises
    ------
    FitError
        If ``level`` is not between 0 and 1.
    """
    require_level(level)
    view = FitView.of(fit)
    structure, values = view.structure, view.draws
    rows = []
    weight = average_difficulty(structure, values)
    for name, prior_sd, share in prior_driven_layers(structure, values):
        draws = (structure.perception.of_group(name, values)[0] * weight).sum(axis=-1)
        lower, upper = interval_ends(draws, level)
        rows.append(
            {
                "group": name,
                "mean": float(draws.mean()),
                "sd": float(draws.std()),
                "lower": float(lower),
                "upper": float(upper),
                "prior_sd": prior_sd,
                "prior_share": share,
                "prior_driven": share > PRIOR_DRIVEN,
            }
        )
    columns = ["group", "mean", "sd", "lower", "upper"]
    columns += ["prior_sd", "prior_share", "prior_driven"]
    return pd.DataFrame(rows, columns=columns)

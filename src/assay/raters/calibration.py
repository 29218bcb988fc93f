"""Calibration of scores: the probability of the true class given the score."""

from collections.abc import Mapping
from functools import reduce

import numpy as np
import pandas as pd

from assay._util.errors import FitError
from assay._util.intervals import interval_ends, require_level
from assay._util.typing import Floats
from assay.data.ratings import Ratings
from assay.data.score_bins import score_codes
from assay.fits.view import Fit, FitView
from assay.modelling.confusion import Tilt
from assay.modelling.rater_model import ScorePart, score_rows
from assay.modelling.structure import Structure
from assay.raters.reliability import average_prevalence, over_layers

NO_SCORE = "the raters whose family is 'scored' gave answers but no score"


def rater_calibration(fit: Fit, *, level: float = 0.95) -> pd.DataFrame:
    r"""Calibration curve of each rater that gives scores.

    Parameters
    ----------
    fit : xarray.DataTree
        Of raters with the family ``scored``.
    level : float
        Probability of the bands.

    Returns
    -------
    pandas.DataFrame
        A line per rater, label, bin and class, with these columns:

        - ``rater``, ``label``, ``class``, and ``bin`` (from 0)
        - ``lowest_score``, ``highest_score``, ``n_ratings``: of the rater in the bin
        - ``mean``, ``lower``, ``upper``: of :math:`P(\text{class} \mid \text{score})`, at the
          average prevalence of the data

        Bins without a score are left out.

    Raises
    ------
    FitError
        If no rater of the fit gave a score, or ``level`` is not between 0 and 1.

    Notes
    -----
    .. math:: P(k \mid b) = \frac{\sum_{s: s_l = k} \pi(s)\, p(b \mid s)}
                                {\sum_s \pi(s)\, p(b \mid s)}

    with difficulty and perception summed out of :math:`p(b \mid s)`, averaged over a drifting
    rater's ratings. It is for an item of which only this score is known.
    """
    require_level(level)
    view = FitView.of(fit)
    structure, values = view.structure, view.draws
    parts = [part for part in structure.parts if isinstance(part, ScorePart)]
    if not parts:
        raise FitError(
            "no rater of this fit gives scores; fit with `raters='scored'`", code="no-scores"
        )
    tables = []
    for part in parts:
        used = _used_bins(structure.ratings, part)
        curves = class_given_bin(structure, part, values)
        for line in used.to_dict(orient="records"):
            n, member, at = (int(line[key]) for key in ("label", "member", "bin"))
            curve = curves[n][:, member, :, at]
            lower, upper = interval_ends(curve, level, axis=0)
            label = structure.ratings.task.labels[n]
            tables.append(
                pd.DataFrame(
                    {
                        "rater": part.raters.names[member],
                        "label": label.name,
                        "bin": at,
                        "lowest_score": line["lowest_score"],
                        "highest_score": line["highest_score"],
                        "n_ratings": line["n_ratings"],
                        "class": label.classes,
                        "mean": curve.mean(axis=0),
                        "lower": lower,
                        "upper": upper,
                    }
                )
            )
    if not tables:
        raise FitError(
            f"{NO_SCORE}, so there is no calibration curve; "
            "name the column of their scores or confidences when reading (`score=`, `confidence=`)",
            code="no-scores",
        )
    return pd.concat(tables, ignore_index=True)


def class_given_bin(
    structure: Structure, part: ScorePart, values: Mapping[str, Floats]
) -> list[Floats]:
    """Return P(class | bin) at the average prevalence, by label (draw, rater, class, bin)."""
    by_state = _bins_by_state(structure, part, values)
    share = average_prevalence(structure, values)[:, None, :, None]
    found, first = [], 0
    for n, classes in enumerate(part.family.layout.classes):
        last = first + classes * part.family.layout.parts
        joint, states = by_state[..., first:last] * share, part.space.states[:, n]
        by_class = [joint[:, :, states == k].sum(axis=2) for k in range(classes)]
        found.append(np.stack(by_class, axis=2) / joint[:, :, states >= 0].sum(axis=2)[:, :, None])
        first = last
    return found


def _bins_by_state(structure: Structure, part: ScorePart, values: Mapping[str, Floats]) -> Floats:
    """Return P(bin | state) without layers, up to a factor of the bin, (draw, rater, state, bin).

    Without the factor, an extreme bin underflows in all states.
    """
    own = part.own(values)

    def logs(tilt: Tilt | None) -> Floats:
        return _log_bins(part, np.asarray(part.log_codes(own, tilt, np)))

    tilts = part.tilts(own, structure.difficulty.positions, np)
    most = reduce(np.maximum, (logs(tilt).max(axis=2, keepdims=True) for tilt in tilts))
    factor = np.full_like(most, np.inf)  # a session without ratings gets chance 0
    for shares in part.shares:
        mine = np.flatnonzero(shares > 0)
        factor[:, mine] = most[:, mine].max(axis=1, keepdims=True)
    chance = over_layers(structure, part, values, lambda tilt: np.exp(logs(tilt) - factor))
    return np.asarray(np.einsum("ru,du...->dr...", part.shares, chance))


def _log_bins(part: ScorePart, codes: Floats) -> Floats:
    """Return log P(bin | state), all labels' bins side by side, (draw, unit, state, bin)."""
    layout = part.family.layout
    by_label = [
        codes[:, :, score_rows(layout, part.space.states[:, n], n), : classes * layout.parts]
        for n, classes in enumerate(layout.classes)
    ]
    return np.concatenate(by_label, axis=-1)


def _used_bins(ratings: Ratings, part: ScorePart) -> pd.DataFrame:
    """Return the bins that have scores: member, label, bin, the scores' range and number."""
    place = {int(j): n for n, j in enumerate(part.members)}
    mine = np.flatnonzero(part.unit >= 0)
    codes = score_codes(ratings, part.family.layout)[mine]
    rows = []
    for n in range(codes.shape[1]):
        scores = ratings.scores[mine, n]
        here = np.isfinite(scores)
        rows.append(
            pd.DataFrame(
                {
                    "member": [place[int(j)] for j in ratings.rater[mine[here]]],
                    "label": n,
                    "bin": codes[here, n],
                    "score": scores[here],
                }
            )
        )
    grouped = pd.concat(rows).groupby(["member", "label", "bin"])["score"]
    table = grouped.agg(lowest_score="min", highest_score="max", n_ratings="size")
    return table.reset_index()

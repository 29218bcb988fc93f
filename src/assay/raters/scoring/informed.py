r"""Labels that know the scores they are held against, and weights of their clusters.

Label draws of a fit that has not seen some scores are, where the truth is in doubt, drawn without
them: a score that tells right from wrong meets a coin. Agreement of score and truth then comes out
too low, by as much as the truth is uncertain, and the interval does not know it. Given the scores,

.. math:: p(t_i = k \mid y, s) \propto p(t_i = k \mid y)\, \phi_{k b(s_i)},

with :math:`b` a bin of scores and :math:`\phi_k` the chances of the bins in class k.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay._util.text import counted
from assay._util.validation import require_choice
from assay.evaluation.estimands import (
    ESTIMANDS,
    MIN_CLUSTERS,
    WEIGHTS_SEED,
    ClusterWeights,
    cluster_keys,
    gamma_shapes,
)
from assay.evaluation.panels import MEND, first_stage
from assay.raters.scoring.functions import equal_mass_edges
from assay.raters.scoring.measures import Measure
from assay.raters.scoring.scores import Scored
from assay.raters.scoring.truths import Truth

Values = NDArray[np.float64]


POPULATION = (
    "`estimand='population'` counts them in the measures of all items, such as precision and "
    f"auroc, if there are at least {MIN_CLUSTERS} clusters"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemWeights:
    """Bayesian bootstrap weights of clusters, handed on to their items.

    Attributes
    ----------
    clusters : ClusterWeights
    cluster : ndarray of int (item,)
        Position of each item's cluster.
    design : ndarray of float (item,)
        Design weight of each item.
    ranking : ndarray of int (ranking,)
        Position of each ranking's cluster.
    """

    clusters: ClusterWeights
    cluster: NDArray[np.int64]
    design: Values
    ranking: NDArray[np.int64]

    def __getitem__(self, draws: slice) -> tuple[Values, Values]:
        """Return the weights of items (draw, item) and of rankings (draw, ranking)."""
        weight = self.clusters[draws]
        by_ranking = (weight * self.clusters.design)[:, self.ranking]
        return weight[:, self.cluster] * self.design, by_ranking


def item_weights(
    estimand: str,
    cluster: NDArray[np.object_],
    design: Values,
    stratum: NDArray[np.object_],
    *,
    by_cluster: bool,
) -> ItemWeights | None:
    """Return the weights that an estimand calls for; None if all items weigh the same.

    Parameters
    ----------
    estimand : {"finite", "population"}
    cluster : ndarray of object (item,)
        Names of the clusters.
    design : ndarray of float (item,)
        Design weights, which the population counts; a ranking counts the mean of its items'.
    stratum : ndarray of object (item,)
        Names of the strata; each keeps its share of the design weights.
    by_cluster : bool
        Whether each cluster has its ranking.

    Raises
    ------
    ModelError
        If there is no such estimand, or the clusters cannot stand for a population.
    """
    require_choice("estimand", estimand, ESTIMANDS)
    if estimand == "finite":
        return None
    names, place = np.unique(cluster.astype(str), return_inverse=True)
    joined = first_stage(place, np.unique(stratum.astype(str), return_inverse=True)[1])
    strata = np.unique(joined, return_inverse=True)[1]
    freedom = len(names) - int(strata.max())
    if not by_cluster or freedom < MIN_CLUSTERS:
        count = counted(len(names), "cluster") + (
            f" in {strata.max() + 1} strata" if strata.max() else ""
        )
        uneven = len(design_range(design, place if by_cluster else np.zeros_like(place)))
        raise ModelError(
            f"`estimand='population'` needs `by='cluster'` and at least {MIN_CLUSTERS} clusters "
            f"(there are {count}; strata beyond the first take one each): with fewer the Bayesian "
            "bootstrap is too narrow; "
            + (MEND if uneven else "use `estimand='finite'`, which is about these items"),
            code="few-clusters",
            numbers={"clusters": len(names), "needed": MIN_CLUSTERS},
        )
    total = np.bincount(place, design)
    return ItemWeights(
        clusters=ClusterWeights(
            keys=cluster_keys(tuple(str(name) for name in names), WEIGHTS_SEED),
            stratum=strata,
            design=total / np.bincount(place),
            shape=gamma_shapes(strata, total),
        ),
        cluster=place.astype(np.int64),
        design=design,
        ranking=np.arange(len(names)),
    )


def design_range(design: Values, ranking: NDArray[np.int64]) -> Values:
    """Return the least and the largest weight of rankings in which weights differ.

    Parameters
    ----------
    design : ndarray of float (item,)
        Design weights.
    ranking : ndarray of int (item,)
        Which ranking each item is in.

    Returns
    -------
    ndarray of float
        Two numbers; none if the items of every ranking weigh the same.

    Examples
    --------
    >>> design_range(np.array([1.0, 4.0, 9.0]), np.array([0, 0, 1]))
    array([1., 4.])
    >>> design_range(np.array([1.0, 4.0]), np.array([0, 1]))
    array([], dtype=float64)
    """
    size = int(ranking.max()) + 1
    least, most = np.full(size, np.inf), np.zeros(size)
    np.minimum.at(least, ranking, design)
    np.maximum.at(most, ranking, design)
    uneven = least < most
    return np.array([least[uneven].min(), most[uneven].max()] if uneven.any() else [])


def weights_ignored(
    measures: Sequence[Measure], estimand: str, design: Values, ranking: NDArray[np.int64]
) -> tuple[list[Measure], str]:
    """Find the measures that would ignore weights which differ within a ranking, and say why.

    Returns
    -------
    measures : list of Measure
        All of them for ``finite``, which counts items alike; measures of rankings for
        ``population``.
    reason : str
        ``""`` if there are none.
    """
    ends = design_range(design, ranking)
    ignoring = [m for m in measures if m.ranking or estimand == "finite"] if len(ends) else []
    if not ignoring:
        return [], ""
    head = f"Design weights differ within rankings (from {ends[0]:g} to {ends[1]:g})"
    if estimand == "finite":
        return ignoring, f"{head}, and `estimand='finite'` counts all items alike: {POPULATION}."
    return ignoring, f"{head}, and orders cannot count them."


def weighable_measures(
    measures: Sequence[Measure], ignoring: Sequence[Measure], reason: str, *, named: bool
) -> list[Measure]:
    """Leave out measures that would ignore design weights.

    Raises
    ------
    ModelError
        If measures are named and one of them ignores the weights, or if none is left.
    """
    kept = [measure for measure in measures if measure not in ignoring]
    if ignoring and (named or not kept):
        names = ", ".join(measure.name for measure in ignoring) if named else "the measures"
        raise ModelError(
            f"{reason} Here {names} would be about the sample alone. {MEND}",
            code="uneven-design-weights",
        )
    return kept


Codes = NDArray[np.int16]


Places = NDArray[np.int64]
ITEMS_A_BIN = 15
MOST_BINS = 10
FIRST_STEPS = 100
"""Of expectation and maximisation, from which every draw starts."""
SWEEPS = 6
DOUBT = 0.01
"""Chance that two draws of a label differ from which on the lean is worth a note."""
CELLS = 4_000_000
"""Chances of classes held at a time: bounds the memory."""
SCORES_STREAM = 6


def informed_truth(fit: xr.DataTree, truth: Truth, scored: Scored) -> Truth:
    """Draw the labels of scored items again, given the scores too.

    Parameters
    ----------
    fit : xarray.DataTree
        That the truth comes from; its seed counts.
    truth : Truth
    scored : Scored
        Scores of someone who is no rater with these scores in the fit.

    Returns
    -------
    Truth
        Draws that the scores do not change stay as they are.
    """
    rng = np.random.default_rng([int(fit.attrs["seed"]), SCORES_STREAM])
    codes = truth.codes.copy()
    codes[:, scored.item] = informed_codes(codes[:, scored.item], score_cells(scored), rng)
    return Truth(**{**vars(truth), "codes": codes})


def saw_scores(truth: Truth, scored: Scored) -> bool:
    """Whether a rater of the ratings behind the truth gave these very scores."""
    ratings = truth.ratings
    if ratings is None or ratings.scores is None:
        return False
    column = ratings.scores[:, ratings.task.label_names.index(truth.label)]
    for rater in np.unique(ratings.rater[np.isfinite(column)]):
        own = np.flatnonzero((ratings.rater == rater) & np.isfinite(column))
        given = np.full(len(truth.items), np.nan)
        given[ratings.item[own[::-1]]] = column[own[::-1]]
        if np.array_equal(given[scored.item], scored.score):
            return True
    return False


def blind_words(truth: Truth, scored: Scored) -> str:
    """Say how much truths that have not seen the scores lean, if the truth is in doubt at all."""
    apart = float(1 - (_shares(truth.codes[:, scored.item]) ** 2).sum(axis=1).mean())
    if apart < DOUBT:
        return ""
    return (
        "The fit has not seen these scores, and two draws of its truth differ on "
        f"{100 * apart:.0f} % of the items: measures lean towards those of scores that tell "
        "nothing. `informed=True` draws the labels given the scores; a fit of ratings with the "
        "scores knows them."
    )


def score_cells(scored: Scored) -> Places:
    """Put items whose scores and guesses are much alike into cells: (item,), from 0."""
    bins = int(np.clip(len(scored.item) // ITEMS_A_BIN, 2, MOST_BINS))
    edges = equal_mass_edges(scored.score, bins)[:-1]
    place = np.searchsorted(edges, scored.score)
    guess = np.zeros(len(place)) if scored.guess is None else scored.guess
    both = np.column_stack([place, guess])
    return np.unique(both, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def informed_codes(codes: Codes, cell: Places, rng: np.random.Generator) -> Codes:
    r"""Draw labels given the cell of each item's score.

    Parameters
    ----------
    codes : ndarray of int16 (draw, item)
        Draws of the labels without the scores.
    cell : ndarray of int (item,)
        From 0.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int16 (draw, item)

    Notes
    -----
    :math:`p(t_i = k \mid y)` is the share of the draws, and
    :math:`\phi_k \sim \mathrm{Dirichlet}(m)`, :math:`m` the shares of the cells among all items:
    one item's worth of belief that scores say nothing. Each draw is a Gibbs chain over
    :math:`(t, \phi)` of its own that starts at the mode of :math:`\phi`. A label is kept as far as
    it can be (the maximal coupling of its laws without and with the score), so that what the
    labels of one draw have in common, the parameters of the fit, stays in them. These are not
    updated by the scores: what a rater's answers mean is learned from raters alone.
    """
    classes, code = np.unique(codes, return_inverse=True)
    code = code.reshape(codes.shape)
    size = len(classes)
    if size < 2:
        return codes
    before = _shares(codes)
    chance = _mode(before, cell)
    open_ = before.max(axis=1) < 1
    prior = before[~open_].T @ np.eye(chance.shape[1])[cell[~open_]] + _one_item(cell)
    found = code.copy()
    step = max(1, CELLS // max(1, int(open_.sum()) * size))
    for first in range(0, len(codes), step):
        run = slice(first, first + step)
        chain = _Chain(code=code[run, open_], before=before[open_], cell=cell[open_], prior=prior)
        found[run, open_] = chain.run(chance, rng)
    return classes[found]


def _shares(codes: Codes) -> Values:
    """Shares of the classes, in the order of their codes, over the draws: (item, class)."""
    return np.stack([(codes == k).mean(axis=0) for k in np.unique(codes)], axis=-1)


def _one_item(cell: Places) -> Values:
    """Shares of the cells: what is believed of a class before any item of it is seen."""
    return np.asarray(np.bincount(cell) / len(cell))


def _mode(before: Values, cell: Places) -> Values:
    """Chances of the cells in each class (class, cell), by expectation and maximisation."""
    prior = _one_item(cell)
    inside = np.eye(len(prior))[cell]
    chance = before.T @ inside + prior
    for _ in range(FIRST_STEPS):
        chance /= chance.sum(axis=1, keepdims=True)
        after = before * chance[:, cell].T
        after /= after.sum(axis=1, keepdims=True)
        chance = after.T @ inside + prior
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Chain:
    """Gibbs chains, one for each draw.

    Attributes
    ----------
    code : ndarray of int (draw, item)
        Labels without the scores.
    before : ndarray (item, class)
        Chances of the classes without the scores.
    cell : ndarray of int (item,)
    prior : ndarray (class, cell)
        Of the Dirichlet distribution of the chances, with the items whose label is sure.
    """

    code: Places
    before: Values
    cell: Places
    prior: Values

    def run(self, start: Values, rng: np.random.Generator) -> Places:
        """Return labels (draw, item) after some sweeps from chances (class, cell)."""
        chance = np.broadcast_to(start, (len(self.code), *start.shape))
        label = self._labels(chance, rng)
        for _ in range(SWEEPS):
            label = self._labels(self._chances(label, rng), rng)
        return label

    def _chances(self, label: Places, rng: np.random.Generator) -> Values:
        """Draw the chances of the cells given the labels: (draw, class, cell)."""
        draws, shape = len(label), self.prior.shape
        row = np.arange(draws)[:, None] * shape[0] + label
        place = (row * shape[1] + self.cell).ravel()
        counts = np.bincount(place, minlength=draws * shape[0] * shape[1])
        drawn = rng.standard_gamma(counts.reshape(draws, *shape) + self.prior)
        return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))

    def _labels(self, chance: Values, rng: np.random.Generator) -> Places:
        """Draw labels given the chances of the cells, coupled to those without scores."""
        after = np.moveaxis(chance[:, :, self.cell], 1, 2) * self.before
        total = after.sum(axis=-1, keepdims=True)
        after = np.divide(after, total, out=np.broadcast_to(self.before, after.shape).copy(),
                          where=total > 0)  # fmt: skip
        excess = np.maximum(after - self.before, 0.0).cumsum(axis=-1)
        kept = np.take_along_axis(after, self.code[..., None], axis=-1)[..., 0]
        own = self.before[np.arange(len(self.cell)), self.code]
        keep = rng.random(own.shape) * own < kept
        point = rng.random(own.shape)[..., None] * excess[..., -1:]
        other = (point >= excess).sum(axis=-1).clip(max=self.before.shape[1] - 1)
        return np.where(keep, self.code, other)

r"""Label draws given scores that the fit has not used, and weights of their clusters.

Draws without them bias the agreement of score and truth downwards. Given the scores,

.. math:: p(t_i = k \mid y, s) \propto p(t_i = k \mid y)\, \phi_{k b(s_i)},

with :math:`b` a bin of scores and :math:`\phi_k` the chances of the bins in class k.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay._util.text import counted
from assay._util.typing import Floats, Ints
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
from assay.fits.view import Fit
from assay.raters.scoring.functions import equal_mass_edges
from assay.raters.scoring.measures import Measure
from assay.raters.scoring.scores import ScoredItems
from assay.raters.scoring.truths import Truth

POPULATION = (
    "`estimand='population'` uses them in measures without rankings, such as precision and "
    f"auroc, if there are at least {MIN_CLUSTERS} clusters"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemWeights:
    """Bayesian bootstrap weights of clusters, passed on to their items.

    cluster : position of each item's cluster (item,)
    design : design weight of each item (item,)
    ranking : position of each ranking's cluster (ranking,)
    """

    clusters: ClusterWeights
    cluster: Ints
    design: Floats
    ranking: Ints

    def __getitem__(self, draws: slice) -> tuple[Floats, Floats]:
        """Return the weights of items (draw, item) and of rankings (draw, ranking)."""
        weight = self.clusters[draws]
        by_ranking = (weight * self.clusters.design)[:, self.ranking]
        return weight[:, self.cluster] * self.design, by_ranking


def item_weights(
    estimand: str,
    cluster: NDArray[np.object_],
    design: Floats,
    stratum: NDArray[np.object_],
    *,
    by_cluster: bool,
    fewest: int = MIN_CLUSTERS,
) -> ItemWeights | None:
    """Return the weights that an estimand needs; None for ``finite``. Strata keep their shares of
    the design weights; a ranking counts the mean of its items' weights.
    """
    require_choice("estimand", estimand, ESTIMANDS)
    if estimand == "finite":
        return None
    names, place = np.unique(cluster.astype(str), return_inverse=True)
    joined = first_stage(place, np.unique(stratum.astype(str), return_inverse=True)[1])
    strata = np.unique(joined, return_inverse=True)[1]
    freedom = len(names) - int(strata.max())
    if not by_cluster or freedom < fewest:
        count = counted(len(names), "cluster") + (
            f" in {strata.max() + 1} strata" if strata.max() else ""
        )
        uneven = len(design_range(design, place if by_cluster else np.zeros_like(place)))
        raise ModelError(
            f"`estimand='population'` needs `by='cluster'` and at least {fewest} clusters "
            f"(there are {count}; each stratum beyond the first uses one). With fewer clusters, "
            "intervals of the Bayesian bootstrap are too narrow. "
            + (MEND if uneven else "Use `estimand='finite'`, which is about these items"),
            code="few-clusters",
            numbers={"clusters": len(names), "needed": fewest},
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


def design_range(design: Floats, ranking: Ints) -> Floats:
    """Return the smallest and largest weight in rankings of unequal weights, or no number."""
    size = int(ranking.max()) + 1
    least, most = np.full(size, np.inf), np.zeros(size)
    np.minimum.at(least, ranking, design)
    np.maximum.at(most, ranking, design)
    uneven = least < most
    return np.array([least[uneven].min(), most[uneven].max()] if uneven.any() else [])


def weights_ignored(
    measures: Sequence[Measure], estimand: str, design: Floats, ranking: Ints
) -> tuple[list[Measure], str]:
    """Return the measures that would ignore design weights within a ranking, and the reason.

    These are all measures for ``finite``, and measures of rankings for ``population``.
    """
    ends = design_range(design, ranking)
    ignoring = [m for m in measures if m.ranking or estimand == "finite"] if len(ends) else []
    if not ignoring:
        return [], ""
    head = f"Design weights differ within rankings (from {ends[0]:g} to {ends[1]:g})"
    if estimand == "finite":
        return ignoring, f"{head}, but `estimand='finite'` weights all items equally. {POPULATION}."
    return ignoring, f"{head}, but measures of order cannot use them."


def weighable_measures(
    measures: Sequence[Measure], ignoring: Sequence[Measure], reason: str, *, named: bool
) -> list[Measure]:
    """Leave out measures that ignore design weights; refuse if they are named or none is left."""
    kept = [measure for measure in measures if measure not in ignoring]
    if ignoring and (named or not kept):
        names = ", ".join(measure.name for measure in ignoring) if named else "the measures"
        raise ModelError(
            f"{reason} Here {names} would describe the sample alone. {MEND}",
            code="uneven-design-weights",
        )
    return kept


Codes = NDArray[np.int16]


ITEMS_A_BIN = 15
MOST_BINS = 10
FIRST_STEPS = 100
"""Number of EM steps before the first draw."""
SWEEPS = 6
DOUBT = 0.01
"""Chance that two draws of a label differ above which the bias gets a note."""
CELLS = 4_000_000
"""Class chances held at a time: bounds the memory."""
SCORES_STREAM = 6


def informed_truth(fit: Fit, truth: Truth, scored: ScoredItems) -> Truth:
    """Draw the labels of scored items again, given scores that the fit has not used."""
    rng = np.random.default_rng([int(fit.attrs["seed"]), SCORES_STREAM])
    codes = truth.codes.copy()
    codes[:, scored.item] = informed_codes(codes[:, scored.item], score_cells(scored), rng)
    return Truth(**{**vars(truth), "codes": codes})


def saw_scores(truth: Truth, scored: ScoredItems) -> bool:
    """Return whether a rater of the ratings behind the truth gave exactly these scores."""
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


def blind_words(truth: Truth, scored: ScoredItems) -> str:
    """Describe the bias of a truth that has not used the scores; empty if the truth is certain."""
    apart = float(1 - (_shares(truth.codes[:, scored.item]) ** 2).sum(axis=1).mean())
    if apart < DOUBT:
        return ""
    return (
        "The fit did not use these scores, and two draws of its truth differ on "
        f"{100 * apart:.0f} % of the items. The measures are biased towards those of uninformative "
        "scores. `informed=True` draws the labels given the scores; or fit ratings that include "
        "the scores."
    )


def score_cells(scored: ScoredItems) -> Ints:
    """Return the cell of each item, (item,); a cell has similar scores and equal guesses."""
    bins = int(np.clip(len(scored.item) // ITEMS_A_BIN, 2, MOST_BINS))
    edges = equal_mass_edges(scored.score, bins)[:-1]
    place = np.searchsorted(edges, scored.score)
    guess = np.zeros(len(place)) if scored.guess is None else scored.guess
    both = np.column_stack([place, guess])
    return np.unique(both, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def informed_codes(codes: Codes, cell: Ints, rng: np.random.Generator) -> Codes:
    r"""Draw labels (draw, item) given the cell of each item's score.

    The prior :math:`\phi_k \sim \mathrm{Dirichlet}(m)`, :math:`m` the shares of the cells, is worth
    one item. Each draw is a Gibbs chain over :math:`(t, \phi)` from the mode of :math:`\phi`. A
    maximal coupling keeps a label as often as possible, and so the dependence of a draw's labels.
    The scores do not update the fit's parameters.
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


def _shares(codes: Codes) -> Floats:
    """Return the shares of the classes, sorted by code, over the draws, (item, class)."""
    return np.stack([(codes == k).mean(axis=0) for k in np.unique(codes)], axis=-1)


def _one_item(cell: Ints) -> Floats:
    """Return the shares of the cells, the prior of each class's cell chances."""
    return np.asarray(np.bincount(cell) / len(cell))


def _mode(before: Floats, cell: Ints) -> Floats:
    """Return the chances of the cells in each class, (class, cell), by EM."""
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

    code : labels without the scores (draw, item)
    before : chances of the classes without the scores (item, class)
    prior : Dirichlet parameters of the cell chances, items with certain labels included
        (class, cell)
    """

    code: Ints
    before: Floats
    cell: Ints
    prior: Floats

    def run(self, start: Floats, rng: np.random.Generator) -> Ints:
        """Return labels (draw, item) after ``SWEEPS`` sweeps from chances (class, cell)."""
        chance = np.broadcast_to(start, (len(self.code), *start.shape))
        label = self._labels(chance, rng)
        for _ in range(SWEEPS):
            label = self._labels(self._chances(label, rng), rng)
        return label

    def _chances(self, label: Ints, rng: np.random.Generator) -> Floats:
        """Draw the chances of the cells given the labels, (draw, class, cell)."""
        draws, shape = len(label), self.prior.shape
        row = np.arange(draws)[:, None] * shape[0] + label
        place = (row * shape[1] + self.cell).ravel()
        counts = np.bincount(place, minlength=draws * shape[0] * shape[1])
        drawn = rng.standard_gamma(counts.reshape(draws, *shape) + self.prior)
        return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))

    def _labels(self, chance: Floats, rng: np.random.Generator) -> Ints:
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

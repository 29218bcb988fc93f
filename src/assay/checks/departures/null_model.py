"""The null model of the tests: raters independent given the kind of an item, a label at a time.

Each rater has a confusion matrix, shrunk to that of all. Items have a class and are easy, or half
of their answers are guesses, or all are, with a guessing bias of each rater. Shares of these kinds
differ by system, rank and cluster. Replicates are fitted together by EM, along an axis of *sets*.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from assay._util.typing import Bools, Floats, Ints

PASSES = 60
PASSES_AGAIN = 12
"""EM iterations from the votes, and for replicates from the fitted model."""
POOLING = 4.0
"""Weight, in answers per class, of all raters' confusion in that of one rater."""
START = 0.8
"""Initial share of right answers, with the weight of ``POOLING`` answers."""
HARD_START = 0.1
FEW = 2.0
"""Weight, in items, of the overall shares in those of a system or a rank."""
TINY = 1e-9
UNTRUE = 10 * np.log(TINY)
"""Log prior of a kind of items that is not the known truth."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows by a code, of which negative ones are in no group: what many passes need of it."""

    code: Ints
    size: int

    @cached_property
    def _matrix(self) -> Any:
        known = self.code >= 0
        # The arrays of the matrix: building it from pairs of positions took most of the time.
        parts = np.ones(int(known.sum())), self.code[known], np.concatenate([[0], known.cumsum()])
        return sparse.csc_array(parts, shape=(self.size, len(self.code)))

    @cached_property
    def others(self) -> Floats:
        """Number of other rows in a row's group, (row, 1, 1)."""
        count = np.bincount(self.code[self.code >= 0], minlength=self.size)[self.code] - 1.0
        return np.asarray(count[:, None, None])

    def sums(self, values: Floats) -> Floats:
        """Sum values, (row, ...) to (group, ...)."""
        flat = self._matrix @ values.reshape(len(self.code), -1)
        return np.asarray(flat).reshape(self.size, *values.shape[1:])


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelRows:
    """First answers to one label.

    place : positions in the ratings (row,)
    item, rater : (row,)
    answer : class codes (row, set); the data are one set, replicates are several
    truth : class codes (item,), -1 where it is unknown
    system, rank, stratum, cluster : groups of items (item,); -1 is no system, a stratum is system
        and rank
    kinds : names and groups of further divisions of the items (item,); -1 is no kind
    """

    place: Ints
    item: Ints
    rater: Ints
    answer: Ints
    truth: Ints
    classes: int
    n_raters: int
    system: Ints
    rank: Ints
    stratum: Ints
    cluster: Ints
    kinds: tuple[tuple[str, Ints], ...] = ()

    def of_several(self) -> "LabelRows":
        """Return the rows of items with several answers; one alone identifies no rater."""
        count = np.bincount(self.item, minlength=len(self.truth))
        kept = np.flatnonzero(count > 1)
        told = count[self.item] > 1
        return replace(
            self, place=self.place[told], item=np.searchsorted(kept, self.item[told]),
            rater=self.rater[told], answer=self.answer[told], truth=self.truth[kept],
            system=self.system[kept], rank=self.rank[kept], stratum=self.stratum[kept],
            cluster=codes(self.cluster[kept]),
            kinds=tuple((name, kind[kept]) for name, kind in self.kinds),
        )  # fmt: skip

    @cached_property
    def untrue(self) -> Bools:
        """Whether a kind of items is not the known truth, (item, kind); hard ones never are."""
        kind = np.arange(2 * self.classes + 1)
        other = (kind % self.classes != self.truth[:, None]) | (kind >= 2 * self.classes)
        return np.asarray((self.truth >= 0)[:, None] & other)

    def by_item(self, values: Floats) -> Floats:
        """Sum over the rows of each item, (row, ...) to (item, ...)."""
        return self.of_items.sums(values)

    @cached_property
    def of_items(self) -> Groups:
        """The rows by item."""
        return Groups(self.item, len(self.truth))

    @cached_property
    def of_raters(self) -> Groups:
        """The rows by rater."""
        return Groups(self.rater, self.n_raters)

    @cached_property
    def items_alike(self) -> list[Groups]:
        """The items by system and by rank, where there are any."""
        codes = (self.system, self.rank)
        return [_groups_of(code) for code in codes if len(code) and code.max() >= 0]

    @cached_property
    def in_clusters(self) -> Groups | None:
        """The items by cluster; None if each is a cluster of its own."""
        found = _groups_of(self.cluster)
        return found if found.others.max(initial=0) > 0 else None

    def told(self) -> Bools:
        """Return whether each row has each class, (row, set, class)."""
        return np.asarray(self.answer[..., None] == np.arange(self.classes))


@dataclass(frozen=True, kw_only=True, eq=False)
class NullFit:
    """The fitted model of each set. The kinds are easy and harder items of each class, then hard
    ones.

    chance : of an answer to an item of a kind (rater, answer, set, kind)
    log_prior, log_likelihood : (item, set, kind)
    own : log chance of each answer (row, set, kind)
    """

    chance: Floats
    log_prior: Floats
    log_likelihood: Floats
    own: Floats

    @property
    def posterior(self) -> Floats:
        """Posterior of the kinds of each item, (item, set, kind)."""
        return softmax(self.log_prior + self.log_likelihood)

    def evidence(self) -> Floats:
        """Return the log likelihood of each set given the shares, (set,)."""
        return np.asarray(log_sum(self.log_prior + self.log_likelihood).sum(axis=0))


Maximise = Callable[[LabelRows, Floats], Floats]


def sums(code: Ints, values: Floats, size: int) -> Floats:
    """Sum values by a code, (row, ...) to (size, ...), without rows of negative codes."""
    return Groups(code, size).sums(values)


def _groups_of(code: Ints) -> Groups:
    return Groups(code, int(code.max(initial=0)) + 1)


def softmax(logits: Floats) -> Floats:
    """Return probabilities over the last axis."""
    return normalised(logits)[0]


def normalised(logits: Floats) -> tuple[Floats, Floats]:
    """Return probabilities over the last axis, and the log of the sum of exponentials."""
    top = _over_last(np.maximum, logits)
    chance = np.exp(logits - top[..., None])
    total = _over_last(np.add, chance)
    chance /= total[..., None]
    return chance, top + np.log(total)


def log_sum(logits: Floats) -> Floats:
    """Return the log of the sum of exponentials over the last axis."""
    top = _over_last(np.maximum, logits)
    return np.asarray(top + np.log(_over_last(np.add, np.exp(logits - top[..., None]))))


def _over_last(join: np.ufunc, values: Floats) -> Floats:
    """Reduce the last axis, which is so short that NumPy's own reduction is slow."""
    return reduce(join, np.moveaxis(values, -1, 0))


def fit_null(rows: LabelRows, start: NullFit | None = None) -> NullFit:
    """Fit the model to each set: from the votes, or from the fit that generated the replicates."""
    if start is None:
        return climb(rows, confusions, with_hard_items(vote_shares(rows)), PASSES)
    return climb(rows, confusions, first_posterior(rows, start), PASSES_AGAIN)


def first_posterior(rows: LabelRows, start: NullFit) -> Floats:
    """Return the kinds of the items by the fit that generated replicates, (item, set, kind)."""
    sets = rows.answer.shape[1] // start.chance.shape[2]
    chance = np.repeat(start.chance, sets, axis=2)
    return _weigh(rows, chance, np.repeat(start.log_prior, sets, axis=1)).posterior


def climb(rows: LabelRows, maximise: Maximise, posterior: Floats, passes: int) -> NullFit:
    """Fit a mixture over kinds of items by EM, from ``posterior`` (item, set, kind).

    ``maximise`` returns the chances of answers given rows and posterior.
    """
    for _ in range(passes):
        fit = _weigh(rows, maximise(rows, posterior), shares(rows, posterior))
        posterior = fit.posterior
    return fit


def vote_shares(rows: LabelRows) -> Floats:
    """Return the shares of the answers to each item, or its truth, (item, set, class)."""
    votes = rows.by_item(rows.told().astype(float))
    share = (votes + 0.5) / (votes + 0.5).sum(axis=-1, keepdims=True)
    known = rows.truth >= 0
    share[known] = np.eye(rows.classes)[rows.truth[known], None]
    return np.asarray(share)


def with_hard_items(share: Floats) -> Floats:
    """Return initial kinds from shares of classes, with some hard items, (item, set, kind)."""
    hard = np.full((*share.shape[:2], 1), HARD_START)
    return np.concatenate([share * (1 - 2 * HARD_START), share * HARD_START, hard], axis=-1)


def _weigh(rows: LabelRows, chance: Floats, log_prior: Floats) -> NullFit:
    """Sum the log chances of the answers to each item."""
    own = log_chances(rows, chance)
    return NullFit(chance=chance, log_prior=log_prior, log_likelihood=rows.by_item(own), own=own)


def log_chances(rows: LabelRows, chance: Floats) -> Floats:
    """Return the log chance of each answer given the kind of its item, (row, set, kind)."""
    sets = np.arange(rows.answer.shape[1])
    return np.asarray(np.log(chance)[rows.rater[:, None], rows.answer, sets])


def confusions(rows: LabelRows, posterior: Floats) -> Floats:
    """Return each rater's confusion from easy items, shrunk to that of all raters."""
    return with_harder(confusions_of(counts(rows, posterior)))


def counts(rows: LabelRows, posterior: Floats) -> Floats:
    """Count each rater's answers to easy items, (rater, answer, set, class)."""
    clear = posterior[..., : rows.classes][rows.item]
    told = rows.told()
    each = [rows.of_raters.sums(clear * told[..., k, None]) for k in range(rows.classes)]
    return np.stack(each, axis=1)


def confusions_of(count: Floats) -> Floats:
    """Return the chances of answers from counts of them, both (rater, answer, set, class)."""
    classes = count.shape[-1]
    wrong = (1 - START) / (classes - 1)
    first = np.where(np.eye(classes, dtype=bool), START, wrong)[:, None, :]
    pooled = count.sum(axis=0) + POOLING * first
    pooled /= pooled.sum(axis=0)
    chance = count + POOLING * pooled
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


def with_harder(chance: Floats) -> Floats:
    """Add the chances of answers to harder items, (rater, answer, set, kind)."""
    guess = chance.mean(axis=-1, keepdims=True)
    return np.concatenate([chance, (chance + guess) / 2, guess], axis=-1)


def shares(rows: LabelRows, posterior: Floats) -> Floats:
    """Return the log prior of each kind from other items, (item, set, kind)."""
    overall = posterior.mean(axis=0) + TINY
    found = np.log(overall) + np.zeros_like(posterior)
    for groups in rows.items_alike:
        found += _relative(groups, posterior, overall, np.full(posterior.shape[1], FEW))
    if rows.in_clusters is not None:
        prior = softmax(found)
        weight = _cluster_weight(rows.in_clusters, posterior, prior)
        found += _relative(rows.in_clusters, posterior, overall, weight)
    if rows.untrue.any():
        found[np.repeat(rows.untrue[:, None], found.shape[1], axis=1)] = UNTRUE
    return found


def _relative(groups: Groups, posterior: Floats, overall: Floats, weight: Floats) -> Floats:
    """Return the log share of each kind in an item's group, without it, over the overall one."""
    mine = groups.sums(posterior)[groups.code] - posterior
    w = weight[None, :, None]
    share = (np.maximum(mine, 0) + w * overall) / (groups.others + w)
    found = np.log(share / overall)
    found[groups.code < 0] = 0.0
    return np.asarray(found)


def _cluster_weight(clusters: Groups, posterior: Floats, prior: Floats) -> Floats:
    """Return the weight, in items, of the overall shares in those of a cluster: 1/r - 1. r is the
    covariance of two items' updates by answers, over the variance of known kinds.
    """
    more = posterior - prior
    total = clusters.sums(more)
    pairs = float(clusters.others.sum())
    together = ((total**2).sum(axis=0) - (more**2).sum(axis=0)).sum(axis=-1) / max(pairs, 1.0)
    spread = (prior * (1 - prior)).sum(axis=-1).mean(axis=0)
    told = (more**2).sum(axis=-1).mean(axis=0) / np.maximum(spread, TINY)
    rho = np.clip(together / np.maximum(spread * told**2, TINY), 0.01, 0.8)
    return np.asarray(1 / rho - 1)


def replicates(rows: LabelRows, fit: NullFit, sets: int, rng: np.random.Generator) -> LabelRows:
    """Draw the items' kinds from their posterior, and the raters' answers given the kinds."""
    kind = draw(np.repeat(fit.posterior, sets, axis=1), rng)
    chance = fit.chance[:, :, 0][rows.rater]
    chance = np.take_along_axis(chance, kind[rows.item][:, None, :], axis=2)
    return replace(rows, answer=draw(np.moveaxis(chance, 1, 2), rng))


def draw(chance: Floats, rng: np.random.Generator) -> Ints:
    """Draw codes from the probabilities on the last axis."""
    ends = chance.cumsum(axis=-1)
    at = rng.random(chance.shape[:-1])[..., None] * ends[..., -1:]
    return np.asarray((at >= ends[..., :-1]).sum(axis=-1), np.int64)


def codes(names: ArrayLike) -> Ints:
    """Return the number of each name, from 0."""
    return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64)

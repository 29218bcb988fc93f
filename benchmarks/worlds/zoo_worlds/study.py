"""What the worlds of the zoo share: a population of clusters, a design, and a study drawn from it.

Nothing here is the package's own simulator: clusters have an ease, systems differ by a number of
log odds, labels follow one another, and that is all. Items stand in the order (cluster, system,
place) everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit, log_expit, logit, logsumexp

from benchmarks.worlds.zoo_worlds.measures import METRICS, totals

SYSTEMS = "AB"
LABELS = {
    "single": ("label",),
    "retrieval": ("topically_relevant", "evidence_sufficient", "misleading"),
    "grounding": (
        "support_present",
        "unsupported_claim_present",
        "contradicted_claim_present",
        "source_cited",
        "fabricated_source",
    ),
}
GATES = {"single": {}, "retrieval": {1: (0, 1), 2: (1, 0)}, "grounding": {2: (1, 1), 4: (3, 1)}}
"""Label -> (another label, its class): the first is yes only where the other has that class."""
NODES = 21
MANY_CLUSTERS = 20_000


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How large a study is: ``per_item`` raters answer each item, of ``raters`` in all."""

    clusters: int = 60
    places: int = 5
    raters: int = 6
    per_item: int = 3

    @property
    def items(self) -> int:
        """Number of items."""
        return self.clusters * len(SYSTEMS) * self.places

    @property
    def cluster(self) -> np.ndarray:
        """Cluster of each item."""
        return np.arange(self.items) // (len(SYSTEMS) * self.places)

    @property
    def system(self) -> np.ndarray:
        """System of each item."""
        return np.arange(self.items) // self.places % len(SYSTEMS)

    @property
    def place(self) -> np.ndarray:
        """Place of each item in its list, from 0."""
        return np.arange(self.items) % self.places


@dataclass(frozen=True, kw_only=True)
class Population:
    """Clusters like these: log odds of each label, and how ease, system and place move them."""

    task: str = "single"
    base: tuple[float, ...] = (0.0,)
    difference: float = 0.0
    sd: float = 1.2
    pull: tuple[tuple[float, float, float], ...] = ((1, 1, -0.15),)

    @cached_property
    def states(self) -> np.ndarray:
        """Truth vectors that can be: (state, label)."""
        raw = np.array(list(product((0, 1), repeat=len(self.base))))
        return np.unique(gated(self.task, raw), axis=0)

    def log_odds(self, places: int) -> np.ndarray:
        """Log odds of the labels where the ease is 0: (system, place, label)."""
        pull = np.array(self.pull, float)
        system = np.array([0.5, -0.5])[:, None, None] * self.difference * pull[:, 1]
        return np.array(self.base) + system + np.arange(places)[None, :, None] * pull[:, 2]

    def draw(self, clusters: int, places: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the truth of clusters: (cluster, system, place, label)."""
        ease = rng.normal(0, self.sd, (clusters, 1, 1, 1)) * np.array(self.pull)[:, 0]
        odds = self.log_odds(places) + ease
        return gated(self.task, (rng.random(odds.shape) < expit(odds)).astype(int))

    def log_prior(self, sizes: Sizes) -> tuple[np.ndarray, np.ndarray]:
        """Weigh eases: log weights (node,), log P(state) given the ease (node, item, state)."""
        at, weight = hermegauss(NODES)
        ease = self.sd * at[:, None, None, None] * np.array(self.pull)[:, 0]
        odds = self.log_odds(sizes.places) + ease
        raw = np.array(list(product((0, 1), repeat=len(self.base))))
        signs = 2 * raw - 1
        chances = log_expit(odds[..., None, :] * signs).sum(-1)
        matches = (gated(self.task, raw)[:, None] == self.states).all(-1)
        states = np.log(np.exp(chances) @ matches)
        wide = np.broadcast_to(states[:, None], (NODES, sizes.clusters, *states.shape[1:]))
        flat = wide.reshape(NODES, sizes.items, len(self.states))
        return np.log(weight / weight.sum()), flat

    def values(self, places: int) -> dict[str, np.ndarray]:
        """Metrics of the population, by name: (system,)."""
        if self.task == "single":
            at, weight = hermegauss(61)
            odds = self.log_odds(places)[..., 0] + self.sd * at[:, None, None]
            share = (weight / weight.sum()) @ expit(odds).mean(-1)
            return dict.fromkeys(METRICS["single"], share)
        truth = self.draw(MANY_CLUSTERS, places, np.random.default_rng(0))
        found = totals(self.task, truth)
        return {name: num.sum(0) / den.sum(0) for name, (num, den) in found.items()}


def gated(task: str, labels: np.ndarray) -> np.ndarray:
    """Say no where a label needs a class of another one that is not there."""
    labels = labels.copy()
    for label, (other, needed) in GATES[task].items():
        labels[..., label] &= labels[..., other] == needed
    return labels


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """A process that is known: exact posterior of the states given ratings and true parameters.

    ``log_weight`` (setting, cluster) weighs the settings of a cluster (its ease, and whatever
    else its items share), ``log_joint`` (setting, item, state) has state and answers in each.
    An item has the truth of the item ``same_as``, if it is given.
    """

    states: np.ndarray
    log_weight: np.ndarray
    log_joint: np.ndarray
    cluster: np.ndarray
    same_as: np.ndarray | None = None

    @cached_property
    def _settings(self) -> np.ndarray:
        per_item = logsumexp(self.log_joint, axis=-1)
        start = np.flatnonzero(np.diff(self.cluster, prepend=-1))
        total = self.log_weight + np.add.reduceat(per_item, start, axis=1)
        return np.exp(total - logsumexp(total, axis=0))

    @cached_property
    def _states(self) -> np.ndarray:
        return np.exp(self.log_joint - logsumexp(self.log_joint, axis=-1, keepdims=True))

    def probability(self) -> np.ndarray:
        """P(yes) of each label of each item: (item, label)."""
        weight = self._settings[:, self.cluster]
        found = np.einsum("ki,kis->is", weight, self._states) @ self.states
        return found if self.same_as is None else found[self.same_as]

    def draws(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Labels drawn from their posterior: (draw, item, label)."""
        edges = np.cumsum(self._settings, axis=0)
        clusters = edges.shape[1]
        u = rng.random((count, clusters)) * edges[-1]
        setting = (u[..., None] > edges.T).sum(-1)
        chances = np.cumsum(self._states, axis=-1)
        n_items = len(self.cluster)
        own = chances[setting[:, self.cluster], np.arange(n_items)]
        state = (rng.random((count, n_items, 1)) * own[..., -1:] > own).sum(-1)
        if self.same_as is not None:
            state = state[:, self.same_as]
        return self.states[state]


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """One set of ratings and all that is true of it.

    ``frame`` is what a user has; ``truth`` is (item, label); ``population`` has the metrics of the
    population by name, (system,); ``votes`` has the number of answers yes, ``answers`` that of
    all answers, both (item, label).
    """

    frame: pd.DataFrame
    task: str
    sizes: Sizes
    truth: np.ndarray
    population: dict[str, np.ndarray]
    oracle: Oracle
    votes: np.ndarray
    answers: np.ndarray

    @cached_property
    def item_places(self) -> dict[str, int]:
        """Position of each item by name."""
        return {str(name): place for place, name in enumerate(item_names(self.sizes))}

    def grid(self, labels: np.ndarray) -> np.ndarray:
        """Bring labels (..., item, label) into (..., cluster, system, place, label)."""
        shape = (self.sizes.clusters, len(SYSTEMS), self.sizes.places, labels.shape[-1])
        return labels.reshape(*labels.shape[:-2], *shape)


@dataclass(frozen=True, kw_only=True)
class World:
    """A way in which ratings come about.

    ``what`` says what happens, ``because`` why a model of the true form could know the numbers
    from ratings alone, or could not.
    """

    name: str
    what: str
    knowable: bool
    because: str
    draw: Callable[[np.random.Generator, Sizes], Study]
    sizes: Sizes = Sizes()


def one_label(rng: np.random.Generator, **other: Any) -> Population:
    """Draw a population of one label: its base rate, and a difference of systems or none."""
    return Population(
        base=(rng.uniform(-0.8, 0.8),), difference=difference_of(rng), **other
    )  # fmt: skip


def difference_of(rng: np.random.Generator) -> float:
    """Draw how far A is above B in log odds: not at all in a third of the sets."""
    size = rng.normal(0, 0.6)
    return 0.0 if rng.random() < 1 / 3 else size


def several_labels(task: str, rng: np.random.Generator) -> Population:
    """Draw a population of a task of several labels."""
    base, pull = SEVERAL[task]
    moved = tuple(np.array(base) + rng.normal(0, 0.3, len(base)))
    return Population(task=task, base=moved, pull=pull, difference=difference_of(rng))


SEVERAL = {
    "retrieval": ((0.5, -0.3, -1.2), ((1, 1, -0.2), (1, 1, -0.2), (-0.5, -0.5, 0))),
    "grounding": (
        (1.0, -0.6, -0.4, 0.8, -0.8),
        ((1, 1, 0), (-1, -1, 0), (-0.5, -0.5, 0), (0.5, 0.5, 0), (-0.5, -0.5, 0)),
    ),
}


def assigned(
    sizes: Sizes, rng: np.random.Generator, *, by_cluster: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Assign raters at random, to items or to whole clusters: (item, rater) of each rating."""
    units = sizes.clusters if by_cluster else sizes.items
    chosen = rng.random((units, sizes.raters)).argsort(axis=1)[:, : sizes.per_item]
    if by_cluster:
        chosen = chosen[sizes.cluster]
    return np.repeat(np.arange(sizes.items), sizes.per_item), chosen.ravel()


def skills(
    raters: int, rng: np.random.Generator, low: float = 0.8, high: float = 0.95
) -> np.ndarray:
    """Log odds that raters say yes, given the truth: (rater, class)."""
    right = rng.uniform(low, high, (raters, 2))
    return logit(right) * np.array([-1, 1])


def answered(log_odds: np.ndarray, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw answers from their log odds of yes given each class: (rating, class)."""
    own = log_odds[np.arange(len(truth)), truth]
    return (rng.random(len(truth)) < expit(own)).astype(int)


def log_chances(log_odds: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Log P(answer given each class) of each rating: (rating, class)."""
    return log_expit(np.where(answers[:, None] == 1, log_odds, -log_odds))


def by_item(values: np.ndarray, item: np.ndarray, items: int) -> np.ndarray:
    """Add up ratings (rating, ...) by item."""
    found = np.zeros((items, *values.shape[1:]))
    np.add.at(found, item, values)
    return found


def finished(
    population: Population,
    sizes: Sizes,
    truth: np.ndarray,
    item: np.ndarray,
    rater: np.ndarray,
    answers: np.ndarray,
    log_likelihood: np.ndarray,
    *,
    settings: np.ndarray | None = None,
    joint: bool = False,
    columns: dict[str, Any] | None = None,
    same_as: np.ndarray | None = None,
    values: dict[str, np.ndarray] | None = None,
) -> Study:
    """Put a study together.

    ``log_likelihood`` is (item, state), or (setting, item, state) with the log weights
    ``settings`` (setting, cluster); ``joint`` says that it is (node, item, state) and has P(state)
    given the ease in it already. ``same_as`` has the item whose truth an item has, ``values``
    those of the population if items are not drawn from it one by one.
    """
    weight, prior = population.log_prior(sizes)
    if settings is None:
        log_joint = log_likelihood if joint else prior + log_likelihood
        log_weight = np.repeat(weight[:, None], sizes.clusters, axis=1)
    else:
        log_joint = (prior[:, None] + log_likelihood).reshape(-1, *prior.shape[1:])
        log_weight = (weight[:, None, None] + settings).reshape(-1, sizes.clusters)
    if same_as is not None:
        copies = same_as != np.arange(sizes.items)
        log_joint = np.where(copies[:, None], -np.log(log_joint.shape[-1]), log_joint)
    answers = answers.reshape(len(item), -1)
    flat = truth.reshape(sizes.items, -1)
    return Study(
        frame=frame_of(population.task, sizes, item, rater, answers, columns or {}),
        task=population.task,
        sizes=sizes,
        truth=flat,
        population=values or population.values(sizes.places),
        oracle=Oracle(
            states=population.states, log_weight=log_weight, log_joint=log_joint,
            cluster=sizes.cluster, same_as=same_as,
        ),
        votes=by_item(answers, item, sizes.items),
        answers=by_item(np.ones_like(answers), item, sizes.items),
    )  # fmt: skip


def item_names(sizes: Sizes) -> np.ndarray:
    """Name the items."""
    places = zip(sizes.cluster, sizes.system, sizes.place, strict=True)
    return np.array([f"q{c:03d}-{SYSTEMS[s]}-{p + 1}" for c, s, p in places])


def frame_of(
    task: str,
    sizes: Sizes,
    item: np.ndarray,
    rater: np.ndarray,
    answers: np.ndarray,
    columns: dict[str, Any],
) -> pd.DataFrame:
    """Write the ratings as a table, a line per rating."""
    words = np.array(["no", "yes"])
    rank = {"rank": sizes.place[item] + 1} if sizes.places > 1 else {}
    return pd.DataFrame(
        {
            "item": item_names(sizes)[item],
            "query": [f"q{c:03d}" for c in sizes.cluster[item]],
            "system": np.array(list(SYSTEMS))[sizes.system[item]],
            **rank,
            "rater": [f"r{r + 1}" for r in rater],
            **dict(zip(LABELS[task], words[answers].T, strict=True)),
            **columns,
        }
    )

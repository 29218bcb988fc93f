"""simulate: the generative twin of the model; ratings with the truth that made them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.errors import ModelError
from assay.model import Structure, build_structure
from assay.parts import Part
from assay.ratings import (
    PARTIAL,
    RESOLVE,
    Partial,
    Ratings,
    Resolve,
    Simulated,
    no_accounting,
    take_ratings,
)
from assay.recovery import predict_states
from assay.seeds import generator_of
from assay.spec import Priors, make_spec
from assay.states import MISSING, StateSpace, Vectors, label_order, state_space
from assay.task import Task, load_task

Floats = NDArray[np.float64]


def simulate(
    task: str | Path | Task,
    *,
    raters: str | Mapping[str, str] = "hierarchical",
    prevalence: str = "loglinear",
    reference: str | None = None,
    priors: Priors = None,
    values: Mapping[str, Floats] | None = None,
    n_items: int = 100,
    n_raters: int = 5,
    ratings_per_item: int | Sequence[int] = 3,
    n_systems: int = 1,
    n_clusters: int | None = None,
    groups: Mapping[str, int] | None = None,
    classes: Sequence[str] = ("1", "2", "3"),
    missing: float = 0.0,
    gold: float = 0.0,
    replicates: int = 1,
    sessions: int = 1,
    response: Mapping[str, str] | None = None,
    partial: Partial = "lost",
    resolve: Resolve = "retry",
    rng: int | np.random.Generator = 1,
) -> Ratings:
    """Simulate ratings from a model: parameters, states, then answers.

    Parameters
    ----------
    task : str, path or Task
    raters, prevalence, reference, priors
        The model, as for :func:`assay.build_model`.
    values : mapping of str to ndarray, optional
        Parameters that are given; the others are drawn from their priors.
    n_items, n_raters : int
    ratings_per_item : int or sequence of int
        For all items, or for each; raters of an item are drawn without replacement.
    n_systems : int
        With more than one, items are dealt out to systems; without ``n_clusters``, one to each
        system in a cluster.
    n_clusters : int, optional
        With clusters, items are dealt out to clusters; the items of a system in a cluster are a
        ranked list.
    groups : mapping of str to int, optional
        How many raters each rater group has; ``n_raters`` is their sum then.
    classes : sequence of str
        Of labels that take their classes from the data.
    missing : float
        Chance that an answer is lost (``partial="lost"``), or that a rater stops before it.
    gold : float
        Share of the items, at random, whose truth is known to the fit.
    replicates : int
        How often each rater rates each of its items.
    sessions : int
        Over how many ordered sessions the ratings are spread at random.
    response, partial, resolve
        The interface, as for :func:`assay.read_ratings`.
    rng : int or numpy.random.Generator

    Returns
    -------
    Ratings
        With ``simulated`` holding the truth and the parameters; a fit does not look at it.

    Raises
    ------
    ModelError
        If the sizes do not fit each other.

    Examples
    --------
    >>> ratings = simulate("retrieval", n_items=20, n_raters=4, ratings_per_item=2, rng=1)
    >>> ratings.simulated.truth.shape
    (20, 3)
    """
    _check_interface(missing, gold, partial, resolve)
    generator = generator_of(rng)
    chosen = load_task(task).with_responses(response or {})
    open_labels = {la.name: tuple(classes) for la in chosen.labels if not la.classes}
    skeleton = _skeleton(
        chosen.with_classes(open_labels),
        n_items=n_items,
        groups=dict(groups) if groups else {"all": n_raters},
        ratings_per_item=ratings_per_item,
        n_systems=n_systems,
        n_clusters=n_clusters,
        rng=generator,
    )
    skeleton = replace(skeleton, partial=partial, resolve=resolve)
    skeleton = _spread(_repeated(skeleton, replicates), sessions, generator)
    spec = make_spec(raters, prevalence, reference, priors)
    return simulate_answers(
        build_structure(skeleton, spec), values or {}, generator, missing=missing, gold=gold
    )


def _repeated(skeleton: Ratings, replicates: int) -> Ratings:
    """Let every rater rate each of its items several times."""
    if replicates < 1:
        raise ModelError(f"replicates={replicates!r}; it must be at least 1")
    rows = np.repeat(np.arange(len(skeleton.answers)), replicates)
    repeated = take_ratings(skeleton, rows)
    return replace(repeated, replicate=np.arange(len(rows)) % replicates)


def _spread(skeleton: Ratings, sessions: int, rng: np.random.Generator) -> Ratings:
    """Spread ratings over sessions."""
    if sessions < 1:
        raise ModelError(f"sessions={sessions!r}; it must be at least 1")
    if sessions == 1:
        return skeleton
    names = tuple(f"session_{t + 1}" for t in range(sessions))
    drawn = rng.integers(sessions, size=len(skeleton.answers))
    return replace(skeleton, session=np.array(names, object)[drawn], sessions=names)


def _check_interface(missing: float, gold: float, partial: str, resolve: str) -> None:
    for name, chance in (("missing", missing), ("gold", gold)):
        if not 0 <= chance <= 1:
            raise ModelError(f"{name}={chance!r}; it is a share, between 0 and 1")
    for name, value, allowed in (("partial", partial, PARTIAL), ("resolve", resolve, RESOLVE)):
        if value not in allowed:
            raise ModelError(f"{name}={value!r}; allowed: {', '.join(allowed)}")


def simulate_answers(
    structure: Structure,
    values: Mapping[str, Floats],
    rng: np.random.Generator,
    *,
    missing: float = 0.0,
    gold: float = 0.0,
) -> Ratings:
    """Simulate the answers of the ratings that a structure was built from.

    Parameters
    ----------
    structure : Structure
        Of ratings whose answers are replaced.
    values : mapping of str to ndarray
        Parameters that are given; the others are drawn from their priors.
    missing, gold : float
        As for :func:`simulate`.

    Returns
    -------
    Ratings
    """
    ratings = structure.ratings
    every = {p.name: p.draw(rng) for p in structure.parameters()}
    unknown = set(values) - set(every)
    if unknown:
        raise ModelError(
            f"values has {', '.join(sorted(unknown))}; the model has {', '.join(every)}"
        )
    given = {k: np.asarray(v, float) for k, v in values.items()}
    for name, value in given.items():
        if value.shape != np.shape(every[name]):
            raise ModelError(
                f"values: {name} has shape {value.shape}; the model's has {np.shape(every[name])}"
            )
    every |= given
    one = {k: v[None] for k, v in every.items()}
    states = predict_states(structure, one, rng)[0]
    answered = _answered(ratings, missing, rng)
    answers, scores = draw_answers(structure, one, states, rng, answered=answered)
    truth = structure.prevalence.space.states[states]
    lost = (answers < 0).all(axis=1) & (answers == MISSING).any(axis=1)
    return replace(
        ratings,
        answers=answers,
        scores=scores,
        truth=_disclosed(truth, gold, rng),
        abstained=lost & np.isnan(scores).all(axis=1),
        accounting=no_accounting(len(answers), source="a simulation"),
        simulated=Simulated(truth=truth, values=every),
    )


def _disclosed(truth: Vectors, gold: float, rng: np.random.Generator) -> Vectors:
    """Truth of a random share of the items; the rest is not known."""
    known = np.full_like(truth, MISSING)
    if gold:
        chosen = rng.choice(len(truth), size=round(gold * len(truth)), replace=False)
        known[chosen] = truth[chosen]
    return known


def _answered(ratings: Ratings, missing: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which labels each rating answers: lost at random, or dropped from some label on."""
    answered = rng.random(ratings.answers.shape) >= missing
    if ratings.partial == "draft":
        order = label_order(ratings.task)
        answered[:, order] = np.logical_and.accumulate(answered[:, order], axis=1)
    return answered


def draw_answers(
    structure: Structure,
    values: Mapping[str, Floats],
    states: NDArray[np.int16],
    rng: np.random.Generator,
    *,
    answered: NDArray[np.bool_] | None = None,
) -> tuple[Vectors, Floats]:
    """Draw the answers of all ratings of a structure, given the states of its items.

    Parameters
    ----------
    values : mapping of str to ndarray
        Parameters, each with one leading axis of length 1.
    states : ndarray of int (item,)
    answered : ndarray of bool (rating, label), optional
        Which labels are answered; those that the structure's ratings answer if not given.

    Returns
    -------
    answers : ndarray of int16 (rating, label)
    scores : ndarray of float (rating, label)
    """
    ratings = structure.ratings
    if answered is None:
        answered = (ratings.answers != MISSING) | np.isfinite(ratings.scores)
    harder = _draw_difficulty(structure, values, len(ratings.items), rng)
    answers = np.full(ratings.answers.shape, MISSING, np.int16)
    scores = np.full(ratings.answers.shape, np.nan)
    for part in structure.parts:
        own = part.own(values)
        mine = np.flatnonzero(part.unit >= 0)
        seen = _draw_appearance(structure, values, part, states, harder, rng)[mine]
        whole = ratings.partial == "lost"
        keys = np.column_stack([harder[ratings.item[mine]], answered[mine] | whole])
        for key in np.unique(keys, axis=0):
            here = np.flatnonzero((keys == key).all(axis=1))
            tilt = part.tilt(own, float(structure.difficulty.positions[int(key[0])]), np)
            shown = key[1:].astype(bool)
            found = part.draw(own, mine[here], seen[here], tilt, shown, rng)
            answers[mine[here]], scores[mine[here]] = found
        _repeat(ratings, part, own, answered, answers, scores, rng)
    if ratings.partial == "lost":
        answers[~answered], scores[~answered] = MISSING, np.nan
    return answers, scores


def _draw_difficulty(
    structure: Structure, values: Mapping[str, Floats], items: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Class of difficulty of each item."""
    chance = np.exp(np.asarray(structure.difficulty.log_weight(values, np))).reshape(-1)
    return rng.choice(len(chance), size=items, p=chance / chance.sum())


def _draw_appearance(
    structure: Structure,
    values: Mapping[str, Floats],
    part: Part,
    states: NDArray[np.int16],
    harder: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int16]:
    """Draw what the item of each rating looks like to the rater's group: (rating,)."""
    ratings, perception = structure.ratings, structure.perception
    seen = states[ratings.item].copy()
    for g, name in enumerate(part.raters.groups):
        if name not in perception.groups:
            continue
        context = structure.prevalence.design.item_context
        chance, looks = (table[0] for table in perception.of_group(name, values))
        steps = looks[context, states].cumsum(axis=1)
        afresh = (rng.random(len(states))[:, None] * steps[:, -1:] > steps).sum(axis=1)
        missed = rng.random(len(states)) < chance[harder]
        appears = np.where(missed, afresh, states).astype(np.int16)
        mine = part.unit >= 0
        mine[mine] = part.unit_group[part.unit[mine]] == g
        seen[mine] = appears[ratings.item[mine]]
    return seen


def _repeat(
    ratings: Ratings,
    part: Part,
    values: Mapping[str, Floats],
    answered: NDArray[np.bool_],
    answers: Vectors,
    scores: Floats,
    rng: np.random.Generator,
) -> None:
    """Let a rater's later ratings of an item copy earlier ones, as Polya's urn has it.

    Only ratings that answer the same labels share an urn, as in the likelihood.
    """
    if "consistency" not in values or part.consistency is None:
        return
    kappa = float(np.ravel(values["consistency"])[0])
    mine = np.flatnonzero(part.unit >= 0)
    kind = np.unique(answered, axis=0, return_inverse=True)[1].ravel()
    who = np.stack([ratings.item, part.unit, ratings.rater, kind])
    order = mine[np.lexsort((ratings.replicate[mine], *who[::-1, mine]))]
    before: list[int] = []
    for n in order.tolist():
        if before and (who[:, before[0]] != who[:, n]).any():
            before = []
        if before and rng.random() < kappa * len(before) / (1 - kappa + kappa * len(before)):
            source = before[rng.integers(len(before))]
            answers[n], scores[n] = answers[source], scores[source]
        before.append(n)


def _skeleton(
    task: Task,
    *,
    n_items: int,
    groups: Mapping[str, int],
    ratings_per_item: int | Sequence[int],
    n_systems: int,
    n_clusters: int | None,
    rng: np.random.Generator,
) -> Ratings:
    """Who rates what, with placeholder answers."""
    n_raters = sum(groups.values())
    if n_items < 1:
        raise ModelError(f"{n_items} items cannot be; a simulation needs at least one")
    if np.size(ratings_per_item) not in (1, n_items):
        raise ModelError(
            f"ratings_per_item has {np.size(ratings_per_item)} numbers for {n_items} items; "
            "give one for all, or one for each"
        )
    per_item = np.broadcast_to(np.asarray(ratings_per_item, np.int64), (n_items,))
    if n_raters < 1 or per_item.max() > n_raters or per_item.min() < 0:
        raise ModelError(
            f"{n_items} items with {per_item.min()} to {per_item.max()} ratings each by "
            f"{n_raters} raters cannot be; an item has at most one rating of each rater"
        )
    order = rng.random((n_items, n_raters)).argsort(axis=1)
    keep = np.arange(n_raters) < per_item[:, None]
    item = np.repeat(np.arange(n_items), per_item)
    clusters = max(n_items // n_systems, 1) if n_clusters is None else n_clusters
    if not 1 <= clusters * n_systems <= max(n_items, clusters):
        raise ModelError(
            f"{n_items} items are too few for {clusters} clusters x {n_systems} systems"
        )
    lists = np.arange(n_items) % (clusters * n_systems)
    cluster = np.array([f"cluster_{c + 1}" for c in lists % clusters], dtype=object)
    system = lists // clusters
    names = np.array([f"system_{k + 1}" if n_systems > 1 else "" for k in system], dtype=object)
    panels = pd.DataFrame(
        {
            "panel": cluster + np.where(names == "", "", "/" + names),
            "system": names,
            "cluster": cluster,
            "rank": np.arange(n_items) // (clusters * n_systems) + 1,
            "item": np.arange(n_items),
        }
    )
    space = state_space(task)
    return Ratings(
        task=task,
        answers=_placeholder(space, len(item)),
        item=item.astype(np.int64),
        rater=order[keep].astype(np.int64),
        replicate=np.zeros(len(item), np.int64),
        abstained=np.zeros(len(item), bool),
        items=pd.DataFrame(
            {"cluster": cluster, "stratum": "", "weight": 1.0},
            index=pd.Index([f"item_{i + 1}" for i in range(n_items)], name="item"),
        ),
        raters=pd.DataFrame(
            {"group": [name for name, count in groups.items() for _ in range(count)]},
            index=pd.Index([f"rater_{j + 1}" for j in range(n_raters)], name="rater"),
        ),
        truth=np.full((n_items, len(task.labels)), MISSING, np.int16),
        panels=panels,
        accounting=no_accounting(len(item), source="a simulation"),
    )


def _placeholder(space: StateSpace, count: int) -> Vectors:
    """Repeat an answer vector that the interface admits."""
    return np.repeat(space.paths[~space.blocked][:1], count, axis=0)

"""simulate: the generative twin of the model; ratings with the truth that made them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.arrays import merge_axes
from assay.errors import ModelError
from assay.model import Structure, build_structure, make_spec
from assay.priors import Prior
from assay.ratings import PARTIAL, RESOLVE, Partial, Ratings, Resolve, Simulated, no_accounting
from assay.recovery import predict_states
from assay.responses import build_menu, menu_log_probability
from assay.states import MISSING, StateSpace, Vectors, label_order, state_space
from assay.task import Task, load_task

Floats = NDArray[np.float64]


def simulate(
    task: str | Path | Task,
    *,
    raters: str = "hierarchical",
    prevalence: str = "loglinear",
    priors: Mapping[str, str | Prior] | None = None,
    values: Mapping[str, Floats] | None = None,
    n_items: int = 100,
    n_raters: int = 5,
    ratings_per_item: int | Sequence[int] = 3,
    n_systems: int = 1,
    n_clusters: int | None = None,
    groups: Mapping[str, int] | None = None,
    classes: Sequence[str] = ("1", "2", "3"),
    missing: float = 0.0,
    response: Mapping[str, str] | None = None,
    partial: Partial = "lost",
    resolve: Resolve = "retry",
    rng: int | np.random.Generator = 1,
) -> Ratings:
    """Simulate ratings from a model: parameters, states, then answers.

    Parameters
    ----------
    task : str, path or Task
    raters, prevalence, priors
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
    _check_interface(missing, partial, resolve)
    generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
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
    spec = make_spec(raters, prevalence, None, priors)
    return simulate_answers(
        build_structure(skeleton, spec), values or {}, generator, missing=missing
    )


def _check_interface(missing: float, partial: str, resolve: str) -> None:
    if not 0 <= missing <= 1:
        raise ModelError(f"missing={missing!r}; it is a chance, between 0 and 1")
    for name, value, allowed in (("partial", partial, PARTIAL), ("resolve", resolve, RESOLVE)):
        if value not in allowed:
            raise ModelError(f"{name}={value!r}; allowed: {', '.join(allowed)}")


def simulate_answers(
    structure: Structure,
    values: Mapping[str, Floats],
    rng: np.random.Generator,
    *,
    missing: float = 0.0,
) -> Ratings:
    """Simulate the answers of the ratings that a structure was built from.

    Parameters
    ----------
    structure : Structure
        Of ratings whose answers are replaced.
    values : mapping of str to ndarray
        Parameters that are given; the others are drawn from their priors.
    missing : float
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
    answers = np.full(ratings.answers.shape, MISSING, np.int16)
    for shown in np.unique(answered, axis=0):
        rows = np.flatnonzero((answered == shown).all(axis=1))
        answers[rows] = _draw_answers(structure, one, states, rows, shown, rng)
    if ratings.partial == "lost":
        answers[~answered] = MISSING
    truth = structure.prevalence.space.states[states]
    return replace(
        ratings,
        answers=answers,
        truth=np.full_like(ratings.truth, MISSING),
        abstained=(answers < 0).all(axis=1) & (answers == MISSING).any(axis=1),
        accounting=no_accounting(len(answers), source="a simulation"),
        simulated=Simulated(truth=truth, values=every),
    )


def _answered(ratings: Ratings, missing: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which labels each rating answers: lost at random, or dropped from some label on."""
    answered = rng.random(ratings.answers.shape) >= missing
    if ratings.partial == "draft":
        order = label_order(ratings.task)
        answered[:, order] = np.logical_and.accumulate(answered[:, order], axis=1)
    return answered


def _draw_answers(
    structure: Structure,
    values: Mapping[str, Floats],
    states: NDArray[np.int16],
    rows: NDArray[np.int64],
    shown: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Vectors:
    """Answers (row, label) of ratings that answer the same labels."""
    ratings, responses = structure.ratings, structure.responses
    whole = np.ones_like(shown) if ratings.partial == "lost" else shown
    if not whole.any():
        return np.full((len(rows), len(shown)), MISSING, np.int16)
    menu = build_menu(structure.family.layout, responses.space, whole)
    confusion = structure.family.log_confusion(values, np)
    flat = merge_axes(responses.full_confusion(confusion, values, np), 2)
    chance = np.exp(menu_log_probability(menu, flat, values, responses.resolve, np))[0]
    rater = np.zeros(len(rows), int) if structure.family.shared else ratings.rater[rows]
    steps = chance[rater, states[ratings.item[rows]]].cumsum(axis=1)
    picked = (rng.random(len(rows))[:, None] * steps[:, -1:] > steps).sum(axis=1)
    return np.asarray(menu.options[picked], np.int16)


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

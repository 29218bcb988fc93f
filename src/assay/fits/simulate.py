"""The function ``simulate``: ratings from the model, with their truth."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import ModelError
from assay._util.random import generator_of
from assay._util.text import counted
from assay._util.typing import Bools, Floats, Ints
from assay._util.validation import require_choice, require_count, require_number
from assay.data.ratings import (
    PARTIAL,
    RESOLVE,
    Partial,
    Ratings,
    Resolve,
    Simulated,
    no_accounting,
    take_ratings,
)
from assay.data.states import MISSING, StateSpace, Vectors, label_order, state_space
from assay.data.task import Task
from assay.data.task_files import load_task
from assay.fits.answer_draws import draw_answers
from assay.fits.latent_states import predict_states, running_prevalence
from assay.modelling.priors import Priors
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure, refuse_idle


def design_ratings(
    task: Task,
    *,
    n_items: int,
    groups: Mapping[str, int],
    ratings_per_item: int | Sequence[int],
    n_systems: int,
    n_clusters: int | None,
    rng: np.random.Generator,
) -> Ratings:
    """Return the design of the ratings with placeholder answers; arguments as of ``simulate``."""
    _check_sizes(n_items, groups, n_systems, n_clusters)
    n_raters = sum(groups.values())
    per_item = _ratings_of_items(n_items, n_raters, ratings_per_item)
    order = rng.random((n_items, n_raters)).argsort(axis=1)
    keep = np.arange(n_raters) < per_item[:, None]
    item = np.repeat(np.arange(n_items), per_item)
    clusters = max(n_items // n_systems, 1) if n_clusters is None else n_clusters
    panels = _panels(n_items, clusters, n_systems)
    return Ratings(
        task=task,
        answers=_placeholder(state_space(task), len(item)),
        item=item.astype(np.int64),
        rater=order[keep].astype(np.int64),
        replicate=np.zeros(len(item), np.int64),
        abstained=np.zeros(len(item), bool),
        items=pd.DataFrame(
            {"cluster": panels["cluster"].to_numpy(), "stratum": "", "weight": 1.0},
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


def _ratings_of_items(n_items: int, n_raters: int, ratings_per_item: int | Sequence[int]) -> Ints:
    """Return the number of ratings of each item, or refuse impossible numbers."""
    if np.size(ratings_per_item) not in (1, n_items):
        raise ModelError(
            f"ratings_per_item has {np.size(ratings_per_item)} numbers for {n_items} items; "
            "give one for all, or one for each",
            code="simulated-design",
            numbers={"items": n_items},
        )
    if np.asarray(ratings_per_item).dtype.kind not in "iu":
        raise ModelError(
            f"`ratings_per_item={ratings_per_item!r}`; it must be whole numbers",
            code="simulated-design",
        )
    per_item = np.broadcast_to(np.asarray(ratings_per_item, np.int64), (n_items,))
    if n_raters < 1 or per_item.max() > n_raters or per_item.min() < 0:
        raise ModelError(
            f"{n_items} items with {per_item.min()} to {per_item.max()} ratings each by "
            f"{n_raters} raters are impossible: an item has at most one rating of each rater",
            code="simulated-design",
            numbers={"items": n_items, "raters": n_raters},
        )
    return per_item


def _panels(n_items: int, clusters: int, systems: int) -> pd.DataFrame:
    """Distribute the items over the lists of clusters and systems, rank by rank."""
    if clusters * systems > n_items:
        raise ModelError(
            f"{counted(n_items, 'item', 'are')} too few for {counted(clusters, 'cluster')} "
            f"x {counted(systems, 'system')}",
            code="simulated-design",
            numbers={"items": n_items, "clusters": clusters, "systems": systems},
        )
    lists = np.arange(n_items) % (clusters * systems)
    cluster = np.array([f"cluster_{c + 1}" for c in lists % clusters], dtype=object)
    names = np.array(
        [f"system_{k + 1}" if systems > 1 else "" for k in lists // clusters], dtype=object
    )
    return pd.DataFrame(
        {
            "panel": cluster + np.where(names == "", "", "/" + names),
            "system": names,
            "cluster": cluster,
            "rank": np.arange(n_items) // (clusters * systems) + 1,
            "item": np.arange(n_items),
        }
    )


def _check_sizes(
    n_items: int, groups: Mapping[str, int], n_systems: int, n_clusters: int | None
) -> None:
    require_count("n_items", n_items)
    require_count("n_systems", n_systems)
    if n_clusters is not None:
        require_count("n_clusters", n_clusters)
    for name, count in groups.items():
        require_count(f"the number of raters of group {name!r}", count, least=0)


def _placeholder(space: StateSpace, count: int) -> Vectors:
    """Repeat an answer vector that the interface admits."""
    return np.repeat(space.paths[~space.blocked][:1], count, axis=0)


def repeat_ratings(skeleton: Ratings, replicates: int) -> Ratings:
    """Let every rater rate each of its items several times."""
    require_count("replicates", replicates)
    rows = np.repeat(np.arange(len(skeleton.answers)), replicates)
    repeated = take_ratings(skeleton, rows)
    return replace(repeated, replicate=np.arange(len(rows)) % replicates)


def spread_sessions(skeleton: Ratings, sessions: int, rng: np.random.Generator) -> Ratings:
    """Assign ratings to sessions at random."""
    require_count("sessions", sessions)
    if sessions == 1:
        return skeleton
    names = tuple(f"session_{t + 1}" for t in range(sessions))
    drawn = rng.integers(sessions, size=len(skeleton.answers))
    return replace(skeleton, session=np.array(names, object)[drawn], sessions=names)


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
        Given parameters; the others are drawn from their priors.
    n_items, n_raters : int
    ratings_per_item : int or sequence of int
        For all items, or for each; raters of an item are drawn without replacement.
    n_systems : int
        Number of systems. Without ``n_clusters``, a cluster has one item of each system.
    n_clusters : int, optional
        Number of clusters; the items of a system in a cluster are a ranked list.
    groups : mapping of str to int, optional
        Number of raters of each rater group, instead of ``n_raters``.
    classes : sequence of str
        Classes of labels that take them from the data.
    missing : float
        Probability that an answer is lost (``partial="lost"``), or that a rater stops before it.
    gold : float
        Share of the items, at random, whose truth is known to the fit.
    replicates : int
        Number of ratings of each item by each of its raters.
    sessions : int
        Number of ordered sessions, to which ratings are assigned at random.
    response, partial, resolve
        The interface, as for :func:`assay.read_ratings`.
    rng : int or numpy.random.Generator

    Returns
    -------
    Ratings
        With the truth and the parameters in ``simulated``, which fits ignore.

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
    if open_labels and (len(set(classes)) < 2 or len(set(classes)) < len(classes)):
        raise ModelError(
            f"`classes={classes!r}`; they must be at least two different names",
            code="simulated-classes",
        )
    skeleton = design_ratings(
        chosen.with_classes(open_labels),
        n_items=n_items,
        groups=dict(groups) if groups else {"all": n_raters},
        ratings_per_item=ratings_per_item,
        n_systems=n_systems,
        n_clusters=n_clusters,
        rng=generator,
    )
    skeleton = replace(skeleton, partial=partial, resolve=resolve)
    skeleton = spread_sessions(repeat_ratings(skeleton, replicates), sessions, generator)
    spec = make_spec(raters, prevalence, reference, priors)
    structure = build_structure(skeleton, spec)
    refuse_idle(structure, priors)
    return simulate_answers(structure, values or {}, generator, missing=missing, gold=gold)


def _check_interface(missing: float, gold: float, partial: str, resolve: str) -> None:
    for name, chance in (("missing", missing), ("gold", gold)):
        require_number(
            name, chance, lambda x: 0 <= x <= 1, allowed="a share, a number between 0 and 1"
        )
    require_choice("partial", partial, PARTIAL)
    require_choice("resolve", resolve, RESOLVE)


def _given_values(structure: Structure, values: Mapping[str, Any]) -> dict[str, Floats]:
    """Return the given parameters as arrays; refuse values that the model cannot have."""
    known = {p.name: p for p in structure.parameters()}
    unknown = set(values) - set(known)
    if unknown:
        raise ModelError(
            f"values has {', '.join(sorted(unknown))}; the model has {', '.join(known)}",
            code="simulated-values",
        )
    found = {}
    for name, given in values.items():
        try:
            value = np.asarray(given, float)
        except (TypeError, ValueError):
            raise ModelError(
                f"values: {name} has to be an array of numbers", code="simulated-values"
            ) from None
        if value.shape != known[name].shape:
            raise ModelError(
                f"values: {name} has shape {value.shape}; the model's has {known[name].shape}",
                code="simulated-values",
            )
        if wanted := known[name].wanted(value):
            raise ModelError(
                f"values: {name} has impossible numbers; {wanted}", code="simulated-values"
            )
        found[name] = value
    return found


def simulate_answers(
    structure: Structure,
    values: Mapping[str, Floats],
    rng: np.random.Generator,
    *,
    missing: float = 0.0,
    gold: float = 0.0,
) -> Ratings:
    """Simulate the answers of a structure's ratings; ``values`` are given parameters."""
    ratings = structure.ratings
    every = structure.draw(rng)
    every |= _given_values(structure, values)
    one = {k: v[None] for k, v in every.items()}
    states = predict_states(structure, running_prevalence(structure, one), rng)[0]
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
    """Return the truth of a random share of the items, and ``MISSING`` for others."""
    known = np.full_like(truth, MISSING)
    if gold:
        chosen = rng.choice(len(truth), size=round(gold * len(truth)), replace=False)
        known[chosen] = truth[chosen]
    return known


def _answered(ratings: Ratings, missing: float, rng: np.random.Generator) -> Bools:
    """Return which labels each rating answers: lost at random, or dropped from some label on."""
    answered = rng.random(ratings.answers.shape) >= missing
    if ratings.partial == "draft":
        order = label_order(ratings.task)
        answered[:, order] = np.logical_and.accumulate(answered[:, order], axis=1)
    return answered

"""Random small ratings of any task, with everything that a real study may have."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from assay.data.ratings import AUDITED_RIGHT, AUDITED_WRONG, SOME_WRONG, Ratings, take_ratings
from assay.data.states import MISSING, state_space
from assay.data.task import Label, Rule, Task
from assay.data.task_files import load_task
from assay.modelling.structure import Structure

SINGLE = load_task("single").with_classes({"label": ("a", "b", "c", "d")})
ORDERED = Task(name="ordered", labels=(Label(name="o", classes=tuple("abcd"), ordered=True),))
GATED = Task(
    name="gated",
    labels=(
        Label(name="c", classes=("x", "y"), asked_if="b == mid"),
        Label(name="a"),
        Label(name="b", classes=("low", "mid", "high"), ordered=True, asked_if="a"),
        Label(name="d"),
    ),
    rules=(
        Rule(name="high_is_d", expression="b == high -> d"),
        Rule(name="y_is_not_d", expression="c == y -> not d", truth="soft", response="warn"),
    ),
)
FAMILIES = (
    "hierarchical",
    "ability_bias",
    "dawid_skene",
    "one_coin",
    "class_conditional",
    "pooled",
    "mace",
)
"""Families of answers by class that every task can have."""
SHIPPED = ("retrieval", "grounding", "generation", "ais", "relevance", "single")


def task_named(name: str) -> Task:
    """A shipped task (``single`` with four classes), these in order, or a gated one with rules."""
    return {"single": SINGLE, "ordered": ORDERED, "gated": GATED}.get(name) or load_task(name)


def with_strengths(task: Task, truths: tuple[str, ...], responses: tuple[str, ...]) -> Task:
    """The task with the strengths of its rules, in turn."""
    rules = tuple(
        replace(r, truth=truths[n % len(truths)], response=responses[n % len(responses)])
        for n, r in enumerate(task.rules)
    )
    return replace(task, rules=rules)


def resolved(*names: str) -> list[tuple[str, str]]:
    """Tasks with each way to resolve blocked answers; one where no rule blocks, as both are one."""
    ways = ("retry", "repair")
    return [(name, way) for name in names for way in ways[: 1 + bool(task_named(name).rules)]]


def small_ratings(
    task: Task,
    seed: int,
    *,
    items: int = 8,
    raters: int = 4,
    systems: int = 1,
    ranked: bool = False,
    strata: int = 1,
    clusters: int | None = None,
    missing: float = 0.0,
    known: bool = False,
    partial: str = "lost",
    resolve: str = "retry",
) -> Ratings:
    """Answers at random; nothing in them follows the model."""
    rng = np.random.default_rng(seed)
    space = state_space(task)
    per_item = rng.integers(0, raters, items)
    item = np.repeat(np.arange(items), per_item)
    rater = np.concatenate([rng.permutation(raters)[:n] for n in per_item])
    shown = space.paths[~space.blocked]
    answers = shown[rng.integers(0, len(shown), len(item))].copy()
    answers = lose(task, answers, missing, partial, rng)
    names = [f"q{i % clusters}" if clusters else f"i{i}" for i in range(items)]
    truth = np.full((items, len(task.labels)), MISSING, np.int16)
    if known:
        truth[:3] = space.states[rng.integers(0, len(space.states), 3)]
        truth[1:3, 1:] = MISSING
    places = pd.DataFrame(
        {
            "system": [f"s{rng.integers(systems)}" if systems > 1 else "" for _ in range(items)],
            "cluster": names,
            "rank": rng.integers(1, 4, items) if ranked else 1,
            "item": np.arange(items),
        }
    )
    if systems > 1:  # two items stand in the lists of several systems
        again = places.iloc[[0, 0, 1]].assign(
            system=["s0", "s1", "s1"], rank=[1, 2, 3] if ranked else 1
        )
        places = pd.concat([places, again], ignore_index=True)
    places.insert(0, "panel", places["system"] + "/" + places["cluster"])
    return Ratings(
        task=task,
        answers=answers,
        item=item,
        rater=rater,
        replicate=np.zeros(len(item), np.int64),
        abstained=(answers == MISSING).all(axis=1),
        items=pd.DataFrame(
            {"cluster": names, "stratum": [f"t{i % strata}" for i in range(items)], "weight": 1.0},
            index=pd.Index([f"i{i}" for i in range(items)], name="item"),
        ),
        raters=pd.DataFrame(
            {"group": ["human" if j % 2 else "model" for j in range(raters)]},
            index=pd.Index([f"r{j}" for j in range(raters)], name="rater"),
        ),
        truth=truth,
        panels=places,
        partial=partial,
        resolve=resolve,
    )


def lose(
    task: Task, answers: np.ndarray, missing: float, partial: str, rng: np.random.Generator
) -> np.ndarray:
    """Lose cells at random; a draft ends at some label, in the order of the gates."""
    gone = rng.random(answers.shape) < missing
    if partial == "draft" and any(la.asked_if for la in task.labels):
        order = _gate_order(task)
        gone[:, order] = np.logical_or.accumulate(gone[:, order], axis=1)
    return np.where(gone, np.int16(MISSING), answers)


def repeated(ratings: Ratings, seed: int, share: float = 0.6) -> Ratings:
    """Let raters rate some of their items again, once or more often; half of it are copies."""
    rng = np.random.default_rng(seed)
    again = np.flatnonzero(rng.random(len(ratings.answers)) < share)
    again = np.concatenate([again, again[: len(again) // 2]])
    other = ratings.answers[rng.integers(0, len(ratings.answers), len(again))]
    copies = rng.random(len(again)) < 0.5
    more = take_ratings(ratings, np.concatenate([np.arange(len(ratings.answers)), again]))
    answers = more.answers.copy()
    answers[-len(again) :] = np.where(copies[:, None], ratings.answers[again], other)
    order = rng.permutation(len(answers))
    mixed = take_ratings(
        replace(more, answers=answers, abstained=(answers == MISSING).all(axis=1)), order
    )
    keys = pd.DataFrame({"item": mixed.item, "rater": mixed.rater})
    return replace(mixed, replicate=keys.groupby(["item", "rater"]).cumcount().to_numpy())


def in_sessions(ratings: Ratings, seed: int, sessions: int = 3) -> Ratings:
    """Spread ratings over sessions, in an order that is not the alphabet's."""
    names = tuple(f"week {sessions - t}" for t in range(sessions))
    drawn = np.random.default_rng(seed).integers(sessions, size=len(ratings.answers))
    return replace(ratings, session=np.array(names, object)[drawn], sessions=names)


def with_scores(ratings: Ratings, seed: int) -> Ratings:
    """Scores at random, heaped and tied, with or without an answer; some guesses have none."""
    rng = np.random.default_rng(seed)
    heaps = rng.choice([0.0, 0.05, 0.5, 0.9, 0.95, 1.0], size=ratings.answers.shape)
    smooth = rng.random(ratings.answers.shape)
    scores = np.where(rng.random(smooth.shape) < 0.6, heaps, smooth)
    scores[(rng.random(smooth.shape) < 0.25) | (ratings.answers < 0)] = np.nan
    silent = np.isfinite(scores) & (rng.random(smooth.shape) < 0.3)
    answers = np.where(silent, np.int16(MISSING), ratings.answers)
    return replace(ratings, scores=scores, answers=answers)


def with_covariates(ratings: Ratings, seed: int) -> Ratings:
    """Add covariates to the items: numbers, some of them the same, and words."""
    rng, count = np.random.default_rng(seed), len(ratings.items)
    items = ratings.items.assign(
        length=rng.integers(1, 6, count).astype(float),
        language=rng.choice(["de", "en", "fr"], count),
        source=rng.choice(["web", "book"], count),
    )
    return replace(ratings, items=items)


def audited(ratings: Ratings, seed: int) -> Ratings:
    """Check some answers on items of unknown truth against states drawn at random."""
    rng = np.random.default_rng(seed)
    states = state_space(ratings.task).states
    truth = states[rng.integers(0, len(states), len(ratings.items))][ratings.item]
    right = ratings.answers == truth
    audit = np.where(right, AUDITED_RIGHT, AUDITED_WRONG).astype(np.int8)
    given = ratings.answers >= 0
    vague = (rng.random(len(audit)) < 0.3) & (~right & given).any(axis=1)
    audit[vague] = SOME_WRONG
    unknown = (ratings.truth[ratings.item] == MISSING).all(axis=1)
    checked = given & unknown[:, None] & (vague | (rng.random(len(audit)) < 0.4))[:, None]
    return replace(ratings, audit=np.where(checked, audit, -1))


def _gate_order(task: Task) -> list[int]:
    order: list[int] = []
    names = task.label_names
    while len(order) < len(names):
        for n, la in enumerate(task.labels):
            needs = task.expression(la.asked_if).labels if la.asked_if else ()
            if n not in order and all(names.index(name) in order for name in needs):
                order.append(n)
    return order


def draw_values(structure: Structure, seed: int) -> dict[str, np.ndarray]:
    """One draw of all parameters from their priors."""
    rng = np.random.default_rng(seed)
    return {p.name: p.draw(rng) for p in structure.parameters()}


def stacked(values: Mapping[str, np.ndarray], draws: int = 1) -> dict[str, np.ndarray]:
    """The same parameters as draws: (draw, ...)."""
    return {k: np.repeat(np.asarray(v)[None], draws, axis=0) for k, v in values.items()}

"""Worlds with a truth of their own: labels, raters and interface that are not the package's model.

A superpopulation of queries, each with an ease that shifts all its labels; two systems, A and B,
that differ; labels that follow one another; raters who answer until the interface accepts (or
whose answers it repairs, or who override a warning). Metrics are computed straight from their
definitions. Everything is drawn from the generator that is passed.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

SYSTEMS = "AB"
LABELS = {
    "retrieval": ("topically_relevant", "evidence_sufficient", "misleading"),
    "grounding": (
        "support_present",
        "unsupported_claim_present",
        "contradicted_claim_present",
        "source_cited",
        "fabricated_source",
    ),
    "generation": (
        "proper_action",
        "response_on_topic",
        "helpful",
        "incomplete",
        "unsafe_content",
    ),
}
ONLY_IF = {
    "retrieval": {1: (0, 1), 2: (1, 0)},
    "grounding": {2: (1, 1), 4: (3, 1)},
    "generation": {},
}
"""Label -> (another label, its class): the first is yes only where the other has that class."""

WARNED = {"retrieval": 2}
"""The label whose contradiction an interface that warns lets pass."""


@dataclass(frozen=True, kw_only=True)
class World:
    """What a world and its interface are like.

    ``base`` is the log odds of each label for an average query, rank 1 and an average system;
    ``pull`` how strongly (ease, system, rank) move it, label by label. ``hardness`` is the SD
    over items of what all raters' log odds of a right answer share, ``often`` the share of the
    items that are rated three times; the others are rated once.
    """

    name: str
    task: str = "retrieval"
    query_sd: float = 1.5
    difference: float = 0.8
    base: tuple[float, ...] = (0.3, -0.8, -1.6)
    pull: tuple[tuple[float, float, float], ...] = ((1, 1, 1), (1, 1, 1), (-0.5, 0, 0))
    accuracy: tuple[float, float] = (0.82, 0.95)
    interface: str = "retry"
    clusters: int = 80
    places: int = 5
    raters: int = 6
    hardness: float = 0.0
    often: float = 0.1


WORLDS = {
    "retrieval": World(name="retrieval"),
    "grounding": World(
        name="grounding",
        task="grounding",
        base=(1.0, -0.8, -0.6, 0.5, -0.9),
        pull=((1, 1, 0), (-1, -1, 0), (-0.5, -0.5, 0), (0.5, 0.5, 0), (-0.5, -0.5, 0)),
        clusters=120,
        places=1,
    ),
    "generation": World(
        name="generation",
        task="generation",
        base=(1.0, 1.3, 0.3, -0.7, -2.2),
        pull=((1, 1, 0), (0.7, 0.7, 0), (1, 1, 0), (-1, -1, 0), (-0.3, 0, 0)),
        clusters=120,
        places=1,
    ),
}


def draw_truth(world: World, clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Labels of all items: (cluster, system, place, label)."""
    shape = (clusters, len(SYSTEMS), world.places)
    ease = rng.normal(0, world.query_sd, clusters)[:, None, None]
    system = np.array([-0.5, 0.5])[None, :, None] * world.difference
    depth = -0.25 * np.arange(world.places)
    truth = np.zeros((*shape, len(world.base)), int)
    for label, (base, pull) in enumerate(zip(world.base, world.pull, strict=True)):
        odds = base + pull[0] * ease + pull[1] * system + pull[2] * depth
        drawn = rng.random(shape) < 1 / (1 + np.exp(-odds))
        if label in ONLY_IF[world.task]:
            other, needed = ONLY_IF[world.task][label]
            drawn &= truth[..., other] == needed
        truth[..., label] = drawn
    return truth


def contradictions(task: str, answer: tuple[int, ...] | np.ndarray) -> list[int]:
    """Labels of an answer that contradict another one."""
    return [
        label
        for label, (other, needed) in ONLY_IF[task].items()
        if answer[label] and answer[other] != needed
    ]


def draw_answer(
    world: World, truth: np.ndarray, skill: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """One rater's answers to one item, through the interface; ``skill`` is (label, true class)."""
    count = len(truth)
    while True:
        right = rng.random(count) < skill[np.arange(count), truth]
        answer = np.where(right, truth, 1 - truth)
        breaks = contradictions(world.task, answer)
        if not breaks:
            return answer
        passes = world.interface == "warn" and breaks == [WARNED[world.task]]
        if passes and rng.random() < 0.4:
            return answer
        if world.interface == "repair":
            return _nearest(world.task, answer, rng)


def _nearest(task: str, answer: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One of the answers without a contradiction that change the fewest labels."""
    every = product((0, 1), repeat=len(answer))
    options = [option for option in every if not contradictions(task, option)]
    far = [int(np.abs(answer - option).sum()) for option in options]
    near = [option for option, d in zip(options, far, strict=True) if d == min(far)]
    return np.array(near[rng.integers(len(near))])


def draw_skill(world: World, rng: np.random.Generator) -> np.ndarray:
    """Chance that a rater is right: (rater, label, true class)."""
    low, high = world.accuracy
    return rng.uniform(low, high, (world.raters, len(world.base), 2))


def draw_ratings(world: World, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Ratings as a table, and the truth."""
    truth = draw_truth(world, world.clusters, rng)
    skill = draw_skill(world, rng)
    rows = []
    for index in np.ndindex(*truth.shape[:3]):
        times = 3 if rng.random() < world.often else 1
        seen = hardened(skill, rng.normal(0, world.hardness)) if world.hardness else skill
        for rater in rng.permutation(world.raters)[:times]:
            rows.append(rating_row(world, index, rater, truth, seen, rng))
    return pd.DataFrame(rows), truth


def hardened(skill: np.ndarray, hardness: float) -> np.ndarray:
    """Chances of a right answer where their log odds are lower by ``hardness``."""
    return 1 / (1 + np.exp(hardness) * (1 - skill) / skill)


def rating_row(
    world: World,
    index: tuple[int, ...],
    rater: int,
    truth: np.ndarray,
    skill: np.ndarray,
    rng: np.random.Generator,
) -> dict[str, object]:
    """One line of a table of ratings."""
    query, system, place = index
    answer = draw_answer(world, truth[index], skill[rater], rng)
    return {
        "query_id": f"q{query:03d}",
        "system": SYSTEMS[system],
        "rank": place + 1,
        "item": f"q{query:03d}-{SYSTEMS[system]}-{place + 1}",
        "rater": f"r{rater}",
    } | dict(zip(LABELS[world.task], answer, strict=True))


def population_values(world: World, clusters: int = 40_000) -> pd.Series:
    """Metrics of the superpopulation, from many clusters."""
    return metric_values(world, draw_truth(world, clusters, np.random.default_rng(0)))


def metric_values(world: World, truth: np.ndarray) -> pd.Series:
    """Metrics by (name, system), straight from their definitions."""
    per_system = METRICS[world.task](np.moveaxis(truth, -1, 0))
    return pd.Series(
        {(m, s): float(v[k]) for m, v in per_system.items() for k, s in enumerate(SYSTEMS)}
    )


def _retrieval(labels: np.ndarray) -> dict[str, np.ndarray]:
    relevant, sufficient, misleading = labels
    places = relevant.shape[-1]
    discount = 1 / np.log2(np.arange(places) + 2)
    grade = np.where(sufficient == 1, 2, relevant)
    gain = (2.0**grade - 1) * discount
    ideal = np.sort(2.0**grade - 1, axis=-1)[..., ::-1] * discount
    ndcg = gain.sum(-1) / np.maximum(ideal.sum(-1), 1e-300)
    first = np.where(relevant.any(-1), 1 / (relevant.argmax(-1) + 1), 0.0)
    per_panel = {
        "topical_precision_at_k": relevant.mean(-1),
        "sufficiency_hit_at_k": sufficient.any(-1),
        "sufficiency_rate_at_k": sufficient.mean(-1),
        "misleading_context_rate_at_k": misleading.mean(-1),
        "mean_reciprocal_rank_at_k": first,
        "ndcg_at_k": ndcg,
    }
    return {name: values.mean(axis=0) for name, values in per_panel.items()}


def _grounding(labels: np.ndarray) -> dict[str, np.ndarray]:
    support, unsupported, contradicted, cited, fabricated = labels.mean(axis=(1, 3))
    return {
        "grounding_presence_rate": support,
        "unsupported_claim_rate": unsupported,
        "contradiction_rate": contradicted,
        "citation_presence_rate": cited,
        "conditional_fabrication_rate": fabricated / cited,
    }


def _generation(labels: np.ndarray) -> dict[str, np.ndarray]:
    names = (
        "proper_action_rate",
        "on_topic_rate",
        "helpfulness_rate",
        "incompleteness_rate",
        "unsafe_content_rate",
    )
    return dict(zip(names, labels.mean(axis=(1, 3)), strict=True))


METRICS = {"retrieval": _retrieval, "grounding": _grounding, "generation": _generation}


def interval_scores(table: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Add ``covered``, ``width``, ``interval_score`` and ``error`` to lines of intervals.

    The interval score is that of Gneiting & Raftery (2007): the width, and what lies outside over
    half the error probability.
    """
    t = table.copy()
    t["covered"] = (t["lower"] <= t["truth"] + 1e-12) & (t["truth"] <= t["upper"] + 1e-12)
    t["width"] = t["upper"] - t["lower"]
    miss = (t["lower"] - t["truth"]).clip(lower=0) + (t["truth"] - t["upper"]).clip(lower=0)
    t["interval_score"] = t["width"] + 2 / (1 - level) * miss
    t["error"] = t["value"] - t["truth"]
    return t

"""Metrics of labels, straight from their definitions, and what a majority vote makes of them."""

from collections.abc import Callable

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]
"""Numerator and denominator of a metric in each cluster and system."""
BOOTSTRAPS = 1000


def totals(task: str, labels: np.ndarray) -> dict[str, Pair]:
    """Numerators and denominators by metric, (..., cluster, system).

    ``labels`` is (..., cluster, system, place, label).
    """
    return METRICS_OF[task](np.moveaxis(labels, -1, 0))


def values(task: str, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Metrics of these items by name: (..., system)."""
    found = totals(task, labels)
    return {name: divided(num.sum(-2), den.sum(-2)) for name, (num, den) in found.items()}


def divided(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide; NaN where nothing counts."""
    return np.where(denominator > 0, numerator / np.maximum(denominator, 1e-300), np.nan)


def mean_of(per_panel: np.ndarray) -> Pair:
    """Let each list count once."""
    return per_panel, np.ones_like(per_panel, dtype=float)


def _single(labels: np.ndarray) -> dict[str, Pair]:
    return {"prevalence[label=yes]": mean_of(labels[0].mean(-1))}


def _retrieval(labels: np.ndarray) -> dict[str, Pair]:
    relevant, sufficient, misleading = labels
    discount = 1 / np.log2(np.arange(relevant.shape[-1]) + 2)
    grade = np.where(sufficient == 1, 2, relevant)
    gain = ((2.0**grade - 1) * discount).sum(-1)
    ideal = (np.sort(2.0**grade - 1, axis=-1)[..., ::-1] * discount).sum(-1)
    first = np.where(relevant.any(-1), 1 / (relevant.argmax(-1) + 1), 0.0)
    return {
        "topical_precision_at_k": mean_of(relevant.mean(-1)),
        "sufficiency_hit_at_k": mean_of(sufficient.any(-1).astype(float)),
        "sufficiency_rate_at_k": mean_of(sufficient.mean(-1)),
        "misleading_context_rate_at_k": mean_of(misleading.mean(-1)),
        "mean_reciprocal_rank_at_k": mean_of(first),
        "ndcg_at_k": mean_of(np.where(ideal > 0, gain / np.maximum(ideal, 1e-300), 0.0)),
    }


def _grounding(labels: np.ndarray) -> dict[str, Pair]:
    support, unsupported, contradicted, cited, fabricated = labels.mean(-1)
    return {
        "grounding_presence_rate": mean_of(support),
        "unsupported_claim_rate": mean_of(unsupported),
        "contradiction_rate": mean_of(contradicted),
        "citation_presence_rate": mean_of(cited),
        "conditional_fabrication_rate": (fabricated, cited),
    }


METRICS_OF: dict[str, Callable[[np.ndarray], dict[str, Pair]]] = {
    "single": _single,
    "retrieval": _retrieval,
    "grounding": _grounding,
}
METRICS = {
    "single": ("prevalence[label=yes]",),
    "retrieval": (
        "topical_precision_at_k",
        "sufficiency_hit_at_k",
        "sufficiency_rate_at_k",
        "misleading_context_rate_at_k",
        "mean_reciprocal_rank_at_k",
        "ndcg_at_k",
    ),
    "grounding": (
        "grounding_presence_rate",
        "unsupported_claim_rate",
        "contradiction_rate",
        "citation_presence_rate",
        "conditional_fabrication_rate",
    ),
}


def majority(votes: np.ndarray, answers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Label by majority; a tie is broken at random."""
    lead = 2 * votes - answers
    return np.where(lead == 0, rng.random(lead.shape) < 0.5, lead > 0).astype(int)


def bootstrapped(task: str, labels: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Metrics of clusters drawn with replacement, labels taken for true: (sample, system)."""
    clusters = labels.shape[0]
    times = rng.multinomial(clusters, np.full(clusters, 1 / clusters), BOOTSTRAPS).astype(float)
    found = totals(task, labels)
    return {name: divided(times @ num, times @ den) for name, (num, den) in found.items()}


def intervals(draws: np.ndarray, level: float = 0.95) -> dict[str, tuple[float, float, float]]:
    """Mean and ends of A, B and A - B from draws (draw, system)."""
    parts = {"a": draws[:, 0], "b": draws[:, 1], "d": draws[:, 0] - draws[:, 1]}
    ends = ((1 - level) / 2, (1 + level) / 2)
    return {
        part: (float(np.nanmean(x)), *map(float, np.nanquantile(x, ends)))
        for part, x in parts.items()
    }

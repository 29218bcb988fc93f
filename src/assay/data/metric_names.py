"""Names of metrics and the labels that they need, without the functions.

A task file with a metric that cannot be computed is refused when it is read.
"""

from collections.abc import Sequence

from assay._util.errors import suggest
from assay.data.generic_metrics import generic_names, generic_problem, parse_generic
from assay.data.task import Task

SHIPPED: dict[str, tuple[str, ...]] = {
    "topical_precision_at_k": ("topically_relevant",),
    "sufficiency_hit_at_k": ("evidence_sufficient",),
    "sufficiency_rate_at_k": ("evidence_sufficient",),
    "misleading_context_rate_at_k": ("misleading",),
    "mean_reciprocal_rank_at_k": ("topically_relevant",),
    "ndcg_at_k": ("topically_relevant", "evidence_sufficient"),
    "grounding_presence_rate": ("support_present",),
    "unsupported_claim_rate": ("unsupported_claim_present",),
    "contradiction_rate": ("contradicted_claim_present",),
    "citation_presence_rate": ("source_cited",),
    "conditional_fabrication_rate": ("source_cited", "fabricated_source"),
    "proper_action_rate": ("proper_action",),
    "on_topic_rate": ("response_on_topic",),
    "helpfulness_rate": ("helpful",),
    "incompleteness_rate": ("incomplete",),
    "unsafe_content_rate": ("unsafe_content",),
    "flag_rate": ("flagged",),
    "interpretable_rate": ("flagged", "interpretable"),
    "attributable_rate": ("interpretable", "attributable"),
}
"""Labels that each shipped metric needs."""
_OWN: dict[str, tuple[str, ...]] = {}


def remember(name: str, labels: Sequence[str] | None) -> None:
    """Remember a registered metric and the labels that it needs."""
    if name not in SHIPPED:
        _OWN[name] = tuple(labels or ())


def lacking_labels(task: Task) -> list[str]:
    """List the metrics of a task that need labels or classes that it does not have."""
    known = SHIPPED | _OWN
    said = []
    for name in (name for name in task.metrics if isinstance(name, str)):
        if problem := generic_problem(name, task):
            said.append(problem)
            continue
        lacks = [label for label in known.get(name, ()) if label not in task.label_names]
        if lacks:
            said.append(
                f"metric {name!r} needs the label{'s' * (len(lacks) > 1)} {', '.join(lacks)}, "
                f"but the task has only {', '.join(task.label_names)}"
            )
    return said


def unknown_metrics(task: Task) -> list[str]:
    """List the metrics of a task that do not exist, with similar names."""
    known = [*SHIPPED, *_OWN]
    return [
        f"no metric is called {name!r}; {suggest(name, [*known, *generic_names(task)])}"
        for name in task.metrics
        if not (name in known or parse_generic(name, task.label_names))
    ]

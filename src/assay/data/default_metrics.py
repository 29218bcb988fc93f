"""What ratings report of themselves where neither a task nor their reader names a metric."""

from dataclasses import replace

from assay.data.class_words import no_before_yes
from assay.data.generic_metrics import graded, numbers_of
from assay.data.ratings import Ratings


def with_default_metrics(ratings: Ratings) -> Ratings:
    """Let ratings of the task ``single`` report what their ranked lists or systems are for.

    Ranked lists of a label that is no or yes get precision, MRR and nDCG; of a label whose classes
    are rising numbers the mean and, with ranks, nDCG. Where the data say no more than the label,
    the task reports the share of each class, as ever.
    """
    task = ratings.task
    if task.name != "single" or task.metrics or len(task.labels) != 1:
        return ratings
    label = task.labels[0]
    ranked = bool((ratings.panels["rank"] > 1).any())
    numeric = len(label.classes) > 2 and numbers_of(label) is not None and graded(label)
    kinds: tuple[str, ...] = ()
    if no_before_yes(label.classes) and ranked:
        kinds = ("precision_at_k", "mrr", "ndcg")
    elif numeric and (ranked or ratings.systems):
        kinds = ("mean", "ndcg") if ranked else ("mean",)
    if not kinds:
        return ratings
    names = tuple(f"{kind}[{label.name}]" for kind in kinds)
    return replace(ratings, task=replace(task, metrics=names))

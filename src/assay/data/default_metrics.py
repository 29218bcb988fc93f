"""Default metrics of ratings for which neither the task nor the user names any."""

from dataclasses import replace

from assay.data.class_words import no_before_yes
from assay.data.generic_metrics import graded, numbers_of
from assay.data.ratings import Ratings
from assay.data.task import Label

FEW_CLASSES = 5
"""Most classes of a scale whose shares are reported beside its mean."""


def with_default_metrics(ratings: Ratings, *, named: bool = True) -> Ratings:
    """Give ratings the metrics that their classes, lists or systems suggest.

    Of one label: ranked lists of no and yes get precision, MRR and nDCG; a scale gets the mean and,
    with ranks, nDCG; of few classes without systems, their shares too. Several labels get the mean
    of each scale and the shares of other classes, unless the user ``named`` the task.
    """
    task = ratings.task
    if task.metrics or (task.name != "single" and named):
        return ratings
    ranked = bool((ratings.panels["rank"] > 1).any())
    compared = ranked or bool(ratings.systems)
    if len(task.labels) > 1:
        scales = [label for label in task.labels if label.ordered and _is_numeric(label)]
        names = [name for label in task.labels for name in _plain(label)] if scales else []
    elif no_before_yes(task.labels[0].classes) and ranked and task.name == "single":
        names = [f"{kind}[{task.labels[0].name}]" for kind in ("precision_at_k", "mrr", "ndcg")]
    elif _is_numeric(task.labels[0]) and (task.labels[0].ordered or (named and compared)):
        kinds = ("mean", "ndcg") if ranked else ("mean",)
        names = [f"{kind}[{task.labels[0].name}]" for kind in kinds]
        if not compared and len(task.labels[0].classes) <= FEW_CLASSES:
            names += [f"prevalence[{task.labels[0].name}={one}]" for one in task.labels[0].classes]
    else:
        names = []
    return replace(ratings, task=replace(task, metrics=tuple(names))) if names else ratings


def _is_numeric(label: Label) -> bool:
    """Whether more than two classes are rising numbers."""
    return len(label.classes) > 2 and numbers_of(label) is not None and graded(label)


def _plain(label: Label) -> list[str]:
    """Return the mean of a scale, else the shares of the classes but for a plain no."""
    if label.ordered and _is_numeric(label):
        return [f"mean[{label.name}]"]
    words = label.classes[1:] if no_before_yes(label.classes) else label.classes
    return [f"prevalence[{label.name}={word}]" for word in words]

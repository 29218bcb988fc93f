"""Default metrics of ratings for which neither the task nor the user names any."""

from dataclasses import replace

from assay.data.class_words import no_before_yes
from assay.data.generic_metrics import graded, numbers_of
from assay.data.ratings import Ratings


def with_default_metrics(ratings: Ratings) -> Ratings:
    """Give ratings of the task ``single`` the metrics that their lists or systems suggest.

    Ranked lists of a no/yes label get precision, MRR and nDCG. A label whose classes are increasing
    numbers gets the mean and, with ranks, nDCG. Otherwise the task reports the share of each class.
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

"""Page one: the weakest rater, the first of the raters table, and the largest error. A rater who
misses half of a rare class is right in most cases.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from assay._util.text import called, does, lines_of
from assay.comparison.decisions import chance_said
from assay.data.ratings import Ratings
from assay.inference.settings import MODES_ALONE
from assay.modelling.spec import is_consensus
from assay.raters.standing import over_labels
from assay.reporting.answers import shortest
from assay.reporting.joint_raters import why_joint
from assay.reporting.material import Material
from assay.reporting.rater_feedback import Talk

MOST_NAMES = 2
"""Most raters who are named beside the weakest."""


def untold(material: Material) -> bool:
    """Return whether rater errors are not identifiable: one rater an item, and no truth."""
    return not material.n_known and not _has_overlap(material.ratings)


def _has_overlap(ratings: Ratings) -> bool:
    """Return whether two raters answered some item."""
    pairs = np.unique(np.stack([ratings.item, ratings.rater])[:, ratings.answered], axis=1)
    return bool((np.bincount(pairs[0]) > 1).any())


def weakest_rater(material: Material) -> str:
    """Name the weakest rater and the error, how sure that is, and further weak raters."""
    if len(material.ratings.raters) < 2:
        return "There is only one rater."
    if untold(material):
        return "Unknown: no item has two raters, and no truth is known."
    if len(material.joint) == len(material.ratings.raters):
        return f"Unknown: {why_joint(material.ratings)}, so none can be told from the others."
    whole = over_labels(material.standing)
    whole = whole[~whole["rater"].isin(list(material.joint))]
    told = whole[(whole["doubt"] == "") & whole["mean"].notna()]
    if told["rater"].nunique() < 2:
        if (whole["doubt"] != "").any():
            return "Unknown: the labels are in doubt, as the box says."
        return "Unknown: there are too few answers."
    errors = worst_errors(material)
    line = lines_of(told.loc[[told["mean"].idxmin()]])[0]
    said = [_standing(material, line, errors), *(_error(material, one) for one in errors[:1])]
    named = {str(line["rater"]), *(one.rater for one in errors[:1])}
    return " ".join([*said, *_others(material, told, errors, named)])


def worst_errors(material: Material) -> list[Talk]:
    """Return the clear errors of raters, those first that cause most wrong answers."""
    return [talk for talk in material.talks if talk.probability > _clear(material)]


def _clear(material: Material) -> float:
    """Return the probability above which a rater is clearly worse than others."""
    return (1 + material.level) / 2


def _mode_alone(material: Material) -> bool:
    return str(material.view.attrs["method"]) in MODES_ALONE


def _by_consensus(material: Material) -> str:
    shared = not material.n_known and is_consensus(material.reference)
    return " by the consensus" * shared


def _error(material: Material, talk: Talk) -> str:
    """Name a rater's error, its rate, and that of the other raters."""
    sure = f" (P(more often) {chance_said(talk.probability, material.level)})"
    sure *= not _mode_alone(material)
    said = (
        f"The largest error: {talk.rater} answers {talk.reported_class} for {talk.rate:.0%} of the "
        f"items with {talk.label} = {talk.true_class}; the other raters do for {talk.others:.0%}"
    )
    return shortest(f"{said}{sure}.", f"{said}.")


def _standing(material: Material, line: dict[str, Any], errors: Sequence[Talk]) -> str:
    """State how often the lowest rater is right, and whether most raters are better."""
    # The largest error of all has a sentence of its own.
    own = [talk.rater for talk in errors[:1]] == [line["rater"]]
    missed = "" if own else _missed(material, line["rater"])
    if _mode_alone(material):
        mode = f"{_by_consensus(material)}; a posterior mode gives no probability of this"
        return f"{_first(line['rater'])} is right in {line['mean']:.0%} of cases{mode}.{missed}"
    sure = chance_said(line["p_worse"], material.level)
    worse = f"P(worse than the median, or middle, rater) {sure}"
    right = f"right in {line['mean']:.0%} of cases{_by_consensus(material)}"
    if line["p_worse"] > _clear(material):
        return f"{_first(line['rater'])} is {right}, {worse}.{missed}"
    weak = "No rater is clearly weak. " * (not errors)
    return f"{weak}The lowest is {line['rater']}, {right}; {worse}."


def _missed(material: Material, rater: str) -> str:
    """Name the class that a rater misses at the highest cost, and how often the others do."""
    line = material.misses.get(rater)
    if line is None:
        return ""
    return (
        f" {_first(rater)} misses {line['rate']:.0%} of the items with {line['label']} = "
        f"{line['true_class']}; the other raters miss {line['others']:.0%}."
    )


def _others(
    material: Material, told: pd.DataFrame, errors: Sequence[Talk], named: set[str]
) -> list[str]:
    """Name further raters who clearly err more often, each with the class most missed."""
    several = len(material.ratings.task.labels) > 1
    where = {talk.rater: f" (on {talk.label})" * several for talk in reversed(errors)}
    names = [*where]
    if not _mode_alone(material):
        poor = told[told["p_worse"] > _clear(material)].sort_values("mean")
        names = [*map(str, poor["rater"]), *names]
    names = [name for name in dict.fromkeys(names) if name not in named]
    if not names:
        return []
    *before, last = [
        f"{name}{_most_missed(material, name) or where.get(name, '')}" for name in names
    ]
    said = " and ".join(filter(None, [", ".join(before), last]))
    if len(names) > MOST_NAMES:
        said = f"{len(names)} more raters"
    return [f"{_first(said)} also {does(len(names), 'err')} more than average."]


def _most_missed(material: Material, rater: str) -> str:
    line = material.misses.get(rater)
    if line is None:
        return ""
    return f" (misses {line['rate']:.0%} of {line['label']} = {line['true_class']})"


def _first(name: str) -> str:
    """Write a rater's name at the start of a sentence."""
    return called(name) if name.startswith("rater ") else name

"""What a fit takes for granted, in sentences: they are kept with the fit and shown with it."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import Note
from assay._util.grouping import all_apart, unique_rows
from assay._util.plurals import counted, some
from assay.checks.scores import without_order
from assay.data.ratings import NOT_AUDITED, Ratings
from assay.modelling.model import Structure
from assay.modelling.prior_use import idle_priors
from assay.modelling.spec import GOLD, GROUPS, recipes

PRIOR_DRIVEN = 0.8
"""Share of the prior's SD from which on a posterior counts as the prior's."""
LITTLE = 0.5
"""The same, from which on the data tell little."""

CHOSEN = {
    "random": "Items with gold are taken for a random sample; if they were chosen for being hard, "
    "or easy, the rater groups look worse, or better.",
    "recorded": "Items with gold were chosen on recorded data, as you say; what they were chosen "
    "by has to be among the answers and covariates of this model.",
}
"""By how the items with gold were chosen."""
WHICH_CLASS = "Which class is which"
"""How the sentence begins that says what names of classes rest on."""
AGREED = (
    "The truth is what the rater groups agree on: each is taken to misperceive items on its own, "
    "and how often all of them are wrong together cannot be told from these data."
)
"""Whose truth is meant where nothing else is known of it."""


def stated_assumptions(structure: Structure) -> list[str]:
    """Say what was assumed before the data were looked at."""
    spec, ratings = structure.spec, structure.ratings
    audited = bool((ratings.audit != NOT_AUDITED).any())
    known = audited or bool(ratings.has_truth.any())
    found = []
    if spec.reference is None:
        if not known:
            found.append(
                "The truth is the consensus of all raters: how often they are wrong together "
                "cannot be told from these data (assay.consensus_sensitivity says what follows if "
                "they are)."
            )
            found += mirrored_labels(structure)
    elif spec.reference == GOLD:
        found.append(CHOSEN[spec.gold_chosen])
    elif spec.reference == GROUPS:
        found.append(_agreed(ratings, audited=audited) if known else AGREED)
    else:
        found.append(f"The consensus of {spec.reference} is the truth by definition.")
    found += [*doubted_alike(structure), *independent_replicates(structure)]
    return [*found, *priors_without_use(structure)]


def mirrored_labels(structure: Structure) -> list[str]:
    """Say of which labels the prior alone tells which class is which.

    Where two classes of a label can be exchanged in all states, raters who are as often wrong as
    they were right before give the same answers.
    """
    states = structure.prevalence.space.states
    known = {tuple(state) for state in states.tolist()}
    names = []
    answered = (structure.ratings.answers >= 0).any(axis=0)  # scores rise with the class
    for n, label in enumerate(structure.ratings.task.labels):
        if not answered[n]:
            continue
        for one, other in combinations(range(len(label.classes)), 2):
            mirrored = states.copy()
            mirrored[states[:, n] == one, n] = other
            mirrored[states[:, n] == other, n] = one
            if {tuple(state) for state in mirrored.tolist()} == known:
                names.append(label.name)
                break
    if not names:
        return []
    of = f" of {some(names)}" * (len(structure.ratings.task.labels) > 1)
    return [
        f"{WHICH_CLASS}{of} rests on the prior that raters are mostly right: the answers alone fit "
        "the mirrored labels, classes exchanged and raters mostly wrong, as well."
    ]


def _agreed(ratings: Ratings, *, audited: bool) -> str:
    """Say whose truth is meant where groups agree on some of it, and more is known."""
    count = int(ratings.has_truth.sum())
    sources = [f"the known truth of {counted(count, 'item')}"] * (count > 0)
    sources += ["what audits say of single answers"] * audited
    return (
        f"The truth is what the rater groups agree on, and {' and '.join(sources)}: each group is "
        "taken to misperceive items on its own. Where all of them are wrong together, only that "
        "shows it, and how often is not carried over from there to other items."
    )


def priors_without_use(structure: Structure) -> list[str]:
    """Say which priors of the user's file the model has no use for, and why."""
    idle = idle_priors(structure, structure.spec.priors)
    if not idle:
        return []
    told = "; ".join(f"{name} ({why})" for name, why in idle.items())
    return [f"Of your priors, the model has no use for these: {told}."]


def doubted_alike(structure: Structure) -> list[str]:
    """Say which groups with a perception layer misperceive hard and easy items alike."""
    perception = structure.perception
    alike = [name for name in perception.groups if name not in perception.troubled]
    if not alike:
        return []
    return [
        f"{' and '.join(alike)} misperceive all items equally often: a split vote is doubted no "
        "more than a clear one. A recipe with a difficulty, raters='hierarchical + "
        "item_difficulty_continuous', learns it."
    ]


def independent_replicates(structure: Structure) -> list[Note]:
    """Say how many replicates are taken for independent, if any are."""
    if structure.spec.replicates != "independent":
        return []
    ratings = structure.ratings
    pairs = np.column_stack([ratings.rater, ratings.item])[~ratings.abstained]
    count = len(pairs) - len(np.unique(pairs, axis=0))
    if not count:
        return []
    text = (
        f"{count} ratings repeat a rater's rating of the same item and are taken for independent "
        "given the truth (replicates='independent'): they count as if other raters had given "
        "them. replicates='together' learns how far they repeat themselves."
    )
    return [Note(text, code="independent-replicates", level="note", numbers={"ratings": count})]


def unread_scores(structure: Structure) -> list[Note]:
    """Say how many ratings have scores alone, of raters whose family reads answers alone."""
    ratings = structure.ratings
    alone = ratings.scores_alone
    if not alone.any():
        return []
    groups = ratings.raters["group"].to_numpy(object)[ratings.rater]
    families = recipes(structure.spec, tuple(dict.fromkeys(groups)))
    count = {
        group: int((alone & (groups == group)).sum())
        for group, recipe in families.items()
        if recipe.family != "scored"
    }
    if not any(count.values()):
        return []
    who = " and ".join(repr(group) for group, n in count.items() if n)
    text = (
        f"{counted(sum(count.values()), 'rating', 'have')} scores and no answer, and the family of "
        f"{who} reads answers alone: they tell the model nothing."
    )
    if not without_order(ratings, np.isin(groups, [group for group, n in count.items() if n])):
        text += " raters='scored', for all raters or that group, reads them."
    return [
        Note(text, code="scores-unread", level="note", numbers={"ratings": sum(count.values())})
    ]


def replicates_apart(structure: Structure) -> list[str]:
    """Say how many replicates no urn joins: of another session of drifting raters, or label."""
    ratings = structure.ratings
    keys = ratings.rater, ratings.item
    if structure.spec.replicates == "independent" or all_apart(*keys, at=~ratings.abstained):
        return []
    count = 0
    for part in structure.parts:
        here = np.flatnonzero(part.repeats.row >= 0)
        once, joined = (key[here] for key in keys), (key[here] for key in (*keys, part.repeats.row))
        count += len(unique_rows(*joined)[0]) - len(unique_rows(*once)[0])
    if not count:
        return []
    return [
        f"{counted(count, 'rating', 'repeat')} a rater's rating of the same item "
        "on other labels, or in another session of a rater who drifts: such ratings are taken for "
        "independent given the truth, as if other raters had given them."
    ]


def prior_driven_layers(
    structure: Structure, values: Mapping[str, NDArray[np.float64]]
) -> list[tuple[str, float, float]]:
    """Say of each perception layer how little the data tell how often its group misperceives.

    Returns
    -------
    list of tuple
        Rater group, SD of the prior, and the posterior's SD as a share of it.
    """
    found = []
    for g, name in enumerate(structure.perception.groups):
        a, b = structure.perception.priors["misperceived"].values
        prior_sd = float(np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1))))
        spread = float(values["misperceived"][:, g].std())
        found.append((name, prior_sd, spread / prior_sd))
    return found


def learned_assumptions(
    structure: Structure, values: Mapping[str, NDArray[np.float64]]
) -> list[str]:
    """Say what the data did not tell, or little of."""
    return [
        f"How often {name} misperceives an item hangs on the prior: the data "
        f"{'hardly tell' if share > PRIOR_DRIVEN else 'tell little'} (the SD is {share:.2f} of "
        "the prior's)."
        for name, _, share in prior_driven_layers(structure, values)
        if share > LITTLE
    ]

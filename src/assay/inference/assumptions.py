"""Assumptions of a fit, and data that contradict them."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import Note
from assay._util.text import counted, some
from assay._util.typing import Bools, Floats, Ints
from assay.checks.scores import without_order
from assay.data.overlap import (
    LAYER_ITEMS,
    build_design,
    build_meetings,
    count_pairs,
    groups_identify_truth,
)
from assay.data.ratings import NOT_AUDITED
from assay.fits.predict import replicates
from assay.inference.data_counts import DataCounts, rater_groups
from assay.modelling.spec import GOLD, GROUPS, Spec, recipes
from assay.modelling.structure import Structure, idle_priors

PRIOR_DRIVEN = 0.8
"""Ratio of posterior SD to prior SD above which the data hardly inform a parameter."""
LITTLE = 0.5
"""The same ratio above which the data inform it a little."""
CHOSEN = {
    "random": "The model assumes that items with gold are a random sample. If hard (or easy) items "
    "were preferred, the rater groups look worse (or better) than they are.",
    "recorded": "The model assumes that items with gold were chosen on recorded data. The answers "
    "and covariates of this model must include these data.",
}
"""Assumptions about the choice of items with gold."""
WHICH_CLASS = "Which class is which"
"""Start of the sentence on what the names of classes rest on."""
AGREED = (
    "The truth is the agreement of the rater groups. Each group is assumed to misperceive items "
    "independently. These data do not identify how often all groups are wrong together."
)
"""Meaning of the truth if groups agree and nothing else is known."""


def stated_assumptions(structure: Structure, counts: DataCounts) -> list[str]:
    """Return the assumptions made before the data were seen."""
    spec = structure.spec
    audited = bool((structure.ratings.audit != NOT_AUDITED).any())
    known = audited or counts.known > 0
    found = []
    if spec.reference is None:
        if not known:
            found.append(
                "The truth is the consensus of all raters. These data do not identify how often "
                "all raters are wrong together; assay.sensitivity_to_consensus shows the effect of "
                "such errors."
            )
            found += mirrored_labels(structure)
    elif spec.reference == GOLD:
        found.append(CHOSEN[spec.gold_chosen])
    elif spec.reference == GROUPS:
        found.append(_agreed(counts.known, audited=audited) if known else AGREED)
    else:
        found.append(f"The consensus of {spec.reference} is the truth by definition.")
    found += [
        *copied_answers(spec), *doubted_alike(structure),
        *independent_replicates(structure, counts),
    ]  # fmt: skip
    return [*found, *priors_without_use(structure)]


def mirrored_labels(structure: Structure) -> list[str]:
    """Say for which labels only the prior tells classes apart.

    That is so if exchanging two classes in all states leaves the set of states the same.
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
        f"{WHICH_CLASS}{of} depends on the prior that raters are mostly right. Without this prior, "
        "exchanged classes with mostly wrong raters fit the answers equally well."
    ]


def _agreed(count: int, *, audited: bool) -> str:
    """Describe the truth where groups agree, and of some items or in audits it is known."""
    sources = [f"the known truth of {counted(count, 'item')}"] * (count > 0)
    sources += ["the audits of single answers"] * audited
    return (
        f"The truth is the agreement of the rater groups, and {' and '.join(sources)}. Each group "
        "is assumed to misperceive items independently. Only the known truth reveals errors that "
        "all groups share, and their rate is not applied to other items."
    )


def priors_without_use(structure: Structure) -> list[str]:
    """Say which of the user's priors the model does not use, and why."""
    idle = idle_priors(structure, structure.spec.priors)
    if not idle:
        return []
    told = "; ".join(f"{name} ({why})" for name, why in idle.items())
    return [f"The model does not use some of your priors: {told}."]


def copied_answers(spec: Spec) -> list[str]:
    """Say which raters may copy others."""
    if not spec.copies:
        return []
    pairs = [f"those of {source} by {copier}" for copier, source in spec.copies.items()]
    return [
        f"Answers may be repeated by other raters: {some(pairs)}. The model learns how often. A "
        "repeated answer is no evidence of its own."
    ]


def doubted_alike(structure: Structure) -> list[str]:
    """Say which groups misperceive hard and easy items equally often."""
    perception = structure.perception
    alike = [name for name in perception.groups if name not in perception.troubled]
    if not alike:
        return []
    return [
        f"The model assumes that {' and '.join(alike)} misperceive all items equally often, those "
        "with split votes too. A recipe with a difficulty relaxes this: `raters='hierarchical + "
        "item_difficulty_continuous'`."
    ]


def independent_replicates(structure: Structure, counts: DataCounts) -> list[Note]:
    """Say how many replicates are assumed independent."""
    count = counts.repeated
    if structure.spec.replicates != "independent" or not count:
        return []
    text = (
        f"{count} ratings repeat a rater's rating of the same item. They count as independent "
        "given the truth, like ratings of different raters (`replicates='independent'`). "
        "`replicates='together'` estimates how far they depend on each other."
    )
    return [Note(text, code="independent-replicates", level="note", numbers={"ratings": count})]


def unread_scores(structure: Structure, counts: DataCounts) -> list[Note]:
    """Say how many ratings have only scores, of raters whose family ignores scores."""
    names = rater_groups(structure.ratings)
    families = recipes(structure.spec, names)
    groups = [
        n for n, count in enumerate(counts.scores_alone)
        if count and families[names[n]].family != "scored"
    ]  # fmt: skip
    count = int(counts.scores_alone[groups].sum())
    if not count:
        return []
    who = " and ".join(repr(names[n]) for n in groups)
    text = (
        f"{counted(count, 'rating', 'have')} scores but no answer. The family of {who} uses "
        "answers only, so the model ignores these ratings."
    )
    if not without_order(structure.ratings.task, counts.answers[groups].any(axis=0)):
        text += " To use them, give `raters='scored'` for all raters or for that group."
    return [Note(text, code="scores-unread", level="note", numbers={"ratings": count})]


def replicates_apart(structure: Structure, counts: DataCounts) -> list[str]:
    """Say how many replicates are assumed independent as they differ in label or drift session."""
    if structure.spec.replicates == "independent" or not counts.apart:
        return []
    return [
        f"{counted(counts.apart, 'rating', 'repeat')} a rater's rating of the same item "
        "on other labels, or in another session of a rater who drifts. They count as independent "
        "given the truth, like ratings of different raters."
    ]


def prior_driven_layers(
    structure: Structure, values: Mapping[str, Floats]
) -> list[tuple[str, float, float]]:
    """Return each perception layer's group, prior SD, and ratio of posterior to prior SD."""
    found = []
    for g, name in enumerate(structure.perception.groups):
        a, b = structure.perception.priors["misperceived"].values
        prior_sd = float(np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1))))
        spread = float(values["misperceived"][:, g].std())
        found.append((name, prior_sd, spread / prior_sd))
    return found


def learned_assumptions(structure: Structure, values: Mapping[str, Floats]) -> list[str]:
    """Say which misperception rates the data inform little."""
    return [
        f"How often {name} misperceives an item depends {'almost only' * (share > PRIOR_DRIVEN)}"
        f"{'largely' * (share <= PRIOR_DRIVEN)} on the prior: the posterior SD is {share:.2f} of "
        "the prior SD."
        for name, _, share in prior_driven_layers(structure, values)
        if share > LITTLE
    ]


REPLICATES = 99
MOST_RATINGS = 20_000
MOST_MEETINGS = 500_000
"""Most rater pairs for these replicates; ``posterior_predictive_check`` has no limit."""
MIN_EXCESS_AGREEMENT = 0.02
"""Least excess of agreement within a group over its expectation."""


def group_error_warnings(
    structure: Structure,
    values: Mapping[str, Floats],
    states: NDArray[np.int16],
    rng: np.random.Generator,
) -> list[Note]:
    """Warn of rater groups that err together although the model assumes independent raters.

    Agreement within a group, and its excess over that across groups, must both exceed replicates:
    the first alone is high for hard items.
    """
    ratings = structure.ratings
    if structure.spec.reference is not None:
        return []
    if len(ratings.item) > MOST_RATINGS or count_pairs(ratings.item) > 2 * MOST_MEETINGS:
        return unchecked_group_errors(structure, len(ratings.item))
    meetings = build_meetings(ratings, build_design(ratings))
    if meetings is None:
        return []
    every = [ratings.answers, *replicates(structure, values, states, REPLICATES, rng)]
    shares = np.stack([_of_all_labels(meetings.counts(answers)) for answers in every])
    within, across = shares[:, :-1], shares[:, -1:]
    clear = _is_clear(within) & _is_clear(within - across)
    if not clear.any():
        return []
    names = [name for name, told in zip(meetings.groups, clear[:-1], strict=True) if told]
    line = int(clear.argmax())
    where = f"{names[0]}: " if len(names) > 1 else ""
    among = (
        "`reference='groups'` (the agreement of the groups), "
        if groups_identify_truth(ratings)
        else ""
    )
    text = (
        f"Raters of {', '.join(names) or 'one group'} agree with each other more often than this "
        f"model expects ({where}{within[0, line]:.0%} of pairs of answers instead of "
        f"{within[1:, line].mean():.0%}). Agreement with other groups does not explain this. They "
        "err together but count as independent, so intervals are too narrow or miss the truth. To "
        f"estimate such errors, use {among}the truth of {LAYER_ITEMS} items or more "
        "(`reference='gold'`), or a group whose consensus is the truth (`reference=`)."
    )
    numbers = {"agreement": within[0, line], "expected": within[1:, line].mean()}
    return [Note(text, code="groups-err-together", numbers={**numbers, "items": LAYER_ITEMS})]


def unchecked_group_errors(structure: Structure, ratings: int) -> list[Note]:
    """Say that there are too many ratings to find whether rater groups err together."""
    if structure.spec.reference is not None or structure.ratings.raters["group"].nunique() < 2:
        return []
    text = (
        f"{ratings} ratings are too many to check during the fit whether rater groups err "
        "together. If they do, intervals are too narrow. To check it, use "
        "assay.posterior_predictive_check."
    )
    numbers = {"ratings": ratings}
    return [Note(text, code="group-errors-unchecked", level="note", numbers=numbers)]


def _is_clear(shares: Floats) -> Bools:
    """Return whether the first row, the data, is above all replicates, (group + 1,)."""
    usual = shares[1:]
    return np.asarray(
        (shares[0] > usual.max(axis=0)) & (shares[0] > usual.mean(axis=0) + MIN_EXCESS_AGREEMENT)
    )


def _of_all_labels(counts: tuple[Ints, Ints]) -> Floats:
    """Return the share of agreeing rater pairs over all labels, (group + 2,)."""
    met, alike = (count.sum(axis=1) for count in counts)
    return np.asarray(np.divide(alike, met, out=np.full(len(met), np.nan), where=met > 0))

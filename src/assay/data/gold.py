"""Known truth and audits of items, as masks over states."""

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay._util.grouping import sorted_rows
from assay._util.text import counted, some
from assay._util.typing import Bools, Floats, Ints
from assay.data.ratings import (
    AUDITED_RIGHT,
    AUDITED_WRONG,
    NOT_AUDITED,
    SOME_WRONG,
    Ratings,
)
from assay.data.states import MISSING


def against_gold(ratings: Ratings) -> str:
    """Describe the audits that contradict the known truth; ``""`` if none does. A rating whose
    answers are all the truth contradicts it if it was found wrong somewhere.
    """
    given, truth = ratings.answers >= 0, ratings.truth[ratings.item]
    same, known = ratings.answers == truth, truth != MISSING
    right = (ratings.audit == AUDITED_RIGHT) & given & known & ~same
    wrong = (ratings.audit == AUDITED_WRONG) & given & same
    vague = (ratings.audit == SOME_WRONG).any(axis=1) & given.any(axis=1)
    vague &= (same | ~given).all(axis=1)
    count = int((right | wrong).sum() + vague.sum())
    if not count:
        return ""
    row = int(np.flatnonzero((right | wrong).any(axis=1) | vague)[0])
    places = np.flatnonzero(given[row] if vague[row] else (right | wrong)[row])
    places = places if vague[row] else places[:1]
    verdict = "right" if right[row, places].any() else "wrong"
    said, is_so = (_classes_said(ratings, codes[row], places) for codes in (ratings.answers, truth))
    rater, item = ratings.raters.index[ratings.rater[row]], ratings.items.index[ratings.item[row]]
    which = "In this audit" if count == 1 else "In the first one"
    return (
        f"{counted(count, 'audit', 'contradict')} the known truth. {which}, {said} by rater "
        f"{rater} on item {item} is {verdict}, but the truth is {is_so}. Correct one of them, or "
        "leave it out"
    )


def _classes_said(ratings: Ratings, codes: NDArray[np.int16], labels: Ints) -> str:
    """Name classes with their labels."""
    of = ratings.task.labels
    names = (of[n].classes[codes[n]] if codes[n] >= 0 else "not asked" for n in labels)
    return ", ".join(f"{of[n].name} {name!r}" for n, name in zip(labels, names, strict=True))


def possible_states(ratings: Ratings, states: NDArray[np.int16]) -> Bools:
    """Return which states agree with known truth and audits of each item, (item, state)."""
    known, which = sorted_rows(*ratings.truth.T)
    agrees = ((known[:, None, :] == MISSING) | (known[:, None, :] == states[None])).all(axis=-1)
    possible = np.asarray(agrees[which])
    for finding, same in ((AUDITED_RIGHT, True), (AUDITED_WRONG, False)):
        rating, label = np.nonzero((ratings.audit == finding) & (ratings.answers >= 0))
        fits = (ratings.answers[rating, label][:, None] == states[:, label].T) == same
        np.logical_and.at(possible, ratings.item[rating], fits)
    for rating in np.flatnonzero((ratings.audit == SOME_WRONG).any(axis=1)):
        given = np.flatnonzero(ratings.answers[rating] >= 0)
        differs = states[:, given] != ratings.answers[rating, given]
        possible[ratings.item[rating]] &= differs.any(axis=1)
    return possible


def contradiction(ratings: Ratings, possible: Bools) -> str:
    """Describe the items without a possible state (item, state); ``""`` if there are none."""
    none = np.flatnonzero(~possible.any(axis=1))
    if not len(none):
        return ""
    if against := against_gold(ratings):
        return against
    first = np.flatnonzero((ratings.item == none[0]) & (ratings.audit != NOT_AUDITED).any(axis=1))
    who = [str(ratings.raters.index[ratings.rater[row]]) for row in first]
    whose = f" The audits of {ratings.items.index[none[0]]} are of {some(who)}." if who else ""
    return (
        f"the truth and the audits of {counted(len(none), 'item')} contradict each other or the "
        f"rules of the task: {some([str(name) for name in ratings.items.index[none]])}.{whose} "
        "Two different answers cannot both be right. Correct or clear the truth and the audits of "
        "these items"
    )


def truth_masks(ratings: Ratings, states: NDArray[np.int16]) -> tuple[Ints, Floats]:
    """Return the mask number of each item (item,), and the masks (mask, state): 0 where the state
    agrees with what is known, else -inf. Refuse items without a possible state.
    """
    possible = possible_states(ratings, states)
    packed, mask = sorted_rows(*np.packbits(possible, axis=1).T)
    masks = np.unpackbits(packed.astype(np.uint8), axis=1, count=possible.shape[1])
    if against := contradiction(ratings, possible):
        raise ModelError(against, code="audit-contradiction")
    return mask, np.where(masks, 0.0, -np.inf)

"""Draws in which classes have each other's names: a chain that visits a mirror image, in words.

The posterior of a small crowd may hold a region in which two classes are exchanged, beside the one
in which they are what raters call them. A chain that goes there for a stretch tells so by its
effective sample size alone, and means over all draws hold both.

References
----------
Stephens, M. (2000). Dealing with label switching in mixture models. JRSS B 62, 795-809.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import Note
from assay.inference.label_switching import best_names
from assay.modelling.model import Structure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CLEARLY = 0.1
"""By how much the chances of right answers, added up over classes, rise with other names."""
LOOKED_AT = 1000
"""Draws that are looked at."""
AT_ONCE = 20
SHARE = (0.02, 0.5)
"""Of the draws, from which on that is said: fewer do not move a mean, and where it is most of them,
it is the mode that has other names."""


def exchange_warnings(structure: Structure, values: Mapping[str, Floats]) -> list[Note]:
    """Say in which share of the draws raters call classes by each other's names.

    Parameters
    ----------
    structure : Structure
    values : mapping of str to ndarray (draw, ...)
        The parameters.

    Returns
    -------
    list of Note
        A warning for each label of which at least one draw in fifty is so.
    """
    draws = len(next(iter(values.values())))
    some = {name: value[:: -(-draws // LOOKED_AT)] for name, value in values.items()}
    found = []
    labels = structure.ratings.task.labels
    for n, (label, tables) in enumerate(zip(labels, _mean_tables(structure, some), strict=True)):
        names = _names(tables)
        own = np.arange(names.shape[1])
        other = (names != own).any(axis=1)
        if not SHARE[0] <= other.mean() < SHARE[1]:
            continue
        other = _are_other_readings(structure, some, n, names)
        if other.mean() < SHARE[0]:
            continue
        usual, count = np.unique(names[other], axis=0, return_counts=True)
        most = usual[count.argmax()]
        told = ", ".join(
            f"{label.classes[k]!r} is what raters call {label.classes[most[k]]!r}"
            for k in np.flatnonzero(most != own)
        )
        text = (
            f"In {other.mean():.1%} of the draws classes of {label.name} have each other's names "
            f"({told}), and means and intervals are over both readings. A longer run tells better "
            "how much weight that one has; the truth of some items (truth=), or prior counts, hold "
            "names in their place."
        )
        found.append(Note(text, code="label-switching", numbers={"share": other.mean()}))
    return found


def _mean_tables(structure: Structure, values: Mapping[str, Floats]) -> Iterator[Floats]:
    """Yield the mean confusions label by label: (draw, weighting, true class, reported class)."""
    draws = np.arange(len(next(iter(values.values()))))
    blocks = [structure.mean_reliability(some).swapaxes(0, 1) for _, some in _take(values, draws)]
    tables = np.nan_to_num(np.concatenate(blocks))
    for n, label in enumerate(structure.ratings.task.labels):
        count = len(label.classes)
        yield tables[:, :, n, :count, :count]


def _names(tables: Floats) -> Ints:
    """Say what raters mostly call each class, one name for each: (draw, class).

    Of two classes they have each other's names only if raters call either by the other's: that they
    miss many of one of them is nothing unusual.
    """
    count = tables.shape[-1]
    names = np.tile(np.arange(count), (len(tables), 1))
    otherwise = (tables.argmax(axis=-1) != np.arange(count)).sum(axis=-1) >= 2
    for draw in np.flatnonzero(otherwise.all(axis=1)):
        names[draw] = best_names(tables[draw], CLEARLY)
    return names


def _are_other_readings(
    structure: Structure, values: Mapping[str, Floats], label: int, names: Ints
) -> NDArray[np.bool_]:
    """Whether other names make each rater what it is in the other draws: (draw,).

    Where as many raters answer one way as the other way round, their mean is near chance, and
    other names fit it in some draws by accident: no rater is turned round there.
    """
    count = names.shape[1]
    weight = np.concatenate([part.n_ratings for part in structure.parts])[:, None, None]
    other = (names != np.arange(count)).any(axis=1)

    def tables(some: Mapping[str, Floats]) -> Floats:
        return np.nan_to_num(structure.reliability(some)[:, :, label, :count, :count])

    usual = np.zeros(())
    for _, some in _take(values, np.flatnonzero(~other)):
        usual = usual + tables(some).sum(axis=0) / (~other).sum()
    found = np.zeros(len(names), bool)
    for draws, some in _take(values, np.flatnonzero(other)):
        table, renamed = tables(some), usual[:, names[draws]].swapaxes(0, 1)
        apart = weight * ((table - renamed) ** 2 - (table - usual) ** 2)
        found[draws] = apart.sum(axis=(1, 2, 3)) < 0
    return found


def _take(values: Mapping[str, Floats], draws: Ints) -> Iterator[tuple[Ints, dict[str, Floats]]]:
    """Yield some draws in stretches: tables of all raters, in many draws, need gigabytes."""
    for start in range(0, len(draws), AT_ONCE):
        here = draws[start : start + AT_ONCE]
        yield here, {name: value[here] for name, value in values.items()}

"""Label switching: modes and draws whose classes are not what their names say.

A latent class has its name from the prior alone, which says that raters mostly call it so. The
likelihood knows of no names, and a mode may have classes with each other's names; or a class that
hardly an answer names (a flag that is seldom raised) is taken for what makes the answers to other
questions hang together, such as items that are hard to judge. The more data there are, the less a
prior of some group's means can say against that. What a class *is*, is what raters call it: unless
somebody says what is true, such modes stand behind all others, and are sought again put right.

References
----------
Stephens, M. (2000). Dealing with label switching in mixture models. JRSS B 62, 795-809.

The posterior of a small crowd may hold a region in which two classes are exchanged, beside the one
in which they are what raters call them. A chain that goes there for a stretch tells so by its
effective sample size alone, and means over all draws hold both.

References
----------
Stephens, M. (2000). Dealing with label switching in mixture models. JRSS B 62, 795-809.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from assay._util.errors import Note
from assay.data.overlap import opposite_pairs
from assay.fits.latent_states import recover
from assay.likelihood.data import Data
from assay.modelling.structure import Structure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Values = Mapping[str, Floats]
"""Parameters at one point: ndarray (1, ...)."""
CLEARLY = 2.0
"""How many times as often as its own name raters call a class by another one."""
GAIN = 0.1
"""By how much the chances of right answers, added up over classes, rise with other names."""
CAMP = 0.25
"""The same for one rater and a class, from which on that rater answers another way round."""
CAMP_RATINGS = 0.25
"""Share of the ratings from which on those who answer another way round may be right."""
LEFT_OPEN = 1e-3
"""Probability of what is taken for a class, where another is the true one."""


def is_misnamed(structure: Structure, values: Values) -> bool:
    """Whether raters clearly call some class by the name of another.

    Where truth is known, or a group's consensus is the truth, raters may be wrong as they are:
    there only names that more than two classes have of each other count.
    """
    exchanged = any((names != np.arange(len(names))).any() for names in _names(structure, values))
    return exchanged or bool(_drifted(structure, values).any())


def put_right(structure: Structure, values: Values) -> Data | None:
    """Return the data with what a misnamed point takes for the truth, under the raters' names.

    Parameters
    ----------
    structure : Structure
    values : mapping of str to ndarray (1, ...)

    Returns
    -------
    Data or None
        In which each cell's likeliest state, renamed, is all but known; where no other names are
        right, those cells are all but known not to have a class that raters call otherwise. The
        mode of such data is near that of the data themselves with the right names. None if that
        tells nothing.
    """
    states = structure.prevalence.space.states
    renamed = _renamed(states, _names(structure, values))
    if (renamed != states).any():
        possible = _possible(states, renamed)
    else:
        drifted = _drifted(structure, values)
        possible = ~(drifted[:, None] & drifted[None])
    return _told(structure, values, possible)


def other_camp(structure: Structure, values: Values) -> Data | None:
    """Return the data with what other raters say for the truth, if a point has them mostly wrong.

    Where some raters answer a question the other way round, another mode takes them for right and
    the others for wrong. With as many raters on each side it weighs the same, and climbs from a few
    places may all miss it.

    Parameters
    ----------
    structure : Structure
    values : mapping of str to ndarray (1, ...)

    Returns
    -------
    Data or None
        In which each cell's likeliest state, by the names of classes of those who are wrong, is all
        but known. None if they have less than a quarter of the ratings, or some truth is known.
    """
    states = structure.prevalence.space.states
    if _is_anchored(structure):
        return None
    renamed = _renamed(states, _camp_names(structure, values))
    return _told(structure, values, _possible(states, renamed))


def one_camp(structure: Structure) -> Data | None:
    """Return the data with what one rater says for the truth, if raters contradict each other.

    Where as many raters answer one way as the other way round, their votes cancel, and climbs from
    where all are right on average end where everything is of one class.

    Returns
    -------
    Data or None
        In which the states of one rater's items are all but known to be what that rater says: of
        those who agree with most others less than by chance, the one with most ratings. None if
        nobody clearly does, if no answer of that rater is a state, or some truth is known.
    """
    ratings = structure.ratings
    pairs = [] if _is_anchored(structure) else opposite_pairs(ratings, share=1.0)
    if not pairs:
        return None
    count = len(ratings.raters)
    against = np.bincount([rater for pair in pairs for rater in pair[1:3]], minlength=count)
    rated = np.bincount(ratings.rater, minlength=count)
    chosen = np.lexsort((rated, against))[-1]
    rows = np.flatnonzero((ratings.rater == chosen) & (ratings.answers >= 0).any(axis=1))
    says = ratings.answers[rows][:, None]
    states = structure.prevalence.space.states
    possible = ((says < 0) | (says == states[None])).all(axis=2)
    if not possible.any():
        return None
    variants, which = np.unique(possible[possible.any(axis=1)], axis=0, return_inverse=True)
    pattern = structure.pattern
    of_cell = np.zeros(len(pattern.data.cell_mask), np.int64)
    of_cell[pattern.item_cell[ratings.item[rows[possible.any(axis=1)]]]] = 1 + which
    return _with_masks(pattern.data, np.vstack([np.ones_like(variants[:1]), variants]), of_cell)


def _camp_names(structure: Structure, values: Values) -> list[Ints]:
    """Say what raters who are clearly wrong call each class, label by label."""
    by_unit = structure.reliability(values)[0]
    weight = np.concatenate([part.n_ratings for part in structure.parts])
    found = []
    for n, label in enumerate(structure.ratings.task.labels):
        count = len(label.classes)
        tables = by_unit[:, n, :count, :count]
        camp = np.isfinite(tables).all(axis=(1, 2)) & (weight > 0)
        camp[camp] = [_gain(table) > CAMP * count for table in tables[camp]]
        names = np.arange(count)
        if weight[camp].sum() > CAMP_RATINGS * weight.sum():
            mean = np.average(tables[camp], axis=0, weights=weight[camp])
            names = linear_sum_assignment(mean, maximize=True)[1]
        found.append(names)
    return found


def _gain(table: Floats) -> float:
    """By how much the chances of right answers, added up, rise with the best names."""
    return float(table[linear_sum_assignment(table, maximize=True)].sum() - np.trace(table))


def _renamed(states: NDArray[np.int16], names: Sequence[Ints]) -> NDArray[np.int16]:
    """Give the classes of states other names: (state, label)."""
    renamed = states.copy()
    for n, other in enumerate(names):
        asked = states[:, n] >= 0
        renamed[asked, n] = other[states[asked, n]]
    return renamed


def _possible(states: NDArray[np.int16], renamed: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Return what each state can be if it was renamed: (state, state).

    Where the rules forbid what a state becomes, nothing is said of its items.
    """
    same = (renamed[:, None] == states[None]).all(axis=2)
    return np.asarray(same | ~same.any(axis=1, keepdims=True))


def _told(structure: Structure, values: Values, possible: NDArray[np.bool_]) -> Data | None:
    """Return the data in which cells are all but known to be what their likeliest state can be."""
    count = len(possible)
    if np.array_equal(possible, np.eye(count, dtype=bool)):
        return None
    if possible.all() or not possible.any(axis=1).all():
        return None
    return _with_masks(structure.pattern.data, possible, _likeliest(structure, values))


def _with_masks(data: Data, possible: NDArray[np.bool_], of_cell: Ints) -> Data:
    """Return data in which each cell is all but known to be in one of some states.

    Parameters
    ----------
    possible : ndarray (variant, state)
    of_cell : ndarray (cell,)
        The variant of each cell.
    """
    told = np.where(possible, 0.0, np.log(LEFT_OPEN))
    masks = (data.masks[:, None] + told[None]).reshape(-1, possible.shape[1])
    return data._replace(cell_mask=data.cell_mask * len(possible) + of_cell, masks=masks)


def _likeliest(structure: Structure, values: Values) -> Ints:
    """State that is the likeliest for the items of each cell: (cell,)."""
    pattern = structure.pattern
    probability = recover(structure, values, np.random.default_rng(0)).probabilities
    by_cell = np.zeros((len(pattern.data.cell_mask), probability.shape[1]))
    np.add.at(by_cell, pattern.item_cell, probability)
    return by_cell.argmax(axis=1)


def _tables(structure: Structure, values: Values) -> Iterator[Floats | None]:
    """Yield the mean confusion label by label: (2, true class, reported class).

    That of an average rater, and that of an average rating, on the easiest items. What raters call
    a class is what both
    say: the first alone is that of a crowd's spammers if most have few ratings, the second alone
    that of one who has most of the ratings.
    """
    easiest = structure.difficulty.positions[0]
    mean = structure.mean_reliability(values, easiest)[:, 0]
    for n, label in enumerate(structure.ratings.task.labels):
        count = len(label.classes)
        tables = mean[:, n, :count, :count]
        yield tables if np.isfinite(tables).all() else None


def _names(structure: Structure, values: Values) -> list[Ints]:
    """Say what raters mostly call each class, one name for each, label by label.

    That is the assignment of names that makes raters right most often, if it is clearly better than
    that of the classes' own names. Two classes have each other's names if both are drifted, and no
    truth is known by which raters are wrong.
    """
    anchored = _is_anchored(structure)
    found = []
    for label, tables in zip(
        structure.ratings.task.labels, _tables(structure, values), strict=True
    ):
        own = np.arange(len(label.classes))
        names = own if tables is None else best_names(tables, GAIN)
        turned = not anchored and tables is not None and _called_otherwise(tables).all()
        found.append(names if len(own) > 2 or turned else own)
    return found


def best_names(tables: Floats, gain: float) -> Ints:
    """Say which names make raters right most often: (class,).

    Parameters
    ----------
    tables : ndarray (weighting, true class, reported class)
    gain : float
        By how much they have to be right more often, added up over classes, than by the classes'
        own names, under every weighting alike; else those are returned.
    """
    own = np.arange(tables.shape[-1])
    found = own
    for n, table in enumerate(tables):
        best = linear_sum_assignment(table, maximize=True)[1]
        if table[own, best].sum() - np.trace(table) <= gain or (n and (best != found).any()):
            return own
        found = best
    return found


def _is_anchored(structure: Structure) -> bool:
    """Whether known truth or a reference says what classes are."""
    known = np.isneginf(structure.pattern.data.masks).any()
    return structure.spec.anchored or bool(known)


def _called_otherwise(tables: Floats) -> NDArray[np.bool_]:
    """Whether raters clearly call each class by another name, under every weighting: (class,)."""
    own = np.diagonal(tables, axis1=-2, axis2=-1)
    return np.asarray((tables.max(axis=-1) > CLEARLY * own).all(axis=0))


def _drifted(structure: Structure, values: Values) -> NDArray[np.bool_]:
    """Whether each state has a class that raters clearly call otherwise; no truth is known."""
    states = structure.prevalence.space.states
    found = np.zeros(len(states), bool)
    if _is_anchored(structure):
        return found
    for n, tables in enumerate(_tables(structure, values)):
        if tables is not None:
            for k in np.flatnonzero(_called_otherwise(tables)):
                found |= states[:, n] == k
    return found


CLEARLY_EXCHANGES = 0.1
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
        names = _exchanges_names(tables)
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
            "how much weight that one has; the truth of some items (`truth=`), or prior counts, "
            "hold names in their place."
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


def _exchanges_names(tables: Floats) -> Ints:
    """Say what raters mostly call each class, one name for each: (draw, class).

    Of two classes they have each other's names only if raters call either by the other's: that they
    miss many of one of them is nothing unusual.
    """
    count = tables.shape[-1]
    names = np.tile(np.arange(count), (len(tables), 1))
    otherwise = (tables.argmax(axis=-1) != np.arange(count)).sum(axis=-1) >= 2
    for draw in np.flatnonzero(otherwise.all(axis=1)):
        names[draw] = best_names(tables[draw], CLEARLY_EXCHANGES)
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

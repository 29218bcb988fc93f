"""Label switching: modes and draws whose classes do not have their names' meaning.

A class *is* what raters call it: unless truth is known, misnamed modes come last, and are searched
again with corrected names. Small data may also have draws with exchanged classes (Stephens 2000,
JRSS B 62, 795-809).
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from assay._util.errors import Note
from assay._util.typing import Bools, Floats, Ints
from assay.data.overlap import opposite_pairs
from assay.fits.latent_states import sample_states
from assay.likelihood.data import Data
from assay.modelling.structure import Structure

Values = Mapping[str, Floats]
"""Parameters at one point, ndarray (1, ...)."""
MIN_RATIO = 2.0
"""Least ratio of another answer to a class's own answer for a misnamed class."""
GAIN = 0.1
"""Least increase of the chances of right answers, summed over classes, for other names."""
CAMP = 0.25
"""Least such increase, per class, for a rater whose scale is reversed."""
CAMP_RATINGS = 0.25
"""Least share of ratings of such raters for which they may be right."""
LEFT_OPEN = 1e-3
"""Probability of the states that an almost known item does not have."""


def is_misnamed(structure: Structure, values: Values) -> bool:
    """Return whether raters clearly call a class by another's name. With known truth or a
    reference, only exchanges among three or more classes count.
    """
    exchanged = any((names != np.arange(len(names))).any() for names in _names(structure, values))
    return exchanged or bool(_drifted(structure, values).any())


def start_from_relabelled(structure: Structure, values: Values) -> Data | None:
    """Return data in which a misnamed point's likeliest states, renamed, are almost known.

    If no renaming is right, such cells are almost known not to have the misnamed class. None if
    this says nothing.
    """
    states = structure.prevalence.space.states
    renamed = _renamed(states, _names(structure, values))
    if (renamed != states).any():
        possible = _possible(states, renamed)
    else:
        drifted = _drifted(structure, values)
        possible = ~(drifted[:, None] & drifted[None])
    return _told(structure, values, possible)


def start_from_minority(structure: Structure, values: Values) -> Data | None:
    """Return data with the labels of the raters who are mostly wrong at a point: another mode may
    take a reversed scale for right. None if they have less than ``CAMP_RATINGS`` of the ratings, or
    some truth is known.
    """
    states = structure.prevalence.space.states
    if _is_anchored(structure):
        return None
    renamed = _renamed(states, _camp_names(structure, values))
    return _told(structure, values, _possible(states, renamed))


def start_from_rater(structure: Structure) -> Data | None:
    """Return data with one rater's answers almost known, if raters contradict each other: with two
    equal camps, climbs end where all items have one class.

    The rater has most ratings of those with most contradictions. None without clear ones, if no
    answer of the rater is a state, or if some truth is known.
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
    of_item = np.full(len(ratings.items), -1, np.int64)
    of_item[ratings.item[rows[possible.any(axis=1)]]] = which
    found = of_item[pattern.item_of]
    of_cell[pattern.item_cell[found >= 0]] = 1 + found[found >= 0]
    return _with_masks(pattern.data, np.vstack([np.ones_like(variants[:1]), variants]), of_cell)


def _camp_names(structure: Structure, values: Values) -> list[Ints]:
    """Return the names that mostly wrong raters give each class, by label."""
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
    """Return the increase of the chances of right answers, summed, by the best names."""
    return float(table[linear_sum_assignment(table, maximize=True)].sum() - np.trace(table))


def _renamed(states: NDArray[np.int16], names: Sequence[Ints]) -> NDArray[np.int16]:
    """Rename the classes of states, (state, label)."""
    renamed = states.copy()
    for n, other in enumerate(names):
        asked = states[:, n] >= 0
        renamed[asked, n] = other[states[asked, n]]
    return renamed


def _possible(states: NDArray[np.int16], renamed: NDArray[np.int16]) -> Bools:
    """Return which states each renamed state can be, (state, state).

    If rules forbid a renamed state, all states are possible.
    """
    same = (renamed[:, None] == states[None]).all(axis=2)
    return np.asarray(same | ~same.any(axis=1, keepdims=True))


def _told(structure: Structure, values: Values, possible: Bools) -> Data | None:
    """Return data in which each cell is almost known to be what its likeliest state can be."""
    count = len(possible)
    if np.array_equal(possible, np.eye(count, dtype=bool)):
        return None
    if possible.all() or not possible.any(axis=1).all():
        return None
    return _with_masks(structure.pattern.data, possible, _likeliest(structure, values))


def _with_masks(data: Data, possible: Bools, of_cell: Ints) -> Data:
    """Return data in which each cell is almost known to be in one of some states.

    ``possible`` is (variant, state), and ``of_cell`` the variant of each cell.
    """
    told = np.where(possible, 0.0, np.log(LEFT_OPEN))
    masks = (data.masks[:, None] + told[None]).reshape(-1, possible.shape[1])
    return data._replace(cell_mask=data.cell_mask * len(possible) + of_cell, masks=masks)


def _likeliest(structure: Structure, values: Values) -> Ints:
    """Return the likeliest state of each cell's items, (cell,)."""
    pattern = structure.pattern
    probability = sample_states(structure, values, np.random.default_rng(0)).probabilities
    by_cell = np.zeros((len(pattern.data.cell_mask), probability.shape[1]))
    np.add.at(by_cell, pattern.item_cell, probability[pattern.item_of])
    return by_cell.argmax(axis=1)


def _tables(structure: Structure, values: Values) -> Iterator[Floats | None]:
    """Yield each label's mean confusion on the easiest items, over raters and over ratings, (2,
    true class, reported class). A class's name must hold in both.
    """
    easiest = structure.difficulty.positions[0]
    mean = structure.mean_reliability(values, easiest)[:, 0]
    for n, label in enumerate(structure.ratings.task.labels):
        count = len(label.classes)
        tables = mean[:, n, :count, :count]
        yield tables if np.isfinite(tables).all() else None


def _names(structure: Structure, values: Values) -> list[Ints]:
    """Return what raters mostly call each class, by label, each name once: the assignment with
    clearly most right answers. Two classes need two misnamed ones and no known truth.
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
    """Return the names that make raters right most often, (class,).

    All weightings of ``tables`` (weighting, true class, reported class) must agree and gain more
    than ``gain`` right answers; else the present names.
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
    """Return whether known truth or a reference defines the classes."""
    known = np.isneginf(structure.pattern.data.masks).any()
    return structure.spec.anchored or bool(known)


def _called_otherwise(tables: Floats) -> Bools:
    """Return whether raters clearly call each class otherwise, under every weighting, (class,)."""
    own = np.diagonal(tables, axis1=-2, axis2=-1)
    return np.asarray((tables.max(axis=-1) > MIN_RATIO * own).all(axis=0))


def _drifted(structure: Structure, values: Values) -> Bools:
    """Return whether each state has a misnamed class; none if classes are anchored."""
    states = structure.prevalence.space.states
    found = np.zeros(len(states), bool)
    if _is_anchored(structure):
        return found
    for n, tables in enumerate(_tables(structure, values)):
        if tables is not None:
            for k in np.flatnonzero(_called_otherwise(tables)):
                found |= states[:, n] == k
    return found


MAX_DRAWS_CHECKED = 1000
"""Draws used."""
AT_ONCE = 20
SHARE = (0.02, 0.5)
"""Range of the share of draws with exchanged names for a warning.

Fewer do not change a mean; if it is most of them, the mode itself has other names.
"""


def exchange_warnings(structure: Structure, values: Mapping[str, Floats]) -> list[Note]:
    """Warn of labels whose classes are exchanged in some draws."""
    draws = len(next(iter(values.values())))
    some = {name: value[:: -(-draws // MAX_DRAWS_CHECKED)] for name, value in values.items()}
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
            f"Label switching: in {other.mean():.1%} of the draws, classes of {label.name} have "
            f"exchanged their names ({told}). Means and intervals average over both labellings. A "
            "longer run gives a better estimate of the share of these draws. To prevent label "
            "switching, give the truth of some items (`truth=`) or prior counts."
        )
        found.append(Note(text, code="label-switching", numbers={"share": other.mean()}))
    return found


def _mean_tables(structure: Structure, values: Mapping[str, Floats]) -> Iterator[Floats]:
    """Yield each label's mean confusions, (draw, weighting, true class, reported class)."""
    draws = np.arange(len(next(iter(values.values()))))
    blocks = [structure.mean_reliability(some).swapaxes(0, 1) for _, some in _take(values, draws)]
    tables = np.nan_to_num(np.concatenate(blocks))
    for n, label in enumerate(structure.ratings.task.labels):
        count = len(label.classes)
        yield tables[:, :, n, :count, :count]


def _exchanges_names(tables: Floats) -> Ints:
    """Return what raters mostly call each class, each name used once, (draw, class).

    Two classes are exchanged only if raters call both by the other's name, as they often miss one.
    """
    count = tables.shape[-1]
    names = np.tile(np.arange(count), (len(tables), 1))
    otherwise = (tables.argmax(axis=-1) != np.arange(count)).sum(axis=-1) >= 2
    for draw in np.flatnonzero(otherwise.all(axis=1)):
        names[draw] = best_names(tables[draw], GAIN)
    return names


def _are_other_readings(
    structure: Structure, values: Mapping[str, Floats], label: int, names: Ints
) -> Bools:
    """Return whether renamed classes bring raters closer to the other draws, (draw,). With two
    equal camps, other names fit mean confusions near chance by accident.
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
    """Yield blocks of draws, as all raters' tables in many draws need gigabytes."""
    for start in range(0, len(draws), AT_ONCE):
        here = draws[start : start + AT_ONCE]
        yield here, {name: value[here] for name, value in values.items()}

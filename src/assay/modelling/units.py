"""Units: whose confusion each rating uses, a rater's or a rater's in a session or on a system."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay.data.ratings import Ratings
from assay.modelling.families import Raters
from assay.modelling.spec import Recipe

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Units:
    """Whose confusion each rating uses, and whom, when and what each unit is about."""

    unit: Ints
    rater: Ints
    group: Ints
    session: Ints
    system: Ints


def find_units(
    ratings: Ratings,
    members: Ints,
    raters: Raters,
    recipe: Recipe,
    *,
    shared: bool,
) -> Units:
    """Find the units: a rater, or a rater in a session or on the items of one system.

    Raters who share a confusion are one unit for each group, which may differ in difficulty and
    perception.
    """
    place = np.full(len(ratings.raters), -1, np.int64)
    place[members] = np.arange(len(members))
    mine = place[ratings.rater]
    here = mine >= 0
    owner = np.where(here, raters.group[mine] if shared else mine, -1)
    owners = len(raters.groups) if shared else len(members)
    group = np.arange(owners) if shared else raters.group
    row = np.zeros(owners, np.int64) if shared else np.arange(owners)
    session = _sessions(ratings, here) if "drift" in recipe.layers else np.zeros_like(owner)
    system = _systems(ratings) if "system_bias" in recipe.layers else np.zeros_like(owner)
    sessions = len(ratings.sessions) if "drift" in recipe.layers else 1
    # The last system stands for items of several systems, or of none.
    systems = len(ratings.systems) + 1 if "system_bias" in recipe.layers else 1
    unit = np.where(here, (owner * sessions + session) * systems + system, -1)
    every = np.arange(owners * sessions * systems)
    of = every // (sessions * systems)
    judged = every % systems
    return Units(
        unit=unit,
        rater=row[of],
        group=group[of],
        session=every // systems % sessions,
        system=np.where(judged == systems - 1, -1, judged),
    )


def _sessions(ratings: Ratings, here: NDArray[np.bool_]) -> Ints:
    """Session of each rating, as a position."""
    codes = {name: n for n, name in enumerate(ratings.sessions)}
    session = np.array([codes.get(str(s), -1) for s in ratings.session], np.int64)
    unknown = int((session[here] < 0).sum())
    if unknown:
        raise ModelError(
            f"drift needs the session of every rating; {unknown} ratings have none. Read with "
            "session=, or leave the layer out",
            code="drift-sessions",
            numbers={"unknown": unknown},
        )
    if len(codes) < 2:
        raise ModelError(
            "drift needs ratings of at least two sessions; these are of "
            f"{', '.join(map(repr, codes)) or 'no session'} alone. Leave the layer out",
            code="drift-sessions",
            numbers={"sessions": len(codes)},
        )
    return session


def _systems(ratings: Ratings) -> Ints:
    """System of the item of each rating, as a position; the last stands for several or none."""
    names = ratings.systems
    if len(names) < 2:
        raise ModelError(
            "system_bias needs items of at least two systems; read with system=, or leave the "
            "layer out",
            code="too-few-systems",
        )
    system = np.full(len(ratings.items), -1, np.int64)
    for n, name in enumerate(names):
        items = ratings.panels["item"].to_numpy()[(ratings.panels["system"] == name).to_numpy()]
        system[items] = np.where(system[items] < 0, n, len(names))
    return np.where(system < 0, len(names), system)[ratings.item]

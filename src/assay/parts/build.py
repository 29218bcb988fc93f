"""From ratings and a spec to parts: who is modelled how."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.confusion import confusion_layout
from assay.errors import ModelError
from assay.families import Raters, WholeFamily, family_class
from assay.families.scored import Scored
from assay.layers import Drift, SystemBias
from assay.parts.answers import AnswerPart
from assay.parts.part import Part
from assay.parts.priors import PartPriors
from assay.parts.repeats import collect_repeats
from assay.parts.scores import ScorePart, score_products
from assay.ratings import Ratings
from assay.reading.ids import sorted_rows
from assay.responses import build_responses
from assay.score_bins import score_codes, score_layout
from assay.spec import Recipe, Spec
from assay.states import MISSING, state_space

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Units:
    """Whose confusion each rating uses, and whom, when and what each unit is about."""

    unit: Ints
    rater: Ints
    group: Ints
    session: Ints
    system: Ints


def build_parts(
    ratings: Ratings,
    spec: Spec,
    by_group: Mapping[str, Recipe],
    priors: Mapping[str, PartPriors],
) -> tuple[Part, ...]:
    """Build the part of each set of rater groups that are modelled together.

    Parameters
    ----------
    by_group : mapping of str to Recipe
        Of each rater group. One recipe for all makes one part; else each group is a part.
    priors : mapping of str to PartPriors
        By the name of the part.
    """
    if isinstance(spec.raters, str):
        return (_build(ratings, spec, "", tuple(by_group), by_group, priors[""]),)
    return tuple(_build(ratings, spec, name, (name,), by_group, priors[name]) for name in by_group)


def _build(
    ratings: Ratings,
    spec: Spec,
    name: str,
    groups: tuple[str, ...],
    by_group: Mapping[str, Recipe],
    priors: PartPriors,
) -> Part:
    recipe = by_group[groups[0]]
    group = ratings.raters["group"].astype(str).to_numpy(object)
    members = np.flatnonzero(np.isin(group, groups))
    raters = Raters(
        names=tuple(ratings.raters.index[members]),
        groups=groups,
        group=np.array([groups.index(g) for g in group[members]], np.int64),
    )
    scored = recipe.family == "scored"
    shared = getattr(family_class(recipe.family), "shared", False)
    units = _units(ratings, members, raters, recipe, shared=shared)
    layout = confusion_layout(ratings.task)
    if scored:
        codes, row, unique = _score_rows(ratings, units.unit)
        own: dict[str, Any] = {
            "family": Scored(
                layout=score_layout(ratings.task), raters=raters, priors=priors.family
            ),
            "space": state_space(ratings.task),
            "products": score_products(
                score_layout(ratings.task),
                state_space(ratings.task),
                unique[:, 0],
                unique[:, 1:],
                len(units.rater),
            ),
        }
        kind = _answered_kind(codes)
    else:
        family = family_class(recipe.family)(
            layout=layout, raters=raters, priors=priors.family, owner_priors=priors.owners
        )
        responses = build_responses(
            ratings,
            layout,
            units.unit,
            len(units.rater),
            whole=isinstance(family, WholeFamily),
            unasked=family.unasked,
        )
        own = {"family": family, "responses": responses}
        row, kind = responses.row, _answered_kind(ratings.answers)
    drift = None
    if "drift" in recipe.layers:
        drift = Drift(
            layout=layout,
            sessions=ratings.sessions,
            raters=raters,
            shared=shared,
            unit_rater=units.rater,
            unit_session=units.session,
            priors=priors.layers,
        )
    bias = None
    if "system_bias" in recipe.layers:
        if scored:
            raise ModelError(
                "system_bias stands on families of answers by class; scores have no bias by system"
            )
        bias = SystemBias(
            layout=layout,
            systems=tuple(ratings.systems),
            raters=raters,
            shared=shared,
            unit_rater=units.rater,
            unit_system=units.system,
            priors=priors.layers,
        )
    # Raters who share a confusion are one unit, but one person's ratings alone make an urn.
    voice = np.where(units.unit >= 0, units.unit * len(ratings.raters) + ratings.rater, -1)
    together = spec.replicates == "together"
    repeats = collect_repeats(row, voice, ratings.item, kind, together=together)
    return (ScorePart if scored else AnswerPart)(
        name=name,
        members=members,
        raters=raters,
        labels=ratings.task.label_names,
        unit=units.unit,
        unit_rater=units.rater,
        unit_group=units.group,
        drift=drift,
        bias=bias,
        loading=priors.layers.get("difficulty_loading"),
        repeats=repeats,
        consistency=priors.consistency if repeats.urns else None,
        shared=shared,
        **own,
    )


def _units(
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
    sessions = max(len(ratings.sessions), 1) if "drift" in recipe.layers else 1
    # The last system stands for items of several systems, or of none.
    systems = len(ratings.systems) + 1 if "system_bias" in recipe.layers else 1
    unit = np.where(here, (owner * sessions + session) * systems + system, -1)
    every = np.arange(owners * sessions * systems)
    of = every // (sessions * systems)
    place = every % systems
    return Units(
        unit=unit,
        rater=row[of],
        group=group[of],
        session=every // systems % sessions,
        system=np.where(place == systems - 1, -1, place),
    )


def _sessions(ratings: Ratings, here: NDArray[np.bool_]) -> Ints:
    """Session of each rating, as a position."""
    codes = {name: n for n, name in enumerate(ratings.sessions)}
    session = np.array([codes.get(str(s), -1) for s in ratings.session], np.int64)
    unknown = int((session[here] < 0).sum())
    if unknown:
        raise ModelError(
            f"drift needs the session of every rating; {unknown} ratings have none. Read with "
            "session=, or leave the layer out"
        )
    return session


def _systems(ratings: Ratings) -> Ints:
    """System of the item of each rating, as a position; the last stands for several or none."""
    names = ratings.systems
    if len(names) < 2:
        raise ModelError(
            "system_bias needs items of at least two systems; read with system=, or leave the "
            "layer out"
        )
    system = np.full(len(ratings.items), -1, np.int64)
    for n, name in enumerate(names):
        items = ratings.panels["item"].to_numpy()[(ratings.panels["system"] == name).to_numpy()]
        system[items] = np.where(system[items] < 0, n, len(names))
    return np.where(system < 0, len(names), system)[ratings.item]


def _score_rows(ratings: Ratings, unit: Ints) -> tuple[Ints, Ints, Ints]:
    """Codes of the scores, the distinct row of each rating, and what stands in each row."""
    codes = score_codes(ratings, score_layout(ratings.task))
    counts = (codes != MISSING).any(axis=1) & (unit >= 0)
    keys = np.column_stack([unit, codes])[counts]
    unique, where = np.unique(keys, axis=0, return_inverse=True)
    row = np.full(len(codes), -1, np.int64)
    row[counts] = where.ravel()
    return codes, row, unique.astype(np.int64)


def _answered_kind(answers: NDArray[np.integer]) -> Ints:
    """Which labels a rating answers, as a number."""
    return sorted_rows(*(answers != MISSING).T)[1]

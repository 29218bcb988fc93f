"""Parts of a model: the raters of each recipe, with their family and layers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay._util.grouping import sorted_rows
from assay._util.text import some
from assay._util.typing import Bools, Floats, Ints
from assay.data.ratings import Ratings
from assay.data.score_bins import score_codes, score_layout
from assay.data.states import MISSING, state_space
from assay.modelling.confusion import confusion_layout
from assay.modelling.consensus import crowd_shares, told_by_raters
from assay.modelling.copying import split_copies
from assay.modelling.families import Raters, WholeFamily, family_class
from assay.modelling.families.scored import Scored
from assay.modelling.layers import (
    Drift,
    Halo,
    Lapses,
    Loading,
    Misreading,
    SystemBias,
    difficulty_of,
)
from assay.modelling.layers.difficulty import BY_CLASS, BY_RATER
from assay.modelling.prior_names import PartPriors
from assay.modelling.rater_model import CategoricalRaterModel, RaterModel, ScorePart, score_products
from assay.modelling.replicates import Consistency, collect_repeats
from assay.modelling.responses import build_responses
from assay.modelling.spec import Recipe, Spec


@dataclass(frozen=True, kw_only=True, eq=False)
class Units:
    """The unit (owner of a confusion) of each rating.

    For each unit: rater, group, session and system (-1: several or none).
    """

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
    """Return the units: a rater, or a rater in a session or with one system's items; a shared
    confusion has one unit per group.
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
    # The last system is for items of several systems, or of none.
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


def _sessions(ratings: Ratings, here: Bools) -> Ints:
    """Return the position of each rating's session."""
    codes = {name: n for n, name in enumerate(ratings.sessions)}
    session = np.array([codes.get(str(s), -1) for s in ratings.session], np.int64)
    unknown = int((session[here] < 0).sum())
    if unknown:
        raise ModelError(
            f"drift needs the session of every rating, but {unknown} ratings have no session. Read "
            "with `session=`, or leave the layer out",
            code="drift-sessions",
            numbers={"unknown": unknown},
        )
    if len(codes) < 2:
        raise ModelError(
            "drift needs ratings of at least two sessions, but all of these are of "
            f"{', '.join(map(repr, codes)) or 'no session'}. Leave the layer out",
            code="drift-sessions",
            numbers={"sessions": len(codes)},
        )
    return session


def _systems(ratings: Ratings) -> Ints:
    """Return the position of the system of each rating's item; the last is for several or none."""
    names = ratings.systems
    if len(names) < 2:
        raise ModelError(
            "system_bias needs items of at least two systems. Read with `system=`, or leave the "
            "layer out",
            code="too-few-systems",
        )
    system = np.full(len(ratings.items), -1, np.int64)
    for n, name in enumerate(names):
        items = ratings.panels["item"].to_numpy()[(ratings.panels["system"] == name).to_numpy()]
        system[items] = np.where(system[items] < 0, n, len(names))
    return np.where(system < 0, len(names), system)[ratings.item]


UNFIT = {
    ("lapses", "mace"): "its spam models the same answers as lapses",
    ("lapses", "scored"): "it models scores, but lapses are answers by class",
    ("lapses", "joint"): (
        "its answers to an item depend on each other, but those of a lapse are independent"
    ),
    ("misreading", "mace"): "its honest ratings are right in all clusters",
    ("misreading", "scored"): "it models scores of single items",
    ("misreading", "joint"): "it models whole answers of single items",
    ("halo", "mace"): "its honest ratings are right on all labels",
    ("halo", "scored"): "it models scores of single labels",
    ("halo", "joint"): "it models the same dependence",
}
"""Layers of whole ratings that do not suit a family, and the reasons."""


def build_parts(
    ratings: Ratings,
    spec: Spec,
    by_group: Mapping[str, Recipe],
    priors: Mapping[str, PartPriors],
    *,
    lean: bool = True,
) -> tuple[RaterModel, ...]:
    """Build the part of each set of rater groups with one family; one recipe in ``spec`` makes one
    part.

    ``priors`` are by part; ``lean`` says whether raters may lean together.
    """
    crowd = crowd_shares(ratings, spec.reference, by_group) if lean else None
    whole = {"": tuple(by_group)} if isinstance(spec.raters, str) else {g: (g,) for g in by_group}
    return tuple(
        _build(ratings, spec, name, groups, by_group, priors[name], crowd)
        for name, groups in whole.items()
    )


class _RowsOfPart(NamedTuple):
    """A part's view of its ratings.

    own : fields that only this kind of part has
    row : row of the likelihood of each rating, -1 if it has no information for this part
    kind : number of the set of labels that each rating answers
    """

    own: dict[str, Any]
    row: Ints
    kind: Ints


def _build(
    ratings: Ratings,
    spec: Spec,
    name: str,
    groups: tuple[str, ...],
    by_group: Mapping[str, Recipe],
    priors: PartPriors,
    crowd: Floats | None,
) -> RaterModel:
    """Build a part; ``crowd`` is each rater's share in the crowd whose consensus is the truth."""
    recipe = by_group[groups[0]]
    members, raters = _members(ratings, groups)
    if crowd is not None:
        alone = told_by_raters(ratings, spec.reference, crowd)
        raters = replace(raters, crowd=crowd[members], alone=alone)
    _refuse_unfit(recipe)
    scored = recipe.family == "scored"
    if scored and (copiers := [name for name in raters.names if name in spec.copies]):
        raise ModelError(
            f"`copies=`: {some(copiers)} cannot copy, since scored models scores and not answers. "
            "Leave them out",
            code="copies-argument",
        )
    shared = getattr(family_class(recipe.family), "shared", False)
    units = find_units(ratings, members, raters, recipe, shared=shared)
    rows = (_rows_of_scores if scored else _rows_of_answers)(ratings, recipe, raters, priors, units)
    # Raters with a shared confusion are one unit, but an urn has one rater's ratings.
    voice = np.where(units.unit >= 0, units.unit * len(ratings.raters) + ratings.rater, -1)
    together = spec.replicates == "together"
    place = np.searchsorted(members, ratings.rater)
    repeats = collect_repeats(rows.row, voice, ratings.item, rows.kind, place, together=together)
    common = {
        "layout": confusion_layout(ratings.task),
        "raters": raters.as_one() if shared else raters,
        "unit_rater": units.rater,
        "priors": priors.layers,
    }
    return (ScorePart if scored else CategoricalRaterModel)(
        name=name,
        members=members,
        raters=raters,
        labels=ratings.task.label_names,
        unit=units.unit,
        unit_rater=units.rater,
        unit_group=units.group,
        drift=_drift(ratings, recipe, units, common),
        bias=_bias(ratings, recipe, units, common),
        loading=_loading(recipe, raters, units, common, shared=shared),
        misreading=_misreading(ratings, recipe, common),
        repeats=repeats,
        consistency=Consistency(raters=raters, priors=priors.whole_ratings)
        if repeats.urns
        else None,
        copying=split_copies(ratings, spec.copies, repeats.row, rows.kind, members),
        copied=priors.whole_ratings["copied"],
        shared=shared,
        **rows.own,
    )


def _members(ratings: Ratings, groups: tuple[str, ...]) -> tuple[Ints, Raters]:
    """Return the positions of the raters of some groups, with their names and groups."""
    group = ratings.raters["group"].astype(str).to_numpy(object)
    members = np.flatnonzero(np.isin(group, groups))
    raters = Raters(
        names=tuple(ratings.raters.index[members]),
        groups=groups,
        group=np.array([groups.index(g) for g in group[members]], np.int64),
    )
    return members, raters


def _rows_of_answers(
    ratings: Ratings, recipe: Recipe, raters: Raters, priors: PartPriors, units: Units
) -> _RowsOfPart:
    layout = confusion_layout(ratings.task)
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
    layers = {
        name: layer(
            layout=layout,
            raters=raters.as_one() if family.shared else raters,
            unit_rater=units.rater,
            priors=priors.layers,
        )
        for name, layer in (("halo", Halo), ("lapses", Lapses))
        if name in recipe.layers
    }
    own = {"family": family, "responses": responses, **layers}
    return _RowsOfPart(own=own, row=responses.row, kind=_answered_kind(ratings.answers))


def _rows_of_scores(
    ratings: Ratings, recipe: Recipe, raters: Raters, priors: PartPriors, units: Units
) -> _RowsOfPart:
    if "system_bias" in recipe.layers:
        raise ModelError(
            "system_bias works with families of answers by class, not with scores",
            code="layer-unfit",
        )
    layout, space = score_layout(ratings.task), state_space(ratings.task)
    codes, row, unique = _score_rows(ratings, units.unit)
    _refuse_unordered(ratings, unique[:, 1:])
    own = {
        "family": Scored(layout=layout, raters=raters, priors=priors.family),
        "space": space,
        "products": score_products(layout, space, unique[:, 0], unique[:, 1:], len(units.rater)),
    }
    return _RowsOfPart(own=own, row=row, kind=_answered_kind(codes))


def _drift(
    ratings: Ratings, recipe: Recipe, units: Units, common: Mapping[str, Any]
) -> Drift | None:
    if "drift" not in recipe.layers:
        return None
    return Drift(sessions=ratings.sessions, unit_session=units.session, **common)


def _bias(
    ratings: Ratings, recipe: Recipe, units: Units, common: Mapping[str, Any]
) -> SystemBias | None:
    if "system_bias" not in recipe.layers:
        return None
    return SystemBias(systems=tuple(ratings.systems), unit_system=units.system, **common)


def _misreading(ratings: Ratings, recipe: Recipe, common: Mapping[str, Any]) -> Misreading | None:
    if "misreading" not in recipe.layers:
        return None
    if not ratings.items["cluster"].duplicated().any():
        raise ModelError(
            "misreading needs clusters of several items, but each item is a cluster of its own. "
            "Name the cluster of each item with `cluster=`, or leave the layer out",
            code="layer-unfit",
        )
    return Misreading(**common)


def _loading(
    recipe: Recipe, raters: Raters, units: Units, common: Mapping[str, Any], *, shared: bool
) -> Loading | None:
    difficulty = difficulty_of(set(recipe.layers), common["priors"])
    if difficulty.kind == "none":
        return None
    own = [name for name in (BY_RATER, BY_CLASS) if name in recipe.layers]
    if own and shared:
        raise ModelError(
            f"{own[0]} cannot be combined with {recipe.family}, in which all raters are alike. Use "
            "item_difficulty_continuous, or a family in which raters differ",
            code="layer-unfit",
        )
    return Loading(
        difficulty=difficulty,
        by_rater=bool(own),
        by_class=BY_CLASS in own,
        unit_group=units.group,
        **{**common, "raters": raters},
    )


def _refuse_unfit(recipe: Recipe) -> None:
    for layer in recipe.layers:
        if why := UNFIT.get((layer, recipe.family)):
            raise ModelError(
                f"{layer} cannot be combined with {recipe.family}: {why}. Leave the layer out",
                code="layer-unfit",
            )


def _score_rows(ratings: Ratings, unit: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the codes of scores, the row of each rating, and the distinct rows (unit, codes)."""
    codes = score_codes(ratings, score_layout(ratings.task))
    counts = (codes != MISSING).any(axis=1) & (unit >= 0)
    keys = np.column_stack([unit, codes])[counts]
    unique, where = np.unique(keys, axis=0, return_inverse=True)
    row = np.full(len(codes), -1, np.int64)
    row[counts] = where.ravel()
    return codes, row, unique.astype(np.int64)


def _refuse_unordered(ratings: Ratings, codes: Ints) -> None:
    """Raise ModelError for answers of raters with scores on a label with unordered classes."""
    for label, said in zip(ratings.task.labels, codes.T, strict=True):
        if len(label.classes) > 2 and not label.ordered and (said != MISSING).any():
            raise ModelError(
                "scored needs binary labels or ordered classes, but its raters also answer label "
                f"{label.name} with {len(label.classes)} classes without order. Write `ordered = "
                "true` under the label in the task file. Or fit these raters with "
                "`raters='hierarchical'`, which uses their answers only",
                code="family-unfit",
                numbers={"classes": len(label.classes)},
            )


def _answered_kind(answers: NDArray[np.integer]) -> Ints:
    """Return a number for the set of labels that each rating answers."""
    return sorted_rows(*(answers != MISSING).T)[1]

"""A model without its unknowns: its parameters, and the way from these to :class:`Tables`.

The same formulas give symbols for PyMC (:mod:`assay.modelling.pymc_model`) and numbers.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import divided
from assay._util.errors import ModelError
from assay._util.grouping import sorted_rows
from assay._util.text import some
from assay._util.typing import Floats, Ints
from assay.data.gold import truth_masks
from assay.data.ratings import Ratings, require_ratings
from assay.data.states import MISSING, state_space
from assay.data.task_files import catalogue_entry
from assay.likelihood.collapse import Pattern, collapse
from assay.likelihood.marginal import value_and_gradient
from assay.modelling.build import build_parts
from assay.modelling.consensus import JointPrior, joint_priors, pool_leans
from assay.modelling.copying import require_raters
from assay.modelling.families import default_priors
from assay.modelling.families.pool_lean import PoolLean
from assay.modelling.layers import Difficulty, HardTruth, Perception, difficulty_of
from assay.modelling.layers.difficulty import DEGREES, KINDS
from assay.modelling.layers.difficulty_nodes import node_count
from assay.modelling.layers.hard_truth import MAX_STATES
from assay.modelling.layers.reference import check_reference
from assay.modelling.parameters import Parameter
from assay.modelling.prevalence import Covariates, Prevalence, build_design, prevalence_class
from assay.modelling.prevalence import default_priors as prevalence_priors
from assay.modelling.prior_names import (
    PartPriors,
    part_priors,
    recipes_of,
    refuse_unknown,
    with_perception,
)
from assay.modelling.priors import Prior, Priors, named_priors, override
from assay.modelling.rater_model import RaterModel
from assay.modelling.reading_cases import find_cases
from assay.modelling.readings import NO_READINGS, Readings
from assay.modelling.spec import Recipe, Spec


class Tables(NamedTuple):
    """Tables of the likelihood, by parameters.

    prevalence : (..., context, node, state)
    response : log probabilities of rows (..., difficulty, row, state)
    difficulty : log probabilities of difficulty classes (..., context or 1, difficulty)
    layer : probabilities of misperceiving by difficulty and state, then of the perceived state
        (..., kind, difficulty + look, state)
    hard_truth : P(a hard item's state | its state if easy) (..., hard class, state, state); empty
        if hard items have the same truth
    mixing : P(a panel's node | its cluster's) (..., node, node); empty without panels
    reading : log probabilities of readings of a cluster (..., kind); empty if raters misread none
    """

    prevalence: Any
    response: Any
    difficulty: Any
    layer: Any
    hard_truth: Any
    mixing: Any
    reading: Any

    def by_state(self) -> "Tables":
        """Return the tables for compiled functions, with prevalence (context, state, node)."""
        return self._replace(prevalence=self.prevalence.swapaxes(-1, -2))


TABLE_AXES = Tables(
    prevalence=3, response=3, difficulty=2, layer=3, hard_truth=3, mixing=2, reading=1
)
"""Number of axes of each table, without draws."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Structure:
    """A model without its unknowns: parts, data, and the way from parameters to tables."""

    spec: Spec
    ratings: Ratings
    prevalence: Prevalence
    parts: tuple[RaterModel, ...]
    difficulty: Difficulty
    hard_truth: HardTruth
    perception: Perception
    readings: Readings
    pattern: Pattern

    def parameters(self) -> list[Parameter]:
        """Return all unknowns of the model."""
        return [
            *self.prevalence.parameters(),
            *(p for part in self.parts for p in part.parameters()),
            *self.difficulty.parameters(),
            *self.perception.parameters(),
        ]

    def log_joint_priors(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the log density of priors of several parameters, (..., term); None without any."""
        found = [prior.log_density(values, xp) for prior in self.joint_priors]
        return xp.concatenate(found, axis=-1) if found else None

    def draw(self, rng: np.random.Generator) -> dict[str, Floats]:
        """Draw all unknowns once from their priors, by name."""
        found = {p.name: p.draw(rng) for p in self._unknowns}
        for prior in self.joint_priors:
            found |= prior.redraw(found, rng)
        return found

    @cached_property
    def _unknowns(self) -> list[Parameter]:
        """The unknowns, once for many draws."""
        return self.parameters()

    @cached_property
    def joint_priors(self) -> list[JointPrior]:
        """Priors of several parameters together."""
        return joint_priors(self.parts)

    def with_pool_lean(
        self, values: Mapping[str, Floats], lean: Floats | None
    ) -> Mapping[str, Floats]:
        """Return the parameters with which labels are drawn, given leans (draw, lean).

        See :class:`assay.modelling.families.pool_lean.PoolLean`.
        """
        if lean is None:
            return values
        found, first = dict(values), 0
        for pool in self.pools:
            found |= pool.moved(found, lean[:, first : first + len(pool.labels)])
            first += len(pool.labels)
        return found

    @cached_property
    def rows_of_ratings(self) -> Ints:
        """Return the row of each rating in the response table, without readings; -1 without one."""
        return _number_rows(self.ratings, self.parts, {})[0]

    @cached_property
    def pools(self) -> list[PoolLean]:
        """How the raters may lean from their pool."""
        return pool_leans(self.parts)

    def response_table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return log probabilities of rows, (..., difficulty, row, state)."""
        by_part = [part.table(values, self.difficulty, xp) for part in self.parts]
        by_class = [
            rows[0] if len(rows) == 1 else xp.concatenate(_alike(rows, xp), axis=-2)
            for rows in zip(*by_part, strict=True)
        ]
        return xp.stack(_alike(by_class, xp), axis=-3)

    def tables(self, values: Mapping[str, Any], xp: Any) -> Tables:
        """Return the likelihood's tables, for parameters with any leading axes of draws."""
        prevalence = self.prevalence.table(values, xp)
        return Tables(
            prevalence=prevalence,
            response=self.response_table(values, xp),
            difficulty=self.difficulty.log_weight(values, xp),
            layer=self.perception.table(values, prevalence, xp),
            hard_truth=self.hard_truth_table(values, xp),
            mixing=self.prevalence.mixing(values, xp),
            reading=self.readings.table(values, xp),
        )

    def derived(self, values: Mapping[str, Any], xp: Any) -> dict[str, tuple[tuple[str, ...], Any]]:
        """Return dims and values of what a fit has beside the parameters: the prevalence, and the
        share of clusters that raters misread.
        """
        dims = (*(("system",) if self.prevalence.design.systems else ()), "state")
        marginal = self.prevalence.marginal(self.state_chances(values, xp), xp)
        found: dict[str, Any] = {"prevalence": (dims, marginal)}
        for part in self.parts:
            if part.misreading is not None:
                groups = np.unique(self.readings.group[part.members])
                share = self.readings.shares_of_groups(values, xp)[..., groups]
                group = part.prefix + part.misreading.dims[0]
                found[f"{part.prefix}misreading_share"] = ((group,), share)
        return found

    def hard_truth_table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the probabilities of a hard item's states given its state if easy."""
        rates = [part.loading.by_label(part.own(values), xp) for part in self.parts if part.loading]
        return self.hard_truth.table(rates, xp)

    def hard_chances(self, values: Mapping[str, Any], prevalence: Any, xp: Any) -> Any:
        """Return the state probabilities of hard items, (..., hard class, context, node, state)."""
        table = self.hard_truth_table(values, xp)
        return xp.matmul(prevalence[..., None, :, :, :], table[..., :, None, :, :])

    def state_chances(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the state probabilities of all items, (..., context, node, state).

        Those of easy items are the prevalence.
        """
        prevalence = self.prevalence.table(values, xp)
        if not self.hard_truth.applies:
            return prevalence
        share = self.difficulty.hard_shares(values, xp)[..., None, None]
        # The hard classes are summed before the nodes join: there are more nodes than states.
        moves = share * self.hard_truth_table(values, xp)[..., None, :, :, :]
        easy = 1.0 - share.sum(axis=-3)
        return prevalence * easy + xp.matmul(prevalence, moves.sum(axis=-3))

    def with_evidence(self, kind: Ints, log_weight: Floats) -> "Structure":
        """Return the model with more evidence: ``kind`` (item,) is what was seen of each item,
        ``log_weight`` (kind, state) its log probability.
        """
        layered = self.perception.groups
        evidence = kind, log_weight
        _, pattern = _pattern(self.ratings, self.prevalence, self.parts, layered, evidence)
        return replace(self, pattern=pattern)

    def without_gold(self) -> "Structure":
        """Return the model without known truth; audits stay."""
        ratings = self.ratings
        unknown = replace(ratings, truth=np.full_like(ratings.truth, MISSING))
        _, pattern = _pattern(unknown, self.prevalence, self.parts, self.perception.groups)
        return replace(self, ratings=unknown, pattern=pattern)

    def reliability(self, values: Mapping[str, Floats], position: float = 0.0) -> Floats:
        """Return P(reported class | true class), (draw, unit, label, true, reported class)."""
        by_part = [part.reliability(values, position) for part in self.parts]
        return np.concatenate(by_part, axis=1)

    def mean_reliability(
        self,
        values: Mapping[str, Floats],
        position: float = 0.0,
        ratings: NDArray[np.integer] | None = None,
    ) -> Floats:
        """Return confusions averaged over raters, and over ratings, (2, draw, label, true,
        reported).

        Units without ``ratings`` (by default those of these data) are left out; NaN without any
        unit.
        """
        by_unit = self.reliability(values, position)
        if ratings is None:
            ratings = np.concatenate([part.n_ratings for part in self.parts])
        weights = np.stack([ratings > 0, ratings]).astype(float)
        told = np.isfinite(by_unit)
        total = np.einsum("wu,du...->wd...", weights, np.where(told, by_unit, 0.0))
        return divided(total, np.einsum("wu,du...->wd...", weights, told.astype(float)))

    def log_likelihood(self, values: Mapping[str, Any]) -> float:
        """Return the marginal log-likelihood at one point."""
        tables = [np.ascontiguousarray(table) for table in self.tables(values, np).by_state()]
        data: Any = (*tables, self.prevalence.log_weight, self.pattern.data)
        return float(value_and_gradient(*data)[0])


def _alike(tables: Any, xp: Any) -> list[Any]:
    """Broadcast tables to the same leading axes of draws, which only NumPy arrays have."""
    if xp is not np:
        return list(tables)
    lead = np.broadcast_shapes(*(t.shape[:-2] for t in tables))
    return [np.broadcast_to(t, (*lead, *t.shape[-2:])) for t in tables]


def build_structure(
    ratings: Ratings,
    spec: Spec,
    covariates: Covariates | None = None,
    *,
    by_panel: bool = True,
    hard_by_system: bool = True,
    earlier: bool = False,
    nodes: int | None = None,
) -> Structure:
    """Build a model.

    covariates : columns of the formula from an earlier fit; None evaluates the formula
    by_panel, hard_by_system : whether systems have effects in clusters, and own shares of hard
        items
    earlier : the model of earlier versions: one degree of hard items, no prior of the lean
    nodes : of the quadrature of continuous difficulty; None: by the number of answers
    """
    require_ratings("a model", ratings)
    if not len(ratings.items):
        raise ModelError("there are no items, but a model needs at least one", code="no-items")
    space = state_space(ratings.task)
    by_group = recipes_of(ratings, spec)
    layered = with_perception(ratings, spec, by_group)
    refuse_unknown(ratings, spec)
    design = build_design(ratings, spec.formula, covariates, by_panel=by_panel)
    prevalence = prevalence_class(spec.prevalence)(
        task=ratings.task,
        space=space,
        design=design,
        priors=override(prevalence_priors(spec.prevalence), spec.priors, owner=spec.prevalence),
    )
    if spec.formula is not None:
        prevalence.check_size(spec.formula)
    priors = _priors_of_parts(ratings, spec, by_group)
    parts = build_parts(ratings, spec, by_group, priors, lean=not earlier)
    layers = {name for recipe in by_group.values() for name in recipe.layers}
    troubled = tuple(name for name in layered if set(by_group[name].layers) & set(KINDS))
    global_priors = {k: v for p in priors.values() for k, v in p.layers.items()}
    readings, pattern = _pattern(ratings, prevalence, parts, layered)
    several = not layered and len(space.states) <= MAX_STATES
    difficulty = difficulty_of(
        layers,
        global_priors,
        ratings.task.label_names if several else (),
        design.effect("system") if hard_by_system else None,
        _nodes(ratings) if nodes is None else nodes,
        1 if earlier else DEGREES,
    )
    return Structure(
        spec=spec,
        ratings=ratings,
        prevalence=prevalence,
        parts=tuple(replace(part, readings=readings) for part in parts),
        difficulty=difficulty,
        hard_truth=HardTruth(
            space=space,
            hard=difficulty.hard_labels(len(ratings.task.labels)),
            continuous=difficulty.kind == "continuous",
            wanted=difficulty.kind != "none" and not layered,
        ),
        perception=Perception(
            groups=layered,
            troubled=troubled,
            difficulty=difficulty,
            prevalence=prevalence,
            priors=override(default_priors("perception"), spec.priors, owner="perception"),
        ),
        readings=readings,
        pattern=pattern,
    )


USUAL = 0.99
"""Quantile of the items' numbers of answers that determines the nodes of difficulty."""


def _nodes(ratings: Ratings) -> int:
    """Return the number of quadrature nodes of continuous difficulty."""
    answers = np.bincount(ratings.item, (ratings.answers >= 0).sum(axis=1), minlength=1)
    most = np.quantile(answers, USUAL, method="higher")
    longer = any(len(label.classes) > 2 for label in ratings.task.labels)
    return node_count(int(most), longer=longer)


def _priors_of_parts(
    ratings: Ratings, spec: Spec, by_group: Mapping[str, Recipe]
) -> dict[str, PartPriors]:
    group = ratings.raters["group"].astype(str)
    if isinstance(spec.raters, str):
        owners = (*by_group, *(str(name) for name in ratings.raters.index))
        return {"": part_priors("", next(iter(by_group.values())), spec.priors, owners)}
    return {
        name: part_priors(
            name, recipe, spec.priors, tuple(str(r) for r in ratings.raters.index[group == name])
        )
        for name, recipe in by_group.items()
    }


def _pattern(
    ratings: Ratings,
    prevalence: Prevalence,
    parts: tuple[RaterModel, ...],
    layered: tuple[str, ...],
    evidence: tuple[Ints, Floats] | None = None,
) -> tuple[Readings, Pattern]:
    """Return the readings of clusters, and the pattern of items with the same rows."""
    row, layer_of_row = _number_rows(ratings, parts, {name: n for n, name in enumerate(layered)})
    mask, masks = truth_masks(ratings, prevalence.space.states)
    if evidence is not None:
        kind, log_weight = evidence
        pairs, mask = sorted_rows(mask, kind)
        masks = masks[pairs[:, 0]] + log_weight[pairs[:, 1]]
    rated = row >= 0
    # Popped from a list, so that ``collapse`` can free these large arrays.
    handed = [row[rated], ratings.item[rated]]
    rating = np.flatnonzero(rated) if any(part.misreading for part in parts) else None
    del row, rated
    design, readings, cases = prevalence.design, NO_READINGS, None
    if rating is not None:
        item, row = handed.pop(), handed.pop()
        readings, expanded = find_cases(ratings, parts, rating, item, row)
        cases, handed = expanded.cases, [expanded.row, expanded.item_of_row]
    found = collapse(
        item_of_row=handed.pop(),
        row=handed.pop(),
        context=design.item_context,
        mask=mask,
        masks=masks,
        cluster=design.cluster if prevalence.has_clusters else None,
        panel=design.panel if prevalence.has_panels else None,
        layer_of_row=layer_of_row,
        contexts=design.contexts,
        cases=cases,
    )
    return readings, found


def _number_rows(
    ratings: Ratings, parts: tuple[RaterModel, ...], layer: Mapping[str, int]
) -> tuple[Ints, Ints]:
    """Return each rating's row among all parts' rows, and each row's perception layer."""
    row = np.full(len(ratings.answers), -1, np.int64)
    layers, offset = [], 0
    for part in parts:
        here = part.copying.row >= 0
        row[here] = part.copying.row[here] + offset
        of_row = np.full(part.copying.count, -1, np.int64)  # of one direction
        of_group = np.array([layer.get(name, -1) for name in part.raters.groups], np.int64)
        of_row[part.copying.row[here]] = of_group[part.unit_group[part.unit[here]]]
        layers += [of_row] * len(part.directions)
        offset += part.copying.count * len(part.directions)
    return row, np.concatenate(layers)


LISTED_NAMES = 20
"""Largest number of names that a message lists."""
REPEATS = "no rater rated an item twice, or `replicates='independent'`"
COPIES = "no rater is said to copy another (`copies=`)"


def used_priors(structure: Structure) -> dict[str, Prior]:
    """Return the priors of a model's unknowns and labels, by the names that replace them."""
    read = [block.prior for block in structure.parameters() if 0 not in block.shape]
    read += [pool.spread for pool in structure.pools]
    return {key: prior for every in read for key, prior in every.by_key().items()}


def idle_priors(structure: Structure, names: Collection[str]) -> dict[str, str]:
    """Return the priors among ``names`` that the model does not use, with reasons."""
    used = used_priors(structure) if names else {}
    return {name: _reason(name, structure, used) for name in names if name not in used}


def checked_structure(ratings: Ratings, spec: Spec, priors: Priors) -> Structure:
    """Return the structure of a model of data that have all that its specification names."""
    check_reference(ratings, spec.reference)
    require_raters(ratings, spec.copies)
    structure = build_structure(ratings, spec)
    refuse_idle(structure, priors)
    return structure


def refuse_idle(structure: Structure, priors: Priors) -> None:
    """Raise ModelError for priors given by name that the model does not use.

    A file may have unused ones, as it may be for several models and data sets.
    """
    idle = idle_priors(structure, named_priors(priors))
    if idle:
        lines = "".join(f"\n  {name}: {why}" for name, why in idle.items())
        has = some(list(used_priors(structure)), LISTED_NAMES)
        raise ModelError(
            f"this model does not use some of the priors that you named:{lines}\n"
            f"Leave them out; the model has {has}. In a TOML file, unused priors are allowed: "
            "`priors='priors.toml'`",
            code="prior-unused",
        )


def _reason(key: str, structure: Structure, used: Iterable[str]) -> str:
    """Say why the model does not use a prior: nothing has it, or more specific ones replace it."""
    *owner, name = key.rsplit(".", 1)
    others = [other for other in used if other.rsplit(".", 1)[-1] == name]
    if not others:
        return _lacking(structure).get(name, "the model has no such parameter")
    if owner:
        return f"no parameter of {owner[0]} uses it; the model has {some(others, LISTED_NAMES)}"
    return f"more specific priors replace it: {some(others, LISTED_NAMES)}"


def _lacking(structure: Structure) -> dict[str, str]:
    """Return for optional priors what a model without them lacks."""
    spec = structure.spec
    raters = [
        catalogue_entry("raters", n, called="family") for n in (*spec.rater_parts, "perception")
    ]
    entries = [*raters, catalogue_entry("prevalence", spec.prevalence, called="prevalence")]
    found = {name: why for entry in entries for name, why in entry.get("idle_if", {}).items()}
    repeats = dict.fromkeys(("consistency_mean", "consistency_sd"), REPEATS)
    return {**repeats, "copied": COPIES, **found}

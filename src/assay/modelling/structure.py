"""A model without its unknowns: what the parameters are, and how they become tables.

The likelihood needs no more of them than :class:`Tables`. The same formulas give symbols to PyMC
(:mod:`assay.modelling.pymc_model`) and numbers to the recovery of the states.
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
from assay.data.gold import truth_masks
from assay.data.ratings import Ratings, require_ratings
from assay.data.states import MISSING, state_space
from assay.data.task_files import catalogue_entry
from assay.likelihood.collapse import Pattern, collapse
from assay.likelihood.marginal import value_and_gradient
from assay.modelling.build import build_parts
from assay.modelling.families import default_priors
from assay.modelling.families.lean import LeanPrior
from assay.modelling.layers import Difficulty, HardTruth, Perception, difficulty_of
from assay.modelling.layers.difficulty import DEGREES, KINDS
from assay.modelling.layers.difficulty_nodes import node_count
from assay.modelling.layers.hard_truth import MAX_STATES
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
from assay.modelling.rater_model import Part
from assay.modelling.spec import Recipe, Spec


class Tables(NamedTuple):
    """What the likelihood needs of the parameters.

    Attributes
    ----------
    prevalence : (..., context, node, state)
        Probabilities of the states.
    response : (..., difficulty, row, state)
        Log probabilities of what each row says.
    difficulty : (..., context, difficulty)
        Log probabilities of the classes of difficulty; one context if they are the same in all.
    layer : (..., kind, difficulty + look, state)
        Chance of misperceiving by difficulty and state, and what an item looks like then.
    hard_truth : (..., hard class, state, state)
        Probabilities of a hard item's states, given the state that it has if it is easy; without
        classes where hard items have the truth of easy ones.
    mixing : (..., node, node)
        Chances of a panel's node given its cluster's; without nodes where panels have no effects.
    """

    prevalence: Any
    response: Any
    difficulty: Any
    layer: Any
    hard_truth: Any
    mixing: Any

    def by_state(self) -> "Tables":
        """Return them as the compiled functions take them: prevalence (context, state, node)."""
        return self._replace(prevalence=self.prevalence.swapaxes(-1, -2))


TABLE_AXES = Tables(prevalence=3, response=3, difficulty=2, layer=3, hard_truth=3, mixing=2)
"""Number of axes of each table, without draws."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Structure:
    """A model without its unknowns: parts, data, and the way from parameters to tables."""

    spec: Spec
    ratings: Ratings
    prevalence: Prevalence
    parts: tuple[Part, ...]
    difficulty: Difficulty
    hard_truth: HardTruth
    perception: Perception
    pattern: Pattern

    def parameters(self) -> list[Parameter]:
        """Return all unknowns of the model."""
        return [
            *self.prevalence.parameters(),
            *(p for part in self.parts for p in part.parameters()),
            *self.difficulty.parameters(),
            *self.perception.parameters(),
        ]

    def log_lean(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return what priors of more than one parameter add to the log density: (..., term)."""
        found = [lean.log_density(part.own(values), xp) for part, lean in self._leans]
        return xp.concatenate(found, axis=-1) if found else None

    def draw(self, rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
        """Draw all unknowns once from their priors: by name."""
        found = {p.name: p.draw(rng) for p in self.parameters()}
        for part, lean in self._leans:
            moved = lean.redraw(part.own(found), rng)
            found |= {part.prefix + name: value for name, value in moved.items()}
        return found

    @cached_property
    def _leans(self) -> list[tuple[Part, LeanPrior]]:
        """Parts whose raters have a prior of their mean lean."""
        return [(part, lean) for part in self.parts if (lean := part.lean) is not None]

    def tables(self, values: Mapping[str, Any], xp: Any) -> Tables:
        """Return the tables of the likelihood, for parameters with any leading axes of draws."""
        prevalence = self.prevalence.table(values, xp)
        by_part = [part.table(values, self.difficulty, xp) for part in self.parts]
        by_class = [
            rows[0] if len(rows) == 1 else xp.concatenate(_alike(rows, xp), axis=-2)
            for rows in zip(*by_part, strict=True)
        ]
        return Tables(
            prevalence=prevalence,
            response=xp.stack(_alike(by_class, xp), axis=-3),
            difficulty=self.difficulty.log_weight(values, xp),
            layer=self.perception.table(values, prevalence, xp),
            hard_truth=self.hard_truth_table(values, xp),
            mixing=self.prevalence.mixing(values, xp),
        )

    def hard_truth_table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return how the states of hard items hang on those of easy ones, as the tables have it."""
        rates = [part.loading.by_label(part.own(values), xp) for part in self.parts if part.loading]
        return self.hard_truth.table(rates, xp)

    def hard_chances(self, values: Mapping[str, Any], prevalence: Any, xp: Any) -> Any:
        """Return the probabilities of the states of hard items, where these have their own.

        Returns
        -------
        (..., hard class, context, node, state)
        """
        table = self.hard_truth_table(values, xp)
        return xp.matmul(prevalence[..., None, :, :, :], table[..., :, None, :, :])

    def state_chances(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the probabilities of the states of all items: (..., context, node, state).

        Those of easy ones are the prevalence.
        """
        prevalence = self.prevalence.table(values, xp)
        if not self.hard_truth.applies:
            return prevalence
        share = self.difficulty.hard_shares(values, xp).swapaxes(-1, -2)[..., None, None]
        moved = self.hard_chances(values, prevalence, xp) - prevalence[..., None, :, :, :]
        return prevalence + (share * moved).sum(axis=-4)

    def with_evidence(
        self, kind: NDArray[np.int64], log_weight: NDArray[np.float64]
    ) -> "Structure":
        """Return the model of data that tell more of the items than their ratings do.

        Parameters
        ----------
        kind : ndarray of int (item,)
            What is seen of each item.
        log_weight : ndarray (kind, state)
            Log probability of seeing it in each state.
        """
        layered = self.perception.groups
        pattern = _pattern(self.ratings, self.prevalence, self.parts, layered, (kind, log_weight))
        return replace(self, pattern=pattern)

    def without_gold(self) -> "Structure":
        """Return the same model of data in which no truth is known but by audits."""
        ratings = self.ratings
        unknown = replace(ratings, truth=np.full_like(ratings.truth, MISSING))
        pattern = _pattern(unknown, self.prevalence, self.parts, self.perception.groups)
        return replace(self, ratings=unknown, pattern=pattern)

    def reliability(
        self, values: Mapping[str, NDArray[np.float64]], position: float = 0.0
    ) -> NDArray[np.float64]:
        """P(reported class | true class): (draw, unit of any part, label, true, reported class).

        As :meth:`assay.modelling.rater_model.Part.reliability`, of all parts.
        """
        by_part = [part.reliability(values, position) for part in self.parts]
        return np.concatenate(by_part, axis=1)

    def mean_reliability(
        self, values: Mapping[str, NDArray[np.float64]], position: float = 0.0
    ) -> NDArray[np.float64]:
        """Average over raters, and over ratings: (2, draw, label, true class, reported class).

        Many raters with few ratings weigh much in the first, one with most ratings does in the
        second. Who has none is in neither; NaN where nobody is left.
        """
        by_unit = self.reliability(values, position)
        ratings = np.concatenate([part.n_ratings for part in self.parts])
        weights = np.stack([ratings > 0, ratings]).astype(float)
        told = np.isfinite(by_unit)
        total = np.einsum("wu,du...->wd...", weights, np.where(told, by_unit, 0.0))
        return divided(total, np.einsum("wu,du...->wd...", weights, told.astype(float)))

    def log_likelihood(self, values: Mapping[str, Any]) -> float:
        """Marginal log-likelihood at one point: the computation that every method shares."""
        tables = [np.ascontiguousarray(table) for table in self.tables(values, np).by_state()]
        data: Any = (*tables, self.prevalence.log_weight, self.pattern.data)
        return float(value_and_gradient(*data)[0])


def _alike(tables: Any, xp: Any) -> list[Any]:
    """Give tables the same leading axes of draws; only NumPy has any."""
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
    """Compose the parts of a model.

    ``covariates`` are what the formula made of these items when the model was fitted; without
    ``by_panel`` all systems share the effect of a cluster, and without ``hard_by_system`` the share
    of hard items. ``earlier`` is the model of fits in which all hard items were as hard and the
    lean of the raters had no prior of its own. ``nodes`` is at how many difficulties items are
    looked at, if they do not say so themselves.

    Raises
    ------
    UnknownNameError
        If a family or prevalence is not in the catalogue.
    ModelError
        If a prior is not used by the model, or the data cannot be modelled.
    """
    require_ratings("a model", ratings)
    if not len(ratings.items):
        raise ModelError("there are no items; a model needs at least one", code="no-items")
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
        parts=parts,
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
        pattern=_pattern(ratings, prevalence, parts, layered),
    )


USUAL = 0.99
"""Share of the items that have no more answers than the nodes of difficulty are meant for."""


def _nodes(ratings: Ratings) -> int:
    """Return at how many difficulties these items have to be looked at."""
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
    parts: tuple[Part, ...],
    layered: tuple[str, ...],
    evidence: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None,
) -> Pattern:
    """Collapse the ratings to the pattern of which items have the same rows."""
    row, layer_of_row = _number_rows(ratings, parts, {name: n for n, name in enumerate(layered)})
    mask, masks = truth_masks(ratings, prevalence.space.states)
    if evidence is not None:
        kind, log_weight = evidence
        pairs, mask = sorted_rows(mask, kind)
        masks = masks[pairs[:, 0]] + log_weight[pairs[:, 1]]
    rated = row >= 0
    # Taken from a list, so that ``collapse`` can let go of them: they are as many as the ratings.
    handed = [row[rated], ratings.item[rated]]
    del row, rated
    design = prevalence.design
    return collapse(
        item_of_row=handed.pop(),
        row=handed.pop(),
        context=design.item_context,
        mask=mask,
        masks=masks,
        cluster=design.cluster if prevalence.has_clusters else None,
        panel=design.panel if prevalence.has_panels else None,
        layer_of_row=layer_of_row,
        contexts=design.contexts,
    )


def _number_rows(
    ratings: Ratings, parts: tuple[Part, ...], layer: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row of each rating among the rows of all parts, and the perception layer of each row."""
    row = np.full(len(ratings.answers), -1, np.int64)
    layers, offset = [], 0
    for part in parts:
        here = part.repeats.row >= 0
        row[here] = part.repeats.row[here] + offset
        of_row = np.full(part.repeats.count, -1, np.int64)
        of_group = np.array([layer.get(name, -1) for name in part.raters.groups], np.int64)
        of_row[part.repeats.row[here]] = of_group[part.unit_group[part.unit[here]]]
        layers.append(of_row)
        offset += part.repeats.count
    return row, np.concatenate(layers)


SHOWN = 20
"""How many names a message lists."""
REPEATS = "no rater rated an item twice, or `replicates='independent'`"


def used_priors(structure: Structure) -> dict[str, Prior]:
    """Return the priors of a model's unknowns, by the names to replace them by.

    Examples
    --------
    >>> import assay
    >>> from assay.modelling.structure import build_structure
    >>> from assay.modelling.spec import make_spec
    >>> ratings = assay.simulate("single", n_items=40, n_raters=4, rng=1)
    >>> list(used_priors(build_structure(ratings, make_spec("hierarchical"))))
    ['main', 'mean_correct', 'mean_other', 'sd']
    """
    read = (block.prior for block in structure.parameters() if 0 not in block.shape)
    return {key: prior for every in read for key, prior in every.by_key().items()}


def idle_priors(structure: Structure, names: Collection[str]) -> dict[str, str]:
    """Return those of some priors that a model has no use for, each with the reason."""
    used = used_priors(structure) if names else {}
    return {name: _reason(name, structure, used) for name in names if name not in used}


def refuse_idle(structure: Structure, priors: Priors) -> None:
    """Refuse priors that were given by name and that the model has no use for.

    Those of a file may lie idle: it may be meant for several models and data sets.

    Raises
    ------
    ModelError
        That names all of them, with the reasons, and the priors that the model has.
    """
    idle = idle_priors(structure, named_priors(priors))
    if idle:
        lines = "".join(f"\n  {name}: {why}" for name, why in idle.items())
        has = some(list(used_priors(structure)), SHOWN)
        raise ModelError(
            f"this model has no use for some of the priors that are named:{lines}\n"
            f"Leave them out; it has {has}. Priors that some data need and others do not "
            "can stand in a TOML file: `priors='priors.toml'`",
            code="prior-unused",
        )


def _reason(key: str, structure: Structure, used: Iterable[str]) -> str:
    """Say why nothing reads a prior: there is nothing that it is of, or another goes before it."""
    *owner, name = key.rsplit(".", 1)
    others = [other for other in used if other.rsplit(".", 1)[-1] == name]
    if not others:
        return _lacking(structure).get(name, "there is nothing that it could be of")
    if owner:
        return f"nothing of {owner[0]} reads it; the model has {some(others, SHOWN)}"
    return f"all that it could be of have their own, {some(others, SHOWN)}"


def _lacking(structure: Structure) -> dict[str, str]:
    """Say of each prior that not every model has what a model without it lacks."""
    spec = structure.spec
    raters = [
        catalogue_entry("raters", n, called="family") for n in (*spec.rater_parts, "perception")
    ]
    entries = [*raters, catalogue_entry("prevalence", spec.prevalence, called="prevalence")]
    found = {name: why for entry in entries for name, why in entry.get("idle_if", {}).items()}
    return {"consistency": REPEATS, **found}

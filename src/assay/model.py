"""build_model: Ratings and a spec into a plain ``pm.Model``; nothing is sampled here.

:func:`build_structure` makes the part without PyMC: what the parameters are and how they become
the two tables of the likelihood (states by context, answers by state). The same formulas give
symbols to PyMC and numbers to the recovery of the states.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.errors import ModelError, suggest
from assay.families import default_priors
from assay.kernels.marginal_likelihood import value_and_gradient
from assay.layers import Difficulty, Perception, difficulty_of
from assay.layers.difficulty import DIFFICULTIES
from assay.layers.perception import check_reference, layered_groups
from assay.likelihood import Pattern, collapse
from assay.parts import Part, build_parts
from assay.parts.priors import PartPriors, known_priors, owner_of, part_priors
from assay.prevalence import Prevalence, build_design, prevalence_class
from assay.prevalence import default_priors as prevalence_priors
from assay.priors import Parameter, override
from assay.ratings import AUDITED_RIGHT, AUDITED_WRONG, SOME_WRONG, Ratings
from assay.reading.ids import sorted_rows
from assay.spec import Priors, Recipe, Replicates, Spec, make_spec, recipes
from assay.states import MISSING, state_space

if TYPE_CHECKING:
    import pymc as pm


class Tables(NamedTuple):
    """What the likelihood needs of the parameters.

    Attributes
    ----------
    prevalence : (..., context, node, state)
        Probabilities of the states.
    response : (..., difficulty, row, state)
        Log probabilities of what each row says.
    difficulty : (..., difficulty)
        Log probabilities of the classes of difficulty.
    layer : (..., kind, difficulty + look, state)
        Chance of misperceiving by difficulty and state, and what an item looks like then.
    """

    prevalence: Any
    response: Any
    difficulty: Any
    layer: Any

    def by_state(self) -> "Tables":
        """Return them as the compiled functions take them: prevalence (context, state, node)."""
        return self._replace(prevalence=self.prevalence.swapaxes(-1, -2))


MAX_TABLE = 5_000_000
"""Numbers in the table of prevalences, by context, node and state, with a formula."""
TABLE_AXES = Tables(prevalence=3, response=3, difficulty=1, layer=3)
"""Number of axes of each table, without draws."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Structure:
    """A model without its unknowns: parts, data, and the way from parameters to tables."""

    spec: Spec
    ratings: Ratings
    prevalence: Prevalence
    parts: tuple[Part, ...]
    difficulty: Difficulty
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
        )

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


def build_structure(ratings: Ratings, spec: Spec) -> Structure:
    """Compose the parts of a model.

    Raises
    ------
    UnknownNameError
        If a family or prevalence is not in the catalogue.
    ModelError
        If a prior is not used by the model, or the data cannot be modelled.
    """
    if not len(ratings.items):
        raise ModelError("there are no items; a model needs at least one")
    space = state_space(ratings.task)
    groups = tuple(str(g) for g in np.unique(ratings.raters["group"].astype(str)))
    by_group = recipes(spec, groups)
    named = {name for name, recipe in by_group.items() if "perception" in recipe.layers}
    layered = layered_groups(spec.reference, named, groups)
    _check_priors(ratings, spec, by_group, layered)
    design = build_design(ratings, spec.formula)
    prevalence = prevalence_class(spec.prevalence)(
        task=ratings.task,
        space=space,
        design=design,
        priors=override(prevalence_priors(spec.prevalence), spec.priors, owner=spec.prevalence),
    )
    _check_size(prevalence, spec)
    layer = {name: n for n, name in enumerate(layered)}
    priors = _priors_of_parts(ratings, spec, by_group)
    parts = build_parts(ratings, spec, by_group, priors)
    layers = {name for recipe in by_group.values() for name in recipe.layers}
    troubled = tuple(name for name in layered if set(by_group[name].layers) & set(DIFFICULTIES))
    global_priors = {k: v for p in priors.values() for k, v in p.layers.items()}
    difficulty = difficulty_of(layers, global_priors)
    row, layer_of_row = _number_rows(ratings, parts, layer)
    mask, masks = truth_masks(ratings, space.states)
    rated = row >= 0
    # Taken from a list, so that ``collapse`` can let go of them: they are as many as the ratings.
    handed = [row[rated], ratings.item[rated]]
    del row, rated
    pattern = collapse(
        item_of_row=handed.pop(),
        row=handed.pop(),
        context=design.item_context,
        mask=mask,
        masks=masks,
        cluster=design.cluster if prevalence.has_clusters else None,
        layer_of_row=layer_of_row,
        contexts=design.contexts,
    )
    return Structure(
        spec=spec,
        ratings=ratings,
        prevalence=prevalence,
        parts=parts,
        difficulty=difficulty,
        perception=Perception(
            groups=layered,
            troubled=troubled,
            difficulty=difficulty,
            prevalence=prevalence,
            priors=override(default_priors("perception"), spec.priors, owner="perception"),
        ),
        pattern=pattern,
    )


def _check_size(prevalence: Prevalence, spec: Spec) -> None:
    """Refuse a table of prevalences that a fit could not work with."""
    contexts = prevalence.design.contexts
    size = contexts * len(prevalence.log_weight) * len(prevalence.space.states)
    if spec.formula is not None and size > MAX_TABLE:
        raise ModelError(
            f"formula={spec.formula!r} tells {contexts:,} kinds of items apart, too many for one "
            "table of prevalences; round or cut its columns, so that items share their values"
        )


def _check_priors(
    ratings: Ratings, spec: Spec, by_group: Mapping[str, Recipe], layered: tuple[str, ...]
) -> None:
    """Refuse a prior that nothing in the model reads."""
    owners = (*by_group, *(str(name) for name in ratings.raters.index))
    known = {k for recipe in by_group.values() for k in known_priors(recipe)}
    valid = sorted(known | set(prevalence_priors(spec.prevalence)))
    if layered:
        valid += list(default_priors("perception"))
    for key in spec.priors:
        owner = owner_of(key, owners)
        name = key if owner is None else key[len(owner) + 1 :]
        if name not in valid:
            written = "; ".join(dict.fromkeys(str(recipe) for recipe in by_group.values()))
            raise ModelError(
                f"prior {key!r} is not used by raters={written!r} with "
                f"prevalence={spec.prevalence!r}; {suggest(name, valid)}"
            )


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


def truth_masks(
    ratings: Ratings, states: NDArray[np.int16]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return what is known of the truth, by gold and by audits, as masks over states.

    Returns
    -------
    mask : ndarray of int (item,)
        Which mask each item has.
    masks : ndarray (mask, state)
        0 where the state agrees with what is known, -inf elsewhere.
    """
    known, which = sorted_rows(*ratings.truth.T)
    agrees = ((known[:, None, :] == MISSING) | (known[:, None, :] == states[None])).all(axis=-1)
    possible = agrees[which]
    for finding, same in ((AUDITED_RIGHT, True), (AUDITED_WRONG, False)):
        rating, label = np.nonzero((ratings.audit == finding) & (ratings.answers >= 0))
        fits = (ratings.answers[rating, label][:, None] == states[:, label].T) == same
        np.logical_and.at(possible, ratings.item[rating], fits)
    for rating in np.flatnonzero((ratings.audit == SOME_WRONG).any(axis=1)):
        given = np.flatnonzero(ratings.answers[rating] >= 0)
        possible[ratings.item[rating]] &= (states[:, given] != ratings.answers[rating, given]).any(
            1
        )
    packed, mask = sorted_rows(*np.packbits(possible, axis=1).T)
    masks = np.unpackbits(packed.astype(np.uint8), axis=1, count=possible.shape[1])
    none = np.flatnonzero(~possible.any(axis=1))
    if len(none):
        names = ", ".join(str(ratings.items.index[n]) for n in none[:5])
        raise ModelError(
            "what is known of the truth of some items is no state that the task's rules admit, or "
            f"their audits contradict it: {names}"
        )
    return mask, np.where(masks, 0.0, -np.inf)


def build_model(
    ratings: Ratings,
    *,
    raters: str | Mapping[str, str] = "hierarchical",
    prevalence: str = "loglinear",
    reference: str | None = None,
    priors: Priors = None,
    formula: str | None = None,
    replicates: Replicates = "together",
) -> "pm.Model":
    r"""Build the model of some ratings, with the states summed out.

    Parameters
    ----------
    ratings : Ratings
    raters : str or mapping of str to str
        Rater family by name, with layers on top of it: ``"hierarchical"``,
        ``"pooled + item_difficulty"``, ``"dawid_skene + drift"``; or one for each rater group:
        ``{"person": "hierarchical", "llm": "scored"}``.
    prevalence : str
        ``loglinear`` or ``dirichlet``.
    reference : None, "gold" or str
        Whose truth is meant: one consensus of all raters; known truth, each rater group with a
        perception layer of its own; or the consensus of this rater group, with a layer for each
        other group.
    priors : mapping of str to str, or path, optional
        Priors by name in place of the catalogue's, e.g. ``{"main": "Normal(0, 1)"}``; of one rater
        group or rater alone as ``{"expert.mean_binary": "Normal(3, 0.3)"}``. Or a TOML file with a
        table ``[priors]``.
    formula : str, optional
        Covariates of the items that shift the prevalence, in Wilkinson's notation:
        ``"~ language + bs(length, df=3) + (1 | source)"``. The columns are those that
        ``read_ratings(covariates=...)`` kept with the items. Needs ``prevalence="loglinear"``.
    replicates : {"together", "independent"}
        Whether a rater's ratings of the same item share what is peculiar to the two (an urn with
        a learned ``consistency``), or are independent given the truth.

    Returns
    -------
    pymc.Model
        With the deterministic ``prevalence`` ([system,] state); ``ratings`` is the potential that
        holds the marginal log-likelihood.

    Raises
    ------
    ModelError, UnknownNameError
        If the specification does not fit the catalogue or the data.

    Notes
    -----
    .. math::

        \log p(y \mid \theta) = \sum_i \log \sum_s \pi_i(s) \prod_{a \in i} p(y_a \mid s)

    References
    ----------
    Dawid, A. P. & Skene, A. M. (1979). Applied Statistics 28, 20-28.
    """
    spec = make_spec(raters, prevalence, reference, priors, formula, replicates)
    check_reference(ratings, reference)
    return model_of(build_structure(ratings, spec))


def model_of(structure: Structure) -> "pm.Model":
    """Make the ``pm.Model`` of a structure."""
    import pymc as pm
    import pytensor.tensor as pt

    from assay.marginal import marginal_log_likelihood

    blocks = structure.parameters()
    coords: dict[str, Any] = {}
    for block in blocks:
        coords |= {dim: list(block.coords[dim]) for dim in block.dims}
    coords["state"] = list(structure.prevalence.space.state_names)
    systems = structure.prevalence.design.systems
    if systems:
        coords["system"] = list(systems)
    with pm.Model(coords=coords) as model:
        values = {block.name: block.variable() for block in blocks}
        tables = structure.tables(values, pt)
        value = marginal_log_likelihood(tables, structure.prevalence.log_weight, structure.pattern)
        pm.Potential("ratings", value)
        marginal = structure.prevalence.marginal(tables.prevalence, pt)
        pm.Deterministic("prevalence", marginal, dims=(*(("system",) if systems else ()), "state"))
    return model

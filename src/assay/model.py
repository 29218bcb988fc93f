"""build_model: Ratings and a spec into a plain ``pm.Model``; nothing is sampled here.

:func:`build_structure` makes the part without PyMC: what the parameters are and how they become
the two tables of the likelihood (states by context, answers by state). The same formulas give
symbols to PyMC and numbers to the recovery of the states.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.confusion import confusion_layout
from assay.errors import ModelError, suggest
from assay.families import Family, Raters, default_priors, family_class
from assay.likelihood import Pattern, collapse
from assay.prevalence import Prevalence, build_design, prevalence_class
from assay.prevalence import default_priors as prevalence_priors
from assay.priors import Parameter, Prior, override
from assay.ratings import Ratings
from assay.responses import Responses, build_responses
from assay.states import MISSING, state_space

if TYPE_CHECKING:
    import pymc as pm

CONSENSUS = "consensus of all raters"


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What model is meant: names of its parts, and the priors that differ from the catalogue's."""

    raters: str = "hierarchical"
    prevalence: str = "loglinear"
    priors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Structure:
    """A model without its unknowns: parts, data, and the way from parameters to tables."""

    spec: Spec
    ratings: Ratings
    prevalence: Prevalence
    family: Family
    responses: Responses
    pattern: Pattern

    def parameters(self) -> list[Parameter]:
        """Return all unknowns of the model."""
        return [
            *self.prevalence.parameters(),
            *self.family.parameters(),
            *self.responses.parameters(),
        ]

    def tables(self, values: Mapping[str, Any], xp: Any) -> tuple[Any, Any]:
        """Prevalence (..., context, node, state) and log responses (..., row, state)."""
        prevalence = self.prevalence.table(values, xp)
        confusion = self.family.log_confusion(values, xp)
        return prevalence, self.responses.table(confusion, values, xp)

    def log_likelihood(self, values: Mapping[str, Any]) -> float:
        """Marginal log-likelihood at one point: the computation that every method shares."""
        from assay.kernels import value_and_gradient

        prevalence, response = self.tables(values, np)
        log_weight = self.prevalence.log_weight
        return float(
            value_and_gradient(
                np.ascontiguousarray(prevalence),
                np.ascontiguousarray(response),
                log_weight,
                *self.pattern.arrays(),
            )[0]
        )


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
    layout = confusion_layout(ratings.task)
    family_priors, table_priors = default_priors(spec.raters), prevalence_priors(spec.prevalence)
    valid = [*family_priors, *table_priors]
    for name in spec.priors:
        if name not in valid:
            raise ModelError(
                f"prior {name!r} is not used by raters={spec.raters!r} with "
                f"prevalence={spec.prevalence!r}; {suggest(name, valid)}"
            )
    design = build_design(ratings)
    prevalence = prevalence_class(spec.prevalence)(
        task=ratings.task,
        space=space,
        design=design,
        priors=override(table_priors, spec.priors, owner=spec.prevalence),
    )
    groups, group = np.unique(ratings.raters["group"].astype(str), return_inverse=True)
    family = family_class(spec.raters)(
        layout=layout,
        raters=Raters(names=tuple(ratings.raters.index), groups=tuple(groups), group=group),
        priors=override(family_priors, spec.priors, owner=spec.raters),
    )
    responses = build_responses(ratings, layout, shared=family.shared)
    mask, masks = truth_masks(ratings, space.states)
    rated = responses.row >= 0
    pattern = collapse(
        item_of_row=ratings.item[rated],
        row=responses.row[rated],
        context=design.item_context,
        mask=mask,
        masks=masks,
        cluster=design.cluster if prevalence.has_clusters else None,
    )
    return Structure(
        spec=spec,
        ratings=ratings,
        prevalence=prevalence,
        family=family,
        responses=responses,
        pattern=pattern,
    )


def truth_masks(
    ratings: Ratings, states: NDArray[np.int16]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Known truth as masks over states.

    Returns
    -------
    mask : ndarray of int (item,)
        Which mask each item has.
    masks : ndarray (mask, state)
        0 where the state agrees with what is known, -inf elsewhere.
    """
    known, mask = np.unique(ratings.truth, axis=0, return_inverse=True)
    agrees = ((known[:, None, :] == MISSING) | (known[:, None, :] == states[None])).all(axis=-1)
    if not agrees.any(axis=1).all():
        raise ModelError("the known truth of some items is no state that the task's rules admit")
    return mask.ravel().astype(np.int64), np.where(agrees, 0.0, -np.inf)


def make_spec(
    raters: str = "hierarchical",
    prevalence: str = "loglinear",
    reference: str | None = None,
    priors: Mapping[str, str | Prior] | None = None,
    formula: str | None = None,
) -> Spec:
    """Check the names of a specification and make it a value."""
    if reference is not None:
        raise ModelError(
            f"reference={reference!r} needs a perception layer, which no family has yet; "
            "reference=None (one consensus of all raters) is what can be fitted"
        )
    if formula is not None:
        raise ModelError(
            "formula= is not available yet; system, rank, stratum and cluster columns are "
            "modelled without one"
        )
    if not isinstance(raters, str):
        raise ModelError("raters= must be the name of one family, e.g. 'hierarchical'")
    return Spec(
        raters=raters,
        prevalence=prevalence,
        priors={k: str(v) for k, v in (priors or {}).items()},
    )


def build_model(
    ratings: Ratings,
    *,
    raters: str = "hierarchical",
    prevalence: str = "loglinear",
    reference: str | None = None,
    priors: Mapping[str, str | Prior] | None = None,
    formula: str | None = None,
) -> "pm.Model":
    r"""Build the model of some ratings, with the states summed out.

    Parameters
    ----------
    ratings : Ratings
    raters : str
        Rater family: ``hierarchical``, ``dawid_skene``, ``one_coin``, ``class_conditional`` or
        ``pooled``.
    prevalence : str
        ``loglinear`` or ``dirichlet``.
    reference : None
        Whose truth is meant: one consensus of all raters.
    priors : mapping of str to str, optional
        Priors by name in place of the catalogue's, e.g. ``{"main": "Normal(0, 1)"}``.
    formula : None
        Reserved for further covariates.

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
    spec = make_spec(raters, prevalence, reference, priors, formula)
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
        table, response = structure.tables(values, pt)
        value = marginal_log_likelihood(
            table, response, structure.prevalence.log_weight, structure.pattern
        )
        pm.Potential("ratings", value)
        marginal = structure.prevalence.marginal(table, pt)
        pm.Deterministic("prevalence", marginal, dims=(*(("system",) if systems else ()), "state"))
    return model

"""``build_model``: ratings and a specification to a ``pm.Model``, without sampling."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.data.ratings import Ratings, require_ratings
from assay.modelling.priors import Priors
from assay.modelling.spec import Replicates, formula_for, make_spec, recipe_of
from assay.modelling.structure import Structure, checked_structure

if TYPE_CHECKING:
    import pymc as pm


def build_model(
    ratings: Ratings,
    *,
    raters: str | Mapping[str, str] | None = None,
    prevalence: str = "loglinear",
    reference: str | None = None,
    priors: Priors = None,
    formula: str | None = None,
    replicates: Replicates = "together",
    copies: Mapping[str, str] | None = None,
) -> "pm.Model":
    r"""Build the model of some ratings, with the states summed out.

    Parameters
    ----------
    ratings : Ratings
    raters : str or mapping of str to str, optional
        Rater family with layers: ``"hierarchical"``, ``"pooled + item_difficulty"``,
        ``"dawid_skene + drift"``; or one for each rater group: ``{"person": "hierarchical",
        "llm": "scored"}``. The default is ``"hierarchical + item_difficulty"``, or
        ``"ability_bias + item_difficulty"`` if a label has three classes or more, with ``halo``
        where three labels identify it and ``drift`` where sessions tell it.
    prevalence : str
        ``loglinear`` or ``dirichlet``.
    reference : None, "gold", "groups" or str
        What defines the truth. None: the consensus of all raters. ``"gold"``: known truth, with a
        perception layer for each rater group. ``"groups"``: the agreement of three or more rater
        groups, with a layer for each group with two raters on some item. A group: its consensus,
        with a layer for each other group.
    priors : mapping of str to str, or path, or sequence of these, optional
        Priors by name that replace the catalogue's, e.g. ``{"main": "Normal(0, 1)"}``, or for one
        rater group or rater, ``{"expert.mean_binary": "Normal(3, 0.3)"}``. Or a TOML file with a
        table ``[priors]``, which may have priors that this model does not use. Later sources
        replace earlier ones.
    formula : str, optional
        Covariates of the items that shift the prevalence, in Wilkinson's notation:
        ``"~ language + bs(length, df=3) + (1 | source)"``. The columns are those that
        ``read_ratings(covariates=...)`` kept with the items. Needs ``prevalence="loglinear"``.
        Without a formula, the normal score of pairs from :func:`sample_pairs` is a covariate.
    replicates : {"together", "independent"}
        Whether a rater's ratings of the same item are dependent, by an urn with a learned
        consistency of each rater, or independent given the truth.
    copies : mapping of str to str, optional
        For each rater who may copy another rater's answers, that other rater. The share of copied
        ratings is learned, ``copied``.

    Returns
    -------
    pymc.Model
        With the deterministic ``prevalence`` ([system,] state); the potential ``ratings`` is the
        marginal log-likelihood.

    Raises
    ------
    ModelError, UnknownNameError
        If the specification does not fit the catalogue or the data, or the model does not use a
        prior given by name.

    Notes
    -----
    .. math::

        \log p(y \mid \theta) = \sum_i \log \sum_s \pi_i(s) \prod_{a \in i} p(y_a \mid s)

    References
    ----------
    Dawid, A. P. & Skene, A. M. (1979). Applied Statistics 28, 20-28.
    """
    require_ratings("a model", ratings)
    raters = recipe_of(ratings, raters)
    formula = formula_for(ratings.items, formula, prevalence)
    spec = make_spec(raters, prevalence, reference, priors, formula, replicates, copies=copies)
    return model_of(checked_structure(ratings, spec, priors))


def model_of(structure: Structure) -> "pm.Model":
    """Return the ``pm.Model`` of a structure."""
    import pymc as pm
    import pytensor.tensor as pt

    from assay.likelihood.pytensor_op import marginal_log_likelihood

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
        if (joint := structure.log_joint_priors(values, pt)) is not None:
            pm.Potential("joint", joint.sum())
        tables = structure.tables(values, pt)
        value = marginal_log_likelihood(tables, structure.prevalence.log_weight, structure.pattern)
        pm.Potential("ratings", value)
        for name, (dims, found) in structure.derived(values, pt).items():
            pm.Deterministic(name, found, dims=dims)
    return model

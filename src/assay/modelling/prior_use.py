"""Which priors a model reads, and why it has no use for others."""

from collections.abc import Collection, Iterable

from assay._util.errors import ModelError
from assay._util.plurals import some
from assay.data.catalogue import catalogue_entry
from assay.modelling.model import Structure
from assay.modelling.prior_files import Priors, named_priors
from assay.modelling.priors import Prior

SHOWN = 20
"""How many names a message lists."""
REPEATS = "no rater rated an item twice, or replicates='independent'"


def used_priors(structure: Structure) -> dict[str, Prior]:
    """Return the priors of a model's unknowns, by the names to replace them by.

    Examples
    --------
    >>> import assay
    >>> from assay.modelling.model import build_structure
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
            "can stand in a TOML file: priors='priors.toml'",
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

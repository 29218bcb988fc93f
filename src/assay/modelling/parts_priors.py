"""Priors by name: the catalogue's, and in their place the user's, for all or for some raters."""

from collections.abc import Mapping
from dataclasses import dataclass

from assay._util.errors import ModelError, suggest
from assay.modelling.families import default_priors, family_class
from assay.modelling.priors import Prior, override
from assay.modelling.spec import Recipe

CONSISTENCY = Prior(name="Beta", values=(1.0, 1.0))


@dataclass(frozen=True, kw_only=True, eq=False)
class PartPriors:
    """Priors of one part.

    Attributes
    ----------
    family, layers : mapping of str to Prior
    owners : mapping of str to mapping of str to Prior
        Of single groups and raters.
    consistency : Prior
        Of repeated ratings.
    """

    family: Mapping[str, Prior]
    layers: Mapping[str, Prior]
    owners: Mapping[str, Mapping[str, Prior]]
    consistency: Prior


def part_priors(
    part: str, recipe: Recipe, priors: Mapping[str, str], owners: tuple[str, ...]
) -> PartPriors:
    """Put the user's priors in the place of the catalogue's.

    Parameters
    ----------
    part : str
        Name of the part; a prior ``part.name`` is its own.
    priors : mapping of str to str
        ``name`` for all raters, or ``owner.name`` for one rater group or rater.
    owners : tuple of str
        Rater groups and raters of the part.

    Raises
    ------
    ModelError
        If a prior of one rater group or rater is none that the family has by group or rater.
    """
    family = default_priors(recipe.family)
    layers = {k: v for layer in recipe.layers for k, v in default_priors(layer).items()}
    extra = {"consistency": CONSISTENCY}
    keys = {k: k for k in priors if owner_of(k, (part,) if part else ()) is None}
    keys |= {k[len(part) + 1 :]: k for k in priors if k not in keys}
    own = {name: priors[key] for name, key in keys.items()}
    allowed = getattr(family_class(recipe.family), "by_owner", {})
    found: dict[str, dict[str, Prior]] = {}
    for key, text in own.items():
        owner = owner_of(key, owners)
        if owner is None:
            continue
        name = key[len(owner) + 1 :]
        if name not in allowed:
            hint = suggest(name, list(allowed)) if allowed else "it has none"
            raise ModelError(
                f"prior {key!r}: {recipe.family} has no prior {name!r} that one rater group or "
                f"rater can have alone; {hint}",
                code="prior-unknown",
            )
        whose = f"{recipe.family} of {owner}"
        replaced = override({name: family[name]}, {name: text}, owner=whose, keys={name: keys[key]})
        found.setdefault(owner, {})[name] = replaced[name]
    return PartPriors(
        family=override(family, own, owner=recipe.family, keys=keys),
        layers=override(layers, own, owner=" + ".join(recipe.layers), keys=keys),
        owners=found,
        consistency=override(extra, own, owner="replicates", keys=keys)["consistency"],
    )


def known_priors(recipe: Recipe) -> list[str]:
    """Names of the priors that a recipe can have."""
    layers = [k for layer in recipe.layers for k in default_priors(layer)]
    return [*default_priors(recipe.family), *layers, "consistency"]


def owner_of(key: str, owners: tuple[str, ...]) -> str | None:
    """Return the rater group or rater that a prior's name begins with.

    Examples
    --------
    >>> owner_of("expert.mean_binary", ("expert", "crowd"))
    'expert'
    """
    fits = [name for name in owners if key.startswith(f"{name}.")]
    return max(fits, key=len) if fits else None

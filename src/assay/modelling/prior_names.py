"""Which priors a specification knows by name, the catalogue's or the user's."""

from collections.abc import Mapping
from dataclasses import dataclass

from assay._util.errors import ModelError, suggest
from assay.data.overlap import first_meetings
from assay.data.ratings import Ratings
from assay.modelling.families import default_priors, family_class
from assay.modelling.layers.reference import group_sizes, layered_groups
from assay.modelling.prevalence import default_priors as prevalence_priors
from assay.modelling.priors import Prior, override
from assay.modelling.spec import GROUPS, Recipe, Spec, recipes

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


@dataclass(frozen=True, kw_only=True)
class PriorNames:
    """Names that a specification knows: ``name``, or ``owner.name``.

    Whether the data have a use for one is another question (:mod:`assay.modelling.structure`).

    Attributes
    ----------
    names : tuple of str
        Without owner.
    owners : tuple of str
        Rater groups and raters.
    """

    names: tuple[str, ...]
    owners: tuple[str, ...]

    def __contains__(self, key: str) -> bool:
        """Whether a name is known."""
        return self.without_owner(key) in self.names

    def without_owner(self, key: str) -> str:
        """Return a name without the group or rater that it begins with."""
        owner = owner_of(key, self.owners)
        return key if owner is None else key[len(owner) + 1 :]


def prior_names(ratings: Ratings, spec: Spec) -> PriorNames:
    """Return the names of priors that a specification knows, with the raters of some ratings.

    Raises
    ------
    ModelError
        If the specification names groups that are not there, or leaves some out.

    Examples
    --------
    >>> import assay
    >>> from assay.modelling.spec import make_spec
    >>> known = prior_names(assay.simulate("single", n_raters=4, rng=1), make_spec("one_coin"))
    >>> [name in known for name in ("accuracy", "rater_3.accuracy", "rater_9.accuracy", "sd")]
    [True, True, False, False]
    """
    by_group = recipes_of(ratings, spec)
    names = sorted({name for recipe in by_group.values() for name in known_priors(recipe)})
    names += sorted(set(prevalence_priors(spec.prevalence)) - set(names))
    if with_perception(ratings, spec, by_group):
        names += default_priors("perception")
    return PriorNames(
        names=tuple(names), owners=(*by_group, *(str(name) for name in ratings.raters.index))
    )


def recipes_of(ratings: Ratings, spec: Spec) -> dict[str, Recipe]:
    """Return the recipe of each rater group of some ratings."""
    return recipes(spec, tuple(group_sizes(ratings)))


def with_perception(
    ratings: Ratings, spec: Spec, by_group: Mapping[str, Recipe]
) -> tuple[str, ...]:
    """Return the rater groups that have a perception layer."""
    named = {name for name, recipe in by_group.items() if "perception" in recipe.layers}
    meeting = first_meetings(ratings) if spec.reference == GROUPS else ()
    return layered_groups(spec.reference, named, tuple(group_sizes(ratings)), meeting)


def refuse_unknown(ratings: Ratings, spec: Spec) -> None:
    """Refuse priors whose names nothing in the specification knows.

    Raises
    ------
    ModelError
        With the nearest names.
    """
    known = prior_names(ratings, spec)
    for key in (key for key in spec.priors if key not in known):
        name = known.without_owner(key)
        who, _, rest = key.rpartition(".")
        if name == key and rest in known.names:
            raise ModelError(
                f"prior {key!r}: there is no rater and no rater group {who!r}; "
                f"{suggest(who, known.owners)}",
                code="unknown-rater",
            )
        written = "; ".join(dict.fromkeys(map(str, recipes_of(ratings, spec).values())))
        raise ModelError(
            f"prior {key!r} is not used by `raters={written!r}` with "
            f"`prevalence={spec.prevalence!r}`; {suggest(name, known.names)}",
            code="prior-unknown",
        )

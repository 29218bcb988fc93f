"""Names of the priors that a specification accepts."""

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

WHOLE_RATINGS = {
    "consistency_mean": Prior(name="Normal", values=(0.0, 1.5)),
    "consistency_sd": Prior(name="HalfNormal", values=(1.0,)),
    "copied": Prior(name="Beta", values=(1.0, 1.0)),
}
"""Priors of how ratings depend on each other."""
OF_ALL_RATERS = ("lean", "lean_spread")
"""Priors of all raters together, whatever their recipes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PartPriors:
    """Priors of one part; ``owners`` are those of single groups and raters, by name."""

    family: Mapping[str, Prior]
    layers: Mapping[str, Prior]
    owners: Mapping[str, Mapping[str, Prior]]
    whole_ratings: Mapping[str, Prior]


def part_priors(
    part: str, recipe: Recipe, priors: Mapping[str, str], owners: tuple[str, ...]
) -> PartPriors:
    """Replace a part's priors of the catalogue by the user's, or raise ModelError.

    ``priors`` are ``name`` for all, ``part.name``, or ``owner.name`` for a rater group or rater of
    ``owners``.
    """
    family = default_priors(recipe.family)
    layers = {k: v for layer in recipe.layers for k, v in default_priors(layer).items()}
    keys = {k: k for k in priors if owner_of(k, (part,) if part else ()) is None}
    keys |= {k[len(part) + 1 :]: k for k in priors if k not in keys}
    own = {name: priors[key] for name, key in keys.items()}
    for name in OF_ALL_RATERS:
        if name in own and keys[name] != name:
            raise ModelError(
                f"prior {keys[name]!r}: {name} belongs to all raters together, so no rater group "
                f"has its own. Write `priors={{{name!r}: {own[name]!r}}}`",
                code="prior-unknown",
            )
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
                f"prior {key!r}: in {recipe.family}, a single rater group or rater cannot have a "
                f"prior {name!r} of its own; {hint}",
                code="prior-unknown",
            )
        whose = f"{recipe.family} of {owner}"
        replaced = override({name: family[name]}, {name: text}, owner=whose, keys={name: keys[key]})
        found.setdefault(owner, {})[name] = replaced[name]
    return PartPriors(
        family=override(family, own, owner=recipe.family, keys=keys),
        layers=override(layers, own, owner=" + ".join(recipe.layers), keys=keys),
        owners=found,
        whole_ratings=override(WHOLE_RATINGS, own, owner="replicates and copies", keys=keys),
    )


def known_priors(recipe: Recipe) -> list[str]:
    """Return the names of the priors that a recipe can have."""
    layers = [k for layer in recipe.layers for k in default_priors(layer)]
    return [*default_priors(recipe.family), *layers, *WHOLE_RATINGS]


def owner_of(key: str, owners: tuple[str, ...]) -> str | None:
    """Return the rater group or rater at the start of a prior's name, None without one."""
    fits = [name for name in owners if key.startswith(f"{name}.")]
    return max(fits, key=len) if fits else None


@dataclass(frozen=True, kw_only=True)
class PriorNames:
    """Accepted names of priors: ``name``, or ``owner.name`` of a rater group or rater.

    The data may still have no use for one (:mod:`assay.modelling.structure`).
    """

    names: tuple[str, ...]
    owners: tuple[str, ...]

    def __contains__(self, key: str) -> bool:
        """Return whether a name is accepted."""
        return self.without_owner(key) in self.names

    def without_owner(self, key: str) -> str:
        """Return a name without its rater group or rater."""
        owner = owner_of(key, self.owners)
        return key if owner is None else key[len(owner) + 1 :]


def prior_names(ratings: Ratings, spec: Spec) -> PriorNames:
    """Return the names of priors that a specification accepts, for these ratings' raters."""
    by_group = recipes_of(ratings, spec)
    names = sorted({name for recipe in by_group.values() for name in known_priors(recipe)})
    names += sorted(set(prevalence_priors(spec.prevalence)) - set(names))
    if with_perception(ratings, spec, by_group):
        names += default_priors("perception")
    return PriorNames(
        names=tuple(names), owners=(*by_group, *(str(name) for name in ratings.raters.index))
    )


def recipes_of(ratings: Ratings, spec: Spec) -> dict[str, Recipe]:
    """Return the recipe of each rater group."""
    return recipes(spec, tuple(group_sizes(ratings)))


def with_perception(
    ratings: Ratings, spec: Spec, by_group: Mapping[str, Recipe]
) -> tuple[str, ...]:
    """Return the rater groups with a perception layer."""
    named = {name for name, recipe in by_group.items() if "perception" in recipe.layers}
    meeting = first_meetings(ratings) if spec.reference == GROUPS else ()
    return layered_groups(spec.reference, named, tuple(group_sizes(ratings)), meeting)


def refuse_unknown(ratings: Ratings, spec: Spec) -> None:
    """Raise ModelError for priors with unknown names, and suggest the nearest ones."""
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

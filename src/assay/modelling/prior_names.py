"""Which priors a specification knows by name: of all raters, or of one group or rater."""

from collections.abc import Mapping
from dataclasses import dataclass

from assay._util.errors import ModelError, suggest
from assay.data.ratings import Ratings
from assay.data.witnesses import first_meetings
from assay.modelling.families import default_priors
from assay.modelling.layers.reference import group_sizes, layered_groups
from assay.modelling.parts_priors import known_priors, owner_of
from assay.modelling.prevalence import default_priors as prevalence_priors
from assay.modelling.spec import GROUPS, Recipe, Spec, recipes


@dataclass(frozen=True, kw_only=True)
class PriorNames:
    """Names that a specification knows: ``name``, or ``owner.name``.

    Whether the data have a use for one is another question (:mod:`assay.modelling.prior_use`).

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
            f"prior {key!r} is not used by raters={written!r} with "
            f"prevalence={spec.prevalence!r}; {suggest(name, known.names)}",
            code="prior-unknown",
        )

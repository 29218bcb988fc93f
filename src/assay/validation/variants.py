"""Variants of a fit: other assumptions, or data without a rater."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay.comparison.refit import rated_by
from assay.data.overlap import groups_identify_truth
from assay.data.ratings import Ratings
from assay.fits.view import FitView
from assay.modelling.prevalence import default_priors as prevalence_priors
from assay.modelling.priors import Prior
from assay.modelling.spec import GROUPS, Spec, parse_recipe
from assay.modelling.structure import Structure, used_priors

DIFFICULTY = "item_difficulty"
OTHER_KERNEL = {"retry": "repair", "repair": "retry"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Variant:
    """A plausible alternative model or data set.

    kind : ``rater``, ``prior``, ``rule``, ``kernel`` or ``dependence``
    name : a description
    changes : arguments of :func:`assay.fit` that differ
    """

    kind: str
    name: str
    ratings: Ratings
    changes: Mapping[str, Any] = field(default_factory=dict)


def variants_of(view: FitView, kinds: Mapping[str, bool]) -> list[Variant]:
    """Return the variants of the chosen kinds."""
    ratings, spec = view.ratings, view.spec
    makers = {
        "rater": _without_raters(ratings),
        "prior": _other_priors(view.structure),
        "rule": _relaxed_rules(ratings),
        "kernel": _other_kernel(ratings),
        "dependence": _dependence(ratings, spec),
    }
    return [variant for kind, maker in makers.items() if kinds[kind] for variant in maker]


def _without_raters(ratings: Ratings) -> Iterator[Variant]:
    names = [str(n) for n in ratings.raters.index[np.unique(ratings.rater)]]
    for left_out in names if len(names) > 1 else []:
        rest = rated_by(ratings, [name for name in names if name != left_out])
        yield Variant(kind="rater", name=f"without {left_out}", ratings=rest)


def _other_priors(structure: Structure) -> Iterator[Variant]:
    """Double and halve the scale of all priors of the raters, then of the prevalence."""
    used, known = used_priors(structure), prevalence_priors(structure.spec.prevalence)
    of_prevalence = {name: prior for name, prior in used.items() if name in known}
    of_raters = {name: prior for name, prior in used.items() if name not in known}
    for what, priors in (("raters", of_raters), ("prevalence", of_prevalence)):
        for word, factor in (("twice", 2.0), ("half", 0.5)):
            changed = {name: str(rescaled(prior, factor)) for name, prior in priors.items()}
            yield Variant(
                kind="prior",
                name=f"priors of the {what}: {word} the scale",
                ratings=structure.ratings,
                changes={"priors": {**structure.spec.priors, **changed}},
            )


def rescaled(prior: Prior, factor: float) -> Prior:
    """Return a prior with its spread multiplied by ``factor`` and its centre kept.

    A gamma distribution keeps its mean, its shape divided by :math:`f^2`; beta and Dirichlet
    distributions keep theirs, all counts divided by :math:`f^2`, which is about :math:`f` times the
    spread.
    """
    first, *rest = prior.values
    square = factor * factor
    match prior.name:
        case "Normal":
            values = (first, *(v * factor for v in rest))
        case "HalfNormal":
            values = (first * factor,)
        case "Exponential":
            values = (first / factor,)
        case "Counts":
            values = tuple(_divided(v, square) for v in prior.values)
        case "Confusion":
            values = (first, *(v / square for v in rest))
        case _:
            values = tuple(v / square for v in prior.values)
    return replace(prior, values=values)


def _relaxed_rules(ratings: Ratings) -> Iterator[Variant]:
    task = ratings.task
    for rule in task.rules:
        if rule.truth == "hard":
            relaxed = replace(ratings, task=task.with_truths({rule.name: "soft"}))
            yield Variant(kind="rule", name=f"{rule.name} may be broken in truth", ratings=relaxed)
            if rule.response != "off":
                relaxed = replace(ratings, task=task.with_responses({rule.name: "off"}))
                name = f"{rule.name} not enforced by the interface"
                yield Variant(kind="rule", name=name, ratings=relaxed)


def _other_kernel(ratings: Ratings) -> Iterator[Variant]:
    """Yield the other kernel, if a rule blocks: without one, nothing has to be resolved."""
    if any(rule.response == "block" for rule in ratings.task.rules):
        other = OTHER_KERNEL[ratings.resolve]
        changed = replace(ratings, resolve=other)  # type: ignore[arg-type]
        yield Variant(kind="kernel", name=f"blocked answers resolved by {other}", ratings=changed)


def _dependence(ratings: Ratings, spec: Spec) -> Iterator[Variant]:
    """Change whether raters err together: on hard items, by copying, and by group."""
    has = any(part.startswith(DIFFICULTY) for part in spec.rater_parts)
    raters = equally_hard(spec.raters) if has else _changed(spec.raters, _with_difficulty)
    name = "all items are equally hard" if has else "raters err together on hard items"
    yield Variant(kind="dependence", name=name, ratings=ratings, changes={"raters": raters})
    if spec.copies:
        name = "no rater copies another"
        yield Variant(kind="dependence", name=name, ratings=ratings, changes={"copies": {}})
    if spec.reference is None and groups_identify_truth(ratings):
        name = "raters of a group err together"
        yield Variant(kind="dependence", name=name, ratings=ratings, changes={"reference": GROUPS})


def equally_hard(raters: str | Mapping[str, str]) -> str | dict[str, str]:
    """Return the recipes of raters without their layers of difficulty."""
    return _changed(raters, _without_difficulty)


def _changed(raters: str | Mapping[str, str], change: Callable[[str], str]) -> str | dict[str, str]:
    """Change the recipe of all raters, or of each group."""
    if isinstance(raters, str):
        return change(raters)
    return {group: change(recipe) for group, recipe in raters.items()}


def _with_difficulty(recipe: str) -> str:
    return f"{recipe} + {DIFFICULTY}"


def _without_difficulty(recipe: str) -> str:
    parsed = parse_recipe(recipe)
    layers = tuple(name for name in parsed.layers if not name.startswith(DIFFICULTY))
    return str(replace(parsed, layers=layers))


def _divided(counts: Any, by: float) -> Any:
    """Divide prior counts: a table, or tables by label."""
    if isinstance(counts, Mapping):
        return {label: _divided(table, by) for label, table in counts.items()}
    return (np.asarray(counts, float) / by).tolist()

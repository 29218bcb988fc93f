"""The specification of a model: names, checked before anything is built."""

import io
from collections.abc import Collection, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from assay._util.errors import ModelError, suggest
from assay._util.validation import cut, require_choice, written
from assay.data.ratings import RETRIEVER_SCORE, UNNAMED, Ratings
from assay.data.sessions import show_drift
from assay.data.states import identifies_halo
from assay.data.task import Task
from assay.data.task_files import catalogue_entry
from assay.modelling.formula_trees import RefusedError, column_names, read_tree
from assay.modelling.priors import Priors, given_priors, write_prior

TRANSFORMS: Mapping[str, Any] = {
    "abs": np.abs, "exp": np.exp, "log": np.log, "log10": np.log10, "log1p": np.log1p,
    "log2": np.log2, "sqrt": np.sqrt,
}  # fmt: skip
"""Transforms that formulae does not have."""
MAX_CELLS = 5 * 10**7
"""Largest number of items times columns of a term; columns are products of classes."""


N_ANSWERS = "n_answers"
"""Covariate that needs no column: the number of raters who answered an item."""


def check_formula(text: object) -> str:
    """Return a formula with its tilde, or raise ModelError: it has only columns, arithmetic and
    listed transforms, as a formula from a file must not run code.
    """
    return f"~ {_read(text)[0]}"


def covariate_names(formula: str) -> list[str]:
    """Return the columns of a formula, in order; raise ModelError if it is not allowed."""
    return column_names(_read(formula)[1])


def counts_answers(formula: str | None) -> bool:
    """Return whether a formula has the number of answers of an item as a covariate."""
    return formula is not None and N_ANSWERS in covariate_names(formula)


def evaluate_formula(formula: str, table: pd.DataFrame) -> tuple[dict[str, Any], Any]:
    """Return the columns and groupings of a formula on a ``table`` without missing values, or raise
    ModelError. Only columns and listed transforms can be named.
    """
    from formulae.environment import Environment
    from formulae.matrices import DesignMatrices

    model = _model(formula)
    _require_size(model, table, formula)
    try:
        # formulae also prints its errors.
        with np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
            found = DesignMatrices(model, table, Environment([dict(TRANSFORMS)]))
            common = found.common
            columns = {} if common is None else dict(common.as_dataframe())
            return {str(name): column for name, column in columns.items()}, found.group
    except Exception as error:  # formulae raises whatever its terms do
        raise ModelError(
            f"`formula={cut(formula)}` cannot be evaluated: {error}", code="formula-data"
        ) from None


def _read(text: object) -> tuple[str, Any]:
    """Return a formula without its tilde, and its tree, both checked."""
    if not isinstance(text, str):
        raise ModelError(
            f"`formula={written(text)}` is not a text. Write e.g. '~ language + length'",
            code="formula-syntax",
        )
    try:
        found = read_tree(text)
    except RefusedError as error:
        raise ModelError(
            f"`formula={cut(text)}` cannot be used: {error}", code=error.code, numbers=error.numbers
        ) from None
    _model_of(found[1], text)
    return found


def _model(text: str) -> Any:
    return _model_of(_read(text)[1], text)


def _model_of(tree: Any, text: str) -> Any:
    """Return formulae's terms of a tree, without evaluation."""
    from formulae.resolver import Resolver
    from formulae.terms import Model

    try:
        found = Resolver(tree).resolve()
        return found if isinstance(found, Model) else Model(found)
    except Exception as error:  # formulae raises whatever its terms do
        raise ModelError(
            f"`formula={cut(text)}` cannot be read: {error}. Write e.g. '~ language + length'",
            code="formula-syntax",
        ) from None


def _require_size(model: Any, table: pd.DataFrame, formula: str) -> None:
    """Raise ModelError for terms whose columns would not fit into memory."""
    classes = {str(name): column.nunique() for name, column in table.items()}
    numbers = {n for n in classes if pd.api.types.is_numeric_dtype(table[n])}
    for term in model.terms:
        grouped = term in model.group_terms
        names = set(map(str, getattr(term, "var_names", ()))) & set(classes)
        counts = [float(classes[n]) for n in names if grouped or n not in numbers]
        columns = min(float(np.prod(counts)), 1e15)
        if columns * len(table) > MAX_CELLS:
            raise ModelError(
                f"`formula={cut(formula)}`: the term {term.name} has too many columns (up to "
                f"{columns:,.0f}) for {len(table):,} items. Combine rare classes, or leave it out",
                code="formula-data",
                numbers={"columns": columns, "items": len(table)},
            )


Replicates = Literal["together", "independent"]
REPLICATES = ("together", "independent")
GoldChosen = Literal["random", "recorded"]
GOLD_CHOSEN = ("random", "recorded")
CONSENSUS = "consensus of all raters"
CONSENSUS_OF_GROUPS = "consensus of the rater groups"
CONSENSUSES = (CONSENSUS, CONSENSUS_OF_GROUPS)
"""Kinds of truth whose error rates the ratings cannot show."""
KNOWN = "known truth"
IN_PART = ", with known truth of some items"
"""End of a consensus's name if the truth of some items is known."""
GOLD, GROUPS = "gold", "groups"
"""References that are not rater groups."""
DEFAULT_RATERS = "hierarchical + item_difficulty"
"""Default: a model without difficulty would be too certain of split votes."""
DEFAULT_OF_SEVERAL = f"{DEFAULT_RATERS} + halo"
"""Default for several two-class labels that identify a halo."""
DEFAULT_OF_MORE = "ability_bias + item_difficulty"
"""Default if a label has more than two classes, which could otherwise drift to explain biases."""
DEFAULT_OF_UNNAMED = "pooled + item_difficulty"
"""Default for unidentified raters, who share one confusion."""


def is_consensus(reference: str) -> bool:
    """Return whether the truth is a consensus, apart from items of known truth.

    >>> is_consensus(CONSENSUS + IN_PART), is_consensus(KNOWN), is_consensus("consensus of experts")
    (True, False, False)
    """
    return reference.removesuffix(IN_PART) in CONSENSUSES


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A rater family, and the names of its layers."""

    family: str = "hierarchical"
    layers: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Write the recipe as users do."""
        return " + ".join((self.family, *self.layers))


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The specification: names of a model's parts, and priors that differ from the catalogue's.

    raters : a recipe for all raters, or one for each rater group
    reference : None (consensus of all), ``gold``, ``groups`` (what groups agree on), or a group
    replicates : whether a rater's ratings of one item are dependent
    gold_chosen : how items of ``reference="gold"`` were chosen, at random or on recorded data
    copies : for raters who may copy another, that other rater
    """

    raters: str | Mapping[str, str] = DEFAULT_RATERS
    prevalence: str = "loglinear"
    reference: str | None = None
    replicates: Replicates = "together"
    priors: Mapping[str, str] = field(default_factory=dict)
    formula: str | None = None
    gold_chosen: GoldChosen = "random"
    copies: Mapping[str, str] = field(default_factory=dict)

    @property
    def truth(self) -> str:
        """The reference in words."""
        if self.reference is None:
            return CONSENSUS
        if self.reference == GOLD:
            return GOLD
        if self.reference == GROUPS:
            return CONSENSUS_OF_GROUPS
        return f"consensus of {self.reference}"

    @property
    def anchored(self) -> bool:
        """Whether gold or one group defines the classes."""
        return self.reference not in (None, GROUPS)

    @property
    def rater_parts(self) -> tuple[str, ...]:
        """Families and layers of all raters, without duplicates."""
        written = [self.raters] if isinstance(self.raters, str) else list(self.raters.values())
        recipes = map(parse_recipe, written)
        return tuple(dict.fromkeys(n for one in recipes for n in (one.family, *one.layers)))


def catalogue_entries(spec: Spec) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the catalogue entries of the prevalence, and of the rater parts, each once.

    A reference implies perception layers that no recipe names.
    """
    names = dict.fromkeys([*spec.rater_parts, *(["perception"] if spec.reference else [])])
    raters = [catalogue_entry("raters", name, called="family") for name in names]
    return catalogue_entry("prevalence", spec.prevalence, called="prevalence"), raters


def raters_for(
    task: Task,
    raters: str | Mapping[str, str] | None,
    groups: Collection[str] = (),
    *,
    drift: bool = False,
) -> str | Mapping[str, str]:
    """Return the given recipe, or the default for a task and for unidentified raters.

    ``drift`` says whether sessions show how raters change.
    """
    if raters is not None:
        return raters
    more = any(len(label.classes) > 2 for label in task.labels)
    several = DEFAULT_OF_SEVERAL if identifies_halo(task) else DEFAULT_RATERS
    named = (DEFAULT_OF_MORE if more else several) + " + drift" * drift
    if UNNAMED not in groups:
        return named
    others = {group: named for group in groups if group != UNNAMED}
    return {**others, UNNAMED: DEFAULT_OF_UNNAMED} if others else DEFAULT_OF_UNNAMED


def recipe_of(ratings: Ratings, raters: str | Mapping[str, str] | None) -> str | Mapping[str, str]:
    """Return the given recipe, or the default for some ratings."""
    groups = ratings.raters["group"].unique()
    return raters_for(ratings.task, raters, groups, drift=show_drift(ratings))


def formula_for(items: pd.DataFrame, formula: str | None, prevalence: str) -> str | None:
    """Return the given formula; without one the retriever's score, if items have different ones."""
    if formula is not None or RETRIEVER_SCORE not in items or prevalence != "loglinear":
        return formula
    return f"~ {RETRIEVER_SCORE}" if items[RETRIEVER_SCORE].nunique() > 1 else None


def is_layer(name: str) -> bool:
    """Return whether a catalogue entry is a layer."""
    return bool(catalogue_entry("raters", name, called="rater family").get("layer", False))


def parse_recipe(text: str) -> Recipe:
    """Read ``"family + layer + layer"``; a layer alone is on ``hierarchical``. Unknown names,
    several families and repeated layers are refused.
    """
    if not isinstance(text, str):
        raise ModelError(
            f"`raters={text!r}` is not a recipe. Write a family by name, e.g. 'hierarchical'",
            code="recipe-syntax",
        )
    names = [name.strip() for name in text.split("+")]
    layers = [name for name in names if is_layer(name)]
    families = [name for name in names if name not in layers]
    if len(families) > 1:
        raise ModelError(
            f"`raters={text!r}` names {len(families)} families ({', '.join(families)}), but a "
            "rater group has one family, and any layers after it",
            code="recipe-families",
            numbers={"families": len(families)},
        )
    doubled = sorted({name for name in layers if layers.count(name) > 1})
    if doubled:
        raise ModelError(
            f"`raters={text!r}` names {', '.join(doubled)} more than once", code="recipe-repeats"
        )
    return Recipe(family=families[0] if families else "hierarchical", layers=tuple(layers))


def recipes(spec: Spec, groups: tuple[str, ...]) -> dict[str, Recipe]:
    """Return the recipe of each rater group; raise ModelError if ``raters`` has other groups."""
    if isinstance(spec.raters, str):
        return dict.fromkeys(groups, parse_recipe(spec.raters))
    unknown = [name for name in spec.raters if name not in groups]
    left_out = [name for name in groups if name not in spec.raters]
    if unknown:
        raise ModelError(
            f"`raters=` names a group {unknown[0]!r} that no rater is in; "
            f"{suggest(unknown[0], list(groups))}",
            code="unknown-group",
        )
    if left_out:
        every = {**spec.raters, **dict.fromkeys(left_out, "hierarchical")}
        raise ModelError(
            f"`raters=` has no recipe for the rater groups {', '.join(left_out)}. Give each group "
            f"a family, e.g. `raters={every}`",
            code="groups-without-recipe",
            numbers={"groups": len(left_out)},
        )
    return {name: parse_recipe(spec.raters[name]) for name in groups}


def check_copies(copies: object) -> dict[str, str]:
    """Return the source of each copier; raise ModelError if one copies itself, also in a circle."""
    if not isinstance(copies, Mapping) or not all(
        isinstance(name, str) for pair in copies.items() for name in pair
    ):
        raise ModelError(
            f"`copies={written(copies)}` is not allowed. Give the source of each rater who may "
            "copy: {'copier': 'source'}",
            code="copies-argument",
        )
    for name in copies:
        passed, source = [name], copies[name]
        while source in copies and source not in passed:
            passed.append(source)
            source = copies[source]
        if source in passed:
            raise ModelError(
                f"`copies=`: the sources of {' and '.join(map(repr, passed))} form a circle. Leave "
                "one of them out: which of two raters is the source matters little",
                code="copies-argument",
            )
    return dict(copies)


def make_spec(
    raters: str | Mapping[str, str] = DEFAULT_RATERS,
    prevalence: str = "loglinear",
    reference: str | None = None,
    priors: Priors = None,
    formula: str | None = None,
    replicates: Replicates = "together",
    gold_chosen: GoldChosen = "random",
    copies: Mapping[str, str] | None = None,
) -> Spec:
    """Check the names of a specification and return it."""
    given = given_priors(priors)
    require_choice("gold_chosen", gold_chosen, GOLD_CHOSEN)
    if gold_chosen != "random" and reference != GOLD:
        raise ModelError(
            f"`gold_chosen={gold_chosen!r}` applies to `reference='gold'` only, not to "
            f"`reference={reference!r}`. Leave it out",
            code="gold-chosen-unused",
        )
    require_choice("replicates", replicates, REPLICATES)
    if isinstance(raters, Mapping):
        parsed: str | dict[str, str] = {k: str(parse_recipe(v)) for k, v in raters.items()}
    else:
        parsed = str(parse_recipe(raters))
    catalogue_entry("prevalence", prevalence, called="prevalence")
    if reference is not None and not isinstance(reference, str):
        raise ModelError(
            f"`reference={written(reference)}` is not allowed. Give 'gold', 'groups', or the name "
            "of a rater group",
            code="reference-argument",
        )
    if formula is not None and prevalence != "loglinear":
        raise ModelError(
            f"`formula=` needs `prevalence='loglinear'`, because {prevalence} has no main effects",
            code="formula-prevalence",
        )
    return Spec(
        raters=parsed,
        prevalence=prevalence,
        reference=reference,
        replicates=replicates,
        priors={k: write_prior(v, where=f"prior {k}") for k, v in given.items()},
        formula=None if formula is None else check_formula(formula),
        gold_chosen=gold_chosen,
        copies={} if copies is None else check_copies(copies),
    )

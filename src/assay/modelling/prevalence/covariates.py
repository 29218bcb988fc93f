r"""Covariates of items through a formula, as columns that shift the main effects.

The formula is Wilkinson's notation as `formulae` reads it, without a left side:
``"~ language + bs(length, df=3)"``, ``"~ domain * length"``, ``"~ length + (1 | source)"``. Columns
are centred over the items, and those that are not zeros and ones are divided by their SD, so that
one prior suits all of them; levels of ``(1 | source)`` are shrunken like systems and strata.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay._util.validation import cut
from assay.modelling.formulas import covariate_names, evaluate_formula

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAME = 1e-12
"""SD below which a column is a constant."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Covariates:
    """What a formula makes of the columns of the items.

    Attributes
    ----------
    names : tuple of str
        Of the columns; ``(per SD)`` where a column was divided by its SD.
    values : ndarray (item, covariate)
    groupings : mapping of str to (levels, codes)
        Of each term ``(1 | name)``, as ``by_name``, the names of its levels and the level of
        each item.
    """

    names: tuple[str, ...]
    values: Floats
    groupings: Mapping[str, tuple[tuple[str, ...], Ints]]


def no_covariates(items: int) -> Covariates:
    """Return the covariates of a model without a formula."""
    return Covariates(names=(), values=np.zeros((items, 0)), groupings={})


def find_covariates(formula: str | None, items: pd.DataFrame) -> Covariates:
    """Evaluate a formula on the items.

    Parameters
    ----------
    formula : str or None
    items : DataFrame
        One line per item (``Ratings.items``).

    Raises
    ------
    ModelError
        If a column is not there or has missing values, a term cannot be evaluated or has one
        value only, or a slope differs by group.
    """
    if formula is None:
        return no_covariates(len(items))
    table = _columns(formula, items)
    columns, groups = evaluate_formula(formula, table)
    names, values = [], []
    for name, column in columns.items():
        if name == "Intercept":
            continue
        scaled, spread = _scaled(np.asarray(column, float), name)
        names.append(f"{name} (per SD)" if spread else name)
        values.append(scaled)
    return Covariates(
        names=tuple(names),
        values=np.stack(values, axis=1) if values else np.zeros((len(items), 0)),
        groupings=_groupings(groups, formula),
    )


def _columns(formula: str, items: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that the formula reads, each with a value for every item."""
    named = covariate_names(formula)
    for name in named:
        if name not in items.columns:
            there = ", ".join(str(column) for column in items.columns)
            raise ModelError(
                f"formula={cut(formula)} reads {name!r}, which the items do not have (they have "
                f"{there}); read it with the ratings: covariates={named!r}. "
                "System and rank have effects without a formula",
                code="formula-unknown-column",
            )
        blank = items[name].isna() | (items[name].astype("str") == "")
        if blank.any():
            raise ModelError(
                f"formula={cut(formula)}: {int(blank.sum())} of {len(items)} items have no {name}, "
                f"e.g. {str(items.index[blank][0])!r}; fill it in, or give them a class of their "
                "own",
                code="formula-data",
                numbers={"items": int(blank.sum()), "of": len(items)},
            )
    numbers = {n: items[n] for n in named if pd.api.types.is_numeric_dtype(items[n])}
    words = {n: items[n].astype("str").astype(object) for n in named if n not in numbers}
    return pd.DataFrame({**numbers, **words}, index=items.index)


def _scaled(column: Floats, name: str) -> tuple[Floats, bool]:
    """Centre a column; divide it by its SD unless it is of zeros and ones."""
    if not np.isfinite(column).all():
        raise ModelError(
            f"the formula's term {name} is not a number for {int((~np.isfinite(column)).sum())} "
            "items; e.g. the logarithm of 0: use log1p",
            code="formula-data",
            numbers={"items": int((~np.isfinite(column)).sum())},
        )
    centred, spread = column - column.mean(), float(column.std())
    if spread < SAME * max(1.0, float(np.abs(column).max())):
        raise ModelError(
            f"the formula's term {name} is the same for all items; leave it out",
            code="formula-data",
        )
    if np.isin(column, (0, 1)).all():
        return centred, False
    return centred / spread, True


def _groupings(found: Any, formula: str) -> dict[str, tuple[tuple[str, ...], Ints]]:
    groupings: dict[str, tuple[tuple[str, ...], Ints]] = {}
    for name, term in ({} if found is None else found.terms).items():
        slope, _, factor = str(name).partition("|")
        if slope != "1":
            raise ModelError(
                f"formula={cut(formula)}: the effect of {slope} by {factor} is not available; "
                f"write (1 | {factor}) for levels alone, or {slope} * {factor}",
                code="formula-term",
            )
        level = found[name].argmax(axis=1)
        called = "by_" + factor.replace("/", "_")  # netCDF has no name with a slash
        groupings[called] = (
            tuple(str(g) for g in term.groups),
            np.asarray(level, np.int64).ravel(),
        )
    return groupings

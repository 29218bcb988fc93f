"""What a formula of covariates may say: columns, arithmetic, and transforms by name."""

import io
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import ModelError
from assay._util.validation import cut, written
from assay.modelling.formula_trees import RefusedError, column_names, read_tree

TRANSFORMS: Mapping[str, Any] = {
    "abs": np.abs, "exp": np.exp, "log": np.log, "log10": np.log10, "log1p": np.log1p,
    "log2": np.log2, "sqrt": np.sqrt,
}  # fmt: skip
"""Those that formulae does not bring."""
MAX_CELLS = 5 * 10**7
"""Of a term: items times columns, which are the products of the classes of its columns."""


def check_formula(text: object) -> str:
    """Return a formula as it is written, with its tilde.

    Only columns, arithmetic and known transforms are let through: a formula stands in every fit,
    and what is read from a file must not run code.

    Raises
    ------
    ModelError
        If it is not a formula, has a left side, holds or calls what is not in the list, or is too
        large.

    Examples
    --------
    >>> check_formula("language + np.log(length)")
    '~ language + log(length)'
    """
    return f"~ {_read(text)[0]}"


def covariate_names(formula: str) -> list[str]:
    """Return the columns that a formula reads, in order.

    Raises
    ------
    ModelError
        As :func:`check_formula` does.

    Examples
    --------
    >>> covariate_names("~ language * log(length) + (1 | source)")
    ['language', 'length', 'source']
    """
    return column_names(_read(formula)[1])


def evaluate_formula(formula: str, table: pd.DataFrame) -> tuple[dict[str, Any], Any]:
    """Return the columns and the groupings of a formula: of the very tree that was checked.

    Nothing but the columns and the transforms can be named where it is evaluated.

    Parameters
    ----------
    formula : str
    table : DataFrame
        The columns that the formula reads, without gaps.

    Raises
    ------
    ModelError
        If a term cannot be evaluated, or has too many columns.

    Returns
    -------
    columns : dict of str to Series
    groupings : formulae.matrices.GroupEffectsMatrix or None
    """
    from formulae.environment import Environment
    from formulae.matrices import DesignMatrices

    model = _model(formula)
    _require_size(model, table, formula)
    try:
        # formulae prints what it raises.
        with np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
            found = DesignMatrices(model, table, Environment([dict(TRANSFORMS)]))
            common = found.common
            columns = {} if common is None else dict(common.as_dataframe())
            return {str(name): column for name, column in columns.items()}, found.group
    except Exception as error:  # formulae raises whatever its terms do
        raise ModelError(
            f"formula={cut(formula)} cannot be evaluated: {error}", code="formula-data"
        ) from None


def _read(text: object) -> tuple[str, Any]:
    """Return a formula without its tilde, and its tree, both held against the list."""
    if not isinstance(text, str):
        raise ModelError(
            f"formula={written(text)}; write it as text, e.g. '~ language + length'",
            code="formula-syntax",
        )
    try:
        found = read_tree(text)
    except RefusedError as error:
        raise ModelError(
            f"formula={cut(text)} cannot be used: {error}", code=error.code, numbers=error.numbers
        ) from None
    _model_of(found[1], text)
    return found


def _model(text: str) -> Any:
    return _model_of(_read(text)[1], text)


def _model_of(tree: Any, text: str) -> Any:
    """Return what formulae makes of a tree: its terms, nothing evaluated."""
    from formulae.resolver import Resolver
    from formulae.terms import Model

    try:
        found = Resolver(tree).resolve()
        return found if isinstance(found, Model) else Model(found)
    except Exception as error:  # formulae raises whatever its terms do
        raise ModelError(
            f"formula={cut(text)} cannot be read: {error}; write e.g. '~ language + length'",
            code="formula-syntax",
        ) from None


def _require_size(model: Any, table: pd.DataFrame, formula: str) -> None:
    """Refuse terms whose columns would not fit into memory."""
    classes = {str(name): column.nunique() for name, column in table.items()}
    numbers = {n for n in classes if pd.api.types.is_numeric_dtype(table[n])}
    for term in model.terms:
        grouped = term in model.group_terms
        names = set(map(str, getattr(term, "var_names", ()))) & set(classes)
        counts = [float(classes[n]) for n in names if grouped or n not in numbers]
        columns = min(float(np.prod(counts)), 1e15)
        if columns * len(table) > MAX_CELLS:
            raise ModelError(
                f"formula={cut(formula)}: the term {term.name} has up to {columns:,.0f} columns "
                f"for {len(table):,} items, which is too many; join rare classes, or leave it out",
                code="formula-data",
                numbers={"columns": columns, "items": len(table)},
            )

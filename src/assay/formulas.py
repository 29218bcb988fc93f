"""What a formula of covariates may say: columns, arithmetic, and transforms by name."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.errors import ModelError, suggest

TRANSFORMS: Mapping[str, Any] = {
    "abs": np.abs, "exp": np.exp, "log": np.log, "log10": np.log10, "log1p": np.log1p,
    "log2": np.log2, "sqrt": np.sqrt,
}  # fmt: skip
OWN_TRANSFORMS = ("C", "I", "S", "T", "bs", "center", "poly", "scale", "standardize")
"""Those that formulae brings."""
QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")
CALL = re.compile(r"([A-Za-z_][\w.]*)\s*\(")
ATTRIBUTE = re.compile(r"([A-Za-z_]\w*|\))\s*\.")


def check_formula(text: object) -> str:
    """Return a formula as it is written, with its tilde.

    Only columns, arithmetic and known transforms are let through: a formula stands in every fit,
    and what is read from a file must not run code.

    Raises
    ------
    ModelError
        If it is not a formula, has a left side, or calls what is not in the list.

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
    written, described = _read(formula)
    # A number among the arguments of a transform counts as a name without letters.
    found = [str(name) for name in described.var_names if name]
    return sorted(found, key=lambda name: (written.find(name), name))


def _read(text: object) -> tuple[str, Any]:
    """Return a formula without its tilde, and what formulae makes of it."""
    if not isinstance(text, str):
        raise ModelError(f"formula={text!r}; write it as text, e.g. '~ language + length'")
    left, _, right = text.rpartition("~")
    if left.strip():
        raise ModelError(
            f"formula={text!r} has a left side; the labels are what it explains: "
            f"write '~ {right.strip()}'"
        )
    written = re.sub(r"\bnp\.(?=\w+\s*\()", "", right.strip())
    bare = QUOTED.sub("``", written)
    allowed = sorted([*TRANSFORMS, *OWN_TRANSFORMS])
    for name in CALL.findall(bare):
        if name not in allowed:
            raise ModelError(f"formula={text!r} calls {name!r}; {suggest(name, allowed)}")
    if ATTRIBUTE.search(bare) or "{" in bare:
        raise ModelError(
            f"formula={text!r}: columns whose names hold more than letters, digits and _ stand "
            "between backticks, as in '~ `answer length`'; braces are written I(...)"
        )
    return written, _described(written, text)


def _described(written: str, text: str) -> Any:
    from formulae import model_description
    from formulae.parser import ParseError
    from formulae.scanner import ScanError

    try:
        return model_description(written)
    except (ParseError, ScanError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"formula={text!r} cannot be read: {error}; write e.g. '~ language + length'"
        ) from None

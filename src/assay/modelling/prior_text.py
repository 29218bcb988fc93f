"""The notation of priors: a name and numbers, ``Normal(0, sigma=1)``, read and written."""

import ast
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from assay._util.errors import ModelError
from assay._util.validation import cut
from assay.modelling.elicitation import EXAMPLE

MAX_CHARACTERS = 1_000
MAX_COUNTS = 1_000_000
"""Characters of ``Counts(...)``, which may have a table for each rater."""


def read_call(text: str, where: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Read a name with its positional and named arguments.

    Parameters
    ----------
    text : str
    where : str
        What the error begins with.

    Raises
    ------
    ModelError
        If the text is no such call, or an argument is no literal.

    Examples
    --------
    >>> read_call("Normal(1, sigma=2)", "prior")
    ('Normal', [1], {'sigma': 2})
    """
    _require_short(text, where)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's, of what it can still read
            call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        positional = [ast.literal_eval(arg) for arg in call.args]
        named = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise ModelError(
            f"{where}: {cut(text)} is no prior; write a distribution with numbers, e.g. "
            f"'Normal(0, 1)', or an opinion on an accuracy, e.g. {EXAMPLE!r}",
            code="prior-syntax",
        ) from None
    return call.func.id, positional, named


def _require_short(text: str, where: str) -> None:
    """Refuse texts that Python's parser would choke on; tables of counts may be long."""
    most = MAX_COUNTS if text.lstrip().startswith("Counts") else MAX_CHARACTERS
    if len(text) > most:
        raise ModelError(
            f"{where}: {cut(text)} has {len(text):,} characters; at most {most:,} are allowed",
            code="prior-syntax",
            numbers={"characters": len(text), "most": most},
        )


def read_counts(value: Any, where: str) -> Any:
    """Read prior counts: as nested tuples, or a mapping from labels to them.

    Raises
    ------
    ModelError
        If they are no square tables of positive numbers.

    Examples
    --------
    >>> read_counts([[8, 2], [1, 9]], "prior")
    ((8.0, 2.0), (1.0, 9.0))
    """
    if isinstance(value, Mapping):
        nested = next((k for k, v in value.items() if isinstance(v, Mapping)), None)
        if nested is not None:
            raise ModelError(
                f"{where}, label {cut(str(nested))}: counts by label stand one deep",
                code="prior-counts",
            )
        return {str(k): read_counts(v, f"{where}, label {str(k)[:60]}") for k, v in value.items()}
    try:
        counts = np.asarray(value, float)
    except (TypeError, ValueError, OverflowError, RecursionError):
        counts = np.zeros(0)
    if counts.ndim not in (2, 3) or counts.shape[-1] != counts.shape[-2] or counts.shape[-1] < 2:
        raise ModelError(
            f"{where}: counts are a square table (true class, reported class), e.g. "
            "[[8, 2], [1, 9]], or one such table for each rater",
            code="prior-counts",
        )
    if not (np.isfinite(counts) & (counts > 0)).all():
        raise ModelError(
            f"{where}: counts must be positive; write 0.1 for what hardly ever happens",
            code="prior-counts",
        )
    return _frozen(counts.tolist())


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


def written(value: Any) -> str:
    """Write numbers, exactly and as short as can be.

    Examples
    --------
    >>> written(0.1), written([[8, 2.0], [1, 9]]), written({"a": 1})
    ('0.1', '[[8, 2], [1, 9]]', "{'a': 1}")
    """
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{k!r}: {written(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple | np.ndarray) and np.ndim(value):
        return f"[{', '.join(written(v) for v in value)}]"
    return repr(float(value)).removesuffix(".0")

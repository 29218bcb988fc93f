"""Example ratings: small ones in the package, larger public ones fetched once and cached.

``catalogue.toml`` has the source and the licence of each.
"""

import json
import logging
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from os import environ
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import pandas as pd

from assay._util.errors import FitError, UnknownNameError
from assay._util.validation import written
from assay.data.ratings import Ratings, Simulated
from assay.data.task_files import task_from_json
from assay.io.examples.shaping import SHAPES
from assay.io.reader import read_ratings

TRUE = "true_"
"""Prefix of columns that hold the truth of a simulated table."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """An entry of ``catalogue.toml``.

    files : SHA-256 by URL; empty if the table is in the package
    folder : folder of the cache, if another example has the same files
    """

    name: str
    shows: str
    source: str
    licence: str
    files: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    read: Mapping[str, Any] = field(default_factory=dict)
    task: Mapping[str, Any] = field(default_factory=dict)


@overload
def load_example(name: None = None) -> pd.DataFrame: ...


@overload
def load_example(name: str, *, table: Literal[False] = False) -> Ratings: ...


@overload
def load_example(name: str, *, table: Literal[True]) -> pd.DataFrame: ...


def load_example(name: str | None = None, *, table: bool = False) -> Ratings | pd.DataFrame:
    """Load example ratings by name; without a name, list the examples.

    Parameters
    ----------
    name : str, optional
        ``anesthesia``, ``caries``, ``protocol_study``, ``rater_audit`` or ``judge_study`` are in
        the package. All others, such as ``xstest`` and ``convabuse``, are fetched from their
        authors when they are first used, checked by their hash, and cached. These need the extra
        ``assay[examples]``.
    table : bool
        Return the table from which the ratings are read.

    Returns
    -------
    Ratings or pandas.DataFrame
        The ratings; or the table; or, without a name, a line for each example: ``shows``,
        ``source``, ``licence``, ``bundled``. Simulated ratings have their truth in
        ``ratings.simulated.truth`` (item, label), which fits ignore.

    Raises
    ------
    UnknownNameError
        If no example has the name; the message lists them.
    FitError
        If pooch is not installed, or a file cannot be fetched or has another hash.

    Notes
    -----
    The environment variable ``ASSAY_CACHE`` names another folder for fetched files, such as one
    that was filled on a machine with a network.

    Examples
    --------
    >>> load_example("anesthesia")
    <assay.Ratings of task single: 315 ratings, 45 items, 5 raters>
    >>> load_example("rater_audit", table=True).columns.tolist()
    ['item', 'rater', 'helpful', 'seconds']
    >>> load_example()["licence"]["judge_study"]
    'Apache-2.0'
    """
    if name is None:
        return _overview()
    example = _example(name)
    whole = _table(example)
    shown = whole[[column for column in whole if not str(column).startswith(TRUE)]]
    if table:
        return shown
    arguments = dict(example.read)
    if example.task:
        arguments["task"] = task_from_json(json.dumps(example.task))
    ratings = read_ratings(shown, **arguments)
    accounting = replace(ratings.accounting, source=f"the example {name}: {example.source}")
    ratings = replace(ratings, accounting=accounting)
    return ratings if len(shown.columns) == len(whole.columns) else _with_truth(ratings, whole)


@cache
def _catalogue() -> dict[str, Example]:
    text = (files("assay.io.examples") / "catalogue.toml").read_text(encoding="utf-8")
    return {name: Example(name=name, **entry) for name, entry in tomllib.loads(text).items()}


def _overview() -> pd.DataFrame:
    lines = {
        name: {
            "shows": example.shows,
            "source": example.source,
            "licence": example.licence,
            "bundled": not example.files,
        }
        for name, example in _catalogue().items()
    }
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis("name")


def _example(name: object) -> Example:
    known = _catalogue()
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(
            f"no example is called {written(name)}; there are {', '.join(known)}. "
            "`assay.load_example()` says what each shows",
            code="unknown-example",
        )
    return known[name]


def _table(example: Example) -> pd.DataFrame:
    if example.name in SHAPES:
        return SHAPES[example.name](*fetch(example.folder or example.name, example.files))
    with (files("assay.io.examples") / "tables" / f"{example.name}.csv").open("rb") as stream:
        return pd.read_csv(stream, dtype=str)


def _with_truth(ratings: Ratings, whole: pd.DataFrame) -> Ratings:
    """Add the truth of a simulated table, a line for each rating."""
    first = np.unique(ratings.item, return_index=True)[1]
    lines = whole.iloc[first]
    columns = [
        pd.Index(label.classes).get_indexer(pd.Index(lines[TRUE + label.name]))
        for label in ratings.task.labels
    ]
    truth = np.stack(columns, axis=1).astype(np.int16)
    return replace(ratings, simulated=Simulated(truth=truth, values={}))


CACHE = "ASSAY_CACHE"


def fetch(example: str, files: Mapping[str, str]) -> list[Path]:
    """Return the paths of an example's files; fetch those that the cache lacks.

    ``files`` has the SHA-256 of each URL. A file is ``<cache>/<example>/<its own name>``.
    """
    if not files:
        return []
    try:
        with warnings.catch_warnings():  # of progress bars in notebooks
            warnings.simplefilter("ignore")
            import pooch
    except ImportError:
        raise FitError(
            f"the example {example} is fetched by the extra: pip install 'assay[examples]'",
            code="extra-not-installed",
        ) from None
    folder = Path(environ.get(CACHE) or pooch.os_cache("assay")) / example
    level = pooch.get_logger().level
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        return [
            Path(pooch.retrieve(url, known_hash=digest, fname=url.split("/")[-1], path=folder))
            for url, digest in files.items()
        ]
    except Exception as error:  # of the network, of the disk, or another hash
        shown = "\n".join(f"  {url}" for url in files)
        raise FitError(
            f"the example {example} cannot be fetched ({type(error).__name__}: {error}). "
            f"Put its files into {folder} yourself:\n{shown}",
            code="example-not-fetched",
        ) from error
    finally:
        pooch.get_logger().setLevel(level)

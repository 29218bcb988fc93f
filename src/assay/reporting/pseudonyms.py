"""Pseudonyms of raters: they replace the names in a fit, and a key file holds both."""

import json
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from assay._util.errors import ArgumentError
from assay._util.files import able_to, draft
from assay.fits.view import Fit, FitView

COLUMNS = ("pseudonym", "rater")
SAID = ("accounting", "assumptions", "warnings", "modes", "command")
"""Attributes of a fit that may name raters in sentences."""


def with_pseudonyms(fit: Fit, key: Path) -> FitView:
    """Return a copy of a fit in which raters have pseudonyms, with random numbers, in data and
    notes. The CSV file ``key`` is made, or completed if names are missing.
    """
    tree = FitView.of(fit).tree
    names = [str(name) for name in tree["constant_data"]["rater"].to_numpy()]
    known = _completed(_read(key), names, key)
    found = renamed(tree, known)
    found.attrs = {name: _told(str(name), text, known) for name, text in tree.attrs.items()}
    return FitView(found)


def renamed(tree: xr.DataTree, known: Mapping[str, str]) -> xr.DataTree:
    """Return a copy of a fit in which raters have other names, ``known`` by their own."""
    names = set(map(str, tree["constant_data"]["rater"].to_numpy()))
    found = tree.copy()
    for path in found.groups:
        node = found[path]
        assert isinstance(node, xr.DataTree)
        data = node.to_dataset(inherit=False)
        coords = {
            name: (c.dims, [known.get(str(x), str(x)) for x in c.to_numpy()])
            for name, c in data.coords.items()
            if str(name).startswith("rater") and set(map(str, c.to_numpy())) <= names
        }
        if coords:
            node.dataset = data.assign_coords(coords)
    return found


def _read(key: Path) -> dict[str, str]:
    """Return the pseudonym of each rater in a key file."""
    if not key.exists():
        return {}
    try:
        table = pd.read_csv(key, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise ArgumentError(f"cannot read the key file {key}: {error}", code="key-file") from None
    repeated = set(COLUMNS) <= set(table) and (
        table["pseudonym"].duplicated().any() or table["rater"].duplicated().any()
    )
    if not set(COLUMNS) <= set(table) or repeated:
        raise ArgumentError(
            f"the file {key} is not a key file: it needs the columns `pseudonym` and "
            "`rater`, and each name only once",
            code="key-file",
        )
    return dict(zip(table["rater"], table["pseudonym"], strict=True))


def _completed(known: dict[str, str], names: list[str], key: Path) -> dict[str, str]:
    """Add pseudonyms for raters without one, and write the key."""
    missing = [name for name in names if name not in known]
    if not missing:
        return known
    width = max(2, len(str(len(known) + len(missing))))
    taken = set(known.values()) | set(names)
    every = (f"R{n:0{width}d}" for n in range(1, len(taken) + len(missing) + 1))
    free = [name for name in every if name not in taken][: len(missing)]
    secrets.SystemRandom().shuffle(free)
    known = known | dict(zip(missing, free, strict=True))
    lines = sorted((pseudonym, name) for name, pseudonym in known.items())
    with able_to(f"write {key}"), draft(key) as unfinished:
        pd.DataFrame(lines, columns=list(COLUMNS)).to_csv(unfinished, index=False)
    return known


def _told(name: str, text: Any, known: Mapping[str, str]) -> Any:
    """Replace names in the sentences of an attribute, except names that are numbers."""
    if name not in SAID or not isinstance(text, str):
        return text
    words = sorted((w for w in known if not re.fullmatch(r"[\d.]+", w)), key=len, reverse=True)
    if not words:
        return text
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)")

    def replaced(value: Any) -> Any:
        match value:
            case str():
                return pattern.sub(lambda m: known[m[0]], value)
            case list():
                return [replaced(one) for one in value]
            case dict():
                return {one: replaced(other) for one, other in value.items()}
        return value

    if name == "command":
        return replaced(text)
    return json.dumps(replaced(json.loads(text)))

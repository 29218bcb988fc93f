"""Rater families: a file each, found by name; default priors in ``models/raters/*.toml``."""

import tomllib
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from assay.catalogue import catalogue_names, catalogue_path
from assay.errors import UnknownNameError, suggest
from assay.families.family import Family, Raters
from assay.priors import Prior, parse_prior

__all__ = ["Family", "Raters", "default_priors", "family_class"]


def family_entry(name: str) -> dict[str, Any]:
    """Read the catalogue entry of a family.

    Raises
    ------
    UnknownNameError
        If there is no such family.
    """
    names = catalogue_names("raters")
    if name not in names:
        raise UnknownNameError(f"no rater family is called {name!r}; {suggest(name, names)}")
    return tomllib.loads(catalogue_path("raters", f"{name}.toml").read_text(encoding="utf-8"))


def family_class(name: str) -> type[Family]:
    """Find the class of a family by its name.

    Examples
    --------
    >>> family_class("one_coin").__name__
    'OneCoin'
    """
    family_entry(name)
    module = import_module(f"assay.families.{name}")
    found: type[Family] = getattr(module, name.title().replace("_", ""))
    return found


def default_priors(name: str) -> Mapping[str, Prior]:
    """Return the priors of a family as its catalogue entry has them."""
    entry = family_entry(name)
    return {k: parse_prior(v, where=f"{name}.{k}") for k, v in entry["priors"].items()}

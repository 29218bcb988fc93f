"""Prevalences: a file each, found by name; default priors in ``models/prevalence/*.toml``."""

import tomllib
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from assay.catalogue import catalogue_names, catalogue_path
from assay.errors import UnknownNameError, suggest
from assay.prevalence.base import Prevalence
from assay.prevalence.design import Design, build_design
from assay.priors import Prior, parse_prior

__all__ = ["Design", "Prevalence", "build_design", "default_priors", "prevalence_class"]


def prevalence_entry(name: str) -> dict[str, Any]:
    """Read the catalogue entry of a prevalence.

    Raises
    ------
    UnknownNameError
        If there is no such prevalence.
    """
    names = catalogue_names("prevalence")
    if name not in names:
        raise UnknownNameError(f"no prevalence is called {name!r}; {suggest(name, names)}")
    return tomllib.loads(catalogue_path("prevalence", f"{name}.toml").read_text(encoding="utf-8"))


def prevalence_class(name: str) -> type[Prevalence]:
    """Find the class of a prevalence by its name.

    Raises
    ------
    UnknownNameError
        If there is no such prevalence.

    Examples
    --------
    >>> prevalence_class("loglinear").__name__
    'Loglinear'
    """
    prevalence_entry(name)
    module = import_module(f"assay.prevalence.{name}")
    found: type[Prevalence] = getattr(module, name.title())
    return found


def default_priors(name: str) -> Mapping[str, Prior]:
    """Return the priors of a prevalence as its catalogue entry has them."""
    entry = prevalence_entry(name)
    return {k: parse_prior(v, where=f"{name}.{k}") for k, v in entry["priors"].items()}

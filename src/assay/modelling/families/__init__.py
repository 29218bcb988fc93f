"""Rater families, one per file, found by name; default priors in ``models/raters/*.toml``."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from assay._util.errors import UnknownNameError
from assay.data.task_files import catalogue_entry
from assay.modelling.families.family import Family, Raters, WholeFamily
from assay.modelling.priors import Prior, parse_prior

__all__ = ["Family", "Raters", "WholeFamily", "default_priors", "family_class"]


def family_class(name: str) -> type[Any]:
    """Return the class of a family by name; raise UnknownNameError without one."""
    if catalogue_entry("raters", name, called="rater family").get("layer", False):
        raise UnknownNameError(
            f"{name} is a layer and needs a family before it: 'hierarchical + {name}'",
            code="unknown-family",
        )
    module = import_module(f"assay.modelling.families.{name}")
    found: type[Any] = getattr(module, name.title().replace("_", ""))
    return found


def default_priors(name: str) -> Mapping[str, Prior]:
    """Return the priors of a family from its catalogue entry."""
    entry = catalogue_entry("raters", name, called="rater family")
    return {k: parse_prior(v, where=f"{name}.{k}") for k, v in entry["priors"].items()}

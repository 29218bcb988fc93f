"""Prevalence models, a file each, found by name; default priors in ``models/prevalence``."""

from collections.abc import Mapping
from importlib import import_module

from assay.data.task_files import catalogue_entry
from assay.modelling.prevalence.base import Prevalence
from assay.modelling.prevalence.design import Covariates, PrevalenceDesign, build_design
from assay.modelling.priors import Prior, parse_prior

__all__ = [
    "Covariates", "Prevalence", "PrevalenceDesign", "build_design", "default_priors",
    "prevalence_class",
]  # fmt: skip


def prevalence_class(name: str) -> type[Prevalence]:
    """Return the class of a prevalence model by name; raise UnknownNameError without one."""
    catalogue_entry("prevalence", name, called="prevalence")
    module = import_module(f"assay.modelling.prevalence.{name}")
    found: type[Prevalence] = getattr(module, name.title())
    return found


def default_priors(name: str) -> Mapping[str, Prior]:
    """Return the priors of a prevalence model from its catalogue entry."""
    entry = catalogue_entry("prevalence", name, called="prevalence")
    return {k: parse_prior(v, where=f"{name}.{k}") for k, v in entry["priors"].items()}

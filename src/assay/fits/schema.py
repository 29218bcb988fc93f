"""The schema of a stored fit: groups, dims, types, ranges and attributes. All is checked once, when
the file is read: functions rely on codes being valid positions.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import AssayError, FitError
from assay._util.text import counted
from assay._util.typing import Floats
from assay._util.validation import (
    cut,
    is_number,
)
from assay.data.ratings import (
    PARTIAL,
    RESOLVE,
    SOME_WRONG,
)
from assay.data.states import state_space
from assay.data.task import Task
from assay.data.task_files import task_from_json
from assay.fits.datatree import SCHEMA_VERSION, accounting_of, group, require_fit
from assay.fits.view import FitView
from assay.modelling.spec import make_spec

Method = Literal["nuts", "laplace", "map", "em"]
METHODS = ("nuts", "laplace", "map", "em")


SHOWN_PROBLEMS = 5
CLOSE = 1e-6
"""Largest deviation of a sum of probabilities from one."""
Dims = tuple[str, ...]
RATING, ITEM, PLACE = ("rating",), ("item",), ("place",)
DRAWS = ("chain", "draw")
CONSTANT: Mapping[str, tuple[Dims, str]] = {
    "rating_item": (RATING, "item"), "rating_rater": (RATING, "rater"),
    "rating_replicate": (RATING, "count"), "rating_abstained": (RATING, "flag"),
    "item": (ITEM, "text"), "item_cluster": (ITEM, "text"), "item_stratum": (ITEM, "text"),
    "item_weight": (ITEM, "weight"), "rater": (("rater",), "text"),
    "rater_group": (("rater",), "text"), "truth": (("item", "label"), "codes"),
    "place_panel": (PLACE, "text"), "place_system": (PLACE, "text"),
    "place_cluster": (PLACE, "text"), "place_rank": (PLACE, "rank"), "place_item": (PLACE, "item"),
    "states": (("state", "label"), "codes"),
}  # fmt: skip
OPTIONAL: Mapping[str, tuple[Dims, str]] = {
    "rating_score": (("rating", "label"), "score"), "rating_session": (RATING, "session"),
    "session": (("session",), "text"), "rating_audit": (("rating", "label"), "audit"),
    "rating_seconds": (RATING, "number"), "design": (("item", "design_column"), "finite"),
}  # fmt: skip
"""Variables of ``constant_data`` that may be missing; others are covariates, or are not read."""
COLUMNS = ("item_covariate_", "item_key_")
"""Starts of the names of variables of ``constant_data`` that are columns of the items."""
OTHERS: Mapping[str, Mapping[str, tuple[Dims, str]]] = {
    "observed_data": {"answers": (("rating", "label"), "codes")},
    "labels": {
        "state": ((*DRAWS, "item"), "state"),
        "state_probability": (("item", "state_name"), "shares"),
    },
}
LEAN: tuple[Dims, str] = ((*DRAWS, "lean"), "finite")
"""The raters' lean in ``labels``, which fits without it lack."""
LISTS = ("warnings", "assumptions", "asides", "modes")
TABLES = ("effort", "versions", "diagnostics")
LATER = ("asides", "modes")
"""Attributes that earlier versions did not write."""
SET_ASIDE = {"line", "item", "rater", "reason", "detail"}


def require_schema(fit: xr.DataTree) -> None:
    """Raise :class:`FitError` unless a tree is a fit that all functions can rely on."""
    require_fit(fit)
    require_version(fit)
    problems: list[str] = []
    task = _attributes(fit, problems)
    if task is not None and not problems:
        _variables(fit, task, problems)
    if not problems:
        _try("the formula's columns", lambda: _design(fit), problems)
    if problems:
        more = len(problems) - SHOWN_PROBLEMS
        shown = "; ".join(problems[:SHOWN_PROBLEMS]) + (f"; {more} more" if more > 0 else "")
        count = counted(len(problems), "problem")
        raise FitError(
            f"it is damaged or was changed ({count}): {shown}",
            code="damaged-fit",
            numbers={"problems": len(problems)},
        )


def require_version(fit: xr.DataTree) -> None:
    """Refuse a fit of a later schema."""
    version = fit.attrs.get("schema_version", 1)
    if not isinstance(version, int | np.integer) or not 1 <= version <= SCHEMA_VERSION:
        raise FitError(
            f"its schema version is {str(version)[:20]}, and this version of assay reads 1 to "
            f"{SCHEMA_VERSION}; install a later one (pip install --upgrade assay)",
            code="other-version",
            numbers={"newest": SCHEMA_VERSION},
        )


def _try(what: str, function: Callable[[], Any], problems: list[str]) -> Any:
    """Return what a function returns; its exception becomes a problem."""
    try:
        return function()
    except AssayError as error:
        problems.append(f"{what}: {str(error).splitlines()[-1].strip(' -')}")
    except Exception as error:  # damaged data may raise any error
        problems.append(f"{what}: {type(error).__name__} {cut(str(error))}")
    return None


def _attributes(fit: xr.DataTree, problems: list[str]) -> Task | None:
    """Check the attributes, and return the task."""
    attrs = fit.attrs
    texts = ("task", "spec", "reference", "method", "partial", "resolve", "accounting")
    needed = [*texts, *(n for n in (*LISTS, *TABLES) if n not in LATER)]
    for name in needed:
        if name not in attrs:
            problems.append(f"attribute {name} is missing")
    for name in (n for n in (*needed, *LATER) if n in attrs):
        if not isinstance(attrs[name], str):
            problems.append(f"attribute {name} is no text")
    if not isinstance(attrs.get("seed"), int | np.integer):
        problems.append("attribute seed is no whole number")
    if problems:
        return None
    for name, allowed in (("method", METHODS), ("partial", PARTIAL), ("resolve", RESOLVE)):
        if attrs[name] not in allowed:
            problems.append(f"attribute {name} is {cut(attrs[name])}")
    for name in (n for n in LISTS if n in attrs):
        found = _try(f"attribute {name}", partial(json.loads, attrs[name]), problems)
        one = _is_note if name == "warnings" else _is_sentence
        if not isinstance(found, list) or not all(map(one, found)):
            problems.append(f"attribute {name} is no list of sentences")
    for name in TABLES:
        found = _try(f"attribute {name}", partial(json.loads, attrs[name]), problems)
        if not isinstance(found, dict):
            problems.append(f"attribute {name} is no table")
    _try("attribute accounting", lambda: _accounting(attrs["accounting"]), problems)
    _try("attribute spec", lambda: _spec(attrs["spec"]), problems)
    task = _try("attribute task", lambda: task_from_json(attrs["task"]), problems)
    return task if isinstance(task, Task) else None


def _is_sentence(told: object) -> bool:
    return isinstance(told, str)


def _is_note(told: object) -> bool:
    """Return whether something is a stored note; earlier versions stored only its sentence."""
    if not isinstance(told, dict):
        return _is_sentence(told)
    texts = [told.get(key) for key in ("code", "level", "text")]
    numbers = told.get("numbers")
    return (
        all(map(_is_sentence, texts))
        and isinstance(numbers, dict)
        and all(map(is_number, numbers.values()))
    )


def _accounting(text: str) -> None:
    found = accounting_of(text)
    if not all(isinstance(n, int) and n >= 0 for n in (found.rows_read, found.rows_used)):
        raise FitError("its numbers of rows are no counts", code="damaged-fit")
    if not set(found.set_aside.columns) >= SET_ASIDE:
        raise FitError("its table of rows set aside lacks columns", code="damaged-fit")
    if not all(isinstance(text, str) for text in (*found.notes, found.source, found.sha256)):
        raise FitError("its notes are no sentences", code="damaged-fit")


def _spec(text: str) -> None:
    from assay.modelling.priors import parse_prior

    spec = make_spec(**json.loads(text))
    for name, prior in spec.priors.items():
        parse_prior(prior, where=f"prior {name}")


def _design(fit: xr.DataTree) -> None:
    if fit.attrs.get("schema_version", 1) == 1:
        return  # reported when it is requested
    covariates = FitView.of(fit).covariates
    if covariates is None:
        return
    items = group(fit, "constant_data").sizes["item"]
    if covariates.values.shape != (items, len(covariates.names)):
        raise FitError(
            "there are not as many as there are names, or not one for each item", code="damaged-fit"
        )
    for name, (levels, codes) in covariates.groupings.items():
        if codes.shape != (items,) or not _within(codes, 0, len(levels)):
            raise FitError(f"codes of {name} are out of range", code="damaged-fit")


def _variables(fit: xr.DataTree, task: Task, problems: list[str]) -> None:
    """Check dims, types and ranges of all variables that are read."""
    space = _try("attribute task", lambda: state_space(task), problems)
    if space is None:
        return
    constant = group(fit, "constant_data")
    sizes: dict[str, int] = {"label": len(task.labels), "state": len(space.states)}
    sizes["state_name"] = sizes["state"]
    sizes |= {dim: int(constant.sizes.get(dim, 0)) for dim in ("rating", "item", "rater", "place")}
    sizes["session"] = int(constant.sizes.get("session", 0))
    sizes |= {dim: int(group(fit, "posterior").sizes.get(dim, 0)) for dim in DRAWS}
    known = {name: wanted for name, wanted in OPTIONAL.items() if name in constant}
    checker = _Checker(task, sizes, problems)
    checker.check(constant, "constant_data", {**CONSTANT, **known})
    for name, wanted in OTHERS.items():
        checker.check(group(fit, name), name, wanted)
    if "pool_lean" in group(fit, "labels"):
        checker.check(group(fit, "labels"), "labels", {"pool_lean": LEAN})
    if problems:
        return
    if not np.array_equal(constant["states"].to_numpy(), space.states):
        problems.append("the states are not those of the task")
    for name in ("item", "rater"):
        if len(set(constant[name].to_numpy().tolist())) < sizes[name]:
            problems.append(f"two {name}s have one name")
    for name in (str(n) for n in constant.data_vars if str(n).startswith(COLUMNS)):
        column = constant[name]
        if column.dims != ITEM or not isinstance(column.attrs.get("column"), str):
            problems.append(f"{name} is no column of the items")
    _draws(fit, sizes, problems)


def _draws(fit: xr.DataTree, sizes: Mapping[str, int], problems: list[str]) -> None:
    """Check the drawn groups: parameters, statistics of the sampler, log-likelihood."""
    for name in ("posterior", "sample_stats", "log_likelihood"):
        if name not in fit.children:
            problems.append(f"group {name} is missing")
            continue
        for variable, array in group(fit, name).data_vars.items():
            where = f"{name}/{variable}"
            if array.dims[:2] != DRAWS or array.shape[:2] != (sizes["chain"], sizes["draw"]):
                problems.append(f"{where} is not by chain and draw")
            elif array.dtype.kind not in "fiub":
                problems.append(f"{where} holds no numbers")
            elif name == "posterior" and np.isnan(array.to_numpy().astype(float)).any():
                problems.append(f"{where} has values that are no numbers")


def _within(values: NDArray[Any], least: int, end: int) -> bool:
    return bool(values.size == 0 or (values.min() >= least and values.max() < end))


class _Checker:
    """Checks the variables of a group."""

    def __init__(self, task: Task, sizes: Mapping[str, int], problems: list[str]) -> None:
        self.sizes, self.problems = sizes, problems
        self.classes = np.array([len(label.classes) for label in task.labels])

    def check(self, data: xr.Dataset, where: str, wanted: Mapping[str, tuple[Dims, str]]) -> None:
        """Add a problem for each variable that does not match the schema."""
        for name, (dims, kind) in wanted.items():
            if name not in data:
                self.problems.append(f"{where}/{name} is missing")
                continue
            array = data[name]
            shape = tuple(self.sizes.get(dim, array.sizes.get(dim, -1)) for dim in dims)
            if array.dims != dims or array.shape != shape:
                self.problems.append(f"{where}/{name} has other dims than {', '.join(dims)}")
            elif array.variable._in_memory and not self._suits(array.to_numpy(), kind):
                self.problems.append(f"{where}/{name} is out of range, or of another type")

    def _suits(self, values: NDArray[Any], kind: str) -> bool:
        """Return whether values are of a kind."""
        if kind == "text":
            return values.dtype.kind in "UT" or all(isinstance(v, str) for v in values.flat)
        if kind == "flag":
            return values.dtype.kind in "biu" and _within(values.astype(int), 0, 2)
        if kind in {"weight", "score", "number", "finite", "shares"}:
            return values.dtype.kind in "fiu" and self._number(values.astype(float), kind)
        if values.dtype.kind not in "iu":
            return False
        least, ends = {
            "item": (0, self.sizes["item"]), "rater": (0, self.sizes["rater"]),
            "session": (-1, self.sizes["session"] + 1), "state": (0, self.sizes["state"]),
            "count": (0, np.inf), "rank": (1, np.inf), "audit": (SOME_WRONG, 2),
            "codes": (-2, self.classes),
        }[kind]  # fmt: skip
        return bool(((values >= least) & (values < ends)).all())

    def _number(self, values: Floats, kind: str) -> bool:
        told = values[~np.isnan(values)]
        match kind:
            case "weight":
                return bool((np.isfinite(values) & (values > 0)).all())
            case "finite":
                return bool(np.isfinite(values).all())
            case "score":
                return bool(((told >= 0) & (told <= 1)).all())
            case "number":
                return bool((told >= 0).all())
        sums = values.sum(axis=-1)
        return bool((values >= -CLOSE).all() and (np.abs(sums - 1) < CLOSE).all())

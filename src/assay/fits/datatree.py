"""The fit as a DataTree, and the reconstruction of ratings and model from it."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import FitError
from assay._util.typing import Floats
from assay.data.ratings import (
    ITEM_COLUMNS,
    NOT_AUDITED,
    Accounting,
    LargerUnit,
    Ratings,
    covariate_columns,
)
from assay.data.states import state_space
from assay.data.task_files import task_from_json
from assay.modelling.prevalence import Covariates
from assay.modelling.spec import covariate_names
from assay.modelling.structure import Structure

SCHEMA_VERSION = 3
"""Version of :mod:`assay.fits.schema`. Fits of version 1 lack the attribute, the design matrix of
their formula, and chunks of zeros in Zarr stores.
"""


def ratings_datasets(ratings: Ratings) -> tuple[xr.Dataset, xr.Dataset]:
    """Return ratings as the groups ``observed_data`` and ``constant_data``."""
    space = state_space(ratings.task)
    labels = list(ratings.task.label_names)
    observed = xr.Dataset(
        {"answers": (("rating", "label"), ratings.answers)}, coords={"label": labels}
    )
    places = ratings.panels
    texts = _text_variables(
        {
            "item": ("item", ratings.items.index),
            "rater": ("rater", ratings.raters.index),
            "item_cluster": ("item", ratings.items["cluster"]),
            "item_stratum": ("item", ratings.items["stratum"]),
            "rater_group": ("rater", ratings.raters["group"]),
            "place_panel": ("place", places["panel"]),
            "place_system": ("place", places["system"]),
            "place_cluster": ("place", places["cluster"]),
        }
        | {f"item_key_{n}": ("item", column) for n, (_, column) in enumerate(ratings.keys.items())}
    )
    constant = xr.Dataset(
        {
            "rating_item": ("rating", ratings.item),
            "rating_rater": ("rating", ratings.rater),
            "rating_replicate": ("rating", ratings.replicate),
            "rating_abstained": ("rating", ratings.abstained),
            "item_cluster": texts["item_cluster"],
            "item_stratum": texts["item_stratum"],
            "item_weight": ("item", ratings.items["weight"].to_numpy(float)),
            "rater_group": texts["rater_group"],
            "truth": (("item", "label"), ratings.truth),
            "place_panel": texts["place_panel"],
            "place_system": texts["place_system"],
            "place_cluster": texts["place_cluster"],
            "place_rank": ("place", places["rank"].to_numpy(np.int64)),
            "place_item": ("place", places["item"].to_numpy(np.int64)),
            "states": (("state", "label"), space.states),
        },
        coords={
            "item": texts["item"],
            "rater": texts["rater"],
            "label": labels,
            "state": list(space.state_names),
        },
    )
    found = _optional_variables(ratings)
    for n, name in enumerate(ratings.keys):
        found[f"item_key_{n}"] = texts[f"item_key_{n}"]
        found[f"item_key_{n}"].attrs["column"] = name
    return observed, constant.assign(found)


def _text_variables(columns: Mapping[str, tuple[str, Any]]) -> dict[str, xr.Variable]:
    """Return variables of columns of names. Equal names are one object, to save memory for millions
    of items, and ``fastpath`` keeps xarray from copying them.
    """
    texts = [
        pd.Series(values).astype("str").reset_index(drop=True) for _, values in columns.values()
    ]
    # Equal columns, which are common, are factorised once.
    like = [next(n for n, other in enumerate(texts) if text.equals(other)) for text in texts]
    distinct = sorted(set(like))
    joined = pd.concat([texts[n] for n in distinct], ignore_index=True)
    codes, names = pd.factorize(joined, use_na_sentinel=False)
    held, ends = np.asarray(names, object), np.cumsum([len(texts[n]) for n in distinct])
    parts = dict(zip(distinct, np.split(codes, ends[:-1]), strict=True))
    return {
        name: xr.Variable((dim,), held[parts[n]], fastpath=True)
        for (name, (dim, _)), n in zip(columns.items(), like, strict=True)
    }


def _optional_variables(ratings: Ratings) -> dict[str, Any]:
    """Return scores, sessions, audits, times and covariates, where they are known."""
    found: dict[str, Any] = {}
    if np.isfinite(ratings.scores).any():
        found["rating_score"] = (("rating", "label"), ratings.scores)
    if ratings.sessions:
        codes = pd.Index(ratings.sessions).get_indexer(pd.Index(ratings.session))
        found["rating_session"] = ("rating", codes.astype(np.int64))
        found["session"] = _text(ratings.sessions)
    if (ratings.audit != NOT_AUDITED).any():
        found["rating_audit"] = (("rating", "label"), ratings.audit)
    if np.isfinite(ratings.seconds).any():
        found["rating_seconds"] = ("rating", ratings.seconds)
    for n, name in enumerate(covariate_columns(ratings.items)):
        column = ratings.items[name]
        numeric = pd.api.types.is_numeric_dtype(column)
        values = column.to_numpy(float) if numeric else _text(column)
        found[f"item_covariate_{n}"] = ("item", values, {"column": name})
    return found


def design_variables(covariates: Covariates) -> dict[str, Any]:
    """Return the design matrix of the formula, so that stored formulas are never evaluated."""
    found: dict[str, Any] = {}
    if covariates.names:
        names = {"names": json.dumps(covariates.names)}
        found["design"] = (("item", "design_column"), covariates.values, names)
    for n, (name, (levels, codes)) in enumerate(covariates.groupings.items()):
        about = {"grouping": name, "levels": json.dumps(levels)}
        found[f"design_grouping_{n}"] = ("item", codes, about)
    return found


def covariates_of(fit: xr.DataTree, formula: str | None) -> Covariates | None:
    """Read :func:`design_variables` back; None for a model without a formula."""
    if formula is None:
        return None
    data = group(fit, "constant_data")
    grouped = [str(n) for n in data.data_vars if str(n).startswith("design_grouping_")]
    if "design" not in data and not grouped and covariate_names(formula):
        raise FitError(
            f"this fit has the formula {formula!r} but not its columns, because an earlier version "
            "of assay wrote it. Formulas of stored fits are not evaluated. Fit the ratings again",
            code="formula-not-stored",
        )
    names: list[str] = []
    values = np.zeros((data.sizes["item"], 0))
    if "design" in data:
        names = json.loads(data["design"].attrs["names"])
        values = data["design"].to_numpy()
    return Covariates(
        names=tuple(names),
        values=values,
        groupings={
            data[n].attrs["grouping"]: (
                tuple(json.loads(data[n].attrs["levels"])),
                data[n].to_numpy().astype(np.int64),
            )
            for n in grouped
        },
    )


def _optional_fields(data: xr.Dataset) -> dict[str, Any]:
    """Read :func:`_optional_variables` back, without covariates."""
    names = {"scores": "rating_score", "audit": "rating_audit", "seconds": "rating_seconds"}
    found: dict[str, Any] = {k: np.asarray(data[v].values) for k, v in names.items() if v in data}
    if "rating_session" in data:
        order = [str(name) for name in data["session"].values]
        found["sessions"] = tuple(order)
        found["session"] = _text([*order, ""])[np.asarray(data["rating_session"].values)]
    return found


def _text(values: Any) -> NDArray[np.object_]:
    return np.asarray(pd.Series(values).astype("str"), object)


def accounting_json(accounting: Accounting) -> str:
    """Write an accounting as JSON."""
    return json.dumps(
        {
            "rows_read": accounting.rows_read,
            "rows_used": accounting.rows_used,
            "set_aside": accounting.set_aside.astype(str).to_dict(orient="list"),
            "roles": accounting.roles.astype(str).to_dict(orient="list"),
            "notes": list(accounting.notes),
            "source": accounting.source,
            "sha256": accounting.sha256,
            "larger_units": [asdict(unit) for unit in accounting.larger_units],
        }
    )


def accounting_of(text: str) -> Accounting:
    """Read an accounting from :func:`accounting_json`."""
    data = json.loads(text)
    for key in ("set_aside", "roles"):
        data[key] = pd.DataFrame(data[key], dtype=object)
    units = tuple(LargerUnit(**unit) for unit in data.get("larger_units", ()))
    return Accounting(**{**data, "notes": tuple(data["notes"]), "larger_units": units})


def ratings_of(fit: xr.DataTree) -> Ratings:
    """Rebuild the ratings of a fit."""
    data, answers = group(fit, "constant_data"), group(fit, "observed_data")["answers"].values

    def column(name: str) -> NDArray[Any]:
        return np.asarray(data[name].values)

    def numbered(start: str) -> dict[str, NDArray[Any]]:
        found = (str(name) for name in data.data_vars if str(name).startswith(start))
        return {data[name].attrs["column"]: column(name) for name in found}

    items = pd.DataFrame(
        {k: column(f"item_{k}") for k in ITEM_COLUMNS} | numbered("item_covariate_"),
        index=pd.Index(column("item"), name="item"),
    )
    raters = pd.DataFrame(
        {"group": column("rater_group")}, index=pd.Index(column("rater"), name="rater")
    )
    panels = pd.DataFrame(
        {k: column(f"place_{k}") for k in ("panel", "system", "cluster", "rank", "item")}
    )
    return Ratings(
        task=task_from_json(fit.attrs["task"]),
        answers=np.asarray(answers, np.int16),
        item=column("rating_item"),
        rater=column("rating_rater"),
        replicate=column("rating_replicate"),
        abstained=column("rating_abstained").astype(bool),
        items=items,
        raters=raters,
        truth=column("truth").astype(np.int16),
        panels=panels,
        partial=fit.attrs["partial"],
        resolve=fit.attrs["resolve"],
        accounting=accounting_of(fit.attrs["accounting"]),
        keys=pd.DataFrame(numbered("item_key_"), index=items.index),
        **_optional_fields(data),
    )


def group(fit: xr.DataTree, name: str) -> xr.Dataset:
    """Return one group of a fit as a dataset, without inherited variables."""
    require_fit(fit)
    node = fit[name]
    assert isinstance(node, xr.DataTree)
    return node.to_dataset(inherit=False)


def require_fit(fit: Any) -> None:
    """Raise :class:`FitError` unless the argument is a tree that :func:`assay.fit` made."""
    groups, attributes = ("posterior", "labels", "constant_data", "observed_data"), ("task", "spec")
    if (
        not isinstance(fit, xr.DataTree)
        or any(group not in fit.children for group in groups)
        or any(name not in fit.attrs for name in attributes)
    ):
        raise FitError(
            f"this is not a fit: it needs the groups {', '.join(groups)} and the attributes "
            f"{' and '.join(attributes)}; make one with assay.fit(ratings) or read one with "
            "assay.load('fit.nc')",
            code="not-a-fit",
        )


def posterior_dataset(
    structure: Structure, values: Mapping[str, Floats], chains: int
) -> xr.Dataset:
    """Return parameters (draw, ...) as the group ``posterior``, with what they imply."""
    variables: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    for block in structure.parameters():
        draws = values[block.name].reshape(chains, -1, *block.shape)
        variables[block.name] = (("chain", "draw", *block.dims), draws)
        coords |= {dim: list(block.coords[dim]) for dim in block.dims}
    for name, (dims, found) in structure.derived(values, np).items():
        variables[name] = (("chain", "draw", *dims), found.reshape(chains, -1, *found.shape[1:]))
    systems = structure.prevalence.design.systems
    coords["state"] = list(structure.prevalence.space.state_names)
    if systems:
        coords["system"] = list(systems)
    count = next(iter(values.values())).shape[0] // chains
    coords |= {"chain": np.arange(chains), "draw": np.arange(count)}
    return xr.Dataset(variables, coords=coords)

"""The truth that scores are compared with: its draws, positive classes and gains."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import ArgumentError, ModelError, RatingsError, UnknownNameError, suggest
from assay._util.typing import Bools, Floats
from assay._util.validation import names_given, require_number, written
from assay.data.ratings import Ratings
from assay.data.task import Label
from assay.evaluation.estimands import MIN_CLUSTERS
from assay.fits.labels import label_draws
from assay.fits.view import Fit, FitView

Codes = NDArray[np.int16]
Source = Fit | xr.DataArray | Ratings | pd.Series | Mapping[Any, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Truth:
    """Draws of one label of all items.

    codes : positions in ``classes`` (draw, item); negative if unknown or not applicable
    shape : numbers of chains and of draws per chain
    cluster, stratum : name of each item's (item,), ``""`` without a stratum
    reference : whose truth it is
    fewest : clusters below which no population is estimated
    """

    codes: Codes
    shape: tuple[int, int]
    items: pd.Index
    classes: tuple[str, ...]
    ordered: bool
    cluster: NDArray[np.object_]
    stratum: NDArray[np.object_]
    weight: Floats
    label: str
    reference: str
    ratings: Ratings | None = None
    fewest: int = MIN_CLUSTERS


def read_truth(
    source: Source, *, label: str | None = None, clusters: Mapping[Any, Any] | None = None
) -> Truth:
    """Read the truth of one label from a fit, label draws ([chain,] draw, item[, label]), known
    truth or a class of each item. Clusters default to those of the ratings.
    """
    if label is not None and not isinstance(label, str):
        raise ArgumentError(
            f"`label={written(label)}`; it must be the name of a label", code="argument-names"
        )
    if isinstance(source, Ratings):
        truth = _of_ratings(source, label)
    elif isinstance(source, Fit):
        truth = _of_fit(FitView.of(source), label)
    elif isinstance(source, xr.DataArray):
        truth = _of_draws(source, label)
    elif isinstance(source, pd.Series | Mapping):
        truth = _of_table(pd.Series(source), label)
    else:
        raise ModelError(
            f"a {type(source).__name__} holds no truth; allowed: a fit, label draws, ratings with "
            "known truth, a Series or dictionary from item to class",
            code="argument-type",
        )
    _refuse_repeats(truth.items)
    return truth if clusters is None else _with_clusters(truth, clusters)


def _of_fit(view: FitView, label: str | None) -> Truth:
    ratings = view.ratings
    chosen = ratings.task.labels[_choose(ratings.task.label_names, label)]
    draws = label_draws(view).sel(label=chosen.name).transpose("chain", "draw", "item")
    codes = draws.to_numpy().reshape(-1, draws.sizes["item"])
    shape = (draws.sizes["chain"], draws.sizes["draw"])
    return _with_ratings(ratings, chosen, codes, shape, str(view.attrs["reference"]))


def _of_ratings(ratings: Ratings, label: str | None) -> Truth:
    place = _choose(ratings.task.label_names, label)
    chosen, codes = ratings.task.labels[place], ratings.truth[:, place]
    if (codes < 0).all():
        raise RatingsError(
            f"these ratings have no known truth of {chosen.name!r}; read them with "
            "`truth=`, or fit them and score against the fit",
            code="no-known-truth",
        )
    return _with_ratings(ratings, chosen, codes[None], (1, 1), "known truth")


def _with_ratings(
    ratings: Ratings, label: Label, codes: Codes, shape: tuple[int, int], reference: str
) -> Truth:
    return Truth(
        codes=codes.astype(np.int16),
        shape=shape,
        items=ratings.items.index,
        classes=label.classes,
        ordered=label.ordered,
        cluster=ratings.items["cluster"].to_numpy(object),
        stratum=ratings.items["stratum"].to_numpy(object),
        weight=ratings.items["weight"].to_numpy(float),
        label=label.name,
        reference=reference,
        ratings=ratings,
    )


def _choose(names: Sequence[str], label: str | None) -> int:
    """Return the position of the chosen label."""
    if label is None and len(names) > 1:
        raise ModelError(
            f"which label? name one with `label=`: {', '.join(names)}", code="which-label"
        )
    if label is None:
        return 0
    if label not in names:
        raise UnknownNameError(f"no label {label!r}; {suggest(label, names)}", code="unknown-label")
    return names.index(label)


def _of_draws(draws: xr.DataArray, label: str | None) -> Truth:
    if "label" in draws.dims:
        names = [str(name) for name in draws["label"].to_numpy()]
        place = _choose(names, label)
        draws, label = draws.isel(label=place), names[place]
    if "item" not in draws.dims or set(draws.dims) - {"chain", "draw", "item"}:
        raise ModelError(
            f"draws have the dims {draws.dims}; allowed: item, with chain, draw and label",
            code="draws-dims",
        )
    full = draws.expand_dims([dim for dim in ("chain", "draw") if dim not in draws.dims])
    full = full.transpose("chain", "draw", "item")
    codes: Codes = full.to_numpy().reshape(-1, full.sizes["item"]).astype(np.int16)
    return _plain(
        codes,
        (full.sizes["chain"], full.sizes["draw"]),
        pd.Index([str(name) for name in full["item"].to_numpy()]),
        tuple(str(k) for k in range(max(2, int(codes.max()) + 1))),
        ordered=True,
        label=label or "truth",
        reference=str(draws.attrs.get("reference", "as given")),
    )


def _of_table(table: pd.Series, label: str | None) -> Truth:
    if table.empty or table.isna().all():
        raise RatingsError("the truth is empty; give the class of each item", code="empty-truth")
    categorical = isinstance(table.dtype, pd.CategoricalDtype)
    try:
        values = table.astype("category")
    except TypeError:
        raise RatingsError(
            "the truth of an item must be one class, as a word or a number", code="argument-type"
        ) from None
    codes: Codes = values.cat.codes.to_numpy().astype(np.int16)
    text = not categorical and not pd.api.types.is_numeric_dtype(values.cat.categories.dtype)
    return _plain(
        codes[None],
        (1, 1),
        pd.Index([str(name) for name in table.index]),
        tuple(str(name) for name in values.cat.categories),
        ordered=bool(values.cat.ordered) or not (categorical or text),
        label=label or str(table.name or "truth"),
        reference="known truth",
    )


def _plain(
    codes: Codes,
    shape: tuple[int, int],
    items: pd.Index,
    classes: tuple[str, ...],
    *,
    ordered: bool,
    label: str,
    reference: str,
) -> Truth:
    return Truth(
        codes=codes,
        shape=shape,
        items=items,
        classes=classes,
        ordered=ordered,
        cluster=np.full(len(items), "", object),
        stratum=np.full(len(items), "", object),
        weight=np.ones(len(items)),
        label=label,
        reference=reference,
    )


def _with_clusters(truth: Truth, clusters: Mapping[Any, Any] | pd.Series) -> Truth:
    if not isinstance(clusters, pd.Series | Mapping):
        raise ArgumentError(
            f"`clusters={written(clusters)}`; give a dictionary or a Series from item to cluster",
            code="argument-type",
        )
    named: dict[str, Hashable] = {str(k): v for k, v in clusters.items()}
    missing = [item for item in truth.items if item not in named]
    if missing:
        raise RatingsError(
            f"{len(missing)} items have no cluster, e.g. {missing[0]!r}",
            code="items-without-cluster",
            numbers={"items": len(missing)},
        )
    cluster = np.asarray([str(named[item]) for item in truth.items], object)
    return Truth(**{**vars(truth), "cluster": cluster})


def _refuse_repeats(items: pd.Index) -> None:
    if items.has_duplicates:
        twice = items[items.duplicated()].unique()
        raise RatingsError(
            f"{len(twice)} items occur more than once, e.g. {twice[0]!r}",
            code="repeated-items",
            numbers={"items": len(twice)},
        )


def positive_classes(truth: Truth, positive: str | Sequence[str] | None) -> Bools:
    """Return which classes count as positive, (class,); by default the upper one of two.

    One class of an ordered label stands for itself and all above.
    """
    names = truth.classes
    if positive is None:
        if len(names) != 2:
            raise ModelError(
                f"{truth.label!r} has the classes {', '.join(names)}; say with `positive=` which "
                "of them count as positive",
                code="positive-classes",
                numbers={"classes": len(names)},
            )
        return np.array([False, True])
    wanted = names_given("positive", positive, what="class")
    for name in wanted:
        if name not in names:
            raise UnknownNameError(
                f"no class {name!r}; {suggest(name, names)}", code="unknown-class"
            )
    chosen = np.isin(names, wanted)
    if isinstance(positive, str) and truth.ordered:
        chosen = np.arange(len(names)) >= names.index(positive)
    if chosen.all() or not chosen.any():
        raise ModelError(
            f"`positive={positive!r}` must leave positive and negative classes: {', '.join(names)}",
            code="positive-classes",
        )
    return chosen


def class_gains(truth: Truth, positive: Bools, gains: Mapping[str, float] | None) -> Floats:
    """Return the gain of each class, (class,): those given, else 0, 1, 2, ... or 1 if positive."""
    if gains is None:
        return class_grades(truth, positive)
    if not isinstance(gains, Mapping):
        raise ModelError(
            f"`gains={written(gains)}`; it must be a dictionary from class to gain, e.g. "
            f"{{{truth.classes[-1]!r}: 1}}",
            code="gains-argument",
        )
    for name, gain in gains.items():
        if name not in truth.classes:
            raise UnknownNameError(
                f"no class {name!r}; {suggest(name, truth.classes)}", code="unknown-class"
            )
        require_number(
            f"gains: {name!r}", gain, lambda x: 0 <= x < np.inf, allowed="a number from 0 on"
        )
    return np.array([float(gains.get(name, 0.0)) for name in truth.classes])


def class_grades(truth: Truth, positive: Bools) -> Floats:
    """Return the grade of each class, (class,): 0, 1, 2, ... if ordered, else 1 if positive."""
    return np.asarray(np.arange(len(truth.classes)) if truth.ordered else positive, float)

"""Results as data frames, for the command line and the report."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
import pandas as pd

from assay._util.intervals import require_level
from assay.data.ratings import Ratings
from assay.fits.labels import label_probabilities
from assay.fits.summary import summarize
from assay.fits.view import Fit, FitView
from assay.inference.label_doubts import doubts_by_class, doubts_by_label
from assay.raters.agreements import rater_agreement
from assay.raters.dependence import effective_number_of_raters
from assay.raters.drift import rater_drift, reliability_by_session
from assay.raters.reliability import class_shares, rater_accuracy, rater_reliability

Kind = Literal["recorded", "raw"]


def reliability_frame(fit: Fit, kind: Kind = "recorded", level: float = 0.95) -> pd.DataFrame:
    """Return a line per rater, label, true and reported class: the probability, the rater's raw
    agreement on the label (:func:`assay.rater_agreement`), and a ``doubt``.
    """
    require_level(level)
    view = FitView.of(fit)
    draws = rater_reliability(view, kind=kind)
    lines = summarize(draws, level=level)
    lines = lines[lines["undefined"] < 1].assign(kind=kind)
    doubted, alone = doubts_by_label(view), doubts_by_class(view)
    classes = zip(lines["label"], lines["true_class"], strict=True)
    lines["doubt"] = [doubted.get(pair[0], alone.get(pair, "")) for pair in classes]
    front = ["rater", "label", "true_class", "reported_class", "mean", "sd", "lower", "upper"]
    lines = lines[[*front, "level", "kind", "reference", "doubt"]].reset_index(drop=True)
    return _beside_agreement(lines, view, level)


def _beside_agreement(lines: pd.DataFrame, view: FitView, level: float) -> pd.DataFrame:
    """Add the raw agreement of raters with the others to lines of raters and labels."""
    raw = rater_agreement(view.ratings, level=level).drop(columns=["group", "level"])
    names = {"rater": raw["rater"].astype(str), "label": raw["label"].astype(str)}
    return lines.merge(raw.assign(**names), on=["rater", "label"], how="left")


def accuracy_frame(fit: Fit, kind: Kind = "recorded", level: float = 0.95) -> pd.DataFrame:
    r"""Return a line per rater and label: accuracy, most frequent error, and raw agreement.

    The accuracy is :math:`\sum_k \pi_k \theta_{jkk}` in each draw, :math:`\pi` the prevalence where
    the label applies. The error has the largest posterior mean of :math:`\pi_k \theta_{jkm}, m \ne
    k`; ``mistake`` is the mean of its probability given the true class.
    """
    require_level(level)
    view = FitView.of(fit)
    table, shares = rater_reliability(view, kind=kind), class_shares(view).to_numpy()
    lines = summarize(rater_accuracy(view, kind=kind), level=level).assign(kind=kind)
    wrong = np.nan_to_num(np.einsum("cdlk,cdrlkm->rlkm", shares, table.to_numpy()))
    np.einsum("rlkk->rlk", wrong)[:] = -1
    raters, labels, classes, _ = wrong.shape
    true, reported = np.divmod(wrong.reshape(raters * labels, -1).argmax(axis=-1), classes)
    rater, label = np.divmod(np.arange(raters * labels), labels)
    names, chance = table["true_class"].to_numpy(), table.mean(("chain", "draw")).to_numpy()
    lines = lines.assign(
        true_class=names[true],
        reported_class=names[reported],
        mistake=chance[rater, label, true, reported],
    )
    front = ["rater", "label", "mean", "sd", "lower", "upper"]
    back = ["true_class", "reported_class", "mistake", "level", "kind", "reference", "doubt"]
    doubted = doubts_by_label(view)
    lines["doubt"] = [doubted.get(name, "") for name in lines["label"]]
    return _beside_agreement(lines[[*front, *back]], view, level)


def worth_frame(fit: Fit, level: float = 0.95) -> pd.DataFrame:
    """Return a line per rater group and label: its number of ``raters``, and the effective number.

    Groups of one rater, and groups with independent errors by assumption, have no line.
    """
    require_level(level)
    view = FitView.of(fit)
    structure = view.structure
    joined = [name for part in structure.parts for name in part.raters.groups
              if part.loading is not None or name in structure.perception.groups]  # fmt: skip
    count = view.ratings.raters["group"].value_counts()
    chosen = [name for name in joined if count[name] > 1]
    front = ["group", "label", "raters", "mean", "sd", "lower", "upper", "level", "reference"]
    if not chosen:
        return pd.DataFrame(columns=front)
    lines = summarize(
        effective_number_of_raters(view).sel(group=sorted(chosen, key=str)), level=level
    )
    return lines.assign(raters=lines["group"].map(count))[front]


def session_frames(fit: Fit, level: float = 0.95) -> dict[str, pd.DataFrame]:
    """Return ``sessions``, reliability by session, and ``drift``, its change; or nothing."""
    require_level(level)
    view = FitView.of(fit)
    if all(part.drift is None for part in view.structure.parts):
        return {}
    draws = reliability_by_session(view)
    about = {"level": level, "kind": draws.attrs["kind"], "reference": draws.attrs["reference"]}
    lines = summarize(draws, level=level)
    lines = lines[lines["undefined"] < 1].assign(kind=about["kind"])
    front = ["rater", "label", "session", "mean", "sd", "lower", "upper", *about]
    changes = rater_drift(view, level=level).assign(**about)
    return {"sessions": lines[front].reset_index(drop=True), "drift": changes}


def labels_frame(fit: Fit) -> pd.DataFrame:
    """Return a line per item and label: the most likely class, and the probability of each."""
    view = FitView.of(fit)
    table = label_probabilities(view)
    chance = table.values.reshape(-1, table.sizes["class"])
    classes = table["class"].values.astype(object)
    best = np.nanargmax(chance, axis=1)
    items, labels = table["item"].values, table["label"].values
    frame = pd.DataFrame(
        {
            "item": np.repeat(items, len(labels)),
            "label": np.tile(labels, len(items)),
            "class": classes[best],
            "probability": chance[np.arange(len(best)), best],
        }
    )
    each = pd.DataFrame(chance, columns=[f"p[{name}]" for name in classes])
    said = {"estimand": "finite", "reference": view.attrs["reference"]}  # these items
    whole = pd.concat([frame, each], axis=1).assign(**said)
    keys = key_columns(view.ratings, taken=whole.columns).loc[whole["item"]]
    for place, name in enumerate(keys, 1):
        whole.insert(place, name, keys[name].array)
    return whole


def key_columns(ratings: Ratings, taken: Iterable[str] = ("item",)) -> pd.DataFrame:
    """Return the columns of the source that identify an item: key, cluster, system, rank, stratum.

    An item in several lists has no system and no rank. A column with a ``taken`` name is
    ``key[name]``; a key of one column called item is left out, since each export has it.
    """
    named = columns_of_roles(ratings)
    cells = _split_names(ratings, named) if ratings.keys.columns.empty else ratings.keys
    found = {str(name): _numbers(column) for name, column in cells.items()}
    for column in named["covariate"]:
        if column in ratings.items:
            found.setdefault(column, ratings.items[column])
    if named["item"] == ["item"]:
        found.pop("item", None)
    used = set(taken)
    return pd.DataFrame(
        {f"key[{name}]" if name in used else name: column.array for name, column in found.items()},
        index=ratings.items.index,
    )


def columns_of_roles(ratings: Ratings) -> dict[str, list[str]]:
    """Return the columns of the source by their role; others have none.

    A column of a side table has the name of its table and a colon before its own.
    """
    roles, named = ratings.accounting.roles, defaultdict[str, list[str]](list)
    for column, told in zip(roles["column"], roles["role"], strict=True):
        for role in str(told).split(", "):
            named[role].append(str(column))
    return named


def _numbers(cells: "pd.Series[str]") -> pd.Series:
    """Return numbers if all cells are numbers as they would be written; ``""`` is missing."""
    told = cells.mask(cells == "")
    if told.isna().all() or not cells.str.fullmatch(r"(-?\d+(\.\d+)?)?").all():
        return told
    numbers = pd.to_numeric(told)
    if told.isna().any():
        numbers = numbers.convert_dtypes()  # whole numbers stay whole beside missing ones
    same = numbers.astype("str").str.removesuffix(".0").where(told.notna(), "") == cells
    return numbers if same.all() else told


def _split_names(ratings: Ratings, named: Mapping[str, list[str]]) -> pd.DataFrame:
    """Return the key columns of a fit of earlier versions, which has them in names only."""
    names = ratings.items.index.astype(str)
    found: dict[str, object] = {}
    key = named["item"]
    parts = [name.split("/") for name in names]
    if len(key) == 1:
        found[key[0]] = names.to_numpy()
    elif key and all(len(part) == len(key) for part in parts):
        found |= dict(zip(key, map(list, zip(*parts, strict=True)), strict=True))
    lists = ratings.panels.drop_duplicates("item", keep=False).set_index("item")
    lists = lists.reindex(range(len(names)))
    columns = {"cluster": ratings.items["cluster"], "stratum": ratings.items["stratum"],
               "system": lists["system"], "rank": lists["rank"].astype("Int64")}  # fmt: skip
    for role, values in columns.items():
        for column in named[role][:1]:
            found.setdefault(column, values.to_numpy())
    return pd.DataFrame(found, index=ratings.items.index).astype("str").fillna("")


def least_certain(labels: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return the lines of :func:`labels_frame` with the lowest probabilities."""
    return labels.sort_values("probability", kind="stable").head(count)

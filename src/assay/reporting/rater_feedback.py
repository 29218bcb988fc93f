"""Feedback to raters: errors that a rater makes more often than the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.text import called, counted, lines_of
from assay._util.typing import Ints
from assay.comparison.decisions import chance_said
from assay.data.ratings import UNNAMED, Ratings
from assay.data.score_bins import raters_of_scores
from assay.fits.labels import label_probabilities
from assay.fits.view import Fit, FitView
from assay.inference.label_doubts import doubts_by_label
from assay.raters.reliability import rater_reliability

SURE = 0.9
"""Probability from which a rater is reported to differ from the others."""

LEAST_EXCESS = 0.05
"""Smallest reported difference of error rates."""

LEAST_WRONG = 1.0
"""Smallest expected number of wrong answers due to a reported difference."""

LEAST_EXPECTED = 0.5
"""Smallest expected number of wrong answers of a kind that a rater sheet lists."""

EXAMPLES = 3
MOST_TALKS = 5


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A rater's frequent error, and items to look at."""

    rater: str
    label: str
    true_class: str
    reported_class: str
    rate: float
    others: float
    probability: float
    wrong: float
    items: tuple[str, ...]

    def __str__(self) -> str:
        sure = chance_said(self.probability)
        about = (
            f"{called(self.rater)} answers {self.reported_class!r} to {self.label} in "
            f"{self.rate:.0%} of the cases where the truth is {self.true_class!r}. The other "
            f"raters do so in {self.others:.0%} (P(more often) {sure}). That is "
            f"about {counted(round(self.wrong), 'wrong answer')} more than at the others' rate."
        )
        if not self.items:
            return about
        items = "item" if len(self.items) == 1 else "items"
        return f"{about} Look at {items} {', '.join(self.items)}."


def talks(fit: Fit, ratings: Ratings) -> list[Talk]:
    """Return the errors that raters make clearly more often than the others, at most five.

    The probability exceeds the others' mean by more than 0.05, and by more than 0 with probability
    0.9. Errors are ranked by the excess times the expected items of the true class. Each reported
    class has one, with the most errors. Doubtful labels, raters of scores and nameless ones are
    left out.
    """
    view = FitView.of(fit)
    excess = _comparable(view, ratings)
    if excess.empty:
        return []
    chance = label_probabilities(view)
    excess = excess[(excess["gap"] > LEAST_EXCESS) & (excess["probability"] > SURE)]
    excess = excess.merge(_asked(ratings, chance))
    excess = _most_wrong(excess, "gap", least=LEAST_WRONG)
    table = excess.drop_duplicates(["rater", "label", "reported_class"]).head(MOST_TALKS)
    return [_talk(line, ratings, chance) for line in lines_of(table)]


def costliest_misses(fit: Fit, ratings: Ratings) -> pd.DataFrame:
    """Return the class whose misses cost most wrong answers beyond the other raters', a line per
    rater at most: ``label``, ``true_class``, ``rate``, ``others`` and ``wrong``, at least 1.
    """
    view = FitView.of(fit)
    keys = ["rater", "label", "true_class"]
    errors = _comparable(view, ratings).groupby(keys, sort=False, as_index=False)
    found = errors[["rate", "others", "gap"]].sum()
    found = found.merge(_asked(ratings, label_probabilities(view)))
    return _most_wrong(found, "gap", least=LEAST_WRONG).drop_duplicates("rater")


def _comparable(view: FitView, ratings: Ratings) -> pd.DataFrame:
    """Return the errors without those of doubtful labels, raters of scores and nameless ones."""
    answering = ~raters_of_scores(ratings) & (ratings.raters["group"] != UNNAMED).to_numpy()
    reliability = rater_reliability(view)
    if answering.sum() < 2:
        return _errors(reliability).head(0)
    errors = _errors(reliability.isel(rater=np.flatnonzero(answering)))
    return errors[~errors["label"].isin(list(doubts_by_label(view)))]


def costliest_errors(fit: Fit, ratings: Ratings) -> pd.DataFrame:
    """Return the errors with the most expected wrong answers, ``count`` of a rater at most.

    ``rate`` is a posterior mean, ``others`` the mean rate of other raters (NaN with one), ``wrong``
    at least 0.5, and ``items`` are examples, most probable first.
    """
    view = FitView.of(fit)
    chance = label_probabilities(view)
    errors = _errors(rater_reliability(view)).merge(_asked(ratings, chance))
    errors = _most_wrong(errors, "rate", least=LEAST_EXPECTED)
    errors = errors.groupby("rater", sort=False).head(EXAMPLES).reset_index(drop=True)
    names = ("rater", "label", "true_class", "reported_class")
    items = [
        ", ".join(_examples({name: str(line[name]) for name in names}, ratings, chance))
        for line in lines_of(errors)
    ]
    return errors.assign(items=items)[[*names, "rate", "others", "wrong", "items"]]


def _most_wrong(errors: pd.DataFrame, rate: str, *, least: float) -> pd.DataFrame:
    """Return the errors with at least so many expected wrong answers, the costliest first."""
    errors = errors.assign(wrong=errors[rate] * errors["asked"])
    errors = errors[errors["wrong"] >= least]
    return errors.sort_values("wrong", ascending=False, kind="stable")


def _errors(reliability: xr.DataArray) -> pd.DataFrame:
    """Return a line per error: the rater's rate, and the mean rate of the others."""
    draws = reliability.transpose("chain", "draw", "rater", ...)
    values = draws.to_numpy().reshape(-1, *draws.shape[2:])
    raters = values.shape[1]
    others = (values.sum(axis=1, keepdims=True) - values) / (raters - 1 or np.nan)
    gap = values - others
    statistics = {
        "rate": values.mean(axis=0),
        "others": others.mean(axis=0),
        "gap": gap.mean(axis=0),
        "probability": (gap > 0).mean(axis=0),
    }
    dims = draws.dims[2:]
    coords = {dim: draws[dim].to_numpy() for dim in dims}
    frame = xr.Dataset({k: (dims, v) for k, v in statistics.items()}, coords=coords)
    lines = frame.to_dataframe().reset_index()
    wrong = (lines["true_class"] != lines["reported_class"]) & lines["rate"].notna()
    return lines[wrong]


def _asked(ratings: Ratings, chance: xr.DataArray) -> pd.DataFrame:
    """Return the expected number of items of each class that each rater answered."""
    p = np.nan_to_num(chance.transpose("item", "label", "class").to_numpy())
    answered = (ratings.answers >= 0)[..., None]
    asked = np.zeros((len(ratings.raters), *p.shape[1:]))
    np.add.at(asked, ratings.rater, p[ratings.item] * answered)
    coords = {
        "rater": ratings.raters.index.astype(str),
        "label": list(ratings.task.label_names),
        "true_class": chance["class"].to_numpy().astype(str),
    }
    return (
        xr.DataArray(asked, coords=coords, dims=list(coords))
        .to_series()
        .rename("asked")
        .reset_index()
    )


def _talk(line: dict[str, Any], ratings: Ratings, chance: xr.DataArray) -> Talk:
    names = ("rater", "label", "true_class", "reported_class")
    told = {name: str(line[name]) for name in names}
    return Talk(
        **told,
        rate=line["rate"],
        others=line["others"],
        probability=line["probability"],
        wrong=line["wrong"],
        items=_examples(told, ratings, chance),
    )


def _examples(told: dict[str, str], ratings: Ratings, chance: xr.DataArray) -> tuple[str, ...]:
    """Return items with the rater's answer whose truth is most probably the other class."""
    label = ratings.task.label_names.index(told["label"])
    classes = ratings.task.labels[label].classes
    if told["reported_class"] not in classes:
        return ()
    code = classes.index(told["reported_class"])
    rater = list(map(str, ratings.raters.index)).index(told["rater"])
    mine = (ratings.rater == rater) & (ratings.answers[:, label] == code)
    items: Ints = np.unique(ratings.item[mine])
    p = chance.sel({"label": told["label"], "class": told["true_class"]}).to_numpy()[items]
    best = np.argsort(-np.nan_to_num(p), kind="stable")[:EXAMPLES]
    return tuple(str(ratings.items.index[items[k]]) for k in best if p[k] > 0.5)

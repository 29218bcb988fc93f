"""Metrics that depend on a layer of difficulty, compared with a model without it."""

from typing import Any

import pandas as pd

from assay._util.text import counted, interval, lines_of
from assay.comparison.refit import SHORT, refit
from assay.evaluation import metrics
from assay.fits.summary import summarize
from assay.fits.view import Fit, FitView
from assay.inference.settings import MODES_ALONE
from assay.validation.variants import DIFFICULTY, equally_hard

CODE = "difficulty_decides"
LEAST = 0.02
"""Least reported difference of two estimates."""
MOST_ITEMS = 20_000
"""Most items for which the second fit is made, which takes seconds."""
KEYS = ["metric", "system", "estimand"]
EQUAL = "equal_difficulty"
"""Suffix of the columns of the model in which all items are equally hard."""


def held_against_equal_difficulty(
    fit: Fit, table: pd.DataFrame, *, level: float = 0.95, **asked: Any
) -> pd.DataFrame:
    """Return the metrics that the layer of difficulty moves out of their interval without it.

    The same model without it is fitted by Laplace's approximation; ``asked`` are the arguments of
    :func:`assay.metrics` for ``table``. A line per metric, system and estimand where one estimate
    lies outside the other's interval, the largest difference first. Empty without difficulty, with
    known truth or a reference, for a mode alone, and for more than 20,000 items.
    """
    columns = [*KEYS, "mean", "lower", "upper"]
    view = FitView.of(fit)
    if not _rests_on_votes(view):
        return table[columns].iloc[:0].assign(code=[])
    changes = {"raters": equally_hard(view.spec.raters), "method": "laplace"}
    other, _ = refit(view, view.ratings, SHORT, changes)
    estimands = dict.fromkeys(text.split(" ")[0] for text in table["estimand"])
    plain = pd.concat(
        [summarize(metrics(other, estimand=e, **asked), level=level) for e in estimands]
    )
    # The explanation behind the name of a population estimand may differ between the two.
    both = [t[columns].assign(place=t["estimand"].str.split(" ").str[0]) for t in (table, plain)]
    joined = both[0].merge(
        both[1].drop(columns="estimand"),
        on=["metric", "system", "place"],
        suffixes=("", f"_{EQUAL}"),
    )
    apart = (joined["mean"] - joined[f"mean_{EQUAL}"]).abs()
    outside = _outside(joined, "", f"_{EQUAL}") | _outside(joined, f"_{EQUAL}", "")
    found = joined[outside & (apart >= LEAST)].drop(columns="place")
    order = apart[found.index].sort_values(ascending=False, kind="stable").index
    return found.loc[order].reset_index(drop=True).assign(code=CODE)


def _rests_on_votes(view: FitView) -> bool:
    """Return whether items have difficulty, votes alone identify truth, and a refit is quick."""
    spec, data = view.spec, view["constant_data"]
    hard = any(part.startswith(DIFFICULTY) for part in spec.rater_parts)
    # Intervals of a mode alone are too narrow for this comparison.
    if not hard or spec.anchored or view.attrs.get("method") in MODES_ALONE:
        return False
    if data.sizes["item"] > MOST_ITEMS:
        return False
    return not view.ratings.has_truth.any()


def difficulty_sentence(found: pd.DataFrame) -> str:
    """Describe the metric that moves most, with both estimates and the remedy."""
    line = lines_of(found.head(1))[0]
    where = f" of {line['system']}" if line["system"] else ""
    here = interval(line["mean"], line["lower"], line["upper"])
    there = interval(*(line[f"{name}_{EQUAL}"] for name in ("mean", "lower", "upper")))
    others = len(found) - 1
    more = f" The same holds for {counted(others, 'more number')}." * bool(others)
    return (
        f"{line['metric']}{where} is {here} by this fit, and {there} by the same model in which "
        "all items are equally hard. The votes on hard items do not settle which is right, so "
        f"report both. The truth of some items (`truth=`) would settle it.{more}"
    )


def _outside(joined: pd.DataFrame, first: str, second: str) -> pd.Series:
    """Return whether the first mean lies outside the second interval."""
    mean = joined[f"mean{first}"]
    return (mean < joined[f"lower{second}"]) | (mean > joined[f"upper{second}"])

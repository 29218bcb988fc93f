"""Sessions, times and replicates: counts of ratings, and agreement of raters with themselves."""

import numpy as np
import pandas as pd

from assay._util.grouping import all_apart, unique_rows
from assay._util.text import counted, does, some
from assay._util.typing import Ints
from assay.checks.findings import Finding, Part, findings_on
from assay.data.ratings import Ratings
from assay.data.sessions import (
    FEW_RATINGS,
    seen_to_change,
    session_codes,
    show_drift,
)

_on_replicates = findings_on("replicates")
_on_times = findings_on("times")

_finding = findings_on("sessions")


def check_sessions(ratings: Ratings) -> Part:
    """Report the sessions, and the number of raters whose drift is identifiable."""
    if not ratings.sessions:
        return Part()
    table = _session_table(ratings)
    sizes = table["ratings"]
    spread = f"{sizes.min()} to {sizes.max()}" if sizes.nunique() > 1 else sizes.iloc[0]
    shown = some([f"{line.session} {line.ratings}" for line in table.itertuples()])
    text = (
        f"{len(table)} sessions, from {table['session'].iloc[0]} to {table['session'].iloc[-1]}, "
        f"with {spread} ratings each: {shown}"
    )
    numbers = {"sessions": len(table), "fewest": sizes.min(), "most": sizes.max()}
    found = [_finding("note", text, code="session-sizes", numbers=numbers), _drift(ratings)]
    unknown = int((ratings.session == "").sum())
    if unknown:
        numbers = {"ratings": unknown}
        text = f"{unknown} ratings have no session, so they are not informative about drift"
        found.append(_finding("note", text, code="unknown-sessions", numbers=numbers))
    return Part(findings=tuple(found), tables={"sessions": table})


def _session_table(ratings: Ratings) -> pd.DataFrame:
    """Return the ratings of each session, their raters and items."""
    told = ~ratings.abstained & (ratings.session != "")
    frame = pd.DataFrame(
        {
            "session": session_codes(ratings)[told],
            "ratings": 1,
            "rater": ratings.rater[told],
            "item": ratings.item[told],
        }
    )
    counts = frame.groupby("session").agg(
        ratings=("ratings", "sum"), raters=("rater", "nunique"), items=("item", "nunique")
    )
    table = counts.reindex(range(len(ratings.sessions)), fill_value=0)
    return table.assign(session=list(ratings.sessions))[["session", "ratings", "raters", "items"]]


def _drift(ratings: Ratings) -> Finding:
    """Count the raters with enough ratings in two sessions or more."""
    able, raters = int(seen_to_change(ratings).sum()), len(ratings.raters)
    text = f"{able} of {raters} raters have {FEW_RATINGS} ratings or more in each of two sessions, "
    text += "so " + ("their drift can be estimated" if able else "drift depends on the prior alone")
    if show_drift(ratings):
        text += ", and the default has the layer drift"
    numbers = {"able": able, "raters": raters, "ratings": FEW_RATINGS}
    return _finding("note" if able else "warning", text, code="drift-raters", numbers=numbers)


def check_times(ratings: Ratings) -> Part:
    """Report how many ratings have a time, and their durations."""
    seconds = ratings.seconds[np.isfinite(ratings.seconds)]
    if not len(seconds):
        return Part()
    low, middle, high = np.quantile(seconds, [0.05, 0.5, 0.95])
    text = (
        f"{len(seconds)} of {len(ratings.seconds)} ratings have a time: the median is "
        f"{middle:.3g} seconds, and 90 % took {low:.3g} to {high:.3g} seconds"
    )
    numbers = {
        "timed": len(seconds),
        "ratings": len(ratings.seconds),
        "median": middle,
        "lower": low,
        "upper": high,
    }
    return Part(findings=(_on_times("note", text, code="rating-times", numbers=numbers),))


def check_replicates(ratings: Ratings) -> Part:
    """Report pairs of ratings of one item by one rater, and how many agree."""
    table = replicate_table(ratings)
    if table.empty:
        return Part()
    pairs, same = int(table["pairs"].sum()), int(table["same"].sum())
    text = (
        f"{counted(pairs, 'pair')} of ratings of one item by the same rater "
        f"({counted(len(table), 'rater')}); {same} {does(same, 'agree')} "
        f"({same / pairs:.1%}). Such ratings may not be independent given the truth"
    )
    numbers = {"pairs": pairs, "raters": len(table), "same": same, "share": same / pairs}
    found = _on_replicates("note", text, code="replicate-agreement", numbers=numbers)
    return Part(findings=(found,), tables={"replicates": table})


def replicate_table(ratings: Ratings) -> pd.DataFrame:
    """Return per rater the items rated again, the pairs of ratings, and those that agree.

    A pair agrees if the whole answer vectors are equal; ratings without an answer form no pair.
    """
    answered = (ratings.answers >= 0).any(axis=1)
    if all_apart(ratings.rater, ratings.item, at=answered):
        answered = np.zeros_like(answered)
    rater, item = ratings.rater[answered], ratings.item[answered]
    first, again = unique_rows(rater, item)
    one, alike = unique_rows(again, *ratings.answers[answered].T)
    same = np.zeros(len(first), np.int64)
    np.add.at(same, again[one], _pairs(np.bincount(alike)))
    pairs = _pairs(np.bincount(again))
    table = pd.DataFrame(
        {
            "rater": ratings.raters.index.to_numpy(object)[rater[first]],
            "items": (pairs > 0).astype(int),
            "pairs": pairs,
            "same": same,
        }
    )
    table = table.groupby("rater", sort=False).sum().reset_index()
    table = table[table["pairs"] > 0].reset_index(drop=True)
    return table.assign(share_same=table["same"] / table["pairs"])


def _pairs(counts: Ints) -> Ints:
    return np.asarray(counts * (counts - 1) // 2, np.int64)

"""Raters: how much each said, who can be compared with whom, who says always the same."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from assay._util.errors import Numbers
from assay._util.grouping import unique_rows
from assay._util.plurals import counted, does, some
from assay.checks.findings import Level, Part, findings_on
from assay.checks.items import telling_items
from assay.data.ratings import Ratings
from assay.data.states import MISSING

_finding = findings_on("raters")

FEW_RATINGS = 10


def _part(
    level: Level,
    text: str,
    *,
    code: str,
    numbers: Numbers | None = None,
    **tables: pd.DataFrame,
) -> Part:
    """Return a part of one finding."""
    return Part(findings=(_finding(level, text, code=code, numbers=numbers),), tables=tables)


def components(ratings: Ratings) -> NDArray[np.int64]:
    """Return the component of each rater in the graph of raters and items; -1 if none.

    Known truth is one more end of the graph: it compares raters who have no item in common.
    """
    answered = ~ratings.abstained
    n_raters, n_items = len(ratings.raters), len(ratings.items)
    known = np.flatnonzero(ratings.has_truth)
    size = n_raters + n_items + 1
    ends = (
        np.append(ratings.rater[answered], np.full(len(known), size - 1)),
        n_raters + np.append(ratings.item[answered], known),
    )
    graph = sparse.coo_array((np.ones(len(ends[0]), bool), ends), shape=(size, size))
    _, part = connected_components(graph, directed=False)
    active = np.bincount(ratings.rater[answered], minlength=n_raters) > 0
    found = np.full(n_raters, -1, np.int64)
    found[active] = pd.factorize(part[:n_raters][active])[0]
    return found


def check_overlap(ratings: Ratings) -> Part:
    """Say which raters can be compared: those connected by items in common."""
    part = components(ratings)
    sizes = np.bincount(part[part >= 0])
    active = int((part >= 0).sum())
    told = bool(telling_items(ratings).any())
    if len(sizes) == 1 and active > 1:
        known = " or known truth" * bool(ratings.has_truth.any())
        text = f"all {active} raters are connected by items in common{known}"
        return _part("ok", text, code="connected-raters", numbers={"raters": active})
    if active == 1 and told:
        text = "there is one rater: errors are learned from the items of known truth"
        return _part("note", text, code="one-rater-known-truth")
    if active == 1:
        text = "there is one rater: nothing tells the rater's errors from the truth"
        return _part("problem", text, code="one-rater")
    text = (
        f"the raters fall into {len(sizes)} parts without items in common (the largest has "
        f"{sizes.max()} of {active}). Only the prior compares raters of different parts; "
        f"{counted(len(sizes) - 1, 'item')} rated in two parts each would connect them"
    )
    numbers = {"parts": len(sizes), "largest": int(sizes.max()), "raters": active}
    return _part("warning", text, code="unconnected-raters", numbers=numbers)


def check_raters(ratings: Ratings) -> Part:
    """Say who rated little, who abstained, and who always gives the same answer."""
    table = _rater_table(ratings)
    few = table[(table["ratings"] < FEW_RATINGS) & (table["ratings"] > 0)]
    silent = table[table["ratings"] == 0]
    constant = table[table["constant"] & (table["ratings"] >= FEW_RATINGS)]
    found = [
        _finding(
            "note",
            _groups(ratings),
            code="rater-groups",
            numbers={"raters": len(ratings.raters), "groups": ratings.raters["group"].nunique()},
        )
    ]
    if len(few):
        text = (
            f"{len(few)} of {len(table)} raters {does(len(few), 'have')} fewer than {FEW_RATINGS} "
            f"ratings: reliability that leans on the group: {some(list(few['rater']))}"
        )
        found.append(
            _finding(
                "note",
                text,
                code="few-ratings-raters",
                numbers={"raters": len(few), "of": len(table), "ratings": FEW_RATINGS},
            )
        )
    if len(silent):
        text = f"{counted(len(silent), 'rater')} only abstained: {some(list(silent['rater']))}"
        found.append(
            _finding("warning", text, code="silent-raters", numbers={"raters": len(silent)})
        )
    if len(constant):
        text = (
            f"{counted(len(constant), 'rater')} always {does(len(constant), 'give')} the same "
            f"answer: {some(list(constant['rater']))}"
        )
        found.append(
            _finding("warning", text, code="constant-raters", numbers={"raters": len(constant)})
        )
    abstained = int(ratings.abstained.sum())
    if abstained:
        most = table.sort_values("abstained", ascending=False).iloc[0]
        text = (
            f"{abstained} of {len(ratings.answers)} ratings {does(abstained, 'are')} abstentions, "
            f"most by {most['rater']} ({most['abstained']})"
        )
        found.append(
            _finding(
                "note",
                text,
                code="abstentions",
                numbers={
                    "abstentions": abstained,
                    "ratings": len(ratings.answers),
                    "most": most["abstained"],
                },
            )
        )
    return Part(findings=tuple(found), tables={"raters": table})


def _groups(ratings: Ratings) -> str:
    sizes = ratings.raters["group"].value_counts()
    if len(sizes) == 1:
        return f"{counted(len(ratings.raters), 'rater')} in one group"
    names = some([f"{group} {size}" for group, size in sizes.items()])
    return f"{len(ratings.raters)} raters in {len(sizes)} groups: {names}"


def _rater_table(ratings: Ratings) -> pd.DataFrame:
    answered = (ratings.answers != MISSING).any(axis=1)
    size = len(ratings.raters)
    rater = ratings.rater[answered]
    _, pattern = unique_rows(*ratings.answers[answered].T)
    pairs, _ = unique_rows(rater, pattern)
    return pd.DataFrame(
        {
            "rater": ratings.raters.index.to_numpy(),
            "group": ratings.raters["group"].to_numpy(),
            "ratings": np.bincount(ratings.rater[~ratings.abstained], minlength=size),
            "abstained": np.bincount(ratings.rater[ratings.abstained], minlength=size),
            "component": components(ratings),
            "constant": np.bincount(rater[pairs], minlength=size) == 1,
        }
    )

"""What leans on the prior: the numbers of which the data say little, in words."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.plurals import counted, does, some
from assay.checks.findings import Finding, Part, findings_on
from assay.checks.items import other_witnesses, raters_of_items, settling_items, telling_items
from assay.data.ratings import Ratings

_finding = findings_on("what leans on the prior")

FEW_ITEMS = 20
"""Telling items of a class, or in all, below which what is said of it leans on the prior."""
FEW_SHARED = 10
"""Telling items of a rater below which the rater's reliability leans on the prior."""
MOSTLY_ONCE = 0.5


def check_leaning(ratings: Ratings) -> Part:
    """Say which labels, reliabilities and rates lean on the prior, and for want of what.

    A reliability is learned from *telling* items: those that two raters answered, or of which
    the truth is known. What is told of a class, telling items tell on which the answers (or the
    truth) are mostly that class.
    """
    telling = telling_items(ratings)
    classes = class_table(ratings, telling)
    raters = rater_table(ratings, telling)
    found = [*_once(ratings, telling), *_twice(ratings, telling), *_classes(classes)]
    found += [*_raters(raters), *_systems(ratings, telling)]
    if not found:
        text = "no class, rater or system has so few items in common that numbers lean on the prior"
        silent = classes.loc[~classes["answered"], "label"].unique()
        text += f", but for {some(list(silent))} without an answer" if len(silent) else ""
        found = [_finding("ok", text, code="no-prior-leaning")]
    return Part(findings=tuple(found), tables={"telling_items": classes, "shared_items": raters})


def _once(ratings: Ratings, telling: NDArray[np.bool_]) -> list[Finding]:
    """Say what the labels of items with one rater rest on; a warning if they are most items."""
    raters = raters_of_items(ratings)
    rated = int((raters > 0).sum())
    once = int(((raters == 1) & ~telling).sum())
    if not once:
        return []
    text = (
        f"{once} of {rated} rated items ({once / rated:.0%}) {does(once, 'have')} a single rating, "
        "so that each of their labels rests on one answer"
    )
    numbers = {"items": once, "of": rated, "share": once / rated}
    if not telling.any():
        text += (
            ". Only the prior tells how reliable the raters are: rates and metrics over all items "
            "are no surer than the prior. Collect second ratings of some of these items"
        )
        return [_finding("warning", text, code="single-rating-items", numbers=numbers)]
    if once <= MOSTLY_ONCE * rated:
        return [_finding("note", text, code="single-rating-items", numbers=numbers)]
    text += (
        f". The reliability of raters is learned from {counted(int(telling.sum()), 'item')} alone: "
        "rates and metrics over all items are no surer than that. Collect second ratings of more "
        "items"
    )
    return [
        _finding(
            "warning",
            text,
            code="single-rating-items",
            numbers={**numbers, "telling": int(telling.sum())},
        )
    ]


def _twice(ratings: Ratings, telling: NDArray[np.bool_]) -> list[Finding]:
    """Say what two raters an item leave open; a warning if nothing else tells a little of it."""
    settled = int(settling_items(ratings).sum())
    pairs = int(telling.sum()) - settled
    if settled >= FEW_ITEMS or not pairs:
        return []
    text = (
        f"{counted(pairs, 'item', 'have')} two raters and no more, {settled or 'none'} "
        f"{does(settled, 'have')} three or a known truth: two answers tell how often raters agree, "
        "and neither how common a class is nor which way raters err, however many items there are"
    )
    others = other_witnesses(ratings)
    text += "; that leans on the prior" + f", and on {' and '.join(others)}" * bool(others)
    wanted = FEW_ITEMS - settled
    there = f" (there {does(pairs, 'are')} {pairs})" * (pairs < wanted)
    text += f". A third rater, or the truth, on {wanted} such items{there} would begin to tell"
    return [
        _finding(
            "note" if others else "warning",
            text,
            leans=True,
            code="two-ratings-items",
            numbers={"items": pairs, "settled": settled, "wanted": wanted},
        )
    ]


def class_table(ratings: Ratings, telling: NDArray[np.bool_]) -> pd.DataFrame:
    """Return per label and class the number of telling items that are mostly of that class.

    Returns
    -------
    pandas.DataFrame
        ``label``, ``class``, ``items``, ``answered`` (whether the label has any answer).
    """
    lines = []
    for column, label in enumerate(ratings.task.labels):
        answers = ratings.answers[:, column]
        rows = np.flatnonzero(answers >= 0)
        votes = np.zeros((len(ratings.items), len(label.classes)), np.int64)
        np.add.at(votes, (ratings.item[rows], answers[rows]), 1)
        truth = ratings.truth[:, column]
        known = np.flatnonzero(truth >= 0)
        votes[known] = 0
        votes[known, truth[known]] = 1
        mostly = (votes > 0) & (2 * votes >= votes.sum(axis=1, keepdims=True))
        counts = mostly[telling].sum(axis=0)
        answered = len(rows) > 0
        lines += [
            {"label": label.name, "class": name, "items": int(n), "answered": answered}
            for name, n in zip(label.classes, counts, strict=True)
        ]
    return pd.DataFrame(lines, columns=["label", "class", "items", "answered"])


def _classes(table: pd.DataFrame) -> list[Finding]:
    """Name the classes that few telling items show, with the labels that they are of."""
    said = []
    for label, lines in table[table["answered"]].groupby("label", sort=False):
        few = lines[lines["items"] < FEW_ITEMS]
        binary = list(lines["class"]) == ["no", "yes"]
        shown = [
            _reliability(str(name), int(items), binary=binary)
            for name, items in zip(few["class"], few["items"], strict=True)
        ]
        if shown:
            said.append(f"{label}: {', '.join(shown)}")
    if not said:
        return []
    text = (
        f"some reliabilities rest on fewer than {FEW_ITEMS} items with two raters or a known truth "
        f"({'; '.join(said)}): they lean on the prior, and with them the rates of those labels and "
        "every metric that counts them"
    )
    return [
        _finding(
            "note",
            text,
            leans=True,
            code="few-items-classes",
            numbers={"labels": len(said), "items": FEW_ITEMS},
        )
    ]


def _reliability(name: str, items: int, *, binary: bool) -> str:
    """Name the reliability on a class, or the class, with the items it rests on."""
    if not binary:
        return f"{name} on about {items}"
    what = "sensitivity" if name == "yes" else "specificity"
    return f"{what} rests on about {items} items"


def rater_table(ratings: Ratings, telling: NDArray[np.bool_]) -> pd.DataFrame:
    """Return per rater the items answered and those of them that are telling.

    Returns
    -------
    pandas.DataFrame
        ``rater``, ``items``, ``shared``.
    """
    answered = ~ratings.abstained
    pairs = pd.DataFrame({"rater": ratings.rater[answered], "item": ratings.item[answered]})
    pairs = pairs.drop_duplicates()
    size = len(ratings.raters)
    shared = pairs.loc[telling[pairs["item"].to_numpy()], "rater"]
    return pd.DataFrame(
        {
            "rater": ratings.raters.index.to_numpy(object),
            "items": np.bincount(pairs["rater"], minlength=size),
            "shared": np.bincount(shared, minlength=size),
        }
    )


def _raters(table: pd.DataFrame) -> list[Finding]:
    few = table[(table["items"] > 0) & (table["shared"] < FEW_SHARED)]
    if few.empty:
        return []
    names = [f"{line.rater} ({line.shared} of {line.items})" for line in few.itertuples()]
    text = (
        f"{len(few)} of {len(table)} raters {does(len(few), 'share')} fewer than {FEW_SHARED} "
        "items with another rater or the truth, and the reliability of each leans on the group and "
        f"the prior: {some(names)}"
    )
    return [
        _finding(
            "note",
            text,
            leans=True,
            code="few-shared-items",
            numbers={"raters": len(few), "of": len(table), "items": FEW_SHARED},
        )
    ]


def _systems(ratings: Ratings, telling: NDArray[np.bool_]) -> list[Finding]:
    """Name the systems of which few telling items are."""
    places = ratings.panels[["system", "item"]].drop_duplicates()
    shared = places[telling[places["item"].to_numpy()]].groupby("system").size()
    few = [s for s in ratings.systems if int(shared.get(s, 0)) < FEW_ITEMS]
    if not few:
        return []
    names = [f"{name} {int(shared.get(name, 0))}" for name in few]
    text = (
        f"{len(few)} of {len(ratings.systems)} systems have fewer than {FEW_ITEMS} items that two "
        "raters or the truth tell about: that raters err on them as on the others is an "
        f"assumption, and comparisons rest on it: {some(names)}"
    )
    return [
        _finding(
            "note",
            text,
            code="few-items-systems",
            numbers={"systems": len(few), "of": len(ratings.systems), "items": FEW_ITEMS},
        )
    ]

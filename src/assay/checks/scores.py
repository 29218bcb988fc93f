"""Checks of scores: raters, distinct values and heaping."""

import json

import numpy as np
import pandas as pd

from assay._util.text import counted, does, some
from assay._util.typing import Bools
from assay.checks.findings import Finding, Part, findings_on
from assay.data.ratings import Ratings
from assay.data.task import Task

_finding = findings_on("scores")

FEW_VALUES = 5
FEW_SCORES = 10
FEW_ANCHORS = 10
"""Answers, or items of known truth, below which they do not identify the classes of scores."""
HEAPED = 0.5
HEAPS = 3
COLUMNS = ["rater", "label", "scores", "values", "commonest", "share_commonest", "zeros", "ones"]


def check_scores(ratings: Ratings) -> Part:
    """Report raters with scores, values at which scores heap, and constant scores."""
    given = _given(ratings)
    if given.empty:
        return Part()
    table = _table(given)
    found = [text for label, part in given.groupby("label", sort=False) for text in _label(part)]
    found += [*_raters(table), *_beside_answers(ratings), *_without_anchor(ratings)]
    found.append(_reader(ratings))
    return Part(findings=tuple(found), tables={"scores": table})


def unanchored_labels(ratings: Ratings) -> list[str]:
    """Name the labels with scores and hardly any answers or known truth."""
    scored = np.isfinite(ratings.scores).any(axis=0)
    answers = (ratings.answers >= 0).sum(axis=0)
    known = (ratings.truth >= 0).sum(axis=0)
    alone = scored & (answers < FEW_ANCHORS) & (known < FEW_ANCHORS)
    return [ratings.task.label_names[n] for n in np.flatnonzero(alone)]


def _without_anchor(ratings: Ratings) -> list[Finding]:
    """Report that classes identified by scores alone are clusters of scores."""
    names = unanchored_labels(ratings)
    if not names:
        return []
    text = (
        f"scores are the only data on {some(names)}, so nothing defines the classes. A fit would "
        "split the items into clusters of scores, and their shares support no claim. Add the "
        "truth of some items (`truth=`), or answers beside the scores"
    )
    return [_finding("warning", text, code="scores-alone")]


def _given(ratings: Ratings) -> pd.DataFrame:
    """Return one line per score: rater, label, score."""
    row, column = np.nonzero(np.isfinite(ratings.scores))
    return pd.DataFrame(
        {
            "rater": ratings.raters.index.to_numpy(object)[ratings.rater[row]],
            "label": np.array(ratings.task.label_names, object)[column],
            "score": ratings.scores[row, column],
        }
    )


def _table(given: pd.DataFrame) -> pd.DataFrame:
    lines = []
    for (rater, label), part in given.groupby(["rater", "label"], sort=False):
        counts = part["score"].value_counts()
        lines.append(
            [rater, label, len(part), len(counts), counts.index[0], counts.iloc[0] / len(part),
             int((part["score"] == 0).sum()), int((part["score"] == 1).sum())]
        )  # fmt: skip
    return pd.DataFrame(lines, columns=COLUMNS)


def _label(part: pd.DataFrame) -> list[Finding]:
    """Report the number of scores of a label, and whether a few values hold most of them."""
    counts = part["score"].value_counts(normalize=True)
    label, raters = part["label"].iloc[0], part["rater"].nunique()
    given, by = counted(len(part), "score"), counted(raters, "rater")
    text = f"{label}: {given} by {by}, {counted(len(counts), 'different value')}"
    top = counts.iloc[:HEAPS]
    if len(counts) > HEAPS and top.sum() > HEAPED:
        shown = ", ".join(f"{value:.3g} ({share:.0%})" for value, share in top.items())
        text += f"; heaped at {shown}"
    numbers = {"scores": len(part), "raters": raters, "values": len(counts)}
    return [_finding("note", text, code="score-values", numbers=numbers)]


def _raters(table: pd.DataFrame) -> list[Finding]:
    """Name the raters whose scores have one value, or few."""
    enough = table[table["scores"] >= FEW_SCORES]
    constant = list(dict.fromkeys(enough.loc[enough["values"] == 1, "rater"]))
    few = enough[(enough["values"] > 1) & (enough["values"] <= FEW_VALUES)]
    found = []
    if constant:
        text = (
            f"{counted(len(constant), 'rater')} always {does(len(constant), 'give')} the same score"
        )
        numbers = {"raters": len(constant)}
        text = f"{text}: {some(constant)}"
        found.append(_finding("warning", text, code="constant-scores", numbers=numbers))
    if len(few):
        names = list(dict.fromkeys(few["rater"]))
        give = f"{counted(len(names), 'rater')} {does(len(names), 'give')}"
        numbers = {"raters": len(names), "values": FEW_VALUES}
        text = f"{give} {FEW_VALUES} different scores or fewer: {some(names)}"
        found.append(_finding("note", text, code="few-score-values", numbers=numbers))
    return found


def _reader(ratings: Ratings) -> Finding:
    """Report which family uses scores: all others use only answers."""
    scored = np.isfinite(ratings.scores).any(axis=1)
    every = ratings.raters["group"].to_numpy(object)
    groups = every[ratings.rater]
    who = list(dict.fromkeys(groups[scored]))
    answered = (ratings.answers[np.isin(groups, who)] >= 0).any(axis=0)
    if named := without_order(ratings.task, answered):
        text = (
            "no family can use these scores. The family scored needs binary or ordered classes, "
            f"but these raters also answer {', '.join(named)}, whose classes are unordered. If the "
            "classes have an order, write `ordered = true` in the task file; "
            "`raters='hierarchical'` uses the answers alone"
        )
        return _finding("warning", text, code="scores-unread")
    others = [g for g in dict.fromkeys(every) if g not in who]
    recipes = dict.fromkeys(who, "scored") | dict.fromkeys(others, "hierarchical")
    raters = json.dumps(recipes, ensure_ascii=False) if others else "'scored'"
    text = f"a fit uses scores with `raters={raters}`; other families use answers alone"
    return _finding("note", text, code="scores-reader")


def without_order(task: Task, answered: Bools) -> list[str]:
    """Name the answered labels (label,) of three or more unordered classes."""
    return [
        label.name
        for label, some_answer in zip(task.labels, answered, strict=True)
        if some_answer and len(label.classes) > 2 and not label.ordered
    ]


def _beside_answers(ratings: Ratings) -> list[Finding]:
    """Report ratings with scores alone, and scores that contradict answers."""
    scored = np.isfinite(ratings.scores)
    answered = ratings.answers >= 0
    alone = int(ratings.scores_alone.sum())
    found = []
    if alone:
        text = (
            f"{counted(alone, 'rating', 'have')} scores but no answer; families that use answers "
            "alone ignore them"
        )
        found.append(
            _finding("note", text, code="scores-without-answers", numbers={"ratings": alone})
        )
    binary = np.array([len(label.classes) == 2 for label in ratings.task.labels])
    both = scored & answered & binary & (ratings.scores != 0.5)
    against = int((both & ((ratings.scores > 0.5) != (ratings.answers == 1))).sum())
    if against:
        text = (
            f"{against} of {int(both.sum())} scores contradict the answer beside them "
            "(a confidence below 1/2 means that the other class is more likely)"
        )
        numbers = {"scores": against, "of": int(both.sum())}
        found.append(
            _finding(
                "warning" if against > 0.05 * both.sum() else "note",
                text,
                code="scores-against-answers",
                numbers=numbers,
            )
        )
    return found

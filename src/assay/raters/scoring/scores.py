"""The scores of one rater, from a table or from ratings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Problem, RatingsError, UnknownNameError, suggest
from assay._util.text import counted
from assay._util.typing import Bools, Floats, Ints
from assay._util.validation import require_number
from assay.data.ratings import Ratings
from assay.raters.scoring.truths import Truth

Scores = str | pd.Series | pd.DataFrame | Mapping[Any, Any]

COLUMNS = ("item", "score", "guess", "confidence")


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredItems:
    """Items that a rater scored, all (item,).

    item : positions in the items of the truth
    guess : whether the rater calls the item positive; None without a threshold
    confidence : confidence in the rater's own guess
    """

    item: Ints
    score: Floats
    guess: Bools | None
    confidence: Floats | None

    @property
    def probable(self) -> bool:
        """Whether the scores can be probabilities."""
        return bool(((self.score >= 0) & (self.score <= 1)).all())


def read_scores(scores: Scores, truth: Truth, positive: Bools, threshold: float) -> ScoredItems:
    """Read the scores of one rater, without missing ones: of each item, a table with ``score`` and
    perhaps ``item``, ``guess`` and ``confidence``, or a rater's name. Without guesses,
    ``threshold`` gives them.
    """
    require_number("threshold", threshold, np.isfinite, allowed="a number, such as 0.5")
    table = _rater(scores, truth) if isinstance(scores, str) else _table(scores)
    table = table[table["score"].notna()]
    _check_items(table.index, truth)
    score = table["score"].to_numpy(float)
    guess = _guesses(table, truth, positive)
    if guess is None and len(score) and score.min() >= 0 and score.max() <= 1:
        guess = score >= threshold
    confidence = None if guess is None else np.where(guess, score, 1 - score)
    if "confidence" in table:
        confidence = _numbers(table["confidence"], "confidence").to_numpy(float)
    return ScoredItems(
        item=truth.items.get_indexer(table.index).astype(np.int64),
        score=score,
        guess=guess,
        confidence=confidence,
    )


def _table(scores: pd.Series | pd.DataFrame | Mapping[Any, Any]) -> pd.DataFrame:
    if isinstance(scores, pd.DataFrame):
        table = scores.set_index("item") if "item" in scores else scores
    elif not isinstance(scores, pd.Series | Mapping):
        raise RatingsError(
            f"they must be a dictionary, a Series or a table from item to score, or the name of a "
            f"rater, not {type(scores).__name__}",
            "the scores",
            code="scores-table",
        )
    else:
        table = pd.Series(scores).to_frame("score")
    unknown = [str(name) for name in table.columns if name not in COLUMNS]
    if unknown or "score" not in table:
        what = f"no column {unknown[0]!r} is known" if unknown else "there is no column 'score'"
        problem = Problem(
            what=what, where="scores", allowed=", ".join(COLUMNS), code="scores-table"
        )
        raise RatingsError([problem], "the scores")
    table = table.assign(score=_numbers(table["score"], "score"))
    return table.set_axis([str(name) for name in table.index], axis=0)


def _numbers(column: pd.Series, name: str) -> pd.Series:
    try:
        numbers = pd.to_numeric(column, errors="coerce")
    except (TypeError, ValueError) as error:
        raise RatingsError(
            [Problem(what=f"{error}", where=f"column {name!r}", code="scores-no-number")]
        ) from None
    words = column[numbers.isna() & column.notna()]
    if len(words):
        problem = Problem(
            what=f"{words.iloc[0]!r} is not a number ({counted(len(words), 'cell')} like it)",
            where=f"column {name!r}",
            allowed="numbers that increase with the probability of the class, or empty cells",
            mend="put the rater's classes in a column guess beside the scores; for a rater with "
            "classes alone, use fit(...) and rater_reliability",
            code="scores-no-number",
            numbers={"cells": len(words)},
        )
        raise RatingsError([problem])
    if np.isinf(numbers.to_numpy(float)).any():
        raise RatingsError(
            [
                Problem(
                    what="a number is infinite", where=f"column {name!r}", code="scores-no-number"
                )
            ]
        )
    return numbers


def _rater(name: str, truth: Truth) -> pd.DataFrame:
    """Return scores and guesses of a rater in the ratings, from the first rating of each item."""
    ratings = truth.ratings
    if ratings is None:
        raise RatingsError(
            f"no ratings came with the truth, so there is no rater {name!r}", code="unknown-rater"
        )
    if name not in ratings.raters.index:
        raise UnknownNameError(
            f"no rater {name!r}; {suggest(name, list(ratings.raters.index))}", code="unknown-rater"
        )
    column = ratings.task.label_names.index(truth.label)
    own = (ratings.rater == ratings.raters.index.get_loc(name)) & (ratings.replicate == 0)
    score, answer = ratings.scores[own, column], ratings.answers[own, column]
    if np.isnan(score).all():
        raise RatingsError(
            f"rater {name!r} has no scores on {truth.label!r}; raters with scores: "
            f"{', '.join(raters_with_scores(ratings, truth.label)) or 'none'}",
            code="no-scores",
        )
    table = pd.DataFrame({"score": score}, index=truth.items[ratings.item[own]])
    answered = answer[~np.isnan(score)]
    if len(answered) and (answered >= 0).all():
        table["guess"] = [truth.classes[max(k, 0)] for k in answer]
    return table


def raters_with_scores(ratings: Ratings, label: str) -> list[str]:
    """Return the names of the raters who scored a label."""
    column = ratings.task.label_names.index(label)
    scored = np.unique(ratings.rater[~np.isnan(ratings.scores[:, column])])
    return [str(name) for name in ratings.raters.index[scored]]


def _check_items(items: pd.Index, truth: Truth) -> None:
    strange = items.difference(truth.items)
    problems = []
    if len(strange):
        problems.append(
            Problem(
                what=f"{counted(len(strange), 'item', 'are')} not in the truth: {strange[0]!r}",
                code="scores-other-items",
                numbers={"items": len(strange)},
            )
        )
    if items.has_duplicates:
        twice = items[items.duplicated()].unique()
        problems.append(
            Problem(
                what=f"{len(twice)} items have two scores, e.g. {twice[0]!r}",
                code="repeated-items",
                numbers={"items": len(twice)},
            )
        )
    if not len(items):
        problems.append(Problem(what="no item has a score", code="scores-table"))
    if problems:
        raise RatingsError(problems, "the scores")


def _guesses(table: pd.DataFrame, truth: Truth, positive: Bools) -> Bools | None:
    """Read guesses: yes or no as 0/1 or bool, or classes of the label."""
    if "guess" not in table:
        return None
    meaning: dict[object, bool] = {"0": False, "1": True, "False": False, "True": True}
    meaning |= {"0.0": False, "1.0": True}
    if not pd.api.types.is_numeric_dtype(table["guess"]):
        meaning |= {name: bool(positive[k]) for k, name in enumerate(truth.classes)}
    read = table["guess"].astype(str).map(meaning)
    if read.isna().any():
        problem = Problem(
            what=f"{table['guess'][read.isna()].iloc[0]!r} is not a guess",
            where="column 'guess'",
            allowed=f"0 and 1, or {', '.join(truth.classes)}",
            code="guess-words",
        )
        raise RatingsError([problem], "the scores")
    return read.to_numpy(bool)

"""The judgements that a student learns from: P(relevant) of each pair."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from assay._util.errors import RatingsError
from assay._util.text import counted, some
from assay.fits.view import Fit
from assay.io.files.opening import open_source
from assay.raters.scoring.truths import positive_classes, read_truth

Teacher = Any
"""A fit, scores by item, or a table of ratings with the columns ``item`` and ``score``."""
NEEDED = ("item", "score")


def read_teacher(
    source: Teacher, *, label: str | None = None, positive: str | Sequence[str] | None = None
) -> "pd.Series[float]":
    """Return P(relevant) by item: the posterior of a fit, or the mean score of the raters."""
    if isinstance(source, Fit):
        truth = read_truth(source, label=label)
        yes = positive_classes(truth, positive)
        shares = (yes[truth.codes] & (truth.codes >= 0)).mean(axis=0)
        return pd.Series(shares, index=truth.items.astype(str))
    if isinstance(source, pd.Series | dict):
        named = pd.Series(source)
        frame = pd.DataFrame({"item": named.index.astype(str), "score": named.to_numpy()})
    else:
        frame = open_source(source, what="the teacher").plain_table().frame
    lacking = [name for name in NEEDED if name not in frame.columns]
    if lacking:
        raise RatingsError.of(
            "texts-column",
            f"the teacher has no column {lacking[0]}",
            "the teacher",
            mend="give what `assay diras rate` wrote, or a fit",
        )
    score = pd.to_numeric(frame["score"], errors="coerce")
    blank = frame["score"].isna() | (frame["score"].astype(str).str.strip() == "")
    wrong = ~blank & ~score.between(0, 1)
    if wrong.any():
        shown = some([str(cell) for cell in frame["score"][wrong]])
        raise RatingsError.of(
            "teacher-scores",
            f"{counted(int(wrong.sum()), 'score', 'are')} not from 0 to 1: {shown}",
            "the teacher",
            mend="give the probability that a pair is relevant",
        )
    kept = score[~blank].astype(float)
    return kept.groupby(frame["item"][~blank].astype(str)).mean()


def certainty(chance: "pd.Series[float]") -> "pd.Series[float]":
    """Return how certain each judgement is: 0 for a chance of 0.5, 1 for 0 and 1."""
    return (2 * chance - 1).abs()

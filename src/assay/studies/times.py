"""How long ratings took, by session and by how far through the questions they went."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.data.ratings import Ratings
from assay.studies.audits import sessions

ALL_RATINGS = "all ratings"


def time_table(ratings: Ratings) -> pd.DataFrame:
    """Summarise completion times.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    pandas.DataFrame
        ``session`` (in order, then ``"all sessions"``), ``stage`` (the last label that a rating
        answers; ``"all ratings"``), ``n`` (ratings with a time), and in seconds ``mean``, ``sd``,
        ``median``, ``q25``, ``q75``; no line where no time is known.
    """
    timed = np.isfinite(ratings.seconds)
    lines = [
        {"session": session, "stage": stage, **_summary(ratings.seconds[rows & timed & reached])}
        for session, rows in sessions(ratings)
        for stage, reached in _stages(ratings)
        if (rows & timed & reached).any()
    ]
    columns = ["session", "stage", "n", "mean", "sd", "median", "q25", "q75"]
    return pd.DataFrame(lines, columns=columns)


def _stages(ratings: Ratings) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Ratings by the last label that they answer."""
    answered = ratings.answers >= 0
    for place, label in enumerate(ratings.task.label_names):
        yield label, answered[:, place] & ~answered[:, place + 1 :].any(axis=1)
    yield ALL_RATINGS, np.ones(len(answered), bool)


def _summary(seconds: NDArray[np.float64]) -> dict[str, float]:
    quarters = np.quantile(seconds, [0.25, 0.5, 0.75])
    return {
        "n": len(seconds),
        "mean": float(seconds.mean()),
        "sd": float(seconds.std(ddof=1)) if len(seconds) > 1 else np.nan,
        "median": float(quarters[1]),
        "q25": float(quarters[0]),
        "q75": float(quarters[2]),
    }

"""Audits and completion times of a study of attribution, by session."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.intervals import tails
from assay._util.typing import Bools, Floats
from assay.data.ratings import (
    AUDITED_RIGHT,
    AUDITED_WRONG,
    NOT_AUDITED,
    SOME_WRONG,
    Ratings,
)
from assay.raters.agreements.coefficients import WHOLE

ALL_SESSIONS = "all sessions"
NO_SESSION = "session not known"


def audit_table(ratings: Ratings, *, level: float) -> pd.DataFrame:
    """Return the share of audited answers that are right, by session and label, or ``"all
    labels"``.

    Intervals are Jeffreys' (Brown, Cai & DasGupta 2001, Statistical Science 16, 101-133).
    """
    lines = []
    for session, rows in sessions(ratings):
        audit = ratings.audit[rows]
        for place, label in enumerate(ratings.task.label_names):
            lines.append((session, label, *_counts(audit[:, place])))
        lines.append((session, WHOLE, *_counts(_whole(audit))))
    columns = ["session", "label", "audited", "right"]
    table = pd.DataFrame(lines, columns=columns)
    table = table[table["audited"] > 0].reset_index(drop=True)
    return _with_share(table, level)


def sessions(ratings: Ratings) -> list[tuple[str, Bools]]:
    """Return a mask of ratings for each session, then one for all sessions."""
    parts = [(name, ratings.session == name) for name in ratings.sessions]
    unknown = ratings.session == ""
    if parts and unknown.any():
        parts.append((NO_SESSION, unknown))
    return [*parts, (ALL_SESSIONS, np.ones(len(unknown), bool))]


def _whole(audit: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return one verdict for each rating: wrong if any answer is wrong."""
    wrong = np.isin(audit, (AUDITED_WRONG, SOME_WRONG)).any(axis=1)
    right = (audit == AUDITED_RIGHT).any(axis=1)
    verdict = np.where(wrong, AUDITED_WRONG, np.where(right, AUDITED_RIGHT, NOT_AUDITED))
    return verdict.astype(np.int8)


def _counts(audit: NDArray[np.int8]) -> tuple[int, int]:
    right = int((audit == AUDITED_RIGHT).sum())
    return right + int((audit == AUDITED_WRONG).sum()), right


def _with_share(table: pd.DataFrame, level: float) -> pd.DataFrame:
    from scipy.special import betaincinv

    right, audited = table["right"].to_numpy(float), table["audited"].to_numpy(float)
    wrong = audited - right
    lower, upper = tails(level)
    # At the ends of the range the interval reaches the end (Brown et al., section 3.1.2).
    low = np.where(right > 0, betaincinv(right + 0.5, wrong + 0.5, lower), 0.0)
    high = np.where(wrong > 0, betaincinv(right + 0.5, wrong + 0.5, upper), 1.0)
    return table.assign(share=right / audited, lower=low, upper=high)


ALL_RATINGS = "all ratings"


def time_table(ratings: Ratings) -> pd.DataFrame:
    """Summarise completion times in seconds, by session and by the last label answered."""
    timed = np.isfinite(ratings.seconds)
    lines = [
        {"session": session, "stage": stage, **_summary(ratings.seconds[rows & timed & reached])}
        for session, rows in sessions(ratings)
        for stage, reached in _stages(ratings)
        if (rows & timed & reached).any()
    ]
    columns = ["session", "stage", "n", "mean", "sd", "median", "q25", "q75"]
    return pd.DataFrame(lines, columns=columns)


def _stages(ratings: Ratings) -> Iterator[tuple[str, Bools]]:
    """Yield a mask of ratings for each label that is the last one answered, then for all."""
    answered = ratings.answers >= 0
    for place, label in enumerate(ratings.task.label_names):
        yield label, answered[:, place] & ~answered[:, place + 1 :].any(axis=1)
    yield ALL_RATINGS, np.ones(len(answered), bool)


def _summary(seconds: Floats) -> dict[str, float]:
    quarters = np.quantile(seconds, [0.25, 0.5, 0.75])
    return {
        "n": len(seconds),
        "mean": float(seconds.mean()),
        "sd": float(seconds.std(ddof=1)) if len(seconds) > 1 else np.nan,
        "median": float(quarters[1]),
        "q25": float(quarters[0]),
        "q75": float(quarters[2]),
    }

"""F1 of the raters' answers against the consensus."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.bootstrap import times_drawn
from assay._util.intervals import interval_ends
from assay._util.quotients import divided
from assay.data.majority_vote import close_gates, majority_labels
from assay.data.meetings import Design
from assay.data.ratings import Ratings, take_ratings
from assay.data.states import MISSING, Vectors

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]
YES = 1


def consensus_table(
    ratings: Ratings, design: Design, *, level: float, draws: int, rng: np.random.Generator
) -> pd.DataFrame:
    r"""Compare the first rating of each rater with the majority, label by label.

    Parameters
    ----------
    ratings : Ratings
        Of a task with binary labels.
    design : Design
        Of these ratings.
    level, draws, rng
        Of the cluster bootstrap.

    Returns
    -------
    pandas.DataFrame
        ``label``, ``statistic`` (``"f1_consensus"``: against the majority of all raters;
        ``"f1_others"``: against that of the other raters, ties left out), ``value``, ``lower``,
        ``upper``, ``n_items``, ``n_ratings``.

    Notes
    -----
    .. math:: F_1 = \frac{2\,TP}{2\,TP + FP + FN}, \quad \text{"yes" the positive class}

    A rater is part of the majority of all, which makes ``f1_consensus`` too high; ``f1_others``
    is free of that. Those vote on a question who answered it, and whether it is asked is decided
    by the majority on the questions before it. Where either side was not asked, the rating does
    not count.
    """
    # In the order of the ratings, which decides ties.
    votes = majority_labels(take_ratings(ratings, np.sort(design.first)))
    given = ratings.answers[design.first]
    others = close_gates(ratings.task, _of_others(given, design.item, len(design.cluster)))
    times = times_drawn(design.stratum, draws, rng)
    lines = []
    for place, label in enumerate(ratings.task.label_names):
        answers = given[:, place]
        for name, consensus in (
            ("f1_consensus", votes[design.item, place]),
            ("f1_others", others[:, place]),
        ):
            counts = _by_cluster(answers, consensus, design)
            both = (answers >= 0) & (consensus >= 0)
            several = len(design.stratum) > 1
            ends = interval_ends(_f1(counts @ times), level) if several else (np.nan, np.nan)
            lines.append(
                {
                    "label": label,
                    "statistic": name,
                    "value": float(_f1(counts.sum(axis=1, keepdims=True))[0]),
                    "lower": ends[0],
                    "upper": ends[1],
                    "n_items": len(np.unique(design.item[both])),
                    "n_ratings": int(both.sum()),
                }
            )
    return pd.DataFrame(lines)


def _of_others(answers: Vectors, item: NDArray[np.int64], items: int) -> Vectors:
    """Most frequent answers of the other raters of each row; missing if there is a tie."""
    winners = np.full(answers.shape, MISSING, np.int16)
    for column, own in enumerate(answers.T):
        given = np.flatnonzero(own >= 0)
        counts = np.zeros((items, int(own.max(initial=0)) + 1), np.int64)
        np.add.at(counts, (item[given], own[given]), 1)
        others = counts[item]
        others[given, own[given]] -= 1
        top = others.max(axis=1)
        single = (top > 0) & ((others == top[:, None]).sum(axis=1) == 1)
        winners[single, column] = others.argmax(axis=1)[single]
    return winners


def _by_cluster(answers: Codes, consensus: Codes, design: Design) -> Floats:
    """Count true positives, false positives and false negatives: (3, cluster)."""
    both = (answers >= 0) & (consensus >= 0)
    said, holds = answers == YES, consensus == YES
    cluster, size = design.cluster[design.item], len(design.stratum)
    return np.stack(
        [
            np.bincount(cluster[both & kind], minlength=size).astype(float)
            for kind in (said & holds, said & ~holds, ~said & holds)
        ]
    )


def _f1(counts: Floats) -> Floats:
    """F1 of counts (3, sample); NaN where neither side says yes."""
    return divided(2 * counts[0], 2 * counts[0] + counts[1] + counts[2])

"""Baselines: crowd-kit's aggregators, alone and recalibrated on items whose truth is known."""

import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

AGGREGATORS = (
    "MajorityVote",
    "Wawa",
    "ZeroBasedSkill",
    "DawidSkene",
    "OneCoinDawidSkene",
    "GLAD",
    "MACE",
    "MMSR",
    "KOS",
)
INDEPENDENT = ("DawidSkene", "OneCoinDawidSkene", "MACE")
"""Aggregators with probabilities that assume that raters err independently, given the class."""
TAKES_GOLD = ("GoldMajorityVote", "DawidSkene")
BY_SKILL = ("Wawa", "ZeroBasedSkill", "GoldMajorityVote")
BINARY_ONLY = ("KOS",)
RECALIBRATED: dict[str, tuple[str, ...]] = {
    "vote + DS + one coin": ("MajorityVote", "DawidSkene", "OneCoinDawidSkene"),
    "vote + DS + GLAD": ("MajorityVote", "DawidSkene", "GLAD"),
    "vote": ("MajorityVote",),
    "DS": ("DawidSkene",),
    "one coin": ("OneCoinDawidSkene",),
    "smoothed vote": ("smoothed vote",),
    "smoothed vote + DS + one coin": ("smoothed vote", "DawidSkene", "OneCoinDawidSkene"),
}
"""What is put into the regression. The logarithm of a share of votes that is 0 is that of the clip;
smoothed, half a vote is added to each class."""
CLIP = 1e-6


def applicable(name: str, classes: int) -> bool:
    """Whether an aggregator can take labels with so many classes."""
    return classes == 2 or name not in BINARY_ONLY


def aggregate(
    name: str, votes: pd.DataFrame, items: int, classes: int, gold: "pd.Series | None" = None
) -> tuple[Floats, bool]:
    """Run one of crowd-kit's aggregators.

    Parameters
    ----------
    name : str
    votes : DataFrame
        Columns task, worker, label, all whole numbers.
    items, classes : int
    gold : Series, optional
        Known classes by task, for the aggregators that take ``true_labels``.

    Returns
    -------
    probability : ndarray (item, class)
    graded : bool
        Whether these are probabilities; else 1 for the class that was chosen.
    """
    import crowdkit.aggregation as crowd

    model = getattr(crowd, name)()
    known = {} if gold is None else {"true_labels": gold}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if name in BY_SKILL:
            # Their own predict methods ask scikit-learn whether they are fitted, which versions
            # from 1.7 on do not answer; the vote weighted by their skills is what these would do.
            skill = model.fit(votes, **known).skills_
            every = skill.reindex(votes["worker"].unique()).fillna(skill.mean())
            found = crowd.MajorityVote().fit_predict_proba(votes, skills=every)
        elif hasattr(model, "fit_predict_proba"):
            found = model.fit_predict_proba(votes, **known)
        else:
            found = pd.get_dummies(model.fit_predict(votes), dtype=float)
            return _as_array(found, items, classes), False
    return _as_array(found, items, classes), True


def _as_array(found: pd.DataFrame, items: int, classes: int) -> Floats:
    table = found.reindex(index=range(items), columns=range(classes)).fillna(0.0)
    return table.to_numpy(float)


def smoothed_shares(votes: pd.DataFrame, items: int, classes: int) -> Floats:
    """Share of each class among an item's votes, with half a vote more for each class."""
    count = np.full((items, classes), 0.5)
    np.add.at(count, (votes["task"].to_numpy(), votes["label"].to_numpy()), 1.0)
    return np.asarray(count / count.sum(axis=1, keepdims=True))


def recalibrate(probabilities: Sequence[Floats], given: Codes, truth: Codes) -> Floats:
    """Multinomial logistic regression on log probabilities, learned where the truth is known.

    Parameters
    ----------
    probabilities : sequence of ndarray (item, class)
        Of several aggregators that have not seen the truth.
    given : ndarray of int
        Items whose truth is known.
    truth : ndarray of int
        Their classes.

    Returns
    -------
    ndarray (item, class)
        A class that no given item has keeps the probability 0.
    """
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    logs = [np.log(np.clip(p, CLIP, 1.0)) for p in probabilities]
    features = np.concatenate([each - each.mean(axis=1, keepdims=True) for each in logs], axis=1)
    found = np.zeros_like(probabilities[0])
    seen = np.unique(truth)
    if len(seen) == 1:
        found[:, seen[0]] = 1.0
        return found
    model = LogisticRegression(max_iter=5000).fit(features[given], truth)
    found[:, model.classes_] = model.predict_proba(features)
    return found

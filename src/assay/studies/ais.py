"""The AIS study: the tables of Rashkin et al. (2023) for ratings of the task ``ais``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.arrays import divided
from assay._util.bootstrap import times_drawn
from assay._util.errors import ModelError
from assay._util.intervals import interval_ends, tails
from assay._util.random import generator_of
from assay._util.text import UNDEFINED, interval, mark_of, percent
from assay.data.majority_vote import close_gates, majority_labels
from assay.data.overlap import Design, build_design
from assay.data.ratings import (
    AUDITED_RIGHT,
    AUDITED_WRONG,
    NOT_AUDITED,
    SOME_WRONG,
    Ratings,
    take_ratings,
)
from assay.data.states import MISSING, Vectors
from assay.data.task import Task
from assay.display.notes import estimand_words
from assay.evaluation import majority_metrics, metrics
from assay.fits.datatree import ratings_of
from assay.fits.summary import summarize
from assay.raters.agreements import agreement
from assay.raters.agreements.coefficients import WHOLE

ALL_SESSIONS = "all sessions"
NO_SESSION = "session not known"


def audit_table(ratings: Ratings, *, level: float) -> pd.DataFrame:
    """Count audited answers that are right, by session and label.

    Parameters
    ----------
    ratings : Ratings
    level : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        ``session`` (in order, then ``"all sessions"``), ``label`` (``"all labels"``: a rating is
        right if no answer of it was found wrong), ``audited``, ``right``, ``share``, ``lower``,
        ``upper``; no line where nothing was audited.

    Notes
    -----
    The intervals are Jeffreys' (Beta(1/2, 1/2) prior), for audits of ratings drawn at random.

    References
    ----------
    Brown, L. D., Cai, T. T. & DasGupta, A. (2001). Statistical Science 16, 101-133.
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


def sessions(ratings: Ratings) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return each session with its ratings; the last entry has all of them."""
    parts = [(name, ratings.session == name) for name in ratings.sessions]
    unknown = ratings.session == ""
    if parts and unknown.any():
        parts.append((NO_SESSION, unknown))
    return [*parts, (ALL_SESSIONS, np.ones(len(unknown), bool))]


def _whole(audit: NDArray[np.int8]) -> NDArray[np.int8]:
    """One verdict a rating: wrong if any answer is."""
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


ENDS = ("lower", "upper")
SHARED = ("estimand", "reference", "shift", "doubt")
"""Columns that a heading tells, or that the numbers beside them make."""


def study_text(
    systems: pd.DataFrame,
    agreement: pd.DataFrame,
    audits: pd.DataFrame,
    times: pd.DataFrame,
    *,
    notes: Sequence[str],
    level: float,
) -> str:
    """Write the tables of a study (see :func:`assay.ais_study`); empty ones are left out."""
    ends = f"{percent(level)} interval"
    about = f"estimand {estimand_words(systems)}; reference: {systems['reference'].iloc[0]}"
    vote, marks = ["majority", "majority_lower", "majority_upper"], dict[str, str]()
    tables = {
        f"Rates by system ({ends}; {about})": _marked(
            _told(systems, majority=vote, model=["mean", *ENDS]), systems["doubt"], marks
        ),
        f"Agreement of the raters ({ends})": _told(agreement, value=["value", *ENDS]),
        f"Audited answers that are right ({ends})": _told(audits, share=["share", *ENDS]),
        "Completion times in seconds": times.round(1),
    }
    blocks = [f"{name}\n{t.to_string(index=False)}" for name, t in tables.items() if len(t)]
    notes = [*(f"{mark} {text}" for text, mark in marks.items()), *notes]
    return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else [])])


def _marked(table: pd.DataFrame, doubts: pd.Series, marks: dict[str, str]) -> pd.DataFrame:
    """Mark the model's numbers that may mislead."""
    if "model" not in table:
        return table
    found = [mark_of(doubt, marks) if doubt else "" for doubt in doubts]
    return table.assign(model=table["model"] + found)


def _told(table: pd.DataFrame, **estimates: list[str]) -> pd.DataFrame:
    """Write estimates with their intervals; those that no line has are left out."""
    words = {
        name: [interval(*line) if np.isfinite(line[0]) else UNDEFINED for line in numbers]
        for name, columns in estimates.items()
        if np.isfinite(numbers := table[columns].to_numpy(float)).any()
    }
    gone = {*SHARED, *(c for columns in estimates.values() for c in columns)}
    return table[[c for c in table.columns if c not in gone]].assign(**words)


LABELS = ("flagged", "interpretable", "attributable")
METRICS = ("flag_rate", "interpretable_rate", "attributable_rate")
REPORTED = ("percent", "krippendorff_alpha")


@dataclass(frozen=True, kw_only=True, eq=False)
class AisStudy:
    """Results of a study of attribution; a table that could not be made is empty.

    Attributes
    ----------
    systems : pandas.DataFrame
        A line per metric (Flag, Int, AIS) and system: ``metric``, ``system``, ``majority``,
        ``majority_lower``, ``majority_upper`` (the vote taken for the truth, cluster bootstrap),
        ``mean``, ``lower``, ``upper`` (posterior; NaN without a fit), ``shift`` (mean less
        majority), ``doubt`` (why the posterior may mislead), ``estimand``, ``reference``.
    agreement : pandas.DataFrame
        A line per label and statistic (percent agreement of pairs, Krippendorff's alpha, F1
        against the consensus of all and of the other raters): ``label``, ``statistic``, ``value``,
        ``lower``, ``upper``, ``n_items``, ``n_ratings``.
    audits : pandas.DataFrame
        Share of the audited answers that are right, by session and label.
    times : pandas.DataFrame
        Completion times in seconds, by session and stage.
    notes : tuple of str
        What could not be made, and the input that would enable it.
    level : float
        Probability of the intervals.

    Notes
    -----
    ``print(study)`` writes the tables with their intervals.
    """

    systems: pd.DataFrame
    agreement: pd.DataFrame
    audits: pd.DataFrame
    times: pd.DataFrame
    notes: tuple[str, ...]

    level: float = 0.95

    def __str__(self) -> str:
        return study_text(
            self.systems, self.agreement, self.audits, self.times,
            notes=self.notes, level=self.level,
        )  # fmt: skip


def ais_study(
    ratings_or_fit: Ratings | xr.DataTree,
    *,
    level: float = 0.95,
    draws: int = 1000,
    rng: int | np.random.Generator = 1,
) -> AisStudy:
    """Tabulate a study of attribution to identified sources.

    Parameters
    ----------
    ratings_or_fit : Ratings or xarray.DataTree
        Ratings of a task with the labels ``flagged``, ``interpretable`` and ``attributable``, or
        a fit of them, which adds the model's rates.
    level : float
        Probability of all intervals, between 0 and 1.
    draws : int
        Bootstrap samples.
    rng : int or numpy.random.Generator

    Returns
    -------
    AisStudy

    Raises
    ------
    ModelError
        If the task has other labels, or a number is out of range.
    FitError
        If the tree is not a fit.

    Notes
    -----
    The tables follow the kinds that Rashkin et al. report: rates by system (Tables 3 to 5),
    agreement of raters (Table 6), audits by snapshot (Table 7), completion times (Table 8).
    Interpretable is a share of what is not flagged, attributable of what is interpretable.

    References
    ----------
    Rashkin, H. et al. (2023). Measuring attribution in natural language generation models.
    Computational Linguistics 49(4), 777-840.

    Examples
    --------
    >>> from assay.fits.simulate import simulate
    >>> ratings = simulate("ais", n_items=40, n_raters=5, ratings_per_item=5, rng=1)
    >>> study = ais_study(ratings, draws=50)
    >>> study.systems["metric"].tolist()
    ['flag_rate', 'interpretable_rate', 'attributable_rate']
    """
    fit = None if isinstance(ratings_or_fit, Ratings) else ratings_or_fit
    ratings = ratings_or_fit if isinstance(ratings_or_fit, Ratings) else ratings_of(ratings_or_fit)
    _require_labels(ratings.task)
    generator = generator_of(rng)
    vote = majority_metrics(ratings, metric=METRICS, level=level, draws=draws, rng=generator)
    raters = _raters(ratings, level=level, draws=draws, rng=generator)
    audits, times = audit_table(ratings, level=level), time_table(ratings)
    return AisStudy(
        systems=_systems(vote, fit, level),
        agreement=raters,
        audits=audits,
        times=times,
        notes=_notes(ratings, fit, audits, times),
        level=level,
    )


def _require_labels(task: Task) -> None:
    absent = [name for name in LABELS if name not in task.label_names]
    if absent:
        raise ModelError(
            f"task {task.name} has no label {' and no label '.join(absent)}; a study of "
            "attribution needs flagged, interpretable and attributable: read the ratings with "
            "`task='ais'`",
            code="attribution-labels",
        )


def _systems(vote: pd.DataFrame, fit: xr.DataTree | None, level: float) -> pd.DataFrame:
    """Put the model's rates beside those of the vote."""
    keys, numbers = ["metric", "system"], ["mean", "lower", "upper"]
    about = ["doubt", "estimand", "reference"]
    table = vote[[*keys, "value", "lower", "upper"]].rename(
        columns={"value": "majority", "lower": "majority_lower", "upper": "majority_upper"}
    )
    if fit is None:
        return table.assign(mean=np.nan, lower=np.nan, upper=np.nan, shift=np.nan).assign(
            doubt="", estimand=vote["estimand"], reference=vote["reference"]
        )
    model = summarize(metrics(fit, metric=METRICS), level=level)[[*keys, *numbers, *about]]
    joined = table.merge(model, on=keys, how="left", validate="one_to_one")
    return joined.assign(shift=joined["mean"] - joined["majority"])[
        [*table.columns, *numbers, "shift", *about]
    ]


def _raters(
    ratings: Ratings, *, level: float, draws: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Agreement with each other, then with the consensus."""
    pairs = agreement(ratings, level=level, draws=draws, rng=rng).table
    f1 = consensus_table(ratings, build_design(ratings), level=level, draws=draws, rng=rng)
    columns = ["label", "statistic", "value", "lower", "upper", "n_items", "n_ratings"]
    table = pd.concat([pairs[pairs["statistic"].isin(REPORTED)][columns], f1], ignore_index=True)
    order = {name: n for n, name in enumerate([*ratings.task.label_names, WHOLE])}
    return table.sort_values("label", key=lambda c: c.map(order), kind="stable", ignore_index=True)


def _notes(
    ratings: Ratings, fit: xr.DataTree | None, audits: pd.DataFrame, times: pd.DataFrame
) -> tuple[str, ...]:
    gaps = [
        (fit is None, "no model: pass a fit for rates that allow for the raters' errors"),
        (not ratings.systems, "no systems: all outputs are pooled; name the column with `system=`"),
        (audits.empty, "no audits: name the column of checked answers with `audit=`"),
        (
            not ratings.sessions,
            "no sessions: audits and times are not split; name the column with `session=`",
        ),
        (
            bool((ratings.audit == SOME_WRONG).any()),
            "some audits found a rating wrong, and do not say in which answer: the shares of "
            "single labels leave them out and are too high, that of all labels counts them; give "
            "a column for each label with `audit=`",
        ),
        (times.empty, "no completion times: name the column of seconds with `seconds=`"),
    ]
    return tuple(text for missing, text in gaps if missing)

"""ais_study: systems, raters, audits and times of a study of attribution."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.errors import ModelError
from assay._util.random import generator_of
from assay.data.meetings import build_design
from assay.data.ratings import SOME_WRONG, Ratings
from assay.data.task import Task
from assay.evaluation import majority_metrics, metrics
from assay.fits.datatree import ratings_of
from assay.fits.summary import summarize
from assay.raters.agreements import agreement
from assay.raters.agreements.columns import WHOLE
from assay.studies.audits import audit_table
from assay.studies.consensus import consensus_table
from assay.studies.times import time_table
from assay.studies.written import study_text

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
    >>> from assay.fits.simulation import simulate
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
            "task='ais'",
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
        (not ratings.systems, "no systems: all outputs are pooled; name the column with system="),
        (audits.empty, "no audits: name the column of checked answers with audit="),
        (
            not ratings.sessions,
            "no sessions: audits and times are not split; name the column with session=",
        ),
        (
            bool((ratings.audit == SOME_WRONG).any()),
            "some audits found a rating wrong, and do not say in which answer: the shares of "
            "single labels leave them out and are too high, that of all labels counts them; give "
            "a column for each label with audit=",
        ),
        (times.empty, "no completion times: name the column of seconds with seconds="),
    ]
    return tuple(text for missing, text in gaps if missing)

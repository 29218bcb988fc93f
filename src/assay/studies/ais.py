"""The AIS study: the tables of Rashkin et al. (2023) for ratings of the task ``ais``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.arrays import divided
from assay._util.bootstrap import times_drawn
from assay._util.errors import ModelError
from assay._util.intervals import interval_ends
from assay._util.random import generator_of
from assay._util.text import UNDEFINED, interval, mark_of, percent, probability
from assay._util.typing import Floats
from assay.data.majority_vote import (
    close_gates,
    count_of_others,
    majority_labels,
    single_winner,
)
from assay.data.overlap import FirstRatings, build_design
from assay.data.ratings import (
    SOME_WRONG,
    Ratings,
    take_ratings,
)
from assay.data.states import MISSING
from assay.data.task import Label, Task
from assay.display.notes import estimand_words, ties_said
from assay.evaluation import majority_metrics, metrics
from assay.fits.summary import summarize
from assay.fits.view import Fit, FitView
from assay.raters.agreements import agreement
from assay.raters.agreements.coefficients import WHOLE
from assay.studies.ais_audits import audit_table, time_table
from assay.studies.ais_unanimity import unanimity_table

Codes = NDArray[np.integer]
NO, YES = 0, 1
BOTH = "interpretable and attributable"


def consensus_table(
    ratings: Ratings, design: FirstRatings, *, level: float, draws: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Compare the first rating of each rater with a majority, for each label, without ties or gated
    answers. ``f1_others`` leaves the rater out; ``f1_consensus`` does not, and is too high.
    """
    votes = majority_labels(take_ratings(ratings, np.sort(design.first)))
    given = ratings.answers[design.first]
    others = [
        single_winner(
            count_of_others(design.item, given[:, n], len(ratings.items), len(label.classes))
        )
        for n, label in enumerate(ratings.task.labels)
    ]
    of_others = close_gates(ratings.task, np.column_stack(others).astype(np.int16))
    times = times_drawn(design.stratum, draws, rng)
    lines = []
    for place, label in enumerate(ratings.task.label_names):
        answers = given[:, place]
        for name, consensus in (
            ("f1_consensus", votes[design.item, place]),
            ("f1_others", of_others[:, place]),
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


def _by_cluster(answers: Codes, consensus: Codes, design: FirstRatings) -> Floats:
    """Count true positives, false positives and false negatives, (3, cluster)."""
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
    """Return F1 = 2 TP / (2 TP + FP + FN) of counts (3, sample); NaN if neither side says yes."""
    return divided(2 * counts[0], 2 * counts[0] + counts[1] + counts[2])


ENDS = ("lower", "upper")
CLEARLY = 0.99
"""Probability above which a system is clearly below the best (p < 0.01 in the paper)."""
SHARED = ("estimand", "reference", "shift", "doubt", "p_worse", "clearly_worse")
"""Columns left out of the text: the heading or other columns already state them."""


def study_text(
    systems: pd.DataFrame,
    agreement: pd.DataFrame,
    unanimity: pd.DataFrame,
    audits: pd.DataFrame,
    times: pd.DataFrame,
    *,
    notes: Sequence[str],
    level: float,
) -> str:
    """Write the tables of a study as text, without empty ones."""
    ends = f"{percent(level)} interval"
    about = f"estimand {estimand_words(systems)}; reference: {systems['reference'].iloc[0]}"
    vote, marks = ["majority", "majority_lower", "majority_upper"], dict[str, str]()
    tables = {
        f"Rates by system ({ends}; {about})": _marked(
            _told(systems, majority=vote, model=["mean", *ENDS]), systems, marks
        ),
        f"Agreement of the raters ({ends})": _told(agreement, value=["value", *ENDS]),
        f"Outputs on which all raters agree ({ends}), and the majority's rate among these and the "
        "others": _told(unanimity, unanimous=["unanimous", *ENDS]).round(2),
        f"Audited answers that are right ({ends})": _told(audits, share=["share", *ENDS]),
        "Completion times in seconds": times.round(1),
    }
    blocks = [f"{name}\n{t.to_string(index=False)}" for name, t in tables.items() if len(t)]
    notes = [*(f"{mark} {text}" for text, mark in marks.items()), *notes]
    return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else [])])


def _marked(table: pd.DataFrame, systems: pd.DataFrame, marks: dict[str, str]) -> pd.DataFrame:
    """Mark estimates that may mislead, and add P(below the best system)."""
    if "model" not in table:
        return table
    found = [mark_of(doubt, marks) if doubt else "" for doubt in systems["doubt"]]
    table = table.assign(model=table["model"] + found)
    if systems["p_worse"].isna().all():
        return table
    star = f"clearly below the best system: P above {CLEARLY}"
    said = [
        "" if np.isnan(p) else probability(p) + (mark_of(star, marks) if clear else "")
        for p, clear in zip(systems["p_worse"], systems["clearly_worse"], strict=True)
    ]
    return table.assign(**{"P(below the best)": said})


def _told(table: pd.DataFrame, **estimates: list[str]) -> pd.DataFrame:
    """Write each estimate with its interval in one cell; drop estimates that are all undefined."""
    words = {
        name: [interval(*line) if np.isfinite(line[0]) else UNDEFINED for line in numbers]
        for name, columns in estimates.items()
        if np.isfinite(numbers := table[columns].to_numpy(float)).any()
    }
    gone = {*SHARED, *(c for columns in estimates.values() for c in columns)}
    return table[[c for c in table.columns if c not in gone]].assign(**words)


LABELS = ("flagged", "interpretable", "attributable")
STARRED = ("interpretable_rate", "attributable_rate")
"""Metrics for which the paper stars systems that are clearly below the best."""
METRICS = ("flag_rate", "interpretable_rate", "attributable_rate")
REPORTED = ("percent", "krippendorff_alpha")


@dataclass(frozen=True, kw_only=True, eq=False)
class AisStudy:
    """Results of a study of attribution; a table that could not be made is empty.

    systems : a row for each metric and system. ``majority`` takes the vote for the truth (cluster
        bootstrap); ``mean``, ``lower`` and ``upper`` are of the posterior (NaN without a fit);
        ``shift`` = mean - majority; ``p_worse`` = P(the rate is below the highest; NaN for Flag,
        and for the highest itself); ``clearly_worse`` = whether it is above 0.99, the stars of the
        paper.
    agreement : a row for each label and statistic (pairwise agreement, Krippendorff's alpha, F1
        against the majority of all raters and of the other raters). ``interpretable and
        attributable`` is one answer of each rating that is not flagged, as in the paper's Table 6;
        ``attributable`` counts only raters who find the output interpretable.
    unanimity : share of the outputs on which all raters agree, by label and system, and the
        majority's rate of yes among these outputs and among the others.
    audits : share of the audited answers that are right, by session and label.
    times : completion times in seconds, by session and stage.
    notes : tables that could not be made, and the input that would enable them.

    ``print(study)`` writes the tables with their intervals.
    """

    systems: pd.DataFrame
    agreement: pd.DataFrame
    unanimity: pd.DataFrame
    audits: pd.DataFrame
    times: pd.DataFrame
    notes: tuple[str, ...]

    level: float = 0.95

    def __str__(self) -> str:
        return study_text(
            self.systems, self.agreement, self.unanimity, self.audits, self.times,
            notes=self.notes, level=self.level,
        )  # fmt: skip


def ais_study(
    ratings_or_fit: Ratings | Fit,
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
    The tables are of the kinds that Rashkin et al. report. Tables 3 to 5 have rates by system,
    Table 6 agreement of raters, Table 7 audits by snapshot, Table 8 completion times.
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
    given = ratings_or_fit
    fit = None if isinstance(given, Ratings) else FitView.of(given)
    ratings = given if isinstance(given, Ratings) else FitView.of(given).ratings
    _require_labels(ratings.task)
    generator = generator_of(rng)
    vote = majority_metrics(ratings, metric=METRICS, level=level, draws=draws, rng=generator)
    raters = _raters(ratings, level=level, draws=draws, rng=generator)
    audits, times = audit_table(ratings, level=level), time_table(ratings)
    alike = unanimity_table(ratings, build_design(ratings), level=level, draws=draws, rng=generator)
    return AisStudy(
        systems=_systems(vote, fit, level),
        agreement=raters,
        unanimity=alike,
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


def _systems(vote: pd.DataFrame, fit: Fit | None, level: float) -> pd.DataFrame:
    """Join the rates of the model with those of the majority vote."""
    keys, numbers = ["metric", "system"], ["mean", "lower", "upper"]
    about = ["doubt", "estimand", "reference"]
    table = vote[[*keys, "value", "lower", "upper"]].rename(
        columns={"value": "majority", "lower": "majority_lower", "upper": "majority_upper"}
    )
    if fit is None:
        gone = dict.fromkeys((*numbers, "shift", "p_worse"), np.nan)
        return table.assign(**gone).assign(
            clearly_worse=False, doubt="", estimand=vote["estimand"], reference=vote["reference"]
        )
    drawn = metrics(fit, metric=METRICS)
    model = summarize(drawn, level=level)[[*keys, *numbers, *about]]
    joined = table.merge(model, on=keys, how="left", validate="one_to_one")
    worse = _below_best(drawn)
    named = zip(joined["metric"], joined["system"], strict=True)
    chance = np.array([worse.get(key, np.nan) for key in named])
    clear = (chance > CLEARLY) & (joined["doubt"] == "")
    joined = joined.assign(
        shift=joined["mean"] - joined["majority"], p_worse=chance, clearly_worse=clear
    )
    return joined[[*table.columns, *numbers, "shift", "p_worse", "clearly_worse", *about]]


def _below_best(drawn: xr.Dataset) -> dict[tuple[str, str], float]:
    """Return the probability that each other system's rate is below that of the best system."""
    if "system" not in drawn.dims or drawn.sizes["system"] < 2:
        return {}
    found = {}
    for name in STARRED:
        rates = drawn[name].transpose("system", ...).to_numpy().reshape(drawn.sizes["system"], -1)
        held = np.isfinite(rates)
        means = divided(np.where(held, rates, 0).sum(axis=1), held.sum(axis=1))
        if np.isnan(means).all():
            continue
        place = np.nanargmax(means)
        best = rates[place]
        for n, (system, own) in enumerate(zip(drawn["system"].to_numpy(), rates, strict=True)):
            both = np.isfinite(own) & np.isfinite(best)
            if both.any() and n != place:
                found[name, str(system)] = float((own < best)[both].mean())
    return found


def _raters(
    ratings: Ratings, *, level: float, draws: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return agreement between raters, and F1 of raters against the majority."""
    pairs = agreement(ratings, level=level, draws=draws, rng=rng).table
    f1 = consensus_table(ratings, build_design(ratings), level=level, draws=draws, rng=rng)
    both = both_judgements(ratings)
    whole = agreement(both, labels=BOTH, level=level, draws=draws, rng=rng).table
    f1_both = consensus_table(both, build_design(both), level=level, draws=draws, rng=rng)
    columns = ["label", "statistic", "value", "lower", "upper", "n_items", "n_ratings"]
    parts = [part[part["statistic"].isin(REPORTED)][columns] for part in (pairs, whole)]
    table = pd.concat([*parts, f1, f1_both], ignore_index=True)
    order = {name: n for n, name in enumerate([*ratings.task.label_names, BOTH, WHOLE])}
    return table.sort_values("label", key=lambda c: c.map(order), kind="stable", ignore_index=True)


def both_judgements(ratings: Ratings) -> Ratings:
    """Return one answer for each rating that is not flagged: is the output attributable?

    "No" where the rater finds the output not interpretable, as in Table 6 of the paper.
    """
    names = ratings.task.label_names
    clear, attributable = (ratings.answers[:, names.index(name)] for name in LABELS[1:])
    answer = np.where(clear == NO, NO, attributable)
    return replace(
        ratings,
        task=Task(name="ais", labels=(Label(name=BOTH),)),
        answers=np.where(answer < 0, MISSING, answer).astype(np.int16)[:, None],
        truth=np.full((len(ratings.items), 1), MISSING, np.int16),
        scores=np.zeros((0, 0)),
        audit=np.zeros((0, 0), np.int8),
        simulated=None,
    )


def _notes(
    ratings: Ratings, fit: Fit | None, audits: pd.DataFrame, times: pd.DataFrame
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
            "some audits found a rating wrong without saying which answer is wrong: the shares of "
            "single labels leave them out, so they are too high. Give a column for each label with "
            "`audit=`",
        ),
        (times.empty, "no completion times: name the column of seconds with `seconds=`"),
    ]
    ties = ties_said(ratings)
    return (*(text for missing, text in gaps if missing), *([ties] if ties else []))

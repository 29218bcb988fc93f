"""The function ``compare_scores``: which scorer is better, on shared draws of the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.errors import Note, RatingsError
from assay._util.intervals import require_level
from assay._util.text import counted
from assay._util.validation import names_given, require_choice, require_flag
from assay.comparison.contrasts import Rope, require_two
from assay.comparison.systems import Comparison, compare_draws
from assay.evaluation.estimands import ESTIMANDS, MIN_CLUSTERS, Estimand
from assay.fits.view import Fit
from assay.raters.scoring.informed import blind_words, informed_truth, saw_scores
from assay.raters.scoring.rater_scores import score_rater
from assay.raters.scoring.scores import ScoredItems, Scores, read_scores
from assay.raters.scoring.truths import Source, Truth, positive_classes, read_truth

LOWER = ("ece", "ece_equal_mass", "brier")
"""Measures of which lower values are better."""
ENDS = ("_lowest", "_highest")
FEWEST = 2
"""Fewest clusters whose weights can differ."""
DRAWS_OF_KNOWN = 2000
"""Draws of the weights of clusters where the truth is known."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScoreComparison(Comparison):
    """Scorers compared on shared draws of the truth; ``print`` it for sentences.

    The columns are those of :class:`assay.comparison.Comparison`; a system is a scorer. ``pairs``
    also has ``n_items`` (scored by all) and ``n_clusters``.

    notes : what the numbers leave out, with codes
    """

    notes: tuple[Note, ...] = ()

    def sentences(self) -> list[str]:
        """State each pair in a sentence, then the notes."""
        return [*super().sentences(), *self.notes]


def compare_scores(
    truth: Source,
    scores: Mapping[str, Scores] | Sequence[str],
    *,
    metric: str | Sequence[str] | None = None,
    label: str | None = None,
    positive: str | Sequence[str] | None = None,
    clusters: Mapping[Any, Any] | None = None,
    estimand: Estimand = "finite",
    level: float = 0.95,
    rope: Rope = None,
    baseline: str | None = None,
    threshold: float = 0.5,
    informed: bool = False,
    **choices: Any,
) -> ScoreComparison:
    """Compare scorers on the same draws of the truth and of the queries.

    Parameters
    ----------
    truth : xarray.DataTree, xarray.DataArray, Ratings, pandas.Series or mapping
        As in :func:`assay.score_rater`.
    scores : mapping of str to scores, or sequence of str
        The scores of each scorer by name, or names of raters with scores in the ratings.
    metric : str or sequence of str, optional
        Measures; all that the scores of all scorers allow if not given.
    label, positive, clusters, threshold
        As in :func:`assay.score_rater`.
    estimand : {"finite", "population"}
        These items, or queries (clusters) like these. Few queries are allowed, and a note states
        their number.
    level : float
        Probability of the intervals.
    rope : float or (float, float), optional
        Differences that do not matter, in units of the measure.
    baseline : str, optional
        Compare each scorer only with this one.
    informed : bool
        Whether the labels of a fit that has not used the scores are drawn again, given the scores
        of all scorers, as in :func:`assay.score_rater`.
    **choices
        ``by``, ``gains``, ``k`` and ``bins`` of :func:`assay.score_rater`.

    Returns
    -------
    ScoreComparison
        ``pairs`` with the difference and ``p_greater`` = P(a > b), ``systems`` with ``p_best`` and
        the probability of each rank, ``draws`` and ``notes``.

    Raises
    ------
    RatingsError
        If fewer than two items have a score of every scorer, or scores cannot be read.
    ModelError, UnknownNameError, FitError
        As :func:`assay.score_rater` and :func:`assay.compare`.

    Notes
    -----
    Items that some scorer has not scored are left out for all. Both sides of a difference see the
    same truth in each draw, and under ``population`` the same weights of queries. So errors of the
    truth that hit both cancel, and a difference is known better than two separate intervals say.

    Against known truth, ``finite`` has one draw: the probabilities are 0 or 1, and are about these
    items only.

    Examples
    --------
    >>> truth = {"a": 1, "b": 0, "c": 1, "d": 0}
    >>> good, poor = dict(a=0.9, b=0.1, c=0.8, d=0.3), dict(a=0.4, b=0.3, c=0.2, d=0.6)
    >>> found = compare_scores(truth, {"good": good, "poor": poor}, metric="auroc")
    >>> found.pairs[["a", "b", "difference", "p_greater"]].round(2)
          a     b  difference  p_greater
    0  good  poor        0.75        1.0
    """
    named: Mapping[str, Scores] = (
        scores
        if isinstance(scores, Mapping)
        else {name: name for name in names_given("scores", scores, what="scorer")}
    )
    require_level(level)
    require_choice("estimand", estimand, ESTIMANDS)
    require_flag("informed", informed)
    require_two([str(name) for name in named])
    known = read_truth(truth, label=label, clusters=clusters)
    chosen = positive_classes(known, positive)
    read = {str(n): read_scores(own, known, chosen, threshold) for n, own in named.items()}
    unseen = _unseen(truth, known, read)
    blind = [] if informed else [words for own in unseen if (words := blind_words(known, own))]
    if informed and isinstance(truth, Fit):
        for own in unseen:
            known = informed_truth(truth, known, own)
    tables, left = _shared_items(read, known)
    known = replace(known, fewest=FEWEST)
    if estimand == "population" and len(known.codes) == 1:
        codes = np.repeat(known.codes, DRAWS_OF_KNOWN, axis=0)
        known = replace(known, codes=codes, shape=(1, DRAWS_OF_KNOWN))
    asked = None if metric is None else names_given("metric", metric, what="measure")
    drawn = {
        name: score_rater(
            known, table, positive=positive, metric=asked, estimand=estimand, threshold=threshold,
            **choices,
        )
        for name, table in tables.items()
    }  # fmt: skip
    every = _joined(drawn, ends=metric is not None)
    better = {str(n): "lower" if n in LOWER else "higher" for n in every.data_vars}
    found = compare_draws(every, better, level=level, rope=rope, baseline=baseline)
    size = len(next(iter(tables.values())))
    rankings = int(next(iter(drawn.values())).attrs["n_rankings"])
    return ScoreComparison(
        pairs=found.pairs.assign(n_items=size, n_clusters=rankings),
        systems=found.systems,
        draws=found.draws,
        notes=tuple(_notes(drawn, known, size, rankings, left, estimand, blind)),
    )


def _unseen(truth: Source, known: Truth, read: Mapping[str, ScoredItems]) -> list[ScoredItems]:
    """Return the scores that the fit behind the truth has not used."""
    if not isinstance(truth, Fit):
        return []
    return [own for own in read.values() if not saw_scores(known, own)]


def _shared_items(
    read: Mapping[str, ScoredItems], truth: Truth
) -> tuple[dict[str, pd.DataFrame], int]:
    """Return tables of the items that every scorer has scored, and the number of other items."""
    shared = set.intersection(*(set(own.item.tolist()) for own in read.values()))
    every = set.union(*(set(own.item.tolist()) for own in read.values()))
    if len(shared) < FEWEST:
        raise RatingsError.of(
            "scores-other-items",
            f"{counted(len(shared), 'item', 'have')} a score of every scorer",
            "the scores",
            mend="compare scorers that scored the same items",
        )
    kept = np.array(sorted(shared))
    return {name: _table(own, truth, kept) for name, own in read.items()}, len(every - shared)


def _table(
    own: ScoredItems, truth: Truth, kept: "np.ndarray[Any, np.dtype[np.int64]]"
) -> pd.DataFrame:
    columns: dict[str, Any] = {"score": own.score}
    if own.guess is not None:
        columns |= {"guess": own.guess, "confidence": own.confidence}
    table = pd.DataFrame(columns, index=own.item).loc[kept]
    return table.set_axis(truth.items[kept], axis=0)


def _joined(drawn: Mapping[str, xr.Dataset], *, ends: bool) -> xr.Dataset:
    """Put the draws of measures that all have side by side, (chain, draw, system).

    ``ends`` says whether to keep the lowest and highest values over the orders of ties.
    """
    first = next(iter(drawn.values()))
    shared = [n for n in first.data_vars if all(n in own for own in drawn.values())]
    names = [n for n in shared if ends or not any(end in str(n) for end in ENDS)]
    index = pd.Index(list(drawn), name="system")
    data = {}
    for name in names:
        parts = [own[name] for own in drawn.values()]
        joined = xr.concat(parts, dim=index, combine_attrs="drop").transpose(..., "system")
        data[name] = joined.assign_attrs(parts[0].attrs)
    return xr.Dataset(data, attrs=first.attrs)


def _notes(
    drawn: Mapping[str, xr.Dataset], truth: Truth, size: int, rankings: int, left: int,
    estimand: str, blind: Sequence[str],
) -> list[Note]:  # fmt: skip
    notes = []
    if left:
        notes.append(
            Note(
                f"{counted(left, 'item', 'are')} left out, because not every scorer has a score of "
                f"them; {size} remain.",
                code="scored-by-some",
                level="note",
                numbers={"items": left, "kept": size},
            )
        )
    if estimand == "population" and rankings < MIN_CLUSTERS:
        notes.append(
            Note(
                f"There are {rankings} queries. With fewer than {MIN_CLUSTERS}, intervals for "
                "queries like these tend to be too narrow, and probabilities too near 0 or 1.",
                code="few-queries",
                numbers={"queries": rankings, "enough": MIN_CLUSTERS},
            )
        )
    if estimand == "finite" and len(truth.codes) == 1:
        notes.append(
            Note(
                "The truth is known and the items are fixed, so probabilities are 0 or 1. For "
                "queries like these, use `estimand='population'`.",
                code="one-draw-of-truth",
                level="note",
            )
        )
    of_measures = (str(v.attrs["note"]) for own in drawn.values() for v in own.values())
    seen = dict.fromkeys([*of_measures, *blind])
    notes += [Note(text, code="score-measure", level="note") for text in seen if text]
    return notes

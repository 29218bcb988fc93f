"""The functions ``score_rater`` and ``score_table``: measures in every draw of the truth."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay._util.typing import Floats, Ints
from assay._util.validation import names_given, require_choice, require_count, require_flag
from assay.evaluation.estimands import ESTIMANDS, Estimand
from assay.fits.summary import summarize
from assay.fits.view import Fit
from assay.raters.scoring.informed import (
    ItemWeights,
    blind_words,
    informed_truth,
    item_weights,
    saw_scores,
    weighable_measures,
    weights_ignored,
)
from assay.raters.scoring.measures import Measure, ScoredBlock, Setting, choose_measures
from assay.raters.scoring.scores import Scores, read_scores
from assay.raters.scoring.truths import (
    Source,
    Truth,
    class_gains,
    class_grades,
    positive_classes,
    read_truth,
)

By = Literal["cluster"]
BLOCK_CELLS = 2_000_000
"""Labels of items in a block of draws: bounds the memory."""


def score_rater(
    truth: Source | Truth,
    scores: Scores,
    *,
    label: str | None = None,
    positive: str | Sequence[str] | None = None,
    gains: Mapping[str, float] | None = None,
    clusters: Mapping[Any, Any] | None = None,
    by: By | None = "cluster",
    metric: str | Sequence[str] | None = None,
    k: int | None = None,
    bins: int = 10,
    threshold: float = 0.5,
    estimand: Estimand = "finite",
    informed: bool = False,
) -> xr.Dataset:
    r"""Compare a rater's scores with the truth, in every draw of the truth.

    Parameters
    ----------
    truth : xarray.DataTree, xarray.DataArray, Ratings, pandas.Series or mapping
        A fit, whose label draws are the truth; label draws themselves; ratings with known truth;
        or the class of each item.
    scores : str, mapping, pandas.Series or pandas.DataFrame
        The score of each item, or the name of a rater who has scores in the ratings. Or a table
        with the columns ``score`` and perhaps ``item`` (else the index), ``guess`` (0/1, bool or a
        class) and ``confidence``.
    label : str, optional
        Which label; not needed if there is only one.
    positive : str or sequence of str, optional
        Classes that count as positive; one class of an ordered label includes all classes above.
        The upper one of two classes if not given.
    gains : mapping of str to float, optional
        Gain of a class in nDCG; by default 0, 1, 2, ... for ordered classes.
    clusters : mapping or pandas.Series, optional
        The cluster of each item; that of the ratings if not given.
    by : {"cluster", None}
        Rank within clusters and average over them, or all items in one ranking.
    metric : str or sequence of str, optional
        Names of measures; all that the scores allow if not given: ``accuracy``, ``precision``,
        ``recall``, ``f1``, ``ece``, ``ece_equal_mass``, ``brier``, ``auroc``,
        ``average_precision``, ``confidence_auroc``, ``kendall_tau``, and ``ndcg`` and ``map``,
        each also as ``_lowest`` and ``_highest``.
    k : int, optional
        How many ranks count in nDCG and MAP, whose names then end in it (``ndcg_at_10``).
    bins : int
        Number of bins of the calibration errors.
    threshold : float
        Without guesses, a probability of at least this is a positive guess.
    estimand : {"finite", "population"}
        Whether the measure is about these items, or about clusters like these.
    informed : bool
        Whether the labels of a fit that has not used the scores are drawn again, given the scores.

    Returns
    -------
    xarray.Dataset
        A variable (chain, draw) per measure; NaN where it is undefined. Its attributes hold the
        description, the estimand, the share of undefined draws and, in ``note``, what it leaves
        out. The dataset's attributes hold

        - the ``reference`` (what defines the truth) and the positive classes
        - the numbers of items with a score, of items tied in their ranking and of items without a
          score
        - the number of rankings (``n_rankings``), and of those with one item
          (``n_rankings_of_one``)
        - whether labels were drawn again (``informed``, 0 or 1)
        - the measures that are ``left_out``, if any, and the reason (``left_out_because``)

    Raises
    ------
    RatingsError
        If the scores or the truth cannot be read.
    UnknownNameError
        If there is no label, class, rater or metric of a name.
    ModelError
        If an argument has another value, or design weights differ within a ranking and a named
        measure cannot count them.

    Notes
    -----
    ``finite`` is the posterior of the measure on these items: it includes uncertainty about the
    truth, not the sampling of items. ``population`` also weights clusters with the Bayesian
    bootstrap (:class:`~assay.evaluation.estimands.ClusterWeights`), within strata and by design
    weight. Measures of all items count the weight of each item. Measures of rankings and
    ``finite`` cannot. If weights differ within a ranking, such a measure is an error if it is
    named, and is otherwise left out.

    Label draws of a fit do not depend on scores that the fit has not used. Where the truth is
    uncertain, they agree with these scores too rarely, as if the scores added nothing to the
    ratings. With three raters of 85 % accuracy, no interval of F1, Brier score or AUROC covered the
    true value in 40 simulated sets (benchmark ``informed_scores``). The ``note`` reports this where
    two draws differ on more than one item in a hundred.

    With ``informed`` the labels are drawn again by Bayes' rule
    (:func:`~assay.raters.scoring.informed.informed_codes`), and 36 to 39 of the intervals covered
    the true value. The exception are calibration errors near 0, which are overstated (half of the
    intervals covered the ECE of a perfectly calibrated score). Scores are then assumed to err
    independently of the raters given the truth, which overrates them where all find the same items
    hard. The two results bracket the unknown value. A fit has used the scores in its ratings.

    A draw leaves out items whose label is unknown or does not apply in it. Ties count a half in the
    AUROC, and are one threshold in ``average_precision``. nDCG and MAP average over all orders of
    ties, with ``_lowest`` and ``_highest`` as the extremes. Measures of order are undefined in a
    ranking of one item, and their means leave it out.

    Examples
    --------
    >>> truth = {"a": 1, "b": 0, "c": 1}
    >>> found = score_rater(truth, {"a": 0.9, "b": 0.4, "c": 0.4}, metric=["auroc", "brier"])
    >>> found["auroc"].item(), round(found["brier"].item(), 4)
    (0.75, 0.1767)
    """
    require_flag("informed", informed)
    require_choice("estimand", estimand, ESTIMANDS)
    known = truth if isinstance(truth, Truth) else read_truth(truth, label=label, clusters=clusters)
    chosen = positive_classes(known, positive)
    scored = read_scores(scores, known, chosen, threshold)
    unseen = truth if isinstance(truth, Fit) and not saw_scores(known, scored) else None
    blind = "" if unseen is None or informed else blind_words(known, scored)
    if unseen is not None and informed:
        known = informed_truth(unseen, known, scored)
    cluster, design = known.cluster[scored.item], known.weight[scored.item]
    ranking, asked = _rankings(cluster, by), choose_measures(metric, scored)
    setting = Setting(
        scored=scored,
        positive=chosen,
        gains=class_gains(known, chosen, gains),
        grades=class_grades(known, chosen),
        ranking=ranking,
        k=None if k is None else require_count("k", k),
        bins=require_count("bins", bins),
    )
    weights = item_weights(
        estimand,
        cluster,
        design,
        known.stratum[scored.item],
        by_cluster=by == "cluster",
        fewest=known.fewest,
    )
    ignoring, why = weights_ignored(asked, estimand, design, ranking)
    measures = weighable_measures(asked, ignoring, why, named=metric is not None)
    parts = [[m.function(block) for m in measures] for block in blocks(known, setting, weights)]
    said = _description(known, setting, by)
    note = _left_out(said["n_rankings_of_one"], said["n_rankings"])
    notes = [" ".join(filter(None, [note if m.ranking else "", blind])) for m in measures]
    data = _dataset(measures, np.concatenate(parts, axis=1), known, k, estimand, notes)
    left_out = {"left_out": [m.name for m in ignoring], "left_out_because": why}
    return data.assign_attrs(
        said,
        **(left_out if ignoring else {}),
        estimand=estimand,
        informed=int(informed and unseen is not None),
        bins=bins,
        **({} if k is None else {"k": k}),
    )


def blocks(
    truth: Truth, setting: Setting, weights: ItemWeights | None = None
) -> Iterator[ScoredBlock]:
    """Yield the draws of the scored items in blocks."""
    items = setting.scored.item
    step = max(1, BLOCK_CELLS // len(items))
    for begin in range(0, len(truth.codes), step):
        draws = slice(begin, min(begin + step, len(truth.codes)))
        codes = truth.codes[draws][:, items]
        if weights is None:
            yield ScoredBlock(setting=setting, codes=codes)
        else:
            item, ranking = weights[draws]
            yield ScoredBlock(
                setting=setting, codes=codes, item_weight=item, ranking_weight=ranking
            )


def _rankings(cluster: NDArray[np.object_], by: By | None) -> Ints:
    if by is not None:
        require_choice("by", by, ("cluster",), otherwise="None for one ranking of all items")
    names = cluster.astype(str) if by == "cluster" else np.full(len(cluster), "")
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _dataset(
    measures: Sequence[Measure],
    values: Floats,
    truth: Truth,
    k: int | None,
    estimand: str,
    notes: Sequence[str],
) -> xr.Dataset:
    variables = {}
    for measure, draws, note in zip(measures, values, notes, strict=True):
        cut = k is not None and measure.name.startswith(("ndcg", "map"))
        variables[f"{measure.name}_at_{k}" if cut else measure.name] = xr.DataArray(
            draws.reshape(truth.shape),
            dims=("chain", "draw"),
            attrs={
                "title": _at(measure.title, k) if cut else measure.title,
                "description": f"{measure.description}; first {k} ranks"
                if cut
                else measure.description,
                "estimand": estimand,
                "undefined": float(np.isnan(draws).mean()),
                "note": note,
            },
        )
    coords = {
        dim: np.arange(size) for dim, size in zip(("chain", "draw"), truth.shape, strict=True)
    }
    return xr.Dataset(variables, coords=coords)


def _at(title: str, k: int | None) -> str:
    """Write the title of a measure of the first ranks."""
    name, comma, rest = title.partition(",")
    return f"{name}@{k}{comma}{rest}"


def _left_out(single: int, rankings: int) -> str:
    """Describe the rankings of one item, which measures of order leave out."""
    if not single:
        return ""
    return (
        f"{single} of {rankings} rankings hold one scored item and are left out, since their "
        "order is not informative. `by=None` ranks all items together."
    )


def _description(truth: Truth, setting: Setting, by: By | None) -> dict[str, Any]:
    """Return the attributes of the result: reference, classes, counts."""
    runs = setting.ranked
    sizes = np.diff(np.r_[runs.start, len(runs.order)])
    unknown = (truth.codes[:, setting.scored.item] < 0).mean()
    return {
        "reference": truth.reference,
        "label": truth.label,
        "positive": [
            name for name, yes in zip(truth.classes, setting.positive, strict=True) if yes
        ],
        "gains": [f"{n}: {g:g}" for n, g in zip(truth.classes, setting.gains, strict=True)],
        "by": by or "",
        "n_items": len(setting.scored.item),
        "n_items_without_score": len(truth.items) - len(setting.scored.item),
        "n_items_tied": int(sizes[sizes > 1].sum()),
        "n_rankings": len(runs.first),
        "n_rankings_of_one": int((np.bincount(setting.ranking) == 1).sum()),
        "share_not_known": float(unknown),
    }


def score_table(
    truth: Source,
    scores: Mapping[str, Scores] | Sequence[str],
    *,
    level: float = 0.95,
    **choices: Any,
) -> pd.DataFrame:
    """Score several raters against the same truth and put the results in one table.

    Parameters
    ----------
    truth : xarray.DataTree, xarray.DataArray, Ratings, pandas.Series or mapping
        As in :func:`score_rater`.
    scores : mapping of str to scores, or sequence of str
        The scores of each rater by name, or names of raters with scores in the ratings.
    level : float
        Probability of the intervals.
    **choices
        The other arguments of :func:`score_rater`.

    Returns
    -------
    pandas.DataFrame
        A line per measure and rater: ``metric``, ``rater``, ``estimand``, ``mean``, ``sd``,
        ``lower``, ``upper``, ``level``, ``undefined``, ``reference``, ``n_items``,
        ``n_items_without_score``, ``note`` (what the measure leaves out, and why). A measure that
        cannot count the design weights has no numbers, and its ``note`` says why.

    Raises
    ------
    RatingsError, UnknownNameError, ModelError, FitError
        As :func:`score_rater` and :func:`assay.summarize`.

    Examples
    --------
    >>> truth = {"a": 1, "b": 0, "c": 1}
    >>> raters = {"one": {"a": 0.9, "b": 0.4, "c": 0.4}, "two": {"a": 0.1, "b": 0.2, "c": 0.3}}
    >>> score_table(truth, raters, metric="auroc")[["metric", "rater", "mean"]]
      metric rater  mean
    0  auroc   one  0.75
    1  auroc   two  0.50
    """
    if isinstance(scores, Mapping):
        named: Mapping[str, Scores] = scores
    else:
        named = {name: name for name in names_given("scores", scores, what="rater")}
    if not named:
        raise ModelError(
            "`scores={}` names no rater; give the scores of at least one", code="scores-table"
        )
    parts = []
    for rater, own in named.items():
        found = score_rater(truth, own, **choices)
        counts = {name: found.attrs[name] for name in ("n_items", "n_items_without_score")}
        lines = summarize(found, level=level)
        lines = lines.assign(note=[found[name].attrs["note"] for name in lines["metric"]])
        parts += [part.assign(rater=rater, **counts) for part in (lines, *_table_left_out(found))]
    table = pd.concat(parts, ignore_index=True).drop(columns="system")
    names = list(dict.fromkeys(table["metric"]))
    order = table["metric"].map(names.index).argsort(kind="stable")
    front = ["metric", "rater"]
    rest = [column for column in table.columns if column not in front]
    return table.loc[order, [*front, *rest]].reset_index(drop=True)


def _table_left_out(found: xr.Dataset) -> list[pd.DataFrame]:
    """Return lines without numbers for the measures that are left out."""
    said = found.attrs
    if "left_out" not in said:
        return []
    lines = pd.DataFrame({"metric": said["left_out"], "note": said["left_out_because"]})
    return [lines.assign(estimand=said["estimand"], reference=said["reference"])]

"""Measures of ranked lists from a sample of judged pairs; unjudged documents are predicted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from assay._util.arrays import divided
from assay._util.errors import RatingsError
from assay._util.intervals import interval_ends, require_level
from assay._util.random import generator_of
from assay._util.text import some
from assay._util.typing import Bools, Floats
from assay._util.validation import require_choice, require_count, require_draws
from assay.comparison.contrasts import rank_table
from assay.raters.scoring.truths import Truth, positive_classes, read_truth
from assay.studies.diras.estimates import estimate
from assay.studies.diras.pair_tables import read_pairs, read_pool
from assay.studies.diras.pool import JudgedPool, judged_pool
from assay.studies.diras.runs import read_runs

DRAWS = 1000
ESTIMANDS = ("population", "finite")


@dataclass(frozen=True, kw_only=True, eq=False)
class RunRecall:
    """Recall, precision, nDCG and mean average precision of ranked lists.

    table : a row for each run and metric; ``p_best`` = P(highest), where ties are shared and draws
        without a value are left out; ``hajek`` = weighted ratio without prediction, ``naive`` =
        unjudged documents taken as not relevant, without weights; ``share_judged`` = judged share
        of the first k
    better : differences of each two runs, with ``p_greater``
    recall, precision, ndcg, map : draws (draw, run)
    """

    table: pd.DataFrame
    better: pd.DataFrame
    recall: Floats
    precision: Floats
    ndcg: Floats
    map: Floats


def recall_of_runs(
    truth: Any,
    runs: Any,
    pairs: object,
    pool: object,
    *,
    k: int = 10,
    label: str | None = None,
    positive: str | Sequence[str] | None = None,
    estimand: str = "population",
    level: float = 0.95,
    draws: int = DRAWS,
    rng: int | np.random.Generator = 1,
) -> RunRecall:
    r"""Estimate recall, precision, nDCG and MAP at k of ranked lists from a sample of all pairs.

    Parameters
    ----------
    truth : xarray.DataTree, or as for :func:`score_rater`
        A fit of the ratings of the pairs; or the known class of each.
    runs : mapping, path or list of paths
        TREC run files, or a table for each name with ``query_id``, ``document_id``, ``rank``.
    pairs : path or DataFrame
        The sample, as :func:`sample_pairs` made it.
    pool : path or DataFrame
        The top of the rankings that was sampled from, as :func:`rank_documents` makes it.
    k : int
    label, positive
        Whose classes count as relevant, as for :func:`score_rater`.
    estimand : {"population", "finite"}
        Queries like these (Bayesian bootstrap, by design weights), or these queries.
    level : float
        Probability of the intervals.
    draws : int
        Draws of the truth, with replacement where there are fewer.
    rng : int or numpy.random.Generator

    Returns
    -------
    RunRecall

    Raises
    ------
    RatingsError
        If tables or runs cannot be used, or a judged pair has no truth.
    ArgumentError
        If an argument does not suit.

    Notes
    -----
    The documents of a query fall into cells: those of one sampling stratum that the same runs list
    among their first k. In a cell the judged documents are a random sample of all, whatever the
    runs are. So the judged documents predict the unjudged ones, in each draw of the truth. The
    model is logistic, with effects of cell and query, and of the normal score of the retriever's
    rank where the files have it (:class:`~assay.studies.diras.cells.CellModel`):

    .. math:: \mathrm{recall} = \frac{\text{relevant among the first } k}{\text{relevant of all}}.

    Labels in doubt are drawn again given the lists, which the fit has not seen
    (:mod:`assay.studies.diras.listed_labels`).

    nDCG and average precision are those of :mod:`assay.studies.diras.ranked`, with gain 1 of a
    relevant document. The ideal order and the divisor hold the relevant ones of all documents,
    judged or predicted.

    A query without a relevant document has no recall, nDCG or average precision: it does not count
    in the draws in which it has none. A run that does not list a query has the value 0 there.

    The estimators of Hájek have no prediction. That of recall is the ratio of the weighted sums of
    the judged documents. It is 1 where no document outside the list was judged relevant. Those of
    nDCG and average precision weight the judged documents of the list (Yilmaz et al. 2008). They
    leave out a query of whose list no document was judged.

    References
    ----------
    Hájek, J. (1971). Comment on "An essay on the logical foundations of survey sampling".
    Foundations of Statistical Inference, 236.

    Yilmaz, E., Kanoulas, E. & Aslam, J. A. (2008). A simple and efficient sampling method for
    estimating AP and NDCG. SIGIR, 603-610.
    """
    require_count("k", k)
    require_draws("draws", draws)
    require_level(level)
    require_choice("estimand", estimand, ESTIMANDS)
    generator = generator_of(rng)
    held = read_truth(truth, label=label)
    found = judged_pool(read_pairs(pairs), read_pool(pool), read_runs(runs), k)
    relevant = _relevant(held, found, positive, draws, generator)
    values = estimate(found, relevant, k, generator)
    weights = np.ones((draws, len(found.queries)))
    if estimand == "population":
        weights = generator.exponential(size=weights.shape) * found.weight
    means = {name: _mean_of_queries(one, weights) for name, one in values.drawn.items()}
    plain = {
        name: (_plain_mean(values.hajek[name], found), _plain_mean(values.naive[name], found))
        for name in means
    }
    share = _share_judged(found)
    lines = [
        _line(f"{name}_at_{k}", n, drawn, best, plain[name], share, level, estimand, found)
        for name, drawn in means.items()
        for n, best in enumerate(rank_table(drawn, "higher")["p_best"].tolist())
    ]
    better = [
        line
        for name, drawn in means.items()
        for line in _differences(f"{name}_at_{k}", drawn, found, level)
    ]
    columns = ["run", "other", "metric", "difference", "lower", "upper", "p_greater"]
    return RunRecall(
        table=pd.DataFrame(lines), better=pd.DataFrame(better, columns=columns), **means
    )


def _relevant(
    truth: Truth, pool: JudgedPool, positive: str | Sequence[str] | None, draws: int,
    rng: np.random.Generator,
) -> Bools:  # fmt: skip
    """Return draws of relevance, (draw, judged pair)."""
    place = truth.items.get_indexer(pd.Index(pool.judged_item))
    unknown = [name for name, at in zip(pool.judged_item, place, strict=True) if at < 0]
    if unknown:
        raise RatingsError.of(
            "pairs-without-truth",
            f"{len(unknown)} of {len(place)} pairs are not in the truth: {some(unknown)}",
            "the pairs",
            mend="fit ratings of all pairs of the sample, or draw a new sample without the unrated "
            "pairs",
        )
    yes = np.append(_positive(truth, positive), False)
    have = len(truth.codes)
    order = np.arange(draws) % have if have >= draws else rng.integers(have, size=draws)
    return np.asarray(yes[truth.codes[order][:, place]])


def _positive(truth: Truth, positive: str | Sequence[str] | None) -> Bools:
    """Return a mask of the relevant classes; truth of one value only needs no choice."""
    if positive is None and len(truth.classes) == 1 and truth.classes[0] in ("False", "True"):
        return np.array([truth.classes[0] == "True"])
    return positive_classes(truth, positive)


def _share_judged(pool: JudgedPool) -> Floats:
    """Return the judged share of each run's first k documents."""
    judged = pool.judged_listed.sum(axis=0)
    return divided(judged, judged + pool.open_listed.sum(axis=0))


def _mean_of_queries(values: Floats, weights: Floats) -> Floats:
    """Return the weighted mean over queries with a value, (draw, run)."""
    there = np.isfinite(values)
    worth = weights[:, :, None] * there
    total = (worth * np.where(there, values, 0)).sum(axis=1)
    return divided(total, worth.sum(axis=1))


def _plain_mean(values: Floats, pool: JudgedPool) -> Floats:
    return np.asarray(_mean_of_queries(values[None], pool.weight[None])[0])


def _line(
    name: str, run: int, values: Floats, best: float, plain: tuple[Floats, Floats], share: Floats,
    level: float, estimand: str, pool: JudgedPool,
) -> dict[str, Any]:  # fmt: skip
    own = values[np.isfinite(values[:, run]), run]
    lower, upper = interval_ends(own, level) if len(own) else (np.nan, np.nan)
    return {
        "run": pool.runs[run],
        "metric": name,
        "mean": float(own.mean()) if len(own) else np.nan,
        "lower": float(lower),
        "upper": float(upper),
        "p_best": best,
        "hajek": float(plain[0][run]),
        "naive": float(plain[1][run]),
        "share_judged": float(share[run]),
        "n_queries": len(pool.queries),
        "estimand": estimand,
    }


def _differences(
    name: str, values: Floats, pool: JudgedPool, level: float
) -> list[tuple[Any, ...]]:
    """Compare each two runs: names, metric, difference, interval, P(greater)."""
    found: list[tuple[Any, ...]] = []
    for a in range(len(pool.runs)):
        for b in range(a + 1, len(pool.runs)):
            gap = values[:, a] - values[:, b]
            gap = gap[np.isfinite(gap)]
            numbers = [np.nan] * 4
            if len(gap):
                ends = interval_ends(gap, level)
                numbers = [float(n) for n in (gap.mean(), *ends, (gap > 0).mean())]
            found.append((pool.runs[a], pool.runs[b], name, *numbers))
    return found

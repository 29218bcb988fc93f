"""nDCG and average precision of ranked lists whose relevant documents are known in number."""

import numpy as np

from assay._util.arrays import divided
from assay._util.typing import Bools, Floats, Ints


def discounts(k: int) -> Floats:
    """Return the discount of each place, 1 / log2(place + 1), (place,)."""
    return np.asarray(1 / np.log2(np.arange(2, k + 2)))


def ideal_gain(total: Floats, k: int) -> Floats:
    """Return the DCG of a list that begins with ``total`` relevant documents.

    Between whole numbers, as estimates are, it is interpolated.
    """
    ladder = np.r_[0.0, np.cumsum(discounts(k))]
    return np.interp(total, np.arange(k + 1), ladder)


def ndcg(relevant: Bools | Floats, total: Floats) -> Floats:
    r"""Return the nDCG of each list, (query, run); NaN for a query without a relevant document.
    ``relevant`` is (query, run, place), ``total`` (query,) counts those of all documents:

    .. math:: \sum_{p \le k} \frac{y_p}{\log_2(p + 1)} \Big/
              \sum_{p \le \min(k, R)} \frac{1}{\log_2(p + 1)}.
    """
    k = relevant.shape[-1]
    return divided(relevant @ discounts(k), ideal_gain(total, k)[:, None])


def average_precision(relevant: Bools | Floats, total: Floats) -> Floats:
    r"""Return the average precision of each list, (query, run): :math:`\frac{1}{R} \sum_{p \le k}
    y_p \frac{1}{p} \sum_{q \le p} y_q`, divided by all relevant documents, as trec_eval does.
    """
    places = np.arange(1, relevant.shape[-1] + 1)
    precision = np.cumsum(relevant, axis=-1) / places
    return divided((relevant * precision).sum(axis=-1), total[:, None])


def weighted_ndcg(
    worth: Floats, weight: Floats, rank: Ints, listed: Floats, total: float, k: int
) -> float:
    """Return the nDCG of one list, estimated from its judged documents' ``worth``, ``weight`` and
    ``rank``; ``listed`` are discounts of its places, ``total`` the number of relevant documents.
    """
    ideal = float(ideal_gain(np.array(total), k))
    if not ideal or not len(listed):
        return 0.0 if ideal else np.nan
    counted = weight * discounts(k)[rank - 1]
    if not counted.sum():
        return np.nan
    gain = (counted * worth).sum() / counted.sum() * listed.sum()
    return float(min(gain / ideal, 1.0))


def weighted_average_precision(
    worth: Floats, weight: Floats, rank: Ints, size: int, total: float
) -> float:
    """Return the average precision of one list likewise; ``size`` is the length of the list.

    The precision at a place is the weighted share of the judged documents down to it.
    """
    if not total or not size:
        return 0.0 if total else np.nan
    if not len(rank):
        return np.nan
    order = np.argsort(rank)
    worth, weight = worth[order], weight[order]
    precision = np.cumsum(weight * worth) / np.cumsum(weight)
    found = (weight * worth * precision).sum() * size / weight.sum()
    return float(min(found / total, 1.0))

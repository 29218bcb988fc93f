"""Which of several fits of a set knows what is meant, by leave-one-out of the given gold.

The items that methods are scored on are not looked at. *Chosen* is the fit with the highest score,
*stacked* the mixture of ``assay.stack_labels``. Fits whose score PSIS cannot tell for more than a
tenth of the items with gold (Pareto k) are left out of both, if others are left.
"""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from arviz_stats.utils import ELPDData

from assay.validation.loo import stacking_weights, trusted_models
from benchmarks.real_data.family_fits import BAD_K, Found

CHOSEN, STACKED = "chosen by gold", "stacked by gold"


def by_gold(candidates: Mapping[str, Found]) -> dict[str, Found]:
    """Return the chosen fit and the mixture, with the weights of the candidates."""
    high = {name: found.line["gold_bad_k"] for name, found in candidates.items()}
    scores = {name: _score(found) for name, found in candidates.items()}
    trusted = trusted_models(high)
    best = candidates[max(trusted, key=lambda name: scores[name].elpd)]
    weight = stacking_weights(scores, high)
    every = list(candidates.values())
    mixed = np.tensordot(weight, np.stack([found.probability for found in every]), axes=1)
    told = {
        "seconds": sum(found.line["seconds"] for found in every),
        "r_hat": max(candidates[name].line["r_hat"] for name in trusted),
    }
    return {
        CHOSEN: Found(probability=best.probability, line=best.line | told),
        STACKED: Found(probability=mixed, line={"method": "nuts", **told}),
    }


def _score(found: Found) -> ELPDData:
    gold = np.asarray(found.gold_elpd)
    return ELPDData(
        elpd=gold.sum(), se=gold.std(ddof=1) * np.sqrt(len(gold)), p=np.nan, n_samples=0,
        n_data_points=len(gold), scale="log", warning=False, good_k=BAD_K,
        elpd_i=xr.DataArray(gold, dims="item"), pareto_k=xr.DataArray(0 * gold, dims="item"),
    )  # fmt: skip

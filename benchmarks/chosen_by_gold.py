"""Which of several fits of a set knows what is meant, by leave-one-out of the given gold.

The items that methods are scored on are not looked at. *Chosen* is the fit with the highest score,
*stacked* the mixture of all whose score is highest (Yao, Vehtari, Simpson & Gelman 2018, Bayesian
Analysis 13, 917-1007), whose weights ``arviz_stats.compare`` has of ``assay.loo_gold``. Fits whose
score PSIS cannot tell for more than a tenth of the items with gold (Pareto k) are left out, if
others are left.
"""

from collections.abc import Mapping

import numpy as np
from family_fits import Found
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CHOSEN, STACKED = "chosen by gold", "stacked by gold"
STEPS = 2_000
UNTOLD = 0.1
"""Share of the items with gold whose Pareto k is high, from which on a score is not believed."""


def by_gold(candidates: Mapping[str, Found]) -> dict[str, Found]:
    """Return the chosen fit and the mixture, with the weights of the candidates."""
    told = [name for name, found in candidates.items() if found.line["gold_bad_k"] <= UNTOLD]
    names = told or list(candidates)
    elpd = np.stack([np.asarray(candidates[name].gold_elpd) for name in names])
    best = int(elpd.sum(axis=1).argmax())
    weight = stacking_weights(elpd)
    mixed = sum(w * candidates[n].probability for w, n in zip(weight, names, strict=True))
    line = {"method": "nuts", "r_hat": max(candidates[n].line["r_hat"] for n in names)}
    seconds = sum(found.line["seconds"] for found in candidates.values())
    return {
        CHOSEN: Found(
            probability=candidates[names[best]].probability,
            line=candidates[names[best]].line | {"chosen": names[best], "seconds": seconds},
        ),
        STACKED: Found(
            probability=np.asarray(mixed),
            line=line | {"seconds": seconds} | dict(zip(names, weight.tolist(), strict=True)),
        ),
    }


def stacking_weights(elpd: Floats) -> Floats:
    """Return the weights of the likeliest mixture: (model,), from (model, item), by EM."""
    chance = np.exp(elpd - elpd.max(axis=0))
    weight = np.full(len(elpd), 1 / len(elpd))
    for _ in range(STEPS):
        part = weight[:, None] * chance
        weight = (part / part.sum(axis=0)).mean(axis=1)
    return weight

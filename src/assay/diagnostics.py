"""Convergence in words: R-hat, effective sample size, divergences, modes."""

import json
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay.checking.double_sampling import Design, danger
from assay.errors import Aside
from assay.laplace import laplace_log_density
from assay.model import Structure
from assay.peaks import Mode
from assay.plurals import counted
from assay.spec import Spec

R_HAT_LIMIT = 1.01
ESS_LIMIT = 400
MODE_LIMIT = 0.01
K_HAT_LIMIT = 0.7
SAME = 1e-9
"""Spread of log ratios of a posterior that is normal, but for rounding."""
WORTH_LIMIT = 0.25
"""What a draw from an approximation has to be worth at least, in draws from the posterior."""
SURE = 0.8
"""Share of the draws in which a class looks like another before it is said."""
CLEARLY = 1.5
"""How many times as often items of a class get the answer of another before it is said."""
BETTER_MISNAMED = (
    " It explains the answers better, but a class is what raters call it: items that differ in how "
    "hard they are may hide behind a name that is seldom given. The truth of some items (truth=) "
    "would tell."
)
WHICH_HOLDS = (
    " The truth of some items (truth=) would tell which holds; a prior (priors=) can say which is "
    "to be believed without it."
)
MOST = 0.5
"""Share of the draws at a mode from which the result is of that mode."""
FEW_DIVERGED = 1e-3
"""Share of diverging transitions up to which they are told, and no reason to distrust a fit."""
ENOUGH = 1.25
"""How many times the draws that would just do are proposed: efficiency differs from run to run."""
STEP = 500
"""Draws are proposed in multiples of it."""
SMALLER = 0.95
"""Aim at which chains find the way between two readings of the answers that 0.85 often misses."""
FAR = 10
"""Times the draws beyond which none are proposed: more of the same would take too long."""
CLEARLY_OF_TWO = 9.0
"""The same of two classes: that raters miss many of one of them is nothing unusual."""
LOOKED_AT = 100
"""Draws that are looked at where a mean is wanted."""
FEW_FOR_PSIS = 25
"""Draws of which a fifth, the tail, is too few to fit a distribution to."""


def convergence_table(posterior: xr.Dataset) -> pd.DataFrame:
    """R-hat and effective sample sizes of every parameter entry.

    Returns
    -------
    pandas.DataFrame
        Columns ``parameter`` (as :func:`entry_names` has it), ``r_hat``, ``ess_bulk``,
        ``ess_tail``.

    References
    ----------
    Vehtari et al. (2021). Rank-normalization, folding, and localization: an improved R-hat.
    Bayesian Analysis 16(2), 667-718.
    """
    from arviz_stats.base.array import BaseArray

    names, columns = [], []
    for name, variable in posterior.data_vars.items():
        names += entry_names(str(name), variable)
        columns.append(variable.values.reshape(*variable.shape[:2], -1))
    draws = np.moveaxis(np.concatenate(columns, axis=2), 2, 0)
    table = pd.DataFrame({"parameter": names})
    statistics: Any = BaseArray()
    with np.errstate(all="ignore"):
        table["r_hat"] = statistics.rhat(draws, chain_axis=1, draw_axis=2)
        table["ess_bulk"] = statistics.ess(draws, chain_axis=1, draw_axis=2, method="bulk")
        table["ess_tail"] = statistics.ess(
            draws, chain_axis=1, draw_axis=2, method="tail", prob=(0.05, 0.95)
        )
    return table


def entry_names(name: str, variable: xr.DataArray) -> list[str]:
    """Name each entry of a parameter by its coordinates, in the order of its values.

    Parameters
    ----------
    name : str
    variable : xarray.DataArray
        (chain, draw, ...).

    Examples
    --------
    >>> dims, cells = ("chain", "draw", "group", "cell"), ["spam: no -> no", "spam: yes -> yes"]
    >>> draws = xr.DataArray(
    ...     np.zeros((1, 1, 1, 2)), dims=dims, coords={"group": ["person"], "cell": cells}
    ... )
    >>> entry_names("logit_mean", draws)[1]
    'logit_mean[group person, cell spam: yes -> yes]'
    """
    dims = variable.dims[2:]
    if not dims:
        return [name]
    words = [[f"{dim} {value}" for value in variable[dim].to_numpy()] for dim in dims]
    return [f"{name}[{', '.join(entry)}]" for entry in product(*words)]


def nuts_warnings(
    table: pd.DataFrame,
    stats: Mapping[str, NDArray[Any]],
    *,
    draws: int,
    target_accept: float,
) -> list[str]:
    """Say what a reader must know before using the draws, in sentences.

    Parameters
    ----------
    table : DataFrame
        From :func:`convergence_table`.
    stats : mapping of str to ndarray (chain, draw)
    draws : int
        Of each chain.
    target_accept : float
        What the sampler aimed at: where steps were large, smaller ones are proposed.
    """
    found = []
    large = target_accept < SMALLER
    more, aim = "Take more draws", f", target_accept={SMALLER}" * large
    more += ", in smaller steps" * large
    worst = table.iloc[int(table["r_hat"].fillna(0).argmax())]
    if worst["r_hat"] > R_HAT_LIMIT:
        many = int((table["r_hat"] > R_HAT_LIMIT).sum())
        found.append(
            f"The chains do not agree: R-hat is above {R_HAT_LIMIT} for {many} of {len(table)} "
            f"parameters (largest {worst['r_hat']:.4f}, {worst['parameter']}). {more} "
            f"(draws=, tune={aim}), or look whether the data can tell the parameters apart (check)."
        )
    ess = table[["ess_bulk", "ess_tail"]].min(axis=1)
    if ess.min() < ESS_LIMIT:
        name = table["parameter"].iloc[int(ess.argmin())]
        found.append(
            f"The effective sample size is as low as {ess.min():.0f} ({name}); below {ESS_LIMIT} "
            f"the ends of intervals are rough. {more} (draws={_enough(draws, ess.min())}{aim})."
        )
    return found + _divergences(stats)


def _divergences(stats: Mapping[str, NDArray[Any]]) -> list[str]:
    flags = np.asarray(stats.get("diverging", 0))
    if not flags.any():
        return []
    said = f"{flags.sum()} of {counted(flags.size, 'transition')} diverged"
    if flags.mean() <= FEW_DIVERGED:
        return [
            Aside(
                f"{said}: so few seldom matter. Another run in smaller steps "
                "(target_accept=0.98) would show whether numbers hang on them."
            )
        ]
    return [
        f"{said}: the sampler may have missed a corner of the posterior. Take smaller steps "
        "(target_accept=0.98), or use tighter priors."
    ]


def _enough(draws: int, ess: float) -> str:
    """Propose draws of each chain that would bring an effective sample size to its limit."""
    wanted = ENOUGH * draws * ESS_LIMIT / ess if ess > 0 else np.inf
    return str(int(np.ceil(wanted / STEP)) * STEP) if wanted <= FAR * draws else ""


class ImportanceCheck(NamedTuple):
    """What importance sampling says of an approximation that draws came from.

    Attributes
    ----------
    k_hat : float
        Shape of the tail of the ratios of the posterior's density to the approximation's, by PSIS.
        Infinite if a few draws have all the weight, so that no tail can be fitted; NaN if there are
        too few draws to look.
    worth : float
        How many draws of the posterior a draw is worth: the effective sample size of the smoothed
        weights, as a share of the draws.
    """

    k_hat: float
    worth: float


def check_importance(mode: Mode, x: NDArray[Any], lp: NDArray[Any]) -> ImportanceCheck:
    """Check draws from Laplace's approximation by their importance ratios.

    Parameters
    ----------
    x : ndarray (chain, draw, value)
        Draws from the approximation.
    lp : ndarray (chain, draw)
        Log posterior density there.

    References
    ----------
    Vehtari et al. (2024). Pareto smoothed importance sampling. JMLR 25(72).
    """
    from arviz_stats.base.array import BaseArray

    statistics: Any = BaseArray()
    points = x.reshape(-1, x.shape[-1])
    if len(points) < FEW_FOR_PSIS:
        return ImportanceCheck(np.nan, np.nan)
    ratio = np.where(np.isfinite(lp), lp, -1e300).ravel() - laplace_log_density(mode, points)
    if np.ptp(ratio) < SAME:
        return ImportanceCheck(0.0, 1.0)
    # ArviZ takes what the ratios are the inverse of, as a likelihood is in leave-one-out.
    logs, k_hat = statistics.psislw(-ratio)
    weight = np.exp(logs - logs.max())
    worth = weight.sum() ** 2 / (weight**2).sum() / len(weight)
    return ImportanceCheck(float(k_hat) if np.isfinite(k_hat) else np.inf, float(worth))


def laplace_warnings(found: ImportanceCheck) -> list[str]:
    """Say whether draws from Laplace's approximation are to be trusted."""
    if np.isnan(found.k_hat):
        return [
            "Whether Laplace's approximation is to be trusted is not known: PSIS k-hat needs "
            f"{FEW_FOR_PSIS} draws or more. Take more (draws=), or use method='nuts'."
        ]
    if found.k_hat < K_HAT_LIMIT and found.worth > WORTH_LIMIT:
        return []
    seen = f"PSIS k-hat is {found.k_hat:.2f}, above {K_HAT_LIMIT}"
    if found.k_hat < K_HAT_LIMIT:
        seen = (
            f"PSIS k-hat is {found.k_hat:.2f}, but as draws of the posterior its draws are worth "
            f"{found.worth:.1%} of their number, below {WORTH_LIMIT:.0%}"
        )
    if np.isinf(found.k_hat):
        seen = (
            "its importance ratios are so far apart that a few draws have all the weight, and no "
            "tail can be fitted to them (PSIS k-hat is infinite)"
        )
    return [f"Laplace's approximation is not to be trusted here: {seen}. Use method='nuts'."]


def mode_warnings(modes: list[Mode]) -> list[str]:
    """Name the modes that were seen besides the one that is reported."""
    found = []
    for mode in modes[1:]:
        if mode.visited == 0 and (mode.mirrored or mode.weight > MODE_LIMIT):
            weighty = mode.weight > MODE_LIMIT
            better = mode.misnamed and mode.weight > modes[0].weight
            why = BETTER_MISNAMED if better else WHICH_HOLDS if weighty else ""
            text = (
                "The answers can be explained in another way (another mode of the posterior), "
                f"which is not part of the result: {mode}; its weight is "
                f"{'not ' * weighty}negligible.{why}"
            )
            found.append(text if why else Aside(text))
        if mode.visited > MOST and mode.misnamed and not modes[0].misnamed:
            found.append(
                "The chains left the mode that was chosen for its names, and "
                f"{mode.visited:.0%} of the draws lie nearer to another: {mode}. Classes of "
                "this fit may not be what their names say: hold the prevalence against the shares "
                "of the answers. The truth of some items (truth=) would tell what the classes are."
            )
    if modes[0].mirrored:
        found.append(
            "In the heaviest mode raters are wrong more often than by guessing: labels may be "
            "turned round. Give the truth of a few items (truth=)."
        )
    return found


def name_warnings(structure: Structure, values: Mapping[str, NDArray[Any]]) -> list[str]:
    """Name classes whose items raters mostly call by the name of another class.

    A class of the model can drift from its name where another meaning explains the answers better.

    Parameters
    ----------
    values : mapping of str to ndarray (draw, ...)
        The parameters.
    """
    draws = len(next(iter(values.values())))
    some = {name: value[:: max(1, draws // LOOKED_AT)] for name, value in values.items()}
    by_unit = np.concatenate([part.reliability(some) for part in structure.parts], axis=1)
    found = []
    for n, label in enumerate(structure.ratings.task.labels):
        count = len(label.classes)
        table = np.nanmean(by_unit[:, :, n, :count, :count], axis=1)
        for true, name in enumerate(label.classes):
            own, rival = table[:, true, true], int(table[:, true].mean(axis=0).argmax())
            other = table[:, true, rival]
            clearly = CLEARLY if count > 2 else CLEARLY_OF_TWO
            if (other > clearly * own).mean() < SURE:
                continue
            found.append(
                f"Items that are {name!r} by this fit ({label.name}) get the answer "
                f"{label.classes[rival]!r} more often ({other.mean():.2f}) than their own "
                f"({own.mean():.2f}): raters may avoid that answer, or the class has drifted from "
                "its name. Look at its most certain items; known truth of some (truth=), "
                "raters='dawid_skene' or prior counts hold it in its place."
            )
    return found


def design_warnings(spec: Spec, design: Design | None) -> list[str]:
    """Say if a comparison of systems rests on one instrument, with one error rate for them all."""
    if "system_bias" in spec.rater_parts or design is None or not design.apart:
        return []
    words = danger(design)
    return [f"{words[0].upper()}{words[1:]}."]


def gold_warnings(spec: Spec, unlike: Callable[[], str]) -> list[str]:
    """Say if items with gold, taken for a random sample, are unlike the others.

    ``unlike`` says how, and is asked only if gold is taken for one.
    """
    told = ""
    if spec.reference == "gold" and spec.gold_chosen == "random":
        told = unlike()
    if not told:
        return []
    return [
        f"{told[0].upper()}{told[1:]}. If they were chosen on what is recorded, such as these "
        "answers, say gold_chosen='recorded'; if not, the layers and all that follows are biased."
    ]


def fit_warnings(fit: xr.DataTree) -> list[str]:
    """Return the warnings that a fit carries, in sentences."""
    return list(json.loads(fit.attrs["warnings"]))

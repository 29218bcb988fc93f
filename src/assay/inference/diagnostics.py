"""Diagnostics of a fit as numbers and warnings: approximation, modes and meaning of classes."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import Note, note_from
from assay._util.text import sentence
from assay._util.typing import Floats
from assay.checks.double_sampling import (
    TURNS,
    DoubleSampling,
    danger,
    is_followed,
    sample_sizes,
)
from assay.fits.view import Fit
from assay.inference.class_drift import MIN_RATIO_OF_ANSWERS
from assay.inference.convergence import convergence_table, nuts_warnings, smallest_ess
from assay.inference.laplace import laplace_log_density
from assay.inference.modes import Mode
from assay.modelling.spec import GOLD, Spec
from assay.modelling.structure import Structure

MODE_LIMIT = 0.01
"""Weight of a mode, or its share of draws, up to which it is negligible."""
HEAVY = 0.1
"""Weight of a mode above which too few draws in it give a warning."""
SELDOM = 0.1
"""Share of a mode's expected draws below which the draws are said to miss it."""
K_HAT_LIMIT = 0.7
SAME = 1e-9
"""Range of log ratios that is rounding error: the posterior is normal."""
WORTH_LIMIT = 0.25
"""Least effective sample size of Laplace draws, as a share of their number, without a warning."""
SHARE_SHIFT, PARAMETER_SHIFT = "0.2 to 0.4", 2
"""How far means are from those of NUTS beyond these limits, in posterior SDs (docs/speed.md)."""
MIN_SHARE_RENAMED = 0.8
"""Share of the draws that must show a class called by another name before a warning."""
BETTER_MISNAMED = (
    " It fits the answers better, but its classes contradict their names: it may separate easy "
    "from hard items. To settle this, give the truth of some items (`truth=`)."
)
WHICH_HOLDS = (
    " To choose between the modes, give the truth of some items (`truth=`) or an informative prior "
    "(`priors=`)."
)
MIN_SHARE_OF_MODE = 0.5
"""Share of the draws in one mode above which the result is that mode."""
CLEARLY_OF_TWO = 9.0
"""``MIN_RATIO_OF_ANSWERS`` for two classes: raters often miss most items of one class."""
DRAWS_FOR_MEAN = 100
"""Draws used for a mean."""
FEW_FOR_PSIS = 25
"""Least number of draws for PSIS, which fits the tail, a fifth of them."""


class ImportanceCheck(NamedTuple):
    """PSIS diagnostics of draws from an approximation.

    k_hat : tail shape of the importance ratios; infinite if no tail fits, NaN with too few draws
    worth : effective sample size of the smoothed weights, as a share of the draws
    """

    k_hat: float
    worth: float


def check_importance(mode: Mode, x: NDArray[Any], lp: NDArray[Any]) -> ImportanceCheck:
    """Check draws (chain, draw, value) of Laplace's approximation by PSIS, given their log density.

    Reference: Vehtari et al. (2024). Pareto smoothed importance sampling. JMLR 25(72).
    """
    from arviz_stats.base.array import BaseArray

    statistics: Any = BaseArray()
    points = x.reshape(-1, x.shape[-1])
    if len(points) < FEW_FOR_PSIS:
        return ImportanceCheck(np.nan, np.nan)
    ratio = np.where(np.isfinite(lp), lp, -1e300).ravel() - laplace_log_density(mode, points)
    if np.ptp(ratio) < SAME:
        return ImportanceCheck(0.0, 1.0)
    # ArviZ expects the negative log ratios, like log-likelihoods in leave-one-out.
    logs, k_hat = statistics.psislw(-ratio)
    weight = np.exp(logs - logs.max())
    worth = weight.sum() ** 2 / (weight**2).sum() / len(weight)
    return ImportanceCheck(float(k_hat) if np.isfinite(k_hat) else np.inf, float(worth))


def laplace_warnings(found: ImportanceCheck) -> list[Note]:
    """Warn unless PSIS supports Laplace's approximation."""
    if np.isnan(found.k_hat):
        text = (
            f"Laplace's approximation could not be checked: PSIS k-hat needs {FEW_FOR_PSIS} draws "
            "or more. Take more draws (`draws=`), or use `method='nuts'`."
        )
        return [Note(text, code="laplace-unchecked", numbers={"draws": FEW_FOR_PSIS})]
    if found.k_hat < K_HAT_LIMIT and found.worth > WORTH_LIMIT:
        return []
    seen = f"PSIS k-hat is {found.k_hat:.2f}, above {K_HAT_LIMIT}"
    if found.k_hat < K_HAT_LIMIT:
        seen = (
            f"PSIS k-hat is {found.k_hat:.2f}, but the effective sample size is "
            f"{found.worth:.1%} of the number of draws, below {WORTH_LIMIT:.0%}"
        )
    if np.isinf(found.k_hat):
        seen = (
            "a few draws have all the weight, so no tail can be fitted to the importance ratios "
            "(PSIS k-hat is infinite)"
        )
    text = (
        f"Laplace's approximation is rough here, and suits a first look only: {seen}. In such "
        f"cases shares of classes moved by {SHARE_SHIFT} SD at the median, and single parameters "
        f"by up to {PARAMETER_SHIFT} SDs. Report a fit with `method='nuts'`."
    )
    return [Note(text, code="laplace-rough", numbers=found._asdict())]


def mode_warnings(modes: Sequence[Mode]) -> list[Note]:
    """Warn of draws in other posterior modes, and of weighty modes that draws miss."""
    found = []
    for mode in modes[1:]:
        numbers = {"weight": mode.weight, "visited": mode.visited}
        unseen = mode.visited == 0 or (mode.weight > HEAVY and mode.visited < SELDOM * mode.weight)
        if mode.weight > MODE_LIMIT and unseen:
            better = mode.misnamed and mode.weight > modes[0].weight
            text = (
                "Another posterior mode explains the answers, and its weight is not negligible. "
                f"It is {_part_of_result(mode)}. In that mode, {mode}."
                f"{BETTER_MISNAMED if better else WHICH_HOLDS}"
            )
            found.append(Note(text, code="other-mode", numbers=numbers))
        if mode.visited > MODE_LIMIT and mode.trades and not mode.misnamed:
            text = (
                f"{mode.visited:.0%} of the draws have the labels of another posterior mode. In "
                f"that mode, {mode}. Means and intervals average over both modes, so they may "
                f"describe these classes in neither.{WHICH_HOLDS}"
            )
            found.append(Note(text, code="mixed-modes", numbers=numbers))
        if mode.visited > MIN_SHARE_OF_MODE and mode.misnamed and not modes[0].misnamed:
            text = (
                "The chains left the posterior mode in which classes have the right names. "
                f"{mode.visited:.0%} of the draws have the labels of another mode. In that mode, "
                f"{mode}. Classes of this fit may not mean what their names say: compare the "
                "prevalence with the shares of the answers. To define the classes, give the truth "
                "of some items (`truth=`)."
            )
            found.append(Note(text, code="left-mode", numbers=numbers))
    if modes[0].mirrored:
        text = (
            "In the posterior mode of the largest weight, raters are wrong more often than by "
            "guessing, so classes may be exchanged. Give the truth of a few items (`truth=`)."
        )
        found.append(Note(text, code="mirrored-labels"))
    return found


def _part_of_result(mode: Mode) -> str:
    """Say what share of the draws lies in a mode that they miss or nearly miss."""
    if mode.visited == 0:
        return "not part of the result"
    return f"hardly part of the result ({mode.visited:.1%} of the draws)"


def name_warnings(
    structure: Structure,
    values: Mapping[str, NDArray[Any]],
    told: Collection[tuple[str, str]] = (),
    ratings: NDArray[np.integer] | None = None,
) -> list[Note]:
    """Warn of classes whose items mostly get the answer of another class.

    ``told`` are the pairs of label and class that another warning names; ``ratings`` the number of
    each unit, if ``structure`` has part of the data.
    """
    mean = structure.mean_reliability(_some(values), ratings=ratings)
    parts = structure.spec.rater_parts
    leans = "a bias of raters to one answer (ability_bias), " * ("hierarchical" in parts)
    looks = "blind answers of raters (lapses), " * ("lapses" not in parts)
    found = []
    for n, label in enumerate(structure.ratings.task.labels):
        count = len(label.classes)
        blind = f"{leans}{looks}" * (count > 2)
        tables = mean[:, :, n, :count, :count]
        for true, name in enumerate(label.classes):
            if (label.name, name) in told:
                continue
            rival = int(tables[0, :, true].mean(axis=0).argmax())
            clearly = MIN_RATIO_OF_ANSWERS if count > 2 else CLEARLY_OF_TWO
            more = tables[..., true, rival] > clearly * tables[..., true, true]
            own, other = tables[0, :, true, true], tables[0, :, true, rival]
            if more.all(axis=0).mean() < MIN_SHARE_RENAMED:
                continue
            text = (
                f"Raters call items that are {name!r} by this fit ({label.name}) "
                f"{label.classes[rival]!r} more often ({other.mean():.2f}) than {name!r} "
                f"({own.mean():.2f}). Raters may avoid that answer, or the class may have come to "
                "mean something else (class drift). Check the most certain items of the class. To "
                "define the class, give the truth of some items (`truth=`) or prior counts, or "
                f"fit with {blind}`raters='dawid_skene'`."
            )
            numbers = {"own": own.mean(), "other": other.mean()}
            found.append(Note(text, code="class-name-doubt", numbers=numbers))
    return found


def _some(values: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return about ``DRAWS_FOR_MEAN`` of the draws."""
    draws = len(next(iter(values.values())))
    return {name: value[:: max(1, draws // DRAWS_FOR_MEAN)] for name, value in values.items()}


def design_warnings(spec: Spec, design: DoubleSampling | None) -> list[Note]:
    """Warn if one instrument with one error rate for all systems decides their comparison."""
    if design is None or not design.apart or is_followed(spec.rater_parts, spec.prevalence):
        return []
    text = sentence(danger(design))
    return [Note(text, code="double-sampling", numbers=sample_sizes(design))]


def gold_warnings(spec: Spec, unlike: Callable[[], str]) -> list[Note]:
    """Warn if items with gold, assumed a random sample, differ from the others.

    ``unlike`` computes the difference in words; it is called only under that assumption.
    """
    told = ""
    if spec.reference == GOLD and spec.gold_chosen == "random":
        told = unlike()
    if not told:
        return []
    text = (
        f"{sentence(told)} If they were chosen on recorded data, such as these answers, say "
        "`gold_chosen='recorded'`. If not, the layers and all results that use them are biased."
    )
    return [Note(text, code="gold-unlike-others")]


EARLIER = {"effective sample size is as low as": "low-ess", TURNS: "double-sampling"}
"""Codes for warnings that earlier versions stored as text, by words in the text."""


def fit_warnings(fit: Fit) -> list[Note]:
    """Return the warnings that a fit carries; those of fits by earlier versions have no code."""
    aside = json.loads(fit.attrs.get("asides", "[]"))
    return [
        _earlier_note(told, aside) if isinstance(told, str) else note_from(told)
        for told in json.loads(fit.attrs["warnings"])
    ]


def _earlier_note(text: str, asides: Collection[str]) -> Note:
    """Make a note from the text of a warning that an earlier version stored."""
    code = next((code for words, code in EARLIER.items() if words in text), "")
    return Note(text, code=code, level="note" if text in asides else "warning")


AT_ONCE = 100
"""Draws whose confusions are computed together; bounds the memory."""
Diagnosis = tuple[dict[str, Any], list[Note]]
"""Diagnostic numbers by name, and notes."""


def diagnose_nuts(
    posterior: xr.Dataset,
    stats: Mapping[str, NDArray[Any]],
    results: xr.Dataset,
    *,
    target_accept: float,
) -> Diagnosis:
    """Diagnose chains by their parameters, results (:func:`result_draws`) and statistics."""
    table, told = convergence_table(posterior.drop_vars("prevalence")), convergence_table(results)
    numbers = {
        "r_hat_max": _number(table["r_hat"].max()),
        "ess_min": _number(smallest_ess(table).min()),
        "r_hat_results": _number(told["r_hat"].max()),
        "ess_results": _number(smallest_ess(told).min()),
        "divergences": int(np.sum(stats.get("diverging", 0))),
    }
    return numbers, nuts_warnings(
        table, stats, draws=posterior.sizes["draw"], target_accept=target_accept, results=told
    )


def result_draws(
    structure: Structure,
    prevalence: xr.DataArray,
    values: Mapping[str, Floats],
    states: NDArray[np.int16],
) -> xr.Dataset:
    """Return draws of what a report shows: class shares, prevalences and accuracies of raters. Of
    two classes only the upper one is kept.

    prevalence : (chain, draw, [system,] state)
    values, states : the draws of all chains in one dimension; states are (draw, item)
    """
    space, labels = structure.prevalence.space, structure.ratings.task.labels
    classes = [
        (f"{label.name}={name}", space.states[:, n] == k)
        for n, label in enumerate(labels)
        for k, name in enumerate(label.classes)
        if k or len(label.classes) > 2
    ]
    names, member = [name for name, _ in classes], np.stack([m for _, m in classes], axis=1)
    shares = np.stack([column[states].mean(axis=1) for column in member.T], axis=-1)
    chains, draws = prevalence.sizes["chain"], prevalence.sizes["draw"]
    raters = [structure.ratings.raters.index[part.members] for part in structure.parts]
    dims, front = ("chain", "draw"), (chains, draws)
    accuracy = _accuracies(structure, values)
    return xr.Dataset(
        {
            "share": ((*dims, "class"), shares.reshape(*front, -1)),
            "prevalence": prevalence.dot(
                xr.DataArray(member.astype(float), dims=("state", "class"))
            ),
            "accuracy": ((*dims, "rater", "label"), accuracy.reshape(*front, *accuracy.shape[1:])),
        },
        coords={
            "class": names,
            "rater": np.concatenate(raters),
            "label": list(structure.ratings.task.label_names),
        },
    )


def _accuracies(structure: Structure, values: Mapping[str, Floats]) -> Floats:
    """Return the accuracy of each rater on each label, (draw, rater, label)."""
    count = len(next(iter(values.values())))
    found = []
    for start in range(0, count, AT_ONCE):
        some = {name: value[start : start + AT_ONCE] for name, value in values.items()}
        by_part = [
            np.einsum("ru,dul->drl", part.shares, part.accuracy(some)) for part in structure.parts
        ]
        found.append(np.concatenate(by_part, axis=1))
    return np.concatenate(found)


def diagnose_laplace(mode: Mode, x: Floats, lp: Floats) -> Diagnosis:
    """Diagnose Laplace's approximation by its draws and their log density."""
    found = check_importance(mode, x, lp)
    numbers = {"k_hat": _number(found.k_hat), "draws_worth": _number(found.worth)}
    return numbers, laplace_warnings(found)


def diagnose_interruption(x: Floats, *, chains: int, draws: int) -> list[Note]:
    """Say how many of the requested draws an interrupted run has."""
    if x.shape[:2] == (chains, draws):
        return []
    text = (
        f"The run was interrupted. It has {x.shape[0]} chains of {x.shape[1]} draws; requested "
        f"were {chains} chains of {draws} draws."
    )
    numbers = {"chains": x.shape[0], "draws": x.shape[1]}
    numbers |= {"chains_asked": chains, "draws_asked": draws}
    return [Note(text, code="interrupted-run", numbers=numbers)]


def _number(value: float) -> float | None:
    """Return a number for JSON; None if it is infinite or undefined, as R-hat of one chain is."""
    return float(value) if np.isfinite(value) else None

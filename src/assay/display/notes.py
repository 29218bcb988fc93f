"""Sentences about a fit and its numbers: estimands, panels, convergence."""

import json
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import xarray as xr

from assay._util.errors import Note
from assay._util.text import UNDEFINED, counted, some
from assay.data.majority_vote import majority_votes
from assay.data.ratings import Ratings
from assay.data.score_bins import raters_of_scores
from assay.fits.view import Fit, FitView
from assay.inference.assumptions import WHICH_CLASS
from assay.inference.diagnostics import fit_warnings

LISTED = 3
"""Most metrics of the commonest estimand that are named; more are "all others"."""
ESTIMAND_WORDS = {"finite": "these items", "population": "clusters like these"}
KIND_WORDS = {
    "recorded": "of the recorded answers",
    "raw": "before the interface blocks contradictions",
}


def estimands_said(names: Iterable[str], weights: Sequence[float] = ()) -> str:
    """Describe estimands, and in which of them unequal design weights count."""
    weighed = {"finite": ", all alike", "population": ", by their design weights"}
    uneven = len(set(weights)) > 1
    return "; ".join(f"{n}: {ESTIMAND_WORDS[n]}{weighed[n] if uneven else ''}" for n in names)


def scores_said(ratings: Ratings) -> str:
    """Explain the answers of raters who gave only scores; ``""`` if there are none."""
    names = [str(name) for name in ratings.raters.index[raters_of_scores(ratings)]]
    if not names:
        return ""
    return (
        f"Raters with scores but no answers: {some(names)}. Their scores are converted to answers "
        "by dividing 0 to 1 into equal parts, one for each class. Scores that all lie in one part "
        "can still be informative: see 'What the scores mean' in the report, or "
        "assay.rater_calibration."
    )


def ties_said(ratings: Ratings) -> str:
    """State how the majority vote counts ties; ``""`` without one."""
    ties = int(majority_votes(ratings).tied.sum())
    if not ties:
        return ""
    return (
        f"The majority vote is tied on {ties} of {counted(len(ratings.items), 'item')}; tied "
        "classes count with equal shares."
    )


def names_said(fit: Fit) -> str:
    """State what identifies the classes where no truth is known; ``""`` otherwise."""
    stated = json.loads(fit.attrs.get("assumptions", "[]"))
    return next((text for text in stated if text.startswith(WHICH_CLASS)), "")


def panels_said(draws: xr.Dataset) -> str:
    """Report unrated items, undefined panels, and metrics that are left out."""
    unrated, dropped = (draws.attrs.get(f"n_{k}", 0) for k in ("items_unrated", "panels_dropped"))
    said = []
    if dropped:
        said.append(
            f"{counted(dropped, 'panel', 'are')} left out because of items without a rating"
        )
    if unrated:
        whose = "its" if unrated == 1 else "their"
        said.append(
            f"{counted(unrated, 'item', 'have')} no rating: the model predicts {whose} labels"
        )
    for name, metric in draws.data_vars.items():
        if share := metric.attrs.get("undefined_panels", 0.0):
            said.append(f"{name} is undefined on {share:.1%} of the panels, which are left out")
    if names := draws.attrs.get("left_out"):
        told = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} left out"
        said.append(f"{told}. {draws.attrs['left_out_because'].removesuffix('.')}")
    return "".join(f" {text}." for text in said)


def estimand_words(table: pd.DataFrame) -> str:
    """Name the estimand of a table's lines, and the metrics with another one."""
    pairs = table[["metric", "estimand"]].drop_duplicates()
    groups = [(str(e), list(part["metric"])) for e, part in pairs.groupby("estimand", sort=False)]
    if len(groups) < 2:
        return "".join(e for e, _ in groups)
    *few, (most, names) = sorted(groups, key=lambda one: len(one[1]))
    last = ", ".join(names) if len(names) <= LISTED else "all others"
    return "; ".join([*(f"{e} of {', '.join(own)}" for e, own in few), f"{most} of {last}"])


def convergence_words(fit: Fit) -> list[str]:
    """Describe the method of a fit and the convergence of its draws, in sentences."""
    numbers, sizes = json.loads(fit.attrs["diagnostics"]), fit["posterior"].sizes
    words = f"{counted(sizes['chain'], 'chain')} of {counted(sizes['draw'], 'draw')}: "
    match fit.attrs["method"]:
        case "nuts":
            diverged = counted(numbers["divergences"], "divergence")
            words += (
                f"largest R-hat {_number(numbers['r_hat_max'], 3)}, smallest effective sample "
                f"size {_number(numbers['ess_min'], 0)}{_of_results(numbers)}, {diverged}."
            )
            if sizes["chain"] == 1:
                words += " Convergence cannot be checked with one chain: it may miss a mode."
        case "laplace":
            words = f"Laplace approximation at the mode: PSIS k-hat {_number(numbers['k_hat'], 2)}"
            worth = numbers.get("draws_worth")
            words += "." if worth is None else f", a draw is worth {worth:.2g} posterior draws."
        case _:
            words = "Posterior mode only: intervals omit the uncertainty of the parameters."
    return [words, *fit_warnings(fit)]


def parts_from_data(fit: Fit) -> str:
    """Name what the data added to the default model; ``""`` without anything."""
    spec = FitView.of(fit).spec
    told = {
        "drift": "sessions show drift",
        "system_bias": "raters judge systems differently",
        "misreading": "raters misread clusters",
    }
    parts = [f"{why} ({name})" for name, why in told.items() if name in spec.rater_parts]
    parts += [f"{copier} may repeat {source}" for copier, source in spec.copies.items()]
    return f"the data add to the default model: {some(parts)}" if parts else ""


def draws_worth(fit: Fit) -> float:
    """Return the effective number of draws of the results, which limits their digits."""
    sizes, numbers = fit["posterior"].sizes, json.loads(fit.attrs.get("diagnostics", "{}"))
    least = numbers.get("ess_results") or numbers.get("ess_min")
    return float(least or sizes["chain"] * sizes["draw"])


def doubts(fit: Fit) -> list[Note]:
    """Return the warnings that make a fit untrustworthy, without mere notes."""
    return [note for note in fit_warnings(fit) if note.level == "warning"]


def _of_results(numbers: Mapping[str, float | None]) -> str:
    """Add the smallest effective sample size of the results, which older fits lack."""
    least = numbers.get("ess_results")
    return "" if least is None else f" of the parameters and {least:.0f} of the reported results"


def _number(value: float | None, decimals: int) -> str:
    """Write a diagnostic; one chain has no R-hat."""
    return UNDEFINED if value is None else f"{value:.{decimals}f}"

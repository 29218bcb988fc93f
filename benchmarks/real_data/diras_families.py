"""DIRAS: sixteen settings of language models as raters, alone and with two experts.

    python -m benchmarks diras_families --data ../shared/data --seed 1

Ratings: ChatReportRetrieve of Ni et al. (2025), 11 questions x 60 paragraphs. No fit sees the gold.
What a fit says is kept in ``build/real_families/diras.json`` and not computed again; the table
``results/families/diras.csv`` has F1 (relevant or partially, against not),
log loss, average precision of the items that the authors call uncertain, and differences to the
best language model, to its own confidence and to the better expert, with 95 % intervals of a
bootstrap over questions.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

import assay
from assay.raters.dependence import effective_number_of_raters
from assay.raters.scoring import score_rater
from benchmarks.real_data.crowd_baselines import aggregate
from benchmarks.real_data.diras_plans import PLANS, Plan, language_models, read_plan, relevant
from benchmarks.real_data.diras_tables import EXPERTS, Diras, read_diras
from benchmarks.real_data.family_scores import calibration_excess, log_losses

Floats = NDArray[np.float64]
Line = dict[str, Any]
RESAMPLES = 4000
BEST_MODEL = "gpt4"
"""The best of the sixteen, in hindsight."""
NUTS: Line = {"draws": 300, "tune": 300, "chains": 2, "starts": 1}
MODE: Line = {"method": "map", "draws": 1, "chains": 1, "starts": 1}


def fit_plan(diras: Diras, plan: Plan, options: Line, seed: int) -> Line:
    """Return the probability of relevance and the doubt of each item, and how the fit went."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(
            read_plan(diras, plan),
            raters=plan.raters,
            reference=plan.reference,
            rng=seed,
            progress=False,
            **options,
        )
    every = assay.label_probabilities(fit).isel(label=0)
    classes = every.sel(item=list(diras.gold.index)).to_numpy()
    said = json.loads(fit.attrs["diagnostics"])
    line = {
        "fit": fit.attrs["method"],
        "r_hat": said.get("r_hat_max", np.nan),
        "ess": said.get("ess_min", np.nan),
        "seconds": time.perf_counter() - start,
    }
    found = {
        "probability": (1 - classes[:, 0]).tolist(),
        "doubt": (1 - classes.max(axis=1)).tolist(),
    }
    return found | line | worth_of_models(fit)


def worth_of_models(fit: xr.DataTree) -> Line:
    """How many independent raters the language models are worth, as the fit has it."""
    every = effective_number_of_raters(fit).isel(label=0)
    if "llm" not in every["group"].values:
        return {}
    worth = every.sel(group="llm")
    low, middle, high = np.quantile(worth, [0.025, 0.5, 0.975])
    return {"worth": float(middle), "worth_lower": float(low), "worth_upper": float(high)}


def kish_worth(diras: Diras) -> float:
    """Kish's number of independent raters, from the language models' errors against the gold."""
    truth = pd.Series(relevant(diras), index=diras.gold.index)
    guess = pd.DataFrame(
        {m: diras.scores(m)["guess"].astype(float) for m in language_models(diras)}
    )
    wrong = guess.reindex(truth.index).sub(truth, axis=0).abs().where(guess.notna())
    tables = [wrong[truth == k].cov().to_numpy() for k in range(2)]
    share = np.bincount(truth) / len(truth)
    whole = sum(s * t for s, t in zip(share, tables, strict=True))
    count = len(whole)
    rho = (whole.sum() - np.trace(whole)) / (count - 1) / np.trace(whole)
    return float(count / (1 + (count - 1) * rho))


# Baselines.


def baselines(diras: Diras) -> Iterator[tuple[str, pd.Series, pd.Series]]:
    """Yield name, probability and guess of each language model, expert, and crowd-kit method."""
    index = diras.gold.index
    for name in language_models(diras):
        own = diras.scores(name).reindex(index)
        yield name, own["score"], own["guess"].astype(float)
    for name in EXPERTS[:2]:
        own = diras.annotations[diras.annotations["rater"] == name].set_index("item")
        said = (own["grade"] >= 1).astype(float).reindex(index)
        yield name, said * np.nan, said
    ratings = read_plan(diras, Plan(experts=False, raters="dawid_skene"))
    votes = pd.DataFrame(
        {"task": ratings.item, "worker": ratings.rater, "label": ratings.answers[:, 0]}
    )
    for name in ("MajorityVote", "DawidSkene", "OneCoinDawidSkene", "GLAD"):
        chance = aggregate(name, votes, len(ratings.items), 2)[0][:, 1]
        found = pd.Series(chance, index=ratings.items.index).reindex(index)
        yield f"crowd-kit {name}", found, (found >= 0.5).astype(float)


# Scores and the bootstrap over questions.


def f1_counts(guess: pd.Series, diras: Diras) -> Floats:
    """Hits, and half of what is guessed or true, of each question: (question, 2)."""
    truth, seen = relevant(diras), guess.notna().to_numpy()
    hit = (guess.fillna(0).to_numpy() * truth)[:, None]
    half = (((guess.fillna(0).to_numpy() + truth) / 2) * seen)[:, None]
    return _by_question(np.concatenate([hit, half], axis=1), diras)


def loss_counts(chance: pd.Series, diras: Diras) -> Floats:
    """Log loss and number of items of each question: (question, 2)."""
    seen = chance.notna().to_numpy()
    p = chance.fillna(0.5).to_numpy()
    loss = log_losses(np.column_stack([1 - p, p]), relevant(diras)) * seen
    return _by_question(np.column_stack([loss, seen.astype(float)]), diras)


def _by_question(values: Floats, diras: Diras) -> Floats:
    codes, names = pd.factorize(diras.clusters)
    found = np.zeros((len(names), values.shape[1]))
    np.add.at(found, codes, values)
    return found


def ratio_interval(ours: Floats, theirs: Floats, rng: np.random.Generator) -> Line:
    """Difference of two ratios of totals, with its bootstrap interval over questions."""
    count = len(ours)
    weights = rng.multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    weights = np.vstack([np.ones(count), weights])
    first, second = weights @ ours, weights @ theirs
    apart = first[:, 0] / first[:, 1] - second[:, 0] / second[:, 1]
    low, high = np.quantile(apart[1:], [0.025, 0.975])
    return {"difference": float(apart[0]), "lower": float(low), "upper": float(high)}


def own_scores(
    name: str,
    chance: pd.Series,
    guess: pd.Series,
    diras: Diras,
    seed: int,
    doubt: pd.Series | None = None,
) -> Line:
    """F1, log loss, calibration and average precision of the uncertain items of one method.

    If not said otherwise, a method is in doubt by what its guess lacks to 1.
    """
    hits, losses = f1_counts(guess, diras).sum(axis=0), loss_counts(chance, diras).sum(axis=0)
    line: Line = {"model": name, "f1": hits[0] / hits[1]}
    known = chance.dropna()
    if len(known):
        table = np.column_stack([1 - known, known])
        truth = pd.Series(relevant(diras), index=diras.gold.index)[known.index].to_numpy()
        excess = calibration_excess(table, truth, np.random.default_rng(seed))[1]
        doubt = (guess[known.index] - known).abs() if doubt is None else doubt
        # Rounded: what differs by less is a tie.
        hard = score_rater(diras.gold["hard"], doubt.round(9), metric="average_precision")
        line |= {
            "log_loss": losses[0] / losses[1],
            "ece_excess": float(excess),
            "uncertain_ap": hard["average_precision"].item(),
        }
    return line


def compared(chance: pd.Series, guess: pd.Series, rivals: Line, diras: Diras, seed: int) -> Line:
    """Return differences of F1 and log loss to the rivals."""
    line: Line = {}
    for label, (rival_chance, rival_guess) in rivals.items():
        pairs: dict[str, Any] = {"f1": (f1_counts, guess, rival_guess)}
        if rival_chance.notna().any():
            pairs["log_loss"] = (loss_counts, chance, rival_chance)
        for score, (count, mine, theirs) in pairs.items():
            seen = mine.where(theirs.notna())
            found = ratio_interval(
                count(seen, diras), count(theirs, diras), np.random.default_rng(seed)
            )
            line |= {f"{score} - {label} {end}": value for end, value in found.items()}
    return line


def table(diras: Diras, runs: Mapping[tuple[str, str], Line], seed: int) -> pd.DataFrame:
    """Make a line per baseline and per fit."""
    others = {name: (chance, guess) for name, chance, guess in baselines(diras)}
    lines = [own_scores(name, *both, diras, seed) for name, both in others.items()]
    models = language_models(diras)
    surest = min(models, key=lambda m: own_scores(m, *others[m], diras, seed)["log_loss"])
    expert = max(EXPERTS[:2], key=lambda m: own_scores(m, *others[m], diras, seed)["f1"])
    rivals = {
        BEST_MODEL: others[BEST_MODEL],
        f"best own confidence ({surest})": others[surest],
        "crowd-kit DawidSkene": others["crowd-kit DawidSkene"],
        f"better expert ({expert})": others[expert],
    }
    for (name, _), run in runs.items():
        chance = pd.Series(np.array(run["probability"], float), index=diras.gold.index)
        guess = (chance >= 0.5).astype(float)
        doubt = pd.Series(np.array(run["doubt"], float), index=diras.gold.index)
        about = {k: v for k, v in run.items() if k not in ("probability", "doubt")}
        scores = own_scores(name, chance, guess, diras, seed, doubt)
        lines.append(scores | about | compared(chance, guess, rivals, diras, seed))
    return pd.DataFrame(lines).assign(kish_worth=kish_worth(diras), seed=seed)


def in_order(lines: pd.DataFrame) -> pd.DataFrame:
    """Put baselines first, then modes and NUTS, each in the order of the plans."""
    plans = {name: n for n, name in enumerate(PLANS)}
    fit = lines["fit"].map({"map": 1, "nuts": 2}).fillna(0)
    plan = lines["model"].map(plans).fillna(-1)
    return lines.iloc[np.lexsort((plan, fit))]


def main() -> None:
    """Read the command line, make the fits that are missing, write the table after each."""
    project = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=project.parent / "shared" / "data")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--methods", default="map,nuts")
    parser.add_argument("--only", default="; ".join(PLANS), help="names, separated by ;")
    chosen = parser.parse_args()
    diras = read_diras(chosen.data)
    kept = project / "build" / "real_families" / "diras.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    runs: dict[tuple[str, str], Line] = {}
    if kept.exists():
        runs = {(r["model"], r["fit"]): r for r in json.loads(kept.read_text())}
    for method in chosen.methods.split(","):
        for name in (name.strip() for name in chosen.only.split(";")):
            if (name, method) in runs:
                continue
            plan = PLANS[name]
            found = fit_plan(diras, plan, NUTS if method == "nuts" else MODE, chosen.seed)
            runs[name, method] = {"model": name} | found
            kept.write_text(json.dumps(list(runs.values())))
            folder = Path(__file__).resolve().parent / "results" / "families"
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / "diras.csv"
            made = table(diras, runs, chosen.seed)
            in_order(made).to_csv(path, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()

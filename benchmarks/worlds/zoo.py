"""A zoo of worlds: intervals, labels and P(A > B) of recipes, beside an oracle and the vote.

    python -m benchmarks zoo --sets 100 --seed 1
    python -m benchmarks zoo --worlds halo weak_raters --recipe default --recipe "joint" --sets 20
    python -m benchmarks zoo --recipe "hierarchical | prior.mean_binary=Normal(2.2, 0.4)"

A set of a world is drawn from its seed, number and name, so that all recipes get the same ratings.
Each recipe adds a line per metric to ``results/zoo.csv`` as soon as a set is done; lines that are
there are not made again, so that a run that was stopped goes on. After a recipe follow, if wanted,
choices of the fit: ``prevalence``, ``reference``, ``replicates``, ``formula``, ``prior.<name>``,
``copies=COPIER:SOURCE``; and two of the reader: ``session``, a column, and ``without``, a rater who
is left out.
``python -m benchmarks zoo_table`` makes the table.
"""

import argparse
import json
import re
import time
import warnings
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import xarray as xr

import assay
from assay.modelling.spec import recipe_of
from benchmarks.worlds.zoo_worlds.catalogue import ZOO
from benchmarks.worlds.zoo_worlds.measures import bootstrapped, intervals, majority, values
from benchmarks.worlds.zoo_worlds.study import SYSTEMS, Study, World

RESULTS = Path(__file__).resolve().parent / "results" / "zoo.csv"
KEY = ["world", "seed", "set", "recipe", "method"]
DEFAULT = "default"
LEAST = 1e-6
"""Probabilities are bounded by it in the log loss."""
ORACLE_DRAWS = 1000
PARTS = ("a", "b", "d")
"""A, B and the difference A - B."""


def draw_study(world: World, seed: int, number: int) -> Study:
    """Draw a set of a world; the same numbers give the same set."""
    rng = np.random.default_rng([seed, number, crc32(world.name.encode())])
    return world.draw(rng, world.sizes)


def read(
    study: Study, formula: str = "", session: str | None = None, without: str | None = None
) -> assay.Ratings:
    """Read the ratings as a user would, with the columns that a formula needs, and sessions.

    ``n_answers`` is the number of answers that an item has.
    """
    ranked = {"rank": "rank", "panel": ["query", "system"]} if study.sizes.places > 1 else {}
    places = {"item": "item", "rater": "rater", "cluster": "query", "system": "system", **ranked}
    frame = study.frame[study.frame["rater"] != without]
    if "n_answers" in formula:
        frame = frame.assign(n_answers=frame.groupby("item")["rater"].transform("size"))
    own = [name for name in frame.columns if re.search(rf"\b{name}\b", formula)]
    covariates = {"covariates": own} if own else {}
    sessions = {"session": session} if session else {}
    return assay.read_ratings(frame, task=study.task, **places, **covariates, **sessions)


def choices(recipe: str) -> dict[str, Any]:
    """Read a recipe and the choices that follow it."""
    raters, *others = (part.strip() for part in recipe.split("|"))
    found: dict[str, Any] = {"raters": None if raters == DEFAULT else raters}
    for other in others:
        name, _, value = (text.strip() for text in other.partition("="))
        if name.startswith("prior."):
            found.setdefault("priors", {})[name.removeprefix("prior.")] = value
        elif name == "copies":
            copier, source = value.split(":")
            found[name] = {copier: source}
        else:
            found[name] = value
    return found


@cache
def full_name(recipe: str, world: World) -> str:
    """Put the name of today's default in the place of ``default``."""
    first, bar, others = recipe.partition("|")
    if first.strip() != DEFAULT:
        return recipe
    session = choices(recipe).get("session")
    raters = recipe_of(read(draw_study(world, 0, 0), session=session), None)
    return f"{raters} |{others}" if bar else str(raters)


@lru_cache(maxsize=2)
def known_set(world: World, seed: int, number: int) -> tuple[Study, pd.DataFrame]:
    """Return a set and what is known of it; recipes on the same set share them."""
    study = draw_study(world, seed, number)
    return study, known_lines(study, seed, number)


def known_lines(study: Study, seed: int, number: int) -> pd.DataFrame:
    """Truth, oracle and vote of a set: a line per metric."""
    rng = np.random.default_rng([seed, number, 2])
    vote = majority(study.votes, study.answers, rng)
    truth = values(study.task, study.grid(study.truth))
    voted = values(study.task, study.grid(vote))
    samples = bootstrapped(study.task, study.grid(vote), rng)
    drawn = values(study.task, study.grid(study.oracle.draws(ORACLE_DRAWS, rng)))
    shares = (study.votes + 1) / (study.answers + 2)
    of_set = {
        **label_scores("vote", shares, study.truth, right=right_votes(study)),
        **label_scores("oracle", study.oracle.probability(), study.truth),
    }
    lines = []
    for metric, value in truth.items():
        ends = intervals(samples[metric])
        at = voted[metric]
        ends = {p: (m, *ends[p][1:]) for p, m in zip(PARTS, (*at, at[0] - at[1]), strict=True)}
        population = study.population[metric]
        lines.append(
            {
                "metric": metric,
                **dict(zip(("truth_a", "truth_b"), value, strict=True)),
                "truth_d": value[0] - value[1],
                "population_d": population[0] - population[1],
                **columns_of("vote", ends),
                **columns_of("oracle", intervals(drawn[metric])),
                **of_set,
            }
        )
    return pd.DataFrame(lines)


def right_votes(study: Study) -> float:
    """Share of labels that the vote has right; of a tie, half."""
    lead = np.sign(2 * study.votes - study.answers) * (2 * study.truth - 1)
    return float(((lead + 1) / 2).mean())


def label_scores(
    name: str, p: np.ndarray, truth: np.ndarray, right: float | None = None
) -> dict[str, float]:
    """Accuracy and log loss of P(yes) of labels, with the truth (item, label)."""
    own = np.clip(np.where(truth == 1, p, 1 - p), LEAST, 1)
    accuracy = float((own > 0.5).mean() + (own == 0.5).mean() / 2) if right is None else right
    return {f"{name}_accuracy": accuracy, f"{name}_log_loss": float(-np.log(own).mean())}


def columns_of(name: str, ends: dict[str, tuple[float, float, float]]) -> dict[str, float]:
    """Name the values and interval ends of the three parts."""
    kinds = ("value", "lower", "upper")
    return {
        f"{name}_{part}_{kind}": number
        for part in PARTS
        for kind, number in zip(kinds, ends[part], strict=True)
    }


def fitted_lines(
    study: Study, recipe: str, method: str, number: int, effort: dict[str, Any]
) -> pd.DataFrame:
    """Fit a recipe: a line per metric, and what was said of the numbers."""
    chosen = choices(recipe)
    of_reader = {name: chosen.pop(name, None) for name in ("session", "without")}
    ratings = read(study, chosen.get("formula", ""), **of_reader)
    codes = [f"check:{f.level}:{f.code}" for f in assay.check(ratings).at_least("note")]
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(ratings, **chosen, method=method, rng=number + 1, progress=False, **effort)
    seconds = time.perf_counter() - started
    codes += [f"fit:{n['level']}:{n['code']}" for n in json.loads(fit.attrs["warnings"])]
    names = list(study.population)
    finite = assay.compare(fit, metric=names, estimand="finite")
    population = assay.compare(fit, metric=names, estimand="population")
    codes += [
        f"mark:note:{doubt.partition(':')[0]}"
        for table in (finite.pairs, finite.systems, population.pairs)
        for doubt in table["doubt"]
        if doubt
    ]
    scores = label_scores("model", chances_of(fit, study), study.truth)
    said = " ".join(dict.fromkeys(codes))
    lines = [
        {"metric": n, **numbers_of(n, finite, population), **scores, "seconds": seconds}
        for n in names
    ]
    return pd.DataFrame(lines).assign(codes=said)


def numbers_of(metric: str, finite: Any, population: Any) -> dict[str, float]:
    """Return a metric's intervals, and P(A > B) in the population."""
    systems = finite.systems[finite.systems["metric"] == metric].set_index("system")
    ends = {
        part: tuple(systems.loc[name, ["mean", "lower", "upper"]].astype(float))
        for part, name in zip(PARTS, SYSTEMS, strict=False)
    }
    pair, wide = (c.pairs[c.pairs["metric"] == metric].iloc[0] for c in (finite, population))
    if (pair["a"], pair["b"]) != tuple(SYSTEMS):
        raise ValueError("systems are compared in another order")
    columns = ["difference", "difference_lower", "difference_upper"]
    ends["d"] = tuple(pair[columns].astype(float))
    return {
        **columns_of("model", ends),
        **dict(zip(("new_lower", "new_upper"), wide[columns[1:]].astype(float), strict=True)),
        "p_greater": float(wide["p_greater"] + 0.5 * wide["p_equal"]),
    }


def chances_of(fit: xr.DataTree, study: Study) -> np.ndarray:
    """P(yes) of each label of each item, in the study's order."""
    table = assay.label_probabilities(fit).sel({"class": "yes"})
    found = np.full(study.truth.shape, np.nan)
    found[[study.item_places[name] for name in table["item"].to_numpy()]] = table.to_numpy()
    return found


def run(
    world: World, number: int, recipe: str, method: str, seed: int, effort: dict[str, Any]
) -> pd.DataFrame:
    """Run a set of a world with a recipe: its lines."""
    study, known = known_set(world, seed, number)
    try:
        own = fitted_lines(study, recipe, method, number, effort)
    except assay.AssayError as error:
        own = known[["metric"]].assign(codes=f"refused:problem:{error.code}")
    found = known.merge(own, on="metric", how="left")
    name = full_name(recipe, world)
    keys = dict(zip(KEY, (world.name, seed, number, name, method), strict=True))
    for place, (column, value) in enumerate(keys.items()):
        found.insert(place, column, value)
    return found


def append(lines: pd.DataFrame, path: Path) -> None:
    """Add lines to the file, whose columns stay as they are."""
    lines = lines.reindex(columns=list(dict.fromkeys([*COLUMNS, *lines.columns])))
    text = lines.to_csv(header=not path.exists(), index=False, float_format="%.5g")
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


COLUMNS = (
    *KEY,
    "metric",
    *(f"truth_{part}" for part in PARTS),
    "population_d",
    *(
        f"{name}_{part}_{kind}"
        for name in ("vote", "oracle", "model")
        for part in PARTS
        for kind in ("value", "lower", "upper")
    ),
    *(f"{n}_{s}" for n in ("vote", "oracle", "model") for s in ("accuracy", "log_loss")),
    "new_lower",
    "new_upper",
    "p_greater",
    "seconds",
    "codes",
)


def done(path: Path) -> set[tuple[Any, ...]]:
    """Return the keys of what a file has."""
    if not path.exists():
        return set()
    return set(pd.read_csv(path, usecols=KEY)[KEY].itertuples(index=False, name=None))


def missing(chosen: argparse.Namespace) -> Iterator[tuple[World, int, str]]:
    """Yield what the file does not have yet, set by set."""
    there = done(chosen.file)
    for number in range(chosen.first, chosen.sets):
        for name in chosen.worlds:
            for recipe in chosen.recipe or [DEFAULT]:
                full = full_name(recipe, ZOO[name])
                if (name, chosen.seed, number, full, chosen.method) not in there:
                    there.add((name, chosen.seed, number, full, chosen.method))
                    yield ZOO[name], number, recipe


def main() -> None:
    """Run what is asked for and not there yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", nargs="+", choices=list(ZOO), default=list(ZOO), metavar="W")
    parser.add_argument("--sets", type=int, default=20, help="sets of each world, from the first")
    parser.add_argument("--first", type=int, default=0, help="the first set")
    parser.add_argument("--recipe", action="append", help="one or more; today's default if none")
    parser.add_argument("--method", choices=("laplace", "map", "nuts"), default="laplace")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=1)
    parser.add_argument("--starts", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", type=Path, default=RESULTS)
    parser.add_argument("--resume", action="store_true", help="as always: lines there are kept")
    chosen = parser.parse_args()
    effort = {"draws": chosen.draws, "chains": chosen.chains, "starts": chosen.starts}
    for world, number, recipe in missing(chosen):
        append(run(world, number, recipe, chosen.method, chosen.seed, effort), chosen.file)


if __name__ == "__main__":
    main()

"""A sign that turns: a language model judges all answers, two people a random hundred of them.

    python -m benchmarks sign_that_turns --hundreds 20 --seed 1

reads the ratings of XSTest (Röttger et al. 2024) from ``--data`` (a folder that holds ``xstest``;
``../shared/data`` if not given), compares the compliance of gpt4 and mistralguard, and writes to
``results/sign_that_turns``: ``runs.csv`` (a line per hundred, approach and estimand; runs that are
there are not made again), ``summary.csv``, ``table.csv``, ``judge.csv``, ``versions.json`` and the
figure. Each fit takes some seconds. ``--summary`` makes the tables and the figure from the runs.
"""

import argparse
import json
import platform
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay
from assay._util.errors import FitWarning
from assay.comparison.refit import rated_by
from assay.data.ratings import Ratings
from assay.evaluation.estimands import Estimand
from benchmarks.dependence.sign_figure import draw_figure
from benchmarks.dependence.sign_study import (
    METRIC,
    SURVEY,
    UNITS,
    Study,
    hundred,
    judge_line,
    judge_table,
    read_study,
    survey_line,
)

Line = dict[str, Any]

ESTIMANDS: tuple[Estimand, ...] = ("finite", "population")
SAMPLER: Line = {"draws": 500, "tune": 500, "chains": 2, "progress": False}
ROUNDED = 5e-6
"""Error of the numbers in ``runs.csv``; the end of an interval can be the gold itself."""
PLAIN = "hierarchical + item_difficulty"
BIASED = {"judge": f"{PLAIN} + system_bias", "people": PLAIN}


@dataclass(frozen=True, kw_only=True)
class Approach:
    """Whose ratings are used, and under which model."""

    who: tuple[str, ...] = ("judge", "people")
    options: Mapping[str, Any]


APPROACHES: Mapping[str, Approach] = {
    "assay": Approach(options={"raters": BIASED, "prevalence": "dirichlet"}),
    "people alone": Approach(who=("people",), options={"prevalence": "dirichlet"}),
    "people alone, default model": Approach(who=("people",), options={}),
    "default model": Approach(options={}),
    "one confusion for both systems": Approach(options={"prevalence": "dirichlet"}),
    "bias by system, prompts linked": Approach(options={"raters": BIASED}),
}
YARDSTICKS = ("people alone", "people alone, default model", SURVEY)
"""The people alone: under the prevalence of ``assay``, the default model, and no model."""
TITLES = {
    "hold the gold": "holds",
    "call the judge's sign real": "judge_sign_real",
    **{f"no wider than {name}": f"no wider than {name}" for name in YARDSTICKS},
}


def fitted_lines(ratings: Ratings, name: str, seed: int) -> Iterator[Line]:
    """Fit an approach; yield a line per estimand."""
    approach = APPROACHES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(
            rated_by(ratings, list(approach.who)),
            rng=seed,
            **SAMPLER,
            **{"raters": PLAIN, **approach.options},
        )
    found = json.loads(fit.attrs["diagnostics"])
    for estimand in ESTIMANDS:
        pair = assay.compare(fit, metric=METRIC, estimand=estimand).pairs.iloc[0]
        yield {
            "approach": name,
            "estimand": estimand,
            "difference": pair["difference"],
            "lower": pair["difference_lower"],
            "upper": pair["difference_upper"],
            "p_greater": pair["p_greater"],
            "r_hat": found["r_hat_max"],
            "divergences": found["divergences"],
        }


def run_all(
    study: Study,
    path: Path,
    hundreds: Iterable[int],
    seed: int,
    *,
    approaches: Iterable[str] = tuple(APPROACHES),
    kinds: Iterable[str] = tuple(UNITS),
) -> pd.DataFrame:
    """Add the runs that are not there yet to the table, hundred by hundred.

    Parameters
    ----------
    study : Study
    path : Path
        Of the table.
    hundreds : iterable of int
    seed : int
        Of the fits.
    approaches, kinds : iterable of str
        Names of ``APPROACHES`` and of ``UNITS``.
    """
    done = pd.read_csv(path) if path.exists() else pd.DataFrame()
    made = set(zip(done["of"], done["hundred"], strict=True)) if len(done) else set()
    for of in kinds:
        for number in hundreds:
            if (of, number) in made:
                continue
            ratings = hundred(study, number, of)
            lines = [survey_line(ratings, of)]
            for name in approaches:
                lines += fitted_lines(ratings, name, 1000 * seed + number)
            added = pd.DataFrame(lines)
            added.insert(0, "of", of)
            added.insert(1, "hundred", number)
            done = pd.concat([done, added], ignore_index=True)
            done.to_csv(path, index=False, float_format="%.5f")
    return done


def summarise(runs: pd.DataFrame, judge: Line, gold: float) -> pd.DataFrame:
    """Judge the intervals: a line per kind of hundred, estimand and approach.

    Returns
    -------
    pandas.DataFrame
        ``of``, ``estimand``, ``approach``; over the hundreds, the mean ``difference``, how many
        intervals hold the gold (``holds``) and how many lie wholly on the judge's side of 0
        (``judge_sign_real``), their mean ``width``; how many are no wider than that of the same
        hundred by each of ``YARDSTICKS``; ``hundreds``.
    """
    runs = runs.assign(width=runs["upper"] - runs["lower"])
    place = [runs["of"], runs["hundred"], runs["estimand"]]
    by_place = runs.set_index(["of", "hundred", "estimand", "approach"])["width"].unstack()
    # A survey sample speaks of these items only; it is a yardstick for both estimands.
    by_place[SURVEY] = by_place.groupby(["of", "hundred"])[SURVEY].transform("max")
    widths = by_place.loc[pd.MultiIndex.from_arrays(place)]
    beyond = runs[["lower", "upper"]] * np.sign(judge["difference"])
    flags = {
        "holds": (runs["lower"] <= gold + ROUNDED) & (runs["upper"] >= gold - ROUNDED),
        "judge_sign_real": beyond.min(axis=1) > 0,
        **{
            f"no wider than {name}": runs["width"].to_numpy() <= widths[name].to_numpy()
            for name in YARDSTICKS
        },
    }
    grouped = runs.assign(**flags).groupby(["of", "estimand", "approach"], sort=False)
    means = grouped[["difference", "width"]].mean()
    counts = grouped[list(flags)].sum()
    table = means.join(counts).assign(hundreds=grouped["hundred"].nunique())
    front = ["difference", "holds", "judge_sign_real", "width"]
    return table[[*front, *list(flags)[2:], "hundreds"]].reset_index()


def readable(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of the finite estimand in percentage points, as the page shows them."""
    lines = summary[summary["estimand"] == "finite"]
    out_of = " of " + lines["hundreds"].astype(str)
    found = pd.DataFrame({"people rate 100": lines["of"], "approach": lines["approach"]})
    found["mean difference"] = (100 * lines["difference"]).map("{:+.1f}".format)
    found["mean width"] = (100 * lines["width"]).map("{:.1f}".format)
    for title, column in TITLES.items():
        found[title] = lines[column].astype(str) + out_of
    return found


def versions(hundreds: int, seed: int) -> Line:
    """Return the versions, the seed and the sampler that made the tables."""
    names = ("assay", "numpy", "numba", "nutpie", "pymc", "pandas", "xarray")
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in names},
        "seed": seed,
        "hundreds": hundreds,
        "sampler": SAMPLER,
    }


def main() -> None:
    """Run what the command line asks for."""
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, default=here.parents[2] / "shared" / "data")
    parser.add_argument(
        "--folder",
        type=Path,
        default=here / "results" / "sign_that_turns",
    )
    parser.add_argument("--hundreds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--summary", action="store_true")
    chosen = parser.parse_args()
    folder: Path = chosen.folder
    folder.mkdir(parents=True, exist_ok=True)
    study = read_study(chosen.data)
    path = folder / "runs.csv"
    if not chosen.summary:
        numbers = range(1, chosen.hundreds + 1)
        run_all(study, path, numbers, chosen.seed)
        made = json.dumps(versions(chosen.hundreds, chosen.seed), indent=1)
        (folder / "versions.json").write_text(made + "\n", encoding="utf-8")
    runs, gold = pd.read_csv(path), study.difference(study.gold)
    judge = judge_line(study, chosen.seed)
    table = summarise(runs, judge, gold)
    table.to_csv(folder / "summary.csv", index=False, float_format="%.3f")
    readable(table).to_csv(folder / "table.csv", index=False)
    judge_table(chosen.data).to_csv(folder / "judge.csv", index=False, float_format="%.3f")
    draw_figure(runs, judge, gold, folder / "sign_that_turns.png")


if __name__ == "__main__":
    main()

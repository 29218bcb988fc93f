"""Coverage of a population's share where items or clusters are sampled unequally or in strata.

One yes/no label; three raters who are right in 95 %, so that nearly all uncertainty is of sampling.
Designs:

``within``: of each question all 6 items of the first ranks and 6 of the 94 others, with their
weights, and with or without strata that tell the two apart; 25 or 12 questions.
``strata``: 40 clusters of one item in 20, 10 or 5 strata whose shares differ.
``sizes``: 30 clusters, one of which has as many items as all others together.
``unequal``: 40 clusters of 4 items, sampled with odds that fall with how easy they are.

    python -m benchmarks sampling_designs --sets 60 --seed 1

writes ``results/sampling_designs.csv``, a line per design.
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import beta

import assay
from assay.data.task import Label, Task

FOLDER = Path(__file__).resolve().parent / "results"
TASK = Task(name="events", labels=(Label(name="event"),))
METRIC = "prevalence[event=yes]"
RATERS, RIGHT, MANY = 3, 0.95, 200_000
Sample = tuple[pd.DataFrame, dict[str, str], float]


def within(rng: np.random.Generator, *, questions: int, stratum: bool) -> Sample:
    """First ranks and a sample of the others of each question."""
    first, other = (expit(b + rng.normal(size=MANY)).mean() for b in (0.8, -2.5))
    ease = rng.normal(size=(questions, 1))
    inside = np.repeat([True, False], 6)
    chance = expit(np.where(inside, 0.8, -2.5) + ease)
    items = pd.DataFrame(
        {
            "cluster": np.repeat(np.arange(questions), 12),
            "truth": (rng.random(chance.shape) < chance).ravel(),
            "weight": np.tile(np.where(inside, 1.0, 94 / 6), questions),
            "part": np.tile(np.where(inside, "first", "other"), questions),
        }
    )
    columns = {"weight": "weight"} | ({"stratum": "part"} if stratum else {})
    return items, columns, 0.06 * first + 0.94 * other


def strata(rng: np.random.Generator, *, count: int) -> Sample:
    """Forty clusters of one item in strata of equal size."""
    centre = np.linspace(-1, 1, count)
    share = expit(centre[:, None] + rng.normal(size=(1, MANY))).mean()
    stratum = np.repeat(np.arange(count), 40 // count)
    chance = expit(centre[stratum] + rng.normal(size=40))
    items = pd.DataFrame({"cluster": np.arange(40), "truth": rng.random(40) < chance})
    return items.assign(part=[f"s{h:02d}" for h in stratum]), {"stratum": "part"}, share


def sizes(rng: np.random.Generator) -> Sample:
    """Thirty clusters, one of 29 items and the others of one."""
    cluster = np.r_[np.zeros(29, int), np.arange(1, 30)]
    chance = expit(rng.normal(size=30))[cluster]
    truth = rng.random(len(cluster)) < chance
    return pd.DataFrame({"cluster": cluster, "truth": truth}), {}, 0.5


def unequal(rng: np.random.Generator) -> Sample:
    """Clusters drawn with a chance that falls with their ease, weighted by its inverse."""
    ease = rng.normal(size=MANY)
    drawn = expit(-1.5 * ease)
    share = expit(ease).mean()
    chosen = rng.choice(MANY, size=40, replace=False, p=drawn / drawn.sum())
    cluster = np.repeat(np.arange(40), 4)
    truth = rng.random(160) < expit(ease[chosen])[cluster]
    items = pd.DataFrame({"cluster": cluster, "truth": truth, "weight": 1 / drawn[chosen][cluster]})
    return items, {"weight": "weight"}, share


DESIGNS: dict[str, Callable[[np.random.Generator], Sample]] = {
    "within, 25 questions": partial(within, questions=25, stratum=False),
    "within, 25 questions, strata": partial(within, questions=25, stratum=True),
    "within, 12 questions": partial(within, questions=12, stratum=False),
    "within, 12 questions, strata": partial(within, questions=12, stratum=True),
    "40 clusters in 20 strata": partial(strata, count=20),
    "40 clusters in 10 strata": partial(strata, count=10),
    "40 clusters in 5 strata": partial(strata, count=5),
    "30 clusters, one as large as the rest": sizes,
    "40 clusters with unequal chances": unequal,
}


def one_set(design: str, number: int, seed: int) -> dict[str, object]:
    """Sample, rate, fit, and hold the interval against the population."""
    rng = np.random.default_rng([seed, number, list(DESIGNS).index(design)])
    items, columns, share = DESIGNS[design](rng)
    items = items.assign(item=[f"i{n:04d}" for n in range(len(items))])
    rows = pd.concat([items.assign(rater=f"r{j}") for j in range(RATERS)], ignore_index=True)
    said = rows["truth"] == (rng.random(len(rows)) < RIGHT)
    table = rows.assign(event=np.where(said, "yes", "no")).drop(columns="truth")
    ratings = assay.read_ratings(table, task=TASK, cluster="cluster", **columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(
            ratings,
            raters="hierarchical",
            method="laplace",
            draws=400,
            chains=1,
            starts=1,
            rng=number,
            progress=False,
        )
    line = assay.summarize(assay.metrics(fit, metric=METRIC)).iloc[0]
    return {
        "design": design,
        "estimand": line["estimand"],
        "inside": bool(line["lower"] <= share <= line["upper"]),
        "width": line["upper"] - line["lower"],
        "bias": line["mean"] - share,
    }


def main() -> None:
    """Run all designs and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    runs = pd.DataFrame([one_set(d, n, chosen.seed) for d in DESIGNS for n in range(chosen.sets)])
    table = runs.groupby(["design", "estimand"], sort=False).agg(
        sets=("inside", "size"),
        inside=("inside", "mean"),
        width=("width", "mean"),
        bias=("bias", "mean"),
    )
    held = table["inside"] * table["sets"]
    missed = table["sets"] - held
    table.insert(2, "inside_lower", beta.ppf(0.025, held, missed + 1))
    upper = np.nan_to_num(beta.ppf(0.975, held + 1, missed), nan=1.0)
    table.insert(3, "inside_upper", upper)
    table = table.reset_index().assign(seed=chosen.seed)
    table.to_csv(chosen.folder / "sampling_designs.csv", index=False, float_format="%.3f")


if __name__ == "__main__":
    main()

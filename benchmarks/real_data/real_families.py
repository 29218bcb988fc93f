"""Every rater family on real ratings with gold, beside crowd-kit's aggregators.

    python -m benchmarks real_families --data ../shared/data --seed 1
    python -m benchmarks real_families --data ../shared/data --stage with_gold --only snow_rte,dogs
    python -m benchmarks real_families --stage nuts --methods "hierarchical, ability_bias"

Stages: ``without_gold`` (families at their mode, and aggregators), ``nuts`` (the same by NUTS, with
leave-one-out scores), ``with_gold`` (the gold of a random tenth of the items is given to every
method, ten splits), ``nuts_gold`` (some of them by NUTS). What a method says of a set is kept in
``build/real_families/`` as soon as it is known, and not computed again; ``real_families_tables``
makes the tables of the documentation from it. It needs crowd-kit 1.4.2 and scikit-learn.
"""

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.real_data.crowd_baselines import (
    AGGREGATORS,
    RECALIBRATED,
    TAKES_GOLD,
    aggregate,
    applicable,
    recalibrate,
    smoothed_shares,
)
from benchmarks.real_data.family_fits import Found, at_mode, by_nuts
from benchmarks.real_data.family_sets import SETS, Codes, GoldSet, read_gold_set

PROJECT = Path(__file__).resolve().parents[2]
KEPT = PROJECT / "build" / "real_families"
SPLITS = 10
RECIPES = (
    "hierarchical",
    "ability_bias",
    "dawid_skene",
    "one_coin",
    "class_conditional",
    "pooled",
    "mace",
    "hierarchical + item_difficulty",
    "hierarchical + item_difficulty_continuous",
    "hierarchical + item_difficulty_by_rater",
    "hierarchical + item_difficulty_by_class",
    "ability_bias + item_difficulty",
    "ability_bias + item_difficulty_continuous",
    "one_coin + item_difficulty",
    "one_coin + item_difficulty_continuous",
    "pooled + item_difficulty_continuous",
)
ORDERED_RECIPES = ("ordinal", "ordinal + item_difficulty_continuous")
GOLD_RECIPES = (
    "hierarchical",
    "hierarchical + item_difficulty",
    "hierarchical + item_difficulty_continuous",
    "hierarchical + item_difficulty_by_rater",
    "ability_bias + item_difficulty",
    "one_coin",
    "dawid_skene",
)
SAMPLED = (
    "hierarchical + item_difficulty_continuous",
    "hierarchical + item_difficulty_by_rater",
    "hierarchical + item_difficulty_by_class",
    "ability_bias + item_difficulty",
    "ability_bias + item_difficulty_continuous",
    "ability_bias",
    "hierarchical + lapses",
    "hierarchical + lapses + item_difficulty",
    "hierarchical + item_difficulty",
    "hierarchical",
    "dawid_skene",
    "one_coin",
)
TRUTH_ALONE = "truth alone: "
"""Before a recipe that knows the truth of the given items, and has no perception layer."""
SAMPLED_GOLD = (
    f"{TRUTH_ALONE}hierarchical + item_difficulty_by_class",
    "hierarchical + item_difficulty",
    "hierarchical + item_difficulty_continuous",
)
SAMPLED_GOLD_SETS = ("sentiment_sp_amt", "snow_rte", "zencrowd", "product_er")
ENOUGH_GOLD = 30
"""Items with gold that ``reference="gold"`` needs."""
Job = tuple[str, Callable[[], Found]]


def baseline(gold_set: GoldSet, name: str, given: pd.Series | None = None) -> Found:
    """Run an aggregator and say how long it took, or why it gave up."""
    start = time.perf_counter()
    items = len(gold_set.gold)
    try:
        found, graded = aggregate(name, gold_set.votes(), items, gold_set.classes, given)
    except ValueError as error:
        nothing = np.full((items, gold_set.classes), 1 / gold_set.classes)
        return Found(probability=nothing, line={"method": "crowd-kit", "failed": str(error)})
    seconds = time.perf_counter() - start
    line = {"method": "crowd-kit", "graded": graded, "seconds": seconds}
    return Found(probability=found, line=line)


def recipes_of(
    gold_set: GoldSet, recipes: tuple[str, ...], ordered: tuple[str, ...] = ORDERED_RECIPES[:1]
) -> tuple[str, ...]:
    """Return the recipes for a set: some are of ordered classes, or of three classes and more."""
    fit = [r for r in recipes if gold_set.classes > 2 or not r.startswith("ability_bias")]
    return (*fit, *ordered) if gold_set.ordered else tuple(fit)


def without_gold(gold_set: GoldSet, seed: int) -> Iterator[Job]:
    """Yield every family at its mode, and every aggregator."""
    for name in AGGREGATORS:
        if applicable(name, gold_set.classes):
            yield f"without_gold/{name}", partial(baseline, gold_set, name)
    for recipe in recipes_of(gold_set, RECIPES, ORDERED_RECIPES):
        yield f"without_gold/{recipe}", partial(at_mode, gold_set.ratings, recipe)


def nuts(gold_set: GoldSet, seed: int) -> Iterator[Job]:
    """Yield the families that are sampled."""
    for recipe in recipes_of(gold_set, SAMPLED):
        yield f"nuts/{recipe}", partial(by_nuts, gold_set.ratings, recipe, seed)


def with_gold(gold_set: GoldSet, seed: int) -> Iterator[Job]:
    """Yield, for each split of the gold, families with and without a layer, and baselines."""
    for split in range(SPLITS):
        given = gold_set.given(split, seed)
        known = pd.Series(gold_set.gold[given], index=given)
        place = f"with_gold/{split:02d}"
        if len(given) >= ENOUGH_GOLD:
            ratings = gold_set.with_gold(given)
            for recipe in recipes_of(gold_set, GOLD_RECIPES):
                yield f"{place}/{recipe}", partial(at_mode, ratings, recipe, "gold")
            alone = partial(at_mode, ratings, "hierarchical")
            yield f"{place}/{TRUTH_ALONE}hierarchical", alone
        for name in TAKES_GOLD:
            yield f"{place}/{name} with gold", partial(baseline, gold_set, name, known)
        for name in RECALIBRATED:
            yield f"{place}/recalibrated: {name}", partial(recalibrated, gold_set, name, given)


def nuts_gold(gold_set: GoldSet, seed: int) -> Iterator[Job]:
    """Yield, for each split of the gold, the families that are sampled."""
    if gold_set.name in SAMPLED_GOLD_SETS:
        for split in range(SPLITS):
            ratings = gold_set.with_gold(gold_set.given(split, seed))
            for name in SAMPLED_GOLD:
                recipe = name.removeprefix(TRUTH_ALONE)
                reference = "gold" if recipe == name else None
                run = partial(by_nuts, ratings, recipe, seed, reference)
                yield f"nuts_gold/{split:02d}/{name}", run


def recalibrated(gold_set: GoldSet, name: str, given: Codes) -> Found:
    """Recalibrate aggregators that are kept from the stage without gold."""
    features = [
        smoothed_shares(gold_set.votes(), len(gold_set.gold), gold_set.classes)
        if part == "smoothed vote"
        else recall(gold_set.name, f"without_gold/{part}").probability
        for part in RECALIBRATED[name]
    ]
    found = recalibrate(features, given, gold_set.gold[given])
    return Found(probability=found, line={"method": "recalibrated", "seconds": 0.0})


def path_of(name: str, job: str) -> Path:
    """Where what a job found is kept."""
    return KEPT / name / f"{job}.npz"


def keep(name: str, job: str, found: Found) -> None:
    """Keep what a job found."""
    path = path_of(name, job)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        probability=found.probability.astype(np.float32),
        elpd=np.zeros(0) if found.elpd is None else found.elpd,
        gold_elpd=np.zeros(0) if found.gold_elpd is None else found.gold_elpd,
        line=np.array(json.dumps(found.line)),
    )


def recall(name: str, job: str) -> Found:
    """Read what a job found."""
    with np.load(path_of(name, job)) as kept:
        elpd, gold_elpd = kept["elpd"], kept["gold_elpd"]
        return Found(
            probability=kept["probability"].astype(float),
            line=json.loads(str(kept["line"])),
            elpd=elpd if len(elpd) else None,
            gold_elpd=gold_elpd if len(gold_elpd) else None,
        )


STAGES: dict[str, Callable[[GoldSet, int], Iterator[Job]]] = {
    "without_gold": without_gold,
    "with_gold": with_gold,
    "nuts": nuts,
    "nuts_gold": nuts_gold,
}


def main() -> None:
    """Read the command line and run what has not been run yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(SETS))
    parser.add_argument("--stage", default=",".join(STAGES))
    parser.add_argument("--methods", default="", help="of these names alone, with commas between")
    parser.add_argument("--splits", type=int, default=SPLITS, help="as many of the splits of gold")
    chosen = parser.parse_args()
    methods = {name.strip() for name in chosen.methods.split(",") if name.strip()}
    for stage in chosen.stage.split(","):
        for name in chosen.only.split(","):
            gold_set = read_gold_set(chosen.data, name)
            for job, run in STAGES[stage](gold_set, chosen.seed):
                wanted = not methods or job.rsplit("/", 1)[-1] in methods
                split = re.search(r"/(\d+)/", job)
                wanted &= split is None or int(split[1]) < chosen.splits
                if wanted and not path_of(name, job).exists():
                    keep(name, job, run())


if __name__ == "__main__":
    main()

"""Tables of what ``real_families`` has found; run it again at any time.

    python -m benchmarks real_families_tables --data ../shared/data --seed 1

writes to ``results/families/``: ``without_gold.csv`` and ``with_gold.csv`` (a line per set and
method; means over the splits there are), ``targets.csv`` (the default and rivals beside the best
aggregators) and ``paired.csv`` (recipes beside the best regressions), with bootstrap intervals over
items, ``pooled.csv`` (the latter's means over the sets that count), ``leave_one_out.csv``,
``more_classes.csv`` (the former default and the parts of the present one where there are more than
two classes), ``on_every_set.csv`` (how far each method is below the best aggregator on the set
where it does worst), ``versions.json``.
"""

import argparse
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.modelling.spec import DEFAULT_OF_MORE, DEFAULT_RATERS
from benchmarks.real_data.chosen_by_gold import CHOSEN, STACKED, by_gold
from benchmarks.real_data.crowd_baselines import AGGREGATORS, INDEPENDENT
from benchmarks.real_data.family_fits import Found
from benchmarks.real_data.family_scores import log_losses, paired_interval, score_line
from benchmarks.real_data.family_sets import SETS, GoldSet, read_gold_set
from benchmarks.real_data.real_families import KEPT, PROJECT, SAMPLED_GOLD, recall

Floats = NDArray[np.float64]
Line = dict[str, Any]
HELD = (DEFAULT_OF_MORE, DEFAULT_RATERS)
"""Recipes that are held against the best aggregators: the default, and its rivals."""
SCORES = ("accuracy", "log_loss", "brier", "ece", "ece_excess")
LOSSES = SCORES[1:]
FIT = (
    "method",
    "r_hat",
    "ess",
    "divergences",
    "values",
    "log_likelihood",
    "misperceived",
    "hard_share",
    "difficulty_rate",
    "seconds",
)
MORE_CLASSES = ("snow_affect", "weather_amt", "dogs", "web_relevance", "adult_content2")
STEPS = (
    "hierarchical",
    "hierarchical + item_difficulty",
    "ability_bias",
    "ability_bias + item_difficulty",
    DEFAULT_OF_MORE,
    "ability_bias + item_difficulty_continuous",
)
"""From the plain model to the default of more than two classes, and a slower one."""
HOLDS = ("not worse (three)", "not worse (any)", "calibrated")
CALIBRATED = 0.03
ENOUGH_GIVEN = 50
"""Sets with fewer items whose gold is given are reported only."""
PACKAGES = ("numpy", "pandas", "nutpie", "arviz-stats", "crowd-kit", "scikit-learn")


def kept(name: str, stage: str) -> list[tuple[str, int | None, Found]]:
    """Return what a stage has found of a set: method, split, what it says."""
    folder, found = KEPT / name / stage, []
    for path in sorted(folder.rglob("*.npz")):
        job = path.relative_to(KEPT / name).with_suffix("")
        split = int(job.parts[1]) if len(job.parts) > 2 else None
        one = recall(name, str(job))
        if "failed" not in one.line:
            found.append((job.parts[-1], split, one))
    return found + [line for line in _by_gold(found) if stage == "nuts_gold"]


def _by_gold(found: list[tuple[str, int | None, Found]]) -> Iterator[tuple[str, int | None, Found]]:
    """Choose among the recipes by the given gold, where all have been run on a split."""
    for split in sorted({split for _, split, _ in found if split is not None}):
        here = {m: f for m, s, f in found if s == split and m in SAMPLED_GOLD}
        if len(here) == len(SAMPLED_GOLD):
            yield from ((method, split, one) for method, one in by_gold(here).items())


def scores(gold_set: GoldSet, stage: str, seed: int) -> Iterator[Line]:
    """Make a line per method and split."""
    for number, (method, split, found) in enumerate(kept(gold_set.name, stage)):
        items = _scored(gold_set, split, seed)
        rng = np.random.default_rng([seed, number])
        last = gold_set.classes - 1
        line = score_line(found.probability[items], gold_set.gold[items], rng)
        if not found.line.get("graded", True):
            line |= dict.fromkeys(LOSSES, np.nan)
        yield {
            "set": gold_set.name,
            "model": method,
            "split": split,
            "given": 0 if split is None else len(gold_set.given(split, seed)),
            **line,
            "called_last": float((found.probability[items].argmax(axis=1) == last).mean()),
            **{name: found.line.get(name, np.nan) for name in FIT},
        }


def _scored(gold_set: GoldSet, split: int | None, seed: int) -> NDArray[np.integer]:
    return gold_set.scored(None if split is None else gold_set.given(split, seed))


def over_splits(lines: pd.DataFrame) -> pd.DataFrame:
    """Average over splits, and count them."""
    keys = ["set", "model", "method"]
    numbers = [name for name in (*SCORES, "called_last", *FIT[1:], "given") if name in lines]
    means = lines.groupby(keys, sort=False)[numbers].mean()
    means["splits"] = lines.groupby(keys, sort=False).size()
    worst = lines.groupby(keys, sort=False)["r_hat"].max()
    return means.assign(r_hat=worst).dropna(axis=1, how="all").reset_index()


# Without gold: is a recipe as good as the best aggregator?


def target_line(gold_set: GoldSet, stage: str, recipe: str, seed: int) -> Line | None:
    """Hold a recipe against the best aggregators, on the same items."""
    ours = {m: f for m, _, f in kept(gold_set.name, stage)}.get(recipe)
    others = {m: f for m, _, f in kept(gold_set.name, "without_gold") if m in AGGREGATORS}
    if ours is None or not others:
        return None
    items = gold_set.scored()
    truth = gold_set.gold[items]
    right = {m: _right(f, items, truth) for m, f in others.items()}
    loss = {m: log_losses(others[m].probability[items], truth) for m in INDEPENDENT if m in others}
    best = max(right, key=lambda m: right[m].mean())
    sharp = min(loss, key=lambda m: loss[m].mean())
    gap = _right(ours, items, truth) - right[best]
    allowed = max(0.01, 2 * gap.std(ddof=1) / np.sqrt(len(gap)))
    ours_loss = log_losses(ours.probability[items], truth)
    less, lower, upper = paired_interval(ours_loss - loss[sharp], np.random.default_rng(seed))
    return {
        "set": gold_set.name,
        "model": recipe,
        "method": ours.line["method"],
        "most accurate": best,
        "its accuracy": right[best].mean(),
        "accuracy difference": gap.mean(),
        "allowed": -allowed,
        "accuracy holds": bool(gap.mean() >= -allowed),
        "best independent": sharp,
        "its log loss": loss[sharp].mean(),
        "log loss difference": less,
        "lower": lower,
        "upper": upper,
        "log loss holds": bool(less < 0),
    }


def _right(found: Found, items: NDArray[np.integer], truth: NDArray[np.integer]) -> Floats:
    return np.asarray(found.probability[items].argmax(axis=1) == truth, float)


# With gold: ours beside the best recalibrated baseline.


def losses_by_item(gold_set: GoldSet, stage: str, seed: int) -> dict[str, pd.DataFrame]:
    """Log loss of each method by item and split; missing where the item's gold was given."""
    found: dict[str, dict[int, pd.Series]] = {}
    for method, split, kept_one in kept(gold_set.name, stage):
        if split is not None:
            items = _scored(gold_set, split, seed)
            loss = log_losses(kept_one.probability[items], gold_set.gold[items])
            found.setdefault(method, {})[split] = pd.Series(loss, index=items)
    return {method: pd.DataFrame(by_split) for method, by_split in found.items()}


def paired_lines(gold_set: GoldSet, stage: str, seed: int) -> Iterator[Line]:
    """Compare each recipe with the recalibrated baselines that are best on the set.

    ``three``: among regressions on three aggregators; ``any``: also on a single one.
    """
    loss = losses_by_item(gold_set, "with_gold", seed)
    ours = losses_by_item(gold_set, stage, seed)
    mean = {m: t.stack().mean() for m, t in loss.items() if m.startswith("recalibrated")}
    if not mean or not ours:
        return
    three = min((m for m in mean if m.count("+") == 2), key=lambda m: mean[m])
    any_one = min(mean, key=lambda m: mean[m])
    excess = pd.DataFrame(scores(gold_set, stage, seed)).groupby("model")["ece_excess"].mean()
    for method, table in ours.items():
        if method.startswith("recalibrated") or "with gold" in method:
            continue
        yield {
            "set": gold_set.name,
            "model": method,
            "method": "nuts" if stage == "nuts_gold" else "map",
            "given": len(gold_set.given(0, seed)),
            "counts": len(gold_set.given(0, seed)) >= ENOUGH_GIVEN,
            "splits": table.shape[1],
            "log loss": table.stack().mean(),
            **_beside(table, three, loss, "three", seed),
            **_beside(table, any_one, loss, "any", seed),
            "ece_excess": excess[method],
            "calibrated": bool(excess[method] <= CALIBRATED),
        }


def _beside(
    ours: pd.DataFrame, rival: str, loss: Mapping[str, pd.DataFrame], kind: str, seed: int
) -> Line:
    """Difference of log losses to a baseline, by item over the splits of ours, and its interval."""
    theirs = loss[rival][ours.columns]
    apart = (ours - theirs).mean(axis=1).dropna().to_numpy()
    mean, lower, upper = paired_interval(apart, np.random.default_rng(seed))
    return {
        f"best of {kind}": rival.removeprefix("recalibrated: "),
        f"its log loss ({kind})": theirs.stack().mean(),
        f"difference ({kind})": mean,
        f"lower ({kind})": lower,
        f"upper ({kind})": upper,
        f"not worse ({kind})": bool(lower <= 0),
    }


def pooled(paired: pd.DataFrame) -> pd.DataFrame:
    """Average the differences over the sets that count, and count where a recipe is not worse.

    Choices by gold are made on the sets of two classes; on the others stands the default.
    """
    more, at_mode = paired["set"].isin(MORE_CLASSES), paired["method"] == "map"
    default = (paired["model"] == np.where(more, DEFAULT_OF_MORE, DEFAULT_RATERS)) & at_mode
    by_choice = [
        paired[((paired["model"] == name) & ~more) | (default & more)].assign(
            model=f"{name}, default of more classes", method="both"
        )
        for name in (CHOSEN, STACKED)
    ]
    both = pd.concat([paired[default].assign(model="default of each set"), *by_choice, paired])
    groups = both[both["counts"]].groupby(["model", "method"], sort=False)
    return groups.agg(
        sets=("set", "size"),
        difference_three=("difference (three)", "mean"),
        not_worse_three=("not worse (three)", "sum"),
        difference_any=("difference (any)", "mean"),
        not_worse_any=("not worse (any)", "sum"),
        calibrated=("calibrated", "sum"),
    ).reset_index()


# Leave-one-out: would it choose the recipe that is best against gold?


def loo_lines(gold_set: GoldSet) -> Iterator[Line]:
    """Make a line per recipe: its leave-one-out score beside its log loss against gold."""
    found = {m: f for m, _, f in kept(gold_set.name, "nuts")}
    if not found:
        return
    items = gold_set.scored()
    elpd = {m: np.asarray(f.elpd) for m, f in found.items()}
    best = max(elpd, key=lambda m: elpd[m].sum())
    for method, one in found.items():
        apart = elpd[method] - elpd[best]
        yield {
            "set": gold_set.name,
            "model": method,
            "elpd": elpd[method].sum(),
            "elpd_difference": apart.sum(),
            "difference_se": apart.std(ddof=1) * np.sqrt(len(apart)),
            "bad_k": one.line["bad_k"],
            "log_loss": log_losses(one.probability[items], gold_set.gold[items]).mean(),
            "accuracy": _right(one, items, gold_set.gold[items]).mean(),
            "r_hat": one.line["r_hat"],
        }


def more_classes(scores: pd.DataFrame, loo: pd.DataFrame) -> pd.DataFrame:
    """Put recipes by NUTS beside each other on the sets with more than two classes."""
    here = scores["set"].isin(MORE_CLASSES) & (scores["method"] == "nuts")
    table = scores[here & scores["model"].isin(STEPS)]
    table = table.merge(loo[["set", "model", "elpd"]], on=["set", "model"], how="left")
    place = table["set"].map(MORE_CLASSES.index) * len(STEPS) + table["model"].map(STEPS.index)
    columns = ["set", "model", "accuracy", "log_loss", "ece_excess", "elpd", "r_hat", "seed"]
    return table.iloc[np.argsort(place.to_numpy())][columns]


def on_every_set(scores: pd.DataFrame) -> pd.DataFrame:
    """Say how far methods that have been run on every set are below its best aggregator at worst.

    The default, by NUTS, is a method of its own: one recipe with two classes, another with more.
    """
    more = scores["set"].isin(MORE_CLASSES)
    ours = (scores["model"] == DEFAULT_OF_MORE) & more
    ours |= (scores["model"] == DEFAULT_RATERS) & ~more
    table = pd.concat([scores, scores[ours & (scores["method"] == "nuts")].assign(model="default")])
    best = scores[scores["method"] == "crowd-kit"].groupby("set")["accuracy"].max()
    table["difference"] = table["accuracy"] - table["set"].map(best)
    wide = table.pivot(index=["model", "method"], columns="set", values="difference").dropna()
    found = pd.DataFrame(
        {
            "most below": wide.min(axis=1),
            "on": wide.idxmin(axis=1),
            "mean": wide.mean(axis=1),
            "sets below by more than a point": (wide < -0.01).sum(axis=1),
        }
    )
    return found.sort_values("most below", ascending=False).reset_index()


def write(lines: Sequence[Any] | pd.DataFrame, path: Path, seed: int) -> pd.DataFrame:
    """Write lines as CSV, with the seed."""
    table = pd.DataFrame(lines).assign(seed=seed)
    table.to_csv(path, index=False, float_format="%.5g")
    return table


def main() -> None:
    """Read the command line and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    folder, seed = Path(__file__).resolve().parent / "results" / "families", chosen.seed
    folder.mkdir(parents=True, exist_ok=True)
    sets = [read_gold_set(chosen.data, name) for name in SETS if (KEPT / name).is_dir()]
    for table, stages in {
        "without_gold": ("without_gold", "nuts"),
        "with_gold": ("with_gold", "nuts_gold"),
    }.items():
        lines = [line for s in sets for stage in stages for line in scores(s, stage, seed)]
        if lines:
            write(over_splits(pd.DataFrame(lines)), folder / f"{table}.csv", seed)
    targets = [
        target_line(s, stage, recipe, seed)
        for s in sets
        for recipe in HELD
        for stage in ("without_gold", "nuts")
    ]
    write([line for line in targets if line], folder / "targets.csv", seed)
    stages = ("with_gold", "nuts_gold")
    paired = [line for s in sets for stage in stages for line in paired_lines(s, stage, seed)]
    if paired:
        every = write(paired, folder / "paired.csv", seed)
        every[list(HOLDS)] = every[list(HOLDS)].astype(int)
        write(pooled(every), folder / "pooled.csv", seed)
    loo = write([line for s in sets for line in loo_lines(s)], folder / "leave_one_out.csv", seed)
    without = pd.read_csv(folder / "without_gold.csv")
    steps = more_classes(without, loo)
    steps.to_csv(folder / "more_classes.csv", index=False, float_format="%.5g")
    every_set = on_every_set(without)
    every_set.to_csv(folder / "on_every_set.csv", index=False, float_format="%.3f")
    versions = {"python": platform.python_version(), **{p: version(p) for p in PACKAGES}}
    (folder / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""How often a study of two equal systems names a winner, and how often a study of unequal ones.

Four parts, each a table in ``results``:

``exact``
    Known binary labels, by enumeration of all outcomes: the share of studies whose 95 % interval
    of the difference excludes 0, under the population posterior, Rubin's weights alone and
    McNemar's exact test (``false_winners_exact.csv``).
``equal``
    Fits of studies of two systems of equal merit, in twelve cells: three tasks, three numbers of
    raters, two discordances (``false_winners_equal.csv``, runs in ``..._equal_runs.csv``).
``power``
    The same with a better system, beside exact McNemar and a sign-flip permutation test on the
    majority vote of the same ratings (``false_winners_power.csv``).
``reliability``
    Differences drawn from a symmetric distribution: how often the system with P(A > B) = p is the
    better one (``false_winners_reliability.csv``).

    python -m benchmarks false_winners exact
    python -m benchmarks false_winners equal --sets 100 --seed 1 --method laplace

A run that was stopped goes on with the same command; so does one with more ``--sets``. Delete the
file of runs where the model has changed.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import beta, binom, binomtest, norm

import assay
from assay.data.states import state_space
from assay.data.task import Label, Task
from assay.evaluation.known_labels import vote_totals
from assay.evaluation.panels import panel_layout
from assay.evaluation.select import choose_metrics

FOLDER = Path(__file__).resolve().parent / "results"
SYSTEMS = ("A", "B")
ALPHA = 0.05
FLIPS = 2000
ONE = Task(name="one_label", labels=(Label(name="good"),))
METRICS = {
    "one_label": ["prevalence[good=yes]"],
    "retrieval": None,
    "ais": None,
}
Truth = pd.DataFrame


def one_label(rng: np.random.Generator, clusters: int, discordance: float, delta: float) -> Truth:
    """One yes/no label of one item per query and system."""
    base = rng.random(clusters) < 0.6
    return _paired(rng, base[:, None, None].astype(int), discordance, delta, np.array([[0], [1]]))


def ais(rng: np.random.Generator, clusters: int, discordance: float, delta: float) -> Truth:
    """Gated labels of one output per example and system, as in a study of attribution."""
    kinds = np.array([[1, -2, -2], [0, 0, -2], [0, 1, 0], [0, 1, 1]])
    base = kinds[rng.choice(4, size=clusters, p=[0.04, 0.06, 0.3, 0.6])][:, None, :]
    worse = [[0, 1, 0]]
    return _paired(rng, base, discordance, delta, np.array([*worse, [0, 1, 1]]))


def retrieval(rng: np.random.Generator, clusters: int, discordance: float, delta: float) -> Truth:
    """Five ranked chunks per query and system; discordant queries have another list."""
    ease = rng.normal(size=clusters)

    def lists(shift: float) -> np.ndarray:
        chance = 1 / (1 + np.exp(-(0.3 + ease[:, None] + shift - 0.3 * np.arange(5))))
        topical = rng.random(chance.shape) < chance
        enough = topical & (rng.random(chance.shape) < 0.45)
        misleading = ~enough & (rng.random(chance.shape) < 0.15)
        return np.stack([topical, enough, misleading], axis=-1).astype(int)

    both = lists(0.0)
    found = np.stack([both, both], axis=1)
    for system, shift in enumerate((delta, -delta)):
        anew = rng.random(clusters) < discordance
        found[anew, system] = lists(shift)[anew]
    return _table(found)


def _paired(
    rng: np.random.Generator, base: np.ndarray, discordance: float, delta: float, ends: np.ndarray
) -> Truth:
    """Two systems alike but on discordant clusters: there one has the worse end, one the better."""
    found = np.stack([base, base], axis=1)
    drawn = rng.random(len(base))
    for good, share in ((0, (discordance + delta) / 2), (1, (discordance - delta) / 2)):
        low = 0.0 if good == 0 else (discordance + delta) / 2
        here = (drawn >= low) & (drawn < low + share)
        found[here, good] = ends[1]
        found[here, 1 - good] = ends[0]
    return _table(found)


def _table(found: np.ndarray) -> Truth:
    """Truth (cluster, system, rank, label) as a table of items."""
    index = np.indices(found.shape[:3]).reshape(3, -1)
    return pd.DataFrame({"cluster": index[0], "system": index[1], "rank": index[2] + 1}).assign(
        truth=list(found.reshape(-1, found.shape[-1]))
    )


WORLDS: dict[str, Callable[..., Truth]] = {
    "one_label": one_label,
    "retrieval": retrieval,
    "ais": ais,
}


def task_of(name: str) -> Task:
    """Return the task of a world."""
    return ONE if name == "one_label" else assay.load_task(name)


def rated(truth: Truth, task: Task, raters: int, rng: np.random.Generator) -> assay.Ratings:
    """Let every rater judge every item; who breaks a rule or a gate answers afresh."""
    states = state_space(task).states
    right = rng.beta(18, 2, size=(raters, 2, len(task.labels)))
    vectors = np.stack(truth["truth"].to_list())
    lines = []
    names = task.label_names
    for j in range(raters):
        # The chance of each admissible answer, label by label; a gate that is not asked is 1/2.
        true = np.where(vectors == 1, right[j, 1], np.where(vectors == 0, 1 - right[j, 0], 0.5))
        said = states[None] == 1
        asked = states[None] >= 0
        chance = np.where(said, true[:, None], 1 - true[:, None])
        weight = np.where(asked, chance, 1.0).prod(axis=-1)
        running = (weight / weight.sum(axis=1, keepdims=True)).cumsum(axis=1)
        given = states[(rng.random(len(true))[:, None] > running).sum(axis=1)]
        words = np.array(["no", "yes", ""], object)[given]
        lines.append(
            truth.drop(columns="truth").assign(
                rater=f"r{j}", **{name: words[:, n] for n, name in enumerate(names)}
            )
        )
    table = pd.concat(lines, ignore_index=True)
    table["item"] = (
        table["cluster"].astype(str) + "/" + table["system"].astype(str)
        + "/" + table["rank"].astype(str)
    )  # fmt: skip
    table["system"] = np.array(SYSTEMS)[table["system"]]
    table["cluster"] = "q" + table["cluster"].astype(str)
    if task.name != "retrieval":
        table = table.drop(columns="rank")
    return assay.read_ratings(table, task=task, cluster="cluster", system="system")


def study(
    world: str, raters: int, clusters: int, discordance: float, delta: float,
    seed: list[int], method: str,
) -> list[dict[str, Any]]:  # fmt: skip
    """Simulate one study, fit it, and compare the systems on each metric."""
    rng, task = np.random.default_rng(seed), task_of(world)
    ratings = rated(WORLDS[world](rng, clusters, discordance, delta), task, raters, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(ratings, method=method, starts=2, chains=1,
                        rng=int(rng.integers(2**31)), progress=False)  # fmt: skip
    chosen = choose_metrics(task, METRICS[world])
    pairs = assay.compare(fit, metric=[m.name for m in chosen]).pairs.set_index("metric")
    votes = vote_totals(ratings, chosen, panel_layout(ratings))
    lines = []
    for m, one in enumerate(chosen):
        line = pairs.loc[one.name]
        p_mcnemar, p_flips = vote_tests(votes[:, m], rng)
        lines.append(
            {
                "metric": one.name,
                "p_greater": line["p_greater"] + line["p_equal"] / 2,
                "claim": int(
                    np.sign(line["difference_lower"]) == np.sign(line["difference_upper"])
                    and line["difference_lower"] != 0
                ),
                "up": line["difference"] > 0,
                "mcnemar": p_mcnemar,
                "flips": p_flips,
            }
        )
    return lines


def vote_tests(totals: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """P-values of exact McNemar and of flipping signs, on totals (2, cluster, system) of votes."""
    whole = totals.sum(axis=(1, 2))
    # What a cluster adds to the difference, to first order; for a mean it is its difference.
    part = totals[0] - whole[0] / whole[1] * totals[1]
    gap = part[:, 0] - part[:, 1]
    gap = gap[np.abs(gap) > 1e-9]
    if not len(gap):
        return 1.0, 1.0
    mcnemar = binomtest(int((gap > 0).sum()), len(gap)).pvalue
    sums = (rng.choice([-1, 1], size=(FLIPS, len(gap))) * gap).sum(axis=1)
    return float(mcnemar), float((1 + (np.abs(sums) >= abs(gap.sum()) - 1e-9).sum()) / (1 + FLIPS))


def exact() -> pd.DataFrame:
    """Enumerate all outcomes of known binary labels."""
    lines = []
    cells = [(n, d, 0.0) for n in (50, 200, 1000) for d in (0.005, 0.01, 0.02, 0.05, 0.1)]
    for n, d, delta in [*cells, (200, 0.03, 0.02), (200, 0.07, 0.05)]:
        rates = np.zeros(3)
        for k in range(n + 1):
            weight = binom.pmf(k, n, d)
            if weight < 1e-12:
                continue
            a = np.arange(k + 1)
            share = weight * binom.pmf(a, k, (d + delta) / 2 / d)
            mid = beta.sf(0.5, a + 1, k - a + 1)
            bare = np.where(
                a == 0, 0.0, np.where(a == k, 1.0, beta.sf(0.5, a.clip(1e-9), (k - a).clip(1e-9)))
            )
            both = 2 * np.minimum(binom.cdf(a, k, 0.5), binom.sf(a - 1, k, 0.5))
            bare_claims = (np.abs(bare - 0.5) >= 0.475) & (k > 0)
            claims = [np.abs(mid - 0.5) >= 0.475, bare_claims, both <= ALPHA]
            rates += [(share * one).sum() for one in claims]
        lines.append((n, d, delta, *rates))
    columns = ["clusters", "discordance", "difference", "population", "rubin", "mcnemar"]
    return pd.DataFrame(lines, columns=columns)


EQUAL = [
    (world, raters, 60 if world == "retrieval" else 200, d)
    for world, few, many in (
        ("one_label", 0.01, 0.05), ("retrieval", 0.2, 0.6), ("ais", 0.02, 0.1),
    )
    for raters, d in ((3, few), (5, few), (5, many), (10, many))
]  # fmt: skip
POWER = [
    ("one_label", 3, 200, 0.07, 0.05), ("one_label", 5, 200, 0.03, 0.02),
    ("one_label", 5, 200, 0.07, 0.05), ("ais", 5, 200, 0.1, 0.06),
    ("retrieval", 5, 60, 0.6, 0.6),
]  # fmt: skip


CELL = ["world", "raters", "clusters", "discordance"]


def runs(cells: list[tuple[Any, ...]], chosen: argparse.Namespace, file: Path) -> pd.DataFrame:
    """Run all sets of all cells, set by set; go on where an earlier run of this seed stopped."""
    found: list[dict[str, Any]] = []
    if file.exists():
        before = pd.read_csv(file)
        found = before[before["seed"] == chosen.seed].to_dict("records")
    done = {(*(line[name] for name in CELL), line["set"]) for line in found}
    for number in range(chosen.sets):
        for place, (world, raters, clusters, discordance, *more) in enumerate(cells):
            cell = (world, raters, clusters, discordance)
            if (*cell, number) in done or world not in chosen.worlds:
                continue
            seed = [chosen.seed, place, number]
            delta = more[0] if more else 0.0
            if delta == "drawn":
                delta = float(np.random.default_rng([*seed, 1]).uniform(-1, 1) * discordance)
            start = time.perf_counter()
            for line in study(world, raters, clusters, discordance, delta, seed, chosen.method):
                found.append(
                    {"world": world, "raters": raters, "clusters": clusters,
                     "discordance": discordance, "difference": delta, "set": number, **line,
                     "seconds": time.perf_counter() - start, "method": chosen.method,
                     "seed": chosen.seed}
                )  # fmt: skip
        pd.DataFrame(found).to_csv(file, index=False, float_format="%.4g")
    return pd.DataFrame(found)


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Share of claims by cell, over metrics and sets, with the exact 99 % lower bound by sets."""
    lines = []
    named = table.assign(difference=table["difference"].abs())
    for key, part in named.groupby([*CELL, "difference"], sort=False):
        for metric, own in [*part.groupby("metric"), ("(all)", part)]:
            count, total = int(own["claim"].sum()), len(own)
            lower = beta.ppf(0.01, count, total - count + 1) if count else 0.0
            lines.append(
                {**dict(zip([*CELL, "difference"], key, strict=True)), "metric": metric,
                 "tests": total, "claims": own["claim"].mean(), "lower_99": lower,
                 "mcnemar": (own["mcnemar"] <= ALPHA).mean(),
                 "flips": (own["flips"] <= ALPHA).mean(), **losses(own)}
            )  # fmt: skip
    return pd.DataFrame(lines)


def losses(table: pd.DataFrame) -> dict[str, float]:
    """Count findings that the model loses and adds to McNemar's test, and bound the loss.

    The bound is a normal one at 99 %, of the mean over sets.
    """
    test, model = table["mcnemar"] <= ALPHA, table["claim"] > 0
    by_set = (test.astype(float) - model).groupby(table["set"]).mean()
    upper = by_set.mean() + norm.ppf(0.99) * by_set.sem()
    return {"lost": (test & ~model).sum(), "added": (model & ~test).sum(), "loss_upper_99": upper}


def reliable(table: pd.DataFrame) -> pd.DataFrame:
    """How often the system that is stated to be better is."""
    table = table[table["difference"] != 0]
    stated = np.maximum(table["p_greater"], 1 - table["p_greater"])
    right = (table["p_greater"] > 0.5) == (table["difference"] > 0)
    bins = pd.cut(stated, [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 1.0], include_lowest=True)
    by = pd.DataFrame({"bin": bins.astype(str), "stated": stated, "right": right})
    found = by.groupby("bin").agg(
        n=("right", "size"), stated=("stated", "mean"), right=("right", "mean")
    )
    return found.reset_index()


def main() -> None:
    """Run a part and write its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["exact", "equal", "power", "reliability"])
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    parser.add_argument("--method", default="laplace")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    file = chosen.folder / f"false_winners_{chosen.part}_runs.csv"
    if chosen.part == "exact":
        table = exact()
    elif chosen.part == "equal":
        table = judged(runs(EQUAL, chosen, file))
        table = table[table["metric"] == "(all)"].drop(
            columns=["metric", "lost", "added", "loss_upper_99"]
        )
    elif chosen.part == "power":
        table = judged(runs(POWER, chosen, file))
    else:
        cells = [(*cell, "drawn") for cell in (("one_label", 5, 200, 0.06), ("ais", 3, 100, 0.2))]
        table = reliable(runs(cells, chosen, file))
    date = time.strftime("%Y-%m-%d")
    table.assign(seed=chosen.seed, date=date).to_csv(
        chosen.folder / f"false_winners_{chosen.part}.csv", index=False, float_format="%.4g"
    )


if __name__ == "__main__":
    main()

"""Do the answers show a fault at all? Likelihood ratios of the true process, in four worlds.

    python -m benchmarks hidden_faults --sets 8 --seed 7

The worlds are those of a judge who repeats one person, an adjudicator who sees the votes, an
interface that hides part of all items, and raters who follow the rank (its first label). Each set
is fitted by a model of the true form without the fault, and with it; both have a normal effect of
clusters, a difference of systems and a slope over ranks. ``gain`` is the log likelihood that the
fault adds, ``gain_without`` that in a set drawn from the model without the fault, fitted to the
same set. In the last world, ``gain_beside`` is the gain over a model in which items of each class
are harder or easier by rank. Writes ``results/hidden_faults.csv``, a line per set, and
``results/hidden_faults_summary.csv``. A fault is *told* where the gain is above 2.1, which is
2 % by the chi-square distribution of one parameter at its bound.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp

from benchmarks.worlds.zoo import draw_study
from benchmarks.worlds.zoo_worlds.catalogue import ZOO
from benchmarks.worlds.zoo_worlds.study import LABELS, Sizes, Study

TARGET = Path(__file__).resolve().parent / "results" / "hidden_faults.csv"
Array = np.ndarray[Any, Any]
Params = dict[str, Array]
TOLD = 2.1
AT, WEIGHT = hermegauss(11)
SPREAD = 2.0
"""SD of the normal prior on all parameters, which keeps them from infinity."""
STEP = 1e-5


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Answers to one label, (item, rater), -1 where there is none."""

    sizes: Sizes
    told: Array

    @property
    def depth(self) -> Array:
        """Depth of each item, from 1 at the first rank to -1 at the last."""
        return 1 - self.sizes.place / ((self.sizes.places - 1) / 2)


def answers_of(study: Study) -> Answers:
    """Take the answers to the first label."""
    frame = study.frame
    told = np.full((study.sizes.items, study.sizes.raters), -1)
    item = [study.item_places[name] for name in frame["item"]]
    rater = frame["rater"].str[1:].astype(int) - 1
    told[item, rater] = frame[LABELS[study.task][0]] == "yes"
    return Answers(sizes=study.sizes, told=told)


def log_chances(answers: Answers, log_odds: Array) -> Array:
    """Log P(answer) given each class, from log odds of yes (..., rater, class)."""
    side = np.where(answers.told == 1, 1, -1)[..., None]
    return np.where((answers.told >= 0)[..., None], log_expit(side * log_odds), 0.0)


def log_prior(answers: Answers, p: Params) -> Array:
    """Log P(class) of the items at each node of their cluster's effect: (node, item, class)."""
    base, difference, slope, sd = p["population"]
    fixed = base + difference * (0.5 - answers.sizes.system) + slope * answers.depth
    odds = fixed + np.exp(sd) * AT[:, None]
    return np.stack([log_expit(-odds), log_expit(odds)], axis=-1)


def log_odds(p: Params) -> Array:
    """Log odds of yes: (rater, class)."""
    return p["raters"].reshape(-1, 2) * np.array([-1, 1])


Told = Callable[[Answers, Params], Array]
"""Log likelihood of the classes of items: (item, class)."""


def independent(answers: Answers, p: Params) -> Array:
    """Let raters err independently."""
    return log_chances(answers, log_odds(p)).sum(axis=1)


def repeating(answers: Answers, p: Params, source: Array, copier: int) -> Array:
    """One rater repeats the answer ``source`` (item,), if it is not -1, in a share of the items."""
    each = log_chances(answers, log_odds(p))
    share = expit(p["fault"][0]) * (source >= 0)[:, None]
    same = (answers.told[:, copier] == source)[:, None]
    each[:, copier] = np.log(share * same + (1 - share) * np.exp(each[:, copier]) + 1e-300)
    return each.sum(axis=1)


def judge(answers: Answers, p: Params) -> Array:
    """Let the last rater repeat the first."""
    return repeating(answers, p, answers.told[:, 0], -1)


def adjudicator(answers: Answers, p: Params) -> Array:
    """Let the last rater repeat two others who agree."""
    yes, no = (answers.told[:, :-1] == 1).sum(1), (answers.told[:, :-1] == 0).sum(1)
    return repeating(answers, p, np.where(yes == 2, 1, np.where(no == 2, 0, -1)), -1)


def interface(answers: Answers, p: Params) -> Array:
    """Let all raters miss a yes in a share of the items."""
    whole = independent(answers, p)
    cut = np.array([1.0, 0.0]) * log_odds(p) + np.array([0.0, 1.0]) * (p["fault"][1] - 2)
    hidden = log_chances(answers, cut).sum(axis=1)
    share = p["fault"][0]
    return np.logaddexp(log_expit(-share) + whole, log_expit(share) + hidden)


def anchored(answers: Answers, p: Params) -> Array:
    """Let all raters follow the rank alike."""
    moved = log_odds(p) + p["fault"][0] * answers.depth[:, None, None]
    return log_chances(answers, moved).sum(axis=1)


def harder(answers: Answers, p: Params) -> Array:
    """Make a share of the items of each class harder, by rank; raters may follow the rank."""
    moved = (
        log_odds(p)[None] + (p["fault"][0] if "fault" in p else 0) * answers.depth[:, None, None]
    )
    easy, hard = (
        log_chances(answers, moved * size).sum(axis=1) for size in (1.0, expit(p["hard"][4]))
    )
    share = p["hard"][:2] - 2 + p["hard"][2:4] * answers.depth[:, None]
    return np.logaddexp(log_expit(-share) + easy, log_expit(share) + hard)


FAULTS: dict[str, tuple[Told, int, float]] = {
    "judge_like_one_person": (judge, 1, 1.5), "adjudicator_sees_votes": (adjudicator, 1, 1.5),
    "truncating_interface": (interface, 2, -1.5), "anchored_on_rank": (anchored, 1, 0.5),
}  # fmt: skip
"""The fault of a world, its number of parameters, and where they start."""


def fitted(answers: Answers, told: Told, start: Params) -> tuple[Params, float]:
    """Maximise the log likelihood of all answers, with a weak prior."""
    edges = np.cumsum([len(part) for part in start.values()])[:-1]
    first = np.flatnonzero(np.diff(answers.sizes.cluster, prepend=-1))
    centre = np.concatenate(
        [np.full(len(part), 2.0 * (n == "raters")) for n, part in start.items()]
    )

    def named(x: Array) -> Params:
        return dict(zip(start, np.split(x, edges), strict=True))

    def loss(x: Array) -> float:
        p = named(x)
        joint = log_prior(answers, p) + told(answers, p)
        clusters = np.add.reduceat(np.logaddexp(joint[..., 0], joint[..., 1]), first, axis=1)
        whole = logsumexp(clusters + np.log(WEIGHT / WEIGHT.sum())[:, None], axis=0).sum()
        return float(0.5 * (((x - centre) / SPREAD) ** 2).sum() - whole)

    def with_slopes(x: Array) -> tuple[float, Array]:
        at = loss(x)
        return at, np.array([loss(x + STEP * one) - at for one in np.eye(len(x))]) / STEP

    options = {"maxiter": 100, "ftol": 1e-8}
    found = minimize(
        with_slopes, np.concatenate(list(start.values())), jac=True, method="L-BFGS-B",
        options=options,
    )  # fmt: skip
    return named(found.x), -float(found.fun)


def gain(
    answers: Answers, without: Told, fault: Told, start: Params, extra: Array
) -> tuple[float, Params]:
    """Return the log likelihood that a fault adds, and the parameters without it."""
    plain, before = fitted(answers, without, start)
    starts = ({**plain, "fault": 0 * extra}, {**start, "fault": extra})
    after = max(fitted(answers, fault, one)[1] for one in starts)
    return after - before, plain


def redrawn(answers: Answers, p: Params, rng: np.random.Generator) -> Answers:
    """Draw the answers again, from the model without a fault."""
    prior = np.exp(log_prior(answers, p)[..., 1])
    node = rng.choice(len(AT), answers.sizes.clusters, p=WEIGHT / WEIGHT.sum())
    items = np.arange(answers.sizes.items)
    truth = (rng.random(len(items)) < prior[node[answers.sizes.cluster], items]).astype(int)
    yes = rng.random(answers.told.shape) < expit(log_odds(p))[:, truth].T
    return replace(answers, told=np.where(answers.told >= 0, yes, -1))


def line(world: str, seed: int, number: int) -> dict[str, Any]:
    """Return the gains in one set."""
    fault, size, at = FAULTS[world]
    answers = answers_of(draw_study(ZOO[world], seed, number))
    start = {"population": np.zeros(4), "raters": np.full(2 * answers.sizes.raters, 2.0)}
    extra = np.full(size, at)
    more, plain = gain(answers, independent, fault, start, extra)
    again = redrawn(answers, plain, np.random.default_rng([seed, number, 3]))
    found: dict[str, Any] = {"world": world, "seed": seed, "set": number, "gain": more}
    found["gain_without"] = gain(again, independent, fault, start, extra)[0]
    if fault is anchored:
        hard = {**start, "hard": np.zeros(5)}
        found["gain_beside"] = gain(answers, harder, harder, hard, extra)[0]
    return found


def summed(table: pd.DataFrame) -> pd.DataFrame:
    """Return a line per world: how often its fault is told."""
    columns = ["gain", "gain_without", "gain_beside"]
    parts = table.groupby("world", sort=False)
    found = parts[columns].median().add_prefix("median ").round(1)
    for name in columns:
        found[f"told by {name}"] = parts[name].agg(
            lambda x: (x > TOLD).mean() if x.notna().any() else np.nan
        )
    return found.assign(sets=parts.size()).reset_index()


def main(given: Sequence[str] | None = None) -> None:
    """Run all worlds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", type=int, default=8)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--worlds", nargs="*", choices=list(FAULTS), default=list(FAULTS))
    chosen = parser.parse_args(given)
    lines = []
    for world in chosen.worlds:
        lines += [line(world, chosen.seed, number) for number in range(chosen.sets)]
        table = pd.DataFrame(
            lines, columns=["world", "seed", "set", "gain", "gain_without", "gain_beside"]
        )
        table.to_csv(TARGET, index=False, float_format="%.2f")
        summed(table).to_csv(
            TARGET.with_name("hidden_faults_summary.csv"), index=False, float_format="%.2f"
        )


if __name__ == "__main__":
    main()

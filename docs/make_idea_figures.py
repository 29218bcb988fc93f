"""Make the figures of the pages about ideas: python docs/make_idea_figures.py [NAME ...].

Half of them are computed exactly or read from the results of benchmarks; the others simulate
ratings with a seed of their own, and fit them.
"""

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import expit, logit
from scipy.stats import beta, binom, norm

import assay
from assay.plots.style import COLOURS, DPI, HATCHES, MARKERS, RC, SERIES

DOCS = Path(__file__).parent
FOLDER = DOCS / "figures"
RESULTS = DOCS.parent / "benchmarks"
LEVEL = 0.95


def panels(count: int, width: float = 7.4, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with panels side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = list(np.ravel(figure.subplots(1, count)))
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
    return figure, axes


def title(axes: Axes, text: str) -> None:
    """Say above a panel what it shows."""
    axes.set_title(text, loc="left", fontsize=9)


def mark(axes: Axes, number: int, x: object, y: object, label: str, **options: object) -> None:
    """Draw a series of points that is told apart in grey: by marker, fill and colour."""
    colour = COLOURS[SERIES[number]]
    filled: dict[str, object] = {"ls": "none", "ms": 6, "mfc": "white" if number % 2 else colour}
    axes.plot(x, y, MARKERS[number], color=colour, label=label, **(filled | options))  # type: ignore[arg-type]


def bars(axes: Axes, number: int, x: np.ndarray, y: object, width: float, label: str) -> None:
    """Draw a series of bars that is told apart in grey: by hatch and colour."""
    colour = COLOURS[SERIES[number]]
    face = colour if not HATCHES[number] else "white"
    axes.bar(x, y, width, color=face, edgecolor=colour, hatch=HATCHES[number], label=label)  # type: ignore[arg-type]


def blocking() -> Figure:
    """Answers that an interface lets through, and coverage with and without it in the model."""
    figure, (left, right) = panels(2)
    accuracy = 0.8
    names = ["no, no", "yes, no", "yes, yes", "no, yes\n(blocked)"]
    raw = np.array([accuracy**2, accuracy * (1 - accuracy), (1 - accuracy) ** 2, 0.16])
    recorded = np.where(np.arange(4) == 3, 0, raw)
    recorded /= recorded.sum()
    places = np.arange(4)
    bars(left, 0, places - 0.2, raw, 0.38, "what raters think")
    bars(left, 1, places + 0.2, recorded, 0.38, "what is recorded")
    left.set_xticks(places, names)
    left.set_xlabel("relevant, sufficient (truth: no, no)")
    left.set_ylabel("share of answers")
    left.legend()
    title(left, "Blocked answers become other answers")

    rows = pd.read_csv(RESULTS / "worlds" / "results" / "scenarios.csv.gz")
    rows = rows[(rows["method"] == "hierarchical") & (rows["estimand"] == "finite")]
    rows = rows.assign(hit=rows["truth"].between(rows["lower"], rows["upper"]))
    shown = {
        "query SD 1.5, systems differ": "interface in the model",
        "response process off": "interface left out",
    }
    for number, (scenario, label) in enumerate(shown.items()):
        hits = rows[rows["scenario"] == scenario].groupby("metric")["hit"].mean()
        mark(right, number, hits, range(len(hits)), label)
    right.set_yticks(range(len(hits)), [name.replace("_at_k", "") for name in hits.index])
    right.axvline(LEVEL, color=COLOURS["muted"], ls="--", lw=1)
    right.set(xlim=(0, 1.03), xlabel="share of 95 % intervals that hold the truth")
    right.grid(axis="y")
    right.set_ylim(-0.5, len(hits) + 1)
    right.legend(loc="upper left", handletextpad=0.1)
    title(right, "The same ratings in two models")
    return figure


def few_differences() -> Figure:
    """P(A > B) when few queries differ, and how often equal systems get a winner."""
    figure, (left, right) = panels(2)
    wins = np.arange(11)
    for number in range(3):
        chance = beta.sf(0.5, wins + 1, number + 1)
        mark(left, number, wins, chance, f"{number}", ls="-", lw=1)
    left.axhline(1 - (1 - LEVEL) / 2, color=COLOURS["muted"], ls="--", lw=1)
    left.text(0, 0.99, "settled: 0.975", va="bottom", color=COLOURS["muted"])
    left.set(xlabel="queries on which A alone is right", ylabel="P(A > B)", ylim=(0, 1.06))
    left.legend(loc="lower right", title="queries on which B alone is right")
    title(left, "Few queries that differ say little")

    rows = pd.read_csv(RESULTS / "calibration" / "results" / "false_winners_exact.csv")
    rows = rows[(rows["clusters"] == 200) & (rows["difference"] == 0)]
    places = np.arange(len(rows))
    shown = {"population": "with the prior on discordance", "rubin": "bootstrap alone"}
    for number, (column, label) in enumerate(shown.items()):
        bars(right, number, places + 0.4 * number - 0.2, rows[column], 0.38, label)
    right.set_xticks(places, [f"{100 * share:g} %" for share in rows["discordance"]])
    right.axhline(1 - LEVEL, color=COLOURS["muted"], ls="--", lw=1)
    right.set(
        xlabel="queries on which the systems differ",
        ylabel="studies that name a winner",
        ylim=(0, 0.62),
    )
    right.legend(loc="upper right")
    title(right, "Two equal systems, 200 queries")
    return figure


def common_mistakes() -> Figure:
    """Two worlds with the same ratings, and what brings in the truth."""
    figure, (left, right) = panels(2)
    rows = pd.read_csv(RESULTS / "dependence" / "results" / "summary.csv")
    rows = rows[rows["world"] == "misperception"].set_index(["model", "target"])
    truth, looks = 0.3, rows["true value"]["judges alone", "consensus prevalence"]
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    right_answer = expit(2.4 + 0.4 * nodes) @ weights / weights.sum()
    votes = np.arange(7)
    patterns = looks * binom.pmf(votes, 6, right_answer)
    patterns += (1 - looks) * binom.pmf(votes, 6, 1 - right_answer)
    bars(left, 0, votes, 400 * patterns, 0.8, "")
    left.set(xlabel="yes votes of six judges", ylabel="items (of 400)", ylim=(0, 255))
    left.text(
        0.5, 0.99,
        "World 1: 37 % of the items are yes,\nand the judges err one by one.\n\n"
        "World 2: 30 % are yes, and one item\nin six looks otherwise to all judges.",
        transform=left.transAxes, ha="center", va="top",
    )  # fmt: skip
    title(left, "Two worlds, one set of ratings")

    shown = {
        "judges alone": "judges alone",
        "gold, no layer": "and 40 known truths,\nwithout common mistakes",
        "gold": 'and 40 known truths,\nreference="gold"',
        "people": 'and three people,\nreference="person"',
    }
    for place, model in enumerate(shown):
        row = rows.loc[(model, "prevalence")]
        sides = row["median"] + np.array([-0.5, 0.5]) * row["width"]
        colour = COLOURS["second" if "no layer" in model or "alone" in model else "first"]
        marker = "D" if colour == COLOURS["second"] else "o"
        right.plot(sides, [place, place], color=colour, lw=2)
        right.plot(row["median"], place, marker, color=colour, ms=6)
    right.axvline(truth, color=COLOURS["ink"], lw=1.2)
    right.axvline(looks, color=COLOURS["muted"], ls="--", lw=1.2)
    right.text(truth - 0.004, -0.75, "truth", ha="right")
    right.text(looks + 0.004, -0.75, "consensus", color=COLOURS["muted"])
    right.set_yticks(range(len(shown)), list(shown.values()))
    right.set(ylim=(3.5, -1), xlim=(0.2, 0.45), xlabel="share of yes: typical 95 % interval")
    title(right, "In world 2: what finds the truth")
    return figure


def answered(truth: np.ndarray, chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return an answer of each rater to each item; ``chances`` are (rater, true class, answer)."""
    picked = rng.random((len(truth), len(chances), 1))
    codes = (picked > np.cumsum(chances, axis=-1)[:, truth].swapaxes(0, 1)).sum(axis=-1)
    return np.minimum(codes, chances.shape[-1] - 1)


def table(answers: np.ndarray, order: np.ndarray, classes: Sequence[str]) -> pd.DataFrame:
    """Return a row for each rating; ``order`` (item, number) names the raters of each item."""
    item = np.repeat(np.arange(len(order)), order.shape[1])
    rater = order.ravel()
    names = np.array(classes)[answers[item, rater]]
    return pd.DataFrame(
        {"item": [f"i{i}" for i in item], "rater": [f"r{j}" for j in rater], "answer": names}
    )


def binary(right_no: np.ndarray, right_yes: np.ndarray) -> np.ndarray:
    """Return the chances of answers, (rater, true class, answer)."""
    rows = [[right_no, 1 - right_no], [1 - right_yes, right_yes]]
    return np.array(rows).transpose(2, 0, 1)


def fitted(rows: pd.DataFrame, **options: object) -> xr.DataTree:
    """Fit ratings as a user would, without progress bar."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        return assay.fit(assay.read_ratings(rows), rng=1, progress=False, **options)  # type: ignore[arg-type]


def interval(fit: xr.DataTree, estimand: str) -> pd.Series:
    """Return the share of yes with its interval."""
    found = assay.metrics(fit, metric="prevalence[answer=yes]", estimand=estimand)  # type: ignore[arg-type]
    return assay.summarize(found).iloc[0]


def draw_interval(axes: Axes, number: int, place: float, line: pd.Series, label: str) -> None:
    """Draw an interval with its mean."""
    colour = COLOURS[SERIES[number]]
    axes.plot([place, place], line[["lower", "upper"]].astype(float), color=colour, lw=2)
    mark(axes, number, place, line["mean"], label)


def estimands() -> Figure:
    """Intervals of both estimands with more ratings an item, and with more items."""
    figure, (left, right) = panels(2)
    rng = np.random.default_rng(11)
    truth = (rng.random(400) < 0.4).astype(int)
    order = rng.permuted(np.tile(np.arange(8), (400, 1)), axis=1)
    answers = answered(truth, binary(*rng.uniform(0.78, 0.94, (2, 8))), rng)
    shown = {"finite": "these items (finite)", "population": "items like these (population)"}
    designs = [
        (left, [(100, ratings) for ratings in (2, 3, 5, 8)]),
        (right, [(items, 3) for items in (50, 100, 200, 400)]),
    ]
    for axes, sizes in designs:
        for place, (items, ratings) in enumerate(sizes):
            fit = fitted(table(answers[:items], order[:items, :ratings], ["no", "yes"]))
            for number, (estimand, label) in enumerate(shown.items()):
                line = interval(fit, estimand)
                where = place + 0.24 * number - 0.12
                draw_interval(axes, number, where, line, "" if place else label)
            axes.plot(place - 0.12, truth[:items].mean(), "x", color=COLOURS["ink"], ms=7, mew=1.6)
        axes.axhline(0.4, color=COLOURS["muted"], ls="--", lw=1)
        axes.set(ylabel="share of yes", ylim=(0.2, 0.8))
        varied = int(axes is left)
        axes.set_xticks(range(4), [str(size[varied]) for size in sizes])
    left.set_xlabel("ratings an item")
    right.set_xlabel("items")
    left.legend(loc="upper right")
    title(left, "100 items, more ratings of each")
    title(right, "Three ratings an item, more items")
    return figure


def two_ratings() -> Figure:
    """Draw the share of yes by two priors, with two and with three ratings an item."""
    figure, axes = panels(2)
    rng = np.random.default_rng(8)
    sizes = (100, 400, 1600)
    truth = (rng.random(max(sizes)) < 0.3).astype(int)
    order = rng.permuted(np.tile(np.arange(6), (len(truth), 1)), axis=1)
    answers = answered(truth, binary(np.full(6, 0.9), np.full(6, 0.8)), rng)
    priors = {"Normal(0, 0.3)": "default, SD 0.3", "Normal(0, 1)": "wider, SD 1"}
    names = {2: "Two ratings an item", 3: "Three ratings an item"}
    for one, (ratings, name) in zip(axes, names.items(), strict=True):
        for place, items in enumerate(sizes):
            rows = table(answers[:items], order[:items, :ratings], ["no", "yes"])
            for number, (prior, label) in enumerate(priors.items()):
                fit = fitted(
                    rows, raters="hierarchical", priors={"lean": prior},
                    chains=2, draws=500, tune=500,
                )  # fmt: skip
                where = place + 0.24 * number - 0.12
                draw_interval(one, number, where, interval(fit, "finite"), "" if place else label)
            one.plot(
                [place - 0.3, place + 0.3], [truth[:items].mean()] * 2, color=COLOURS["ink"], ls=":"
            )
        one.set_xticks(range(3), [str(size) for size in sizes])
        one.set(xlabel="items", ylim=(0, 0.8))
        title(one, name)
    axes[0].set_ylabel("share of yes")
    axes[1].legend(loc="upper right", title="prior of the lean", alignment="left")
    return figure


def difficulty() -> Figure:
    """Votes and probabilities of hard and easy items, in models without and with difficulty."""
    figure, (left, right) = panels(2)
    rng = np.random.default_rng(5)
    hard = rng.random(400) < 0.4
    truth = (rng.random(400) < np.where(hard, 0.5, 0.3)).astype(int)
    answers = answered(truth, binary(np.full(5, 0.93), np.full(5, 0.93)), rng)
    guessed = hard[:, None] & (rng.random(answers.shape) < 0.75)
    answers = np.where(guessed, rng.integers(0, 2, answers.shape), answers)
    votes, places = answers.sum(axis=1), np.arange(6)
    counts = np.bincount(votes, minlength=6)
    bars(left, 2, places, counts, 0.8, "data")
    models = {"hierarchical + item_difficulty": "with difficulty", "hierarchical": "without"}
    every = np.tile(np.arange(5), (400, 1))
    for number, (raters, label) in enumerate(models.items()):
        fit = fitted(table(answers, every, ["no", "yes"]), raters=raters)
        whole = assay.add_groups(fit, "posterior_predictive")
        again = whole["posterior_predictive"]["answers"].to_numpy().reshape(-1, 400, 5).sum(axis=-1)
        expected = [(again == n).mean() * 400 for n in places]
        mark(left, number, places, expected, label)
        chance = assay.label_probabilities(fit).sel(label="answer").to_pandas()["yes"].to_numpy()
        mean = [chance[votes == n].mean() for n in places]
        mark(right, number, places, mean, label, ls="-", lw=1)
    true = np.bincount(votes, weights=truth, minlength=6)
    lower, upper = (beta.ppf(q, true + 0.5, counts - true + 0.5) for q in (0.025, 0.975))
    right.vlines(places, lower, upper, color=COLOURS["ink"], lw=1)
    right.plot(places, true / counts, "x", color=COLOURS["ink"], ms=7, mew=1.6, label="truth")
    left.set(xlabel="yes votes of five", ylabel="items", ylim=(0, 1.35 * counts.max()))
    right.set(xlabel="yes votes of five", ylabel="probability of yes")
    left.legend(ncols=3, loc="upper center", columnspacing=0.8, handletextpad=0.4)
    right.legend(loc="upper left")
    title(left, "How often raters agree")
    title(right, "What the votes mean")
    return figure


def switching() -> Figure:
    """Two mirrored modes of a likelihood, and the one that a prior on accuracy leaves."""
    figure, (left, right) = panels(2)
    rng = np.random.default_rng(2)
    truth = (rng.random(40) < 0.3).astype(int)
    answers = answered(truth, binary(np.full(3, 0.8), np.full(3, 0.8)), rng)
    counts = np.bincount(answers.sum(axis=1), minlength=4)
    grid = (np.arange(300) + 0.5) / 300
    share, accuracy = np.meshgrid(grid, grid)
    votes = np.arange(4)[:, None, None]
    chance = share * binom.pmf(votes, 3, accuracy) + (1 - share) * binom.pmf(votes, 3, 1 - accuracy)
    log_likelihood = np.tensordot(counts, np.log(chance), 1)
    prior = norm.logpdf(logit(accuracy), 1.8, 0.8) - np.log(accuracy * (1 - accuracy))
    for axes, height in ((left, log_likelihood), (right, log_likelihood + prior)):
        density = np.exp(height - height.max())
        steps = [0.02, 0.15, 0.4, 0.7, 1.01]
        axes.contourf(share, accuracy, density, steps, cmap="Blues", vmin=-0.2, vmax=1.1)
        axes.contour(share, accuracy, density, steps, colors=COLOURS["ink"], linewidths=0.6)
        axes.axhline(0.5, color=COLOURS["muted"], ls="--", lw=1)
        axes.set(xlabel="share of yes", ylabel="accuracy of the raters", xlim=(0, 1), ylim=(0, 1))
    for axes, place, text in (
        (left, (0.32, 0.94), "names as given"), (left, (0.68, 0.06), "yes and no exchanged"),
        (right, (0.32, 0.94), "names as given"),
    ):  # fmt: skip
        axes.text(*place, text, ha="center", va="center")
    title(left, "Likelihood of the answers")
    title(right, "Posterior with the default prior")
    return figure


def drift() -> Figure:
    """Show what raters answered on the items of each class, with a drifted class and without."""
    figure, axes = panels(2)
    rng = np.random.default_rng(3)
    classes = ["no", "yes", "unclear"]
    truth, hard = rng.choice(3, 500, p=[0.6, 0.37, 0.03]), rng.random(500) < 0.35
    clear, split = np.full((3, 3), 0.02) + 0.94 * np.eye(3), np.tile([0.5, 0.35, 0.15], (3, 1))
    answers = answered(truth, np.tile(clear, (5, 1, 1)), rng)
    guessed = answered(truth, np.tile(split, (5, 1, 1)), rng)
    answers = np.where((hard & (truth < 2))[:, None], guessed, answers)
    rows = table(answers, np.tile(np.arange(5), (500, 1)), classes)
    models = {"hierarchical": "Without difficulty", "ability_bias + item_difficulty": "Default"}
    for one, (raters, name) in zip(axes, models.items(), strict=True):
        fit = fitted(rows, raters=raters, method="laplace")
        chances = assay.label_probabilities(fit).sel(label="answer").to_pandas()[classes].to_numpy()
        given = np.stack([(answers == code).mean(axis=1) for code in range(3)], axis=1)
        shares = (chances.T @ given) / chances.sum(axis=0)[:, None]
        floor = np.zeros(3)
        for number, answer in enumerate(classes):
            colour = COLOURS[SERIES[number]]
            one.bar(
                range(3), shares[:, number], 0.7, bottom=floor, edgecolor=colour, label=answer,
                color="white" if HATCHES[number] else colour, hatch=HATCHES[number],
            )  # fmt: skip
            floor += shares[:, number]
        of_items = chances.mean(axis=0)
        one.set_xticks(
            range(3),
            [f"{c}\n{100 * n:.0f} % of items" for c, n in zip(classes, of_items, strict=True)],
        )
        one.set(ylim=(0, 1), xlabel="class by the model")
        title(one, name)
    axes[0].set_ylabel("share of the answers")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", title="answer")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "idea_blocking": blocking,
    "idea_few_differences": few_differences,
    "idea_common_mistakes": common_mistakes,
    "idea_two_ratings": two_ratings,
    "idea_estimands": estimands,
    "idea_difficulty": difficulty,
    "idea_switching": switching,
    "idea_drift": drift,
}


def main() -> None:
    """Write all figures, or those that are named."""
    for name in sys.argv[1:] or FIGURES:
        with mpl.rc_context(RC):
            FIGURES[name]().savefig(FOLDER / f"{name}.png", dpi=DPI)


if __name__ == "__main__":
    main()

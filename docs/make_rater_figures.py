"""Make the figures of the rater cards: python docs/make_rater_figures.py [name ...].

For each entry of ``models/raters`` a figure of what its default priors say about raters, and a
plate diagram, into ``models/raters/figures``. Nothing is fitted; the seed stands below.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image
from rater_plates import PLATES, draw_plates

import assay
from assay.data.task_files import catalogue_names, models_folder
from assay.modelling.families import default_priors
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure
from assay.plots.style import COLOURS, RC

Floats = NDArray[np.float64]
FOLDER = models_folder() / "raters" / "figures"
SEED = 1
DRAWS = 2000
RATERS = 5
SESSIONS = 6
TASKS = {
    "ability_bias": "relevance",
    "ordinal": "relevance",
    "scored": "relevance",
    "joint": "generation",
}
"""The task whose first label is shown; a binary label of ``retrieval`` for the others."""
BINS = np.linspace(0, 1, 51)


def main(names: list[str]) -> None:
    """Write the figures of the entries, all if none is named."""
    import matplotlib as mpl

    FOLDER.mkdir(exist_ok=True)
    with mpl.rc_context(RC | {"text.parse_math": True}):
        for name in names or catalogue_names("raters"):
            figure = Figure(figsize=(6.4, 2.2), layout="constrained")
            LAYERS.get(name, draw_family)(figure, name)
            save(figure, FOLDER / f"{name}_prior.png")
            save(draw_plates(PLATES[name]), FOLDER / f"{name}_plate.png")


def save(figure: Figure, path: Path) -> None:
    """Write a figure with few colours, which keeps its file small."""
    figure.savefig(path, dpi=120)
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(48)
    few.save(path, optimize=True)


# -- what priors say ---------------------------------------------------------------------------


def structure_of(
    raters: str, task: str, *, systems: int = 1, clusters: int | None = None
) -> Structure:
    """Return a model of one group of raters; its data do not matter."""
    ratings = assay.simulate(
        task,
        raters=raters,
        n_items=24,
        n_raters=RATERS,
        ratings_per_item=RATERS,
        sessions=SESSIONS,
        n_systems=systems,
        n_clusters=clusters,
        rng=SEED,
    )
    return build_structure(ratings, make_spec(raters))


def prior_draws(structure: Structure) -> dict[str, Floats]:
    """Draws of all parameters from their priors: (draw, ...)."""
    rng = np.random.default_rng(SEED)
    drawn = [{p.name: p.draw(rng) for p in structure.parameters()} for _ in range(DRAWS)]
    return {name: np.stack([d[name] for d in drawn]) for name in drawn[0]}


def right(structure: Structure, values: dict[str, Floats], tilt: Floats | None = None) -> Floats:
    """Chance of the right class on the first label, over its states alike: (draw, unit)."""
    part = structure.parts[0]
    chances = part.label_chances(values, tilt)[:, :, :, 0]
    states = structure.prevalence.space.states[:, 0]
    found = [
        np.mean(chances[:, :, states == k, k] / chances[:, :, states == k].sum(axis=-1), axis=-1)
        for k in np.unique(states[states >= 0])
    ]
    return np.asarray(np.mean(found, axis=0))


def draw_family(figure: Figure, name: str) -> None:
    """Draw how good a rater is a priori, and how much five raters differ."""
    structure = structure_of(name, TASKS.get(name, "retrieval"))
    accuracy = right(structure, prior_draws(structure))
    label = structure.ratings.task.labels[0]
    alike = accuracy.shape[1] == 1  # all raters share a confusion
    one, *others = figure.subplots(1, 1 if alike else 2, squeeze=False)[0]
    histogram(one, accuracy[:, 0], f"accuracy of one rater ({label.name})")
    guess = 1 / len(label.classes)
    one.axvline(guess, color=COLOURS["second"], ls="--")
    one.annotate(
        "guessing", (guess, 1.02), xycoords=("data", "axes fraction"), ha="center",
        color=COLOURS["second"],
    )  # fmt: skip
    for spread in others:
        gap = accuracy.max(axis=1) - accuracy.min(axis=1)
        histogram(spread, gap, f"best less worst of {RATERS} raters")


def histogram(axes: Axes, values: Floats, label: str, *, colour: str = "first") -> None:
    """Draw the distribution of numbers in [0, 1], with its mean and 95 % interval in words."""
    low, high = np.quantile(values, [0.025, 0.975])
    axes.hist(values, bins=BINS, density=True, color=COLOURS[colour], alpha=0.75)
    finish(axes, f"{label}\nmean {values.mean():.2f}, 95 % {low:.2f} to {high:.2f}")


def finish(axes: Axes, label: str) -> None:
    """Leave the x axis only."""
    axes.set_xlabel(label)
    axes.set_yticks([])
    axes.set_xlim(0, 1)
    axes.spines[["top", "left", "right"]].set_visible(False)


def draw_difficulty(figure: Figure, name: str) -> None:
    """Draw a rater's accuracy at several difficulties, and what difficulty takes from it."""
    structure = structure_of(f"hierarchical + {name}", "retrieval")
    values, part = prior_draws(structure), structure.parts[0]
    continuous = structure.difficulty.kind == "continuous"
    places = (-1.0, 0.0, 1.0) if continuous else (0.0, 1.0)
    words = {-1.0: "an easy item (-1 SD)", 0.0: "an average item", 1.0: "a hard item (+1 SD)"}
    if not continuous:
        words = {0.0: "an easy item", 1.0: "a hard item"}
    accuracy = {x: right(structure, values, part.tilt(values, x, np))[:, 0] for x in places}
    axes, loss = figure.subplots(1, 2)
    for x, colour in zip(places, ("first", "second", "third"), strict=False):
        axes.hist(
            accuracy[x], bins=BINS, density=True, histtype="step", lw=1.6,
            color=COLOURS[colour], label=words[x],
        )  # fmt: skip
    axes.legend(loc="upper left")
    finish(axes, "accuracy of one rater")
    lost = accuracy[places[0]] - accuracy[places[-1]]
    histogram(loss, lost, "what the harder one costs in accuracy", colour="second")


def draw_drift(figure: Figure, name: str) -> None:
    """Draw walks of a rater's accuracy, and the change from the first session to the last."""
    structure = structure_of(f"hierarchical + {name}", "retrieval")
    values, part = prior_draws(structure), structure.parts[0]
    accuracy = right(structure, values, part.tilt(values, 0.0, np))
    walks = accuracy.reshape(DRAWS, RATERS, SESSIONS)[:, 0]
    paths, change = figure.subplots(1, 2)
    paths.plot(np.arange(1, SESSIONS + 1), walks[:40].T, color=COLOURS["first"], alpha=0.35, lw=0.8)
    paths.set(xlabel="session", ylabel="accuracy of one rater", ylim=(0, 1))
    paths.spines[["top", "right"]].set_visible(False)
    moved = np.abs(walks[:, -1] - walks[:, 0])
    histogram(change, moved, "accuracy: last session against the first", colour="second")


def draw_perception(figure: Figure, name: str) -> None:
    """Draw the chance that a group misperceives an item, and that its majority is wrong."""
    rng = np.random.default_rng(SEED)
    priors = default_priors(name)
    blur = rng.beta(*priors["misperceived"].values, size=DRAWS)
    accuracy, ways = 0.85, np.array([10, 5, 1])  # three, four or five of five raters are wrong
    counts = np.array([3, 4, 5])
    alone = float(ways @ ((1 - accuracy) ** counts * accuracy ** (RATERS - counts)))
    # Two states with even odds: a misperceived item looks like the other one half the time.
    wrong = (1 - blur / 2) * alone + blur / 2 * (1 - alone)
    chance, majority = figure.subplots(1, 2)
    histogram(chance, blur, "chance that the group misperceives an item")
    histogram(majority, wrong, "majority of 5 raters wrong, each right in 0.85", colour="second")
    majority.axvline(alone, color=COLOURS["ink"], ls="--")
    majority.annotate(
        "without the layer", (alone, 1.02), xycoords=("data", "axes fraction"), ha="left"
    )


def draw_system_bias(figure: Figure, name: str) -> None:
    """Draw the accuracy of one rater on two systems, and how far apart they are."""
    structure = structure_of(f"hierarchical + {name}", "retrieval", systems=2)
    values, part = prior_draws(structure), structure.parts[0]
    accuracy = right(structure, values, part.tilt(values, 0.0, np))
    first = np.flatnonzero(part.unit_rater == 0)[:2]
    axes, apart = figure.subplots(1, 2)
    histogram(axes, accuracy[:, first[0]], "accuracy of one rater on one system")
    gap = np.abs(accuracy[:, first[0]] - accuracy[:, first[1]])
    histogram(apart, gap, "accuracy: one system against another", colour="second")


def draw_lapses(figure: Figure, name: str) -> None:
    """Draw the share of a rater's ratings that are lapses, and what they cost in accuracy."""
    structure = structure_of(f"hierarchical + {name}", "retrieval")
    values = prior_draws(structure)
    logit = values["lapse_mean"] + values["lapse_sd"] * values["lapse_offset"][:, :1]
    axes, loss = figure.subplots(1, 2)
    histogram(axes, 1 / (1 + np.exp(-logit[:, 0])), "share of one rater's ratings that are lapses")
    none = values | {"lapse_mean": np.full_like(values["lapse_mean"], -700.0)}
    none |= {"lapse_sd": np.zeros_like(values["lapse_sd"])}
    seen, every = (structure.parts[0].accuracy(v)[:, 0, 0] for v in (none, values))
    histogram(loss, np.maximum(seen - every, 0), "what lapses cost in accuracy", colour="second")


def draw_halo(figure: Figure, name: str) -> None:
    """Draw how far an impression moves a chance of 1/2, and the odds ratio of two answers."""
    structure = structure_of(f"hierarchical + {name}", "generation")
    values = prior_draws(structure)
    loading, share = values["halo_loading"][:, 0], values["halo_share"][:, 0]
    axes, odds = figure.subplots(1, 2)
    moved = 1 / (1 + np.exp(-loading[:, 0]))
    histogram(axes, moved, "chance of yes with an impression, 1/2 without")
    yes = 1 / (1 + np.exp(-loading[:, :2, None] * np.array([-1, 0, 1])))
    weight = np.stack([share / 2, 1 - share, share / 2], axis=-1)
    both = (yes.prod(axis=1) * weight).sum(axis=-1)
    one = (yes * weight[:, None]).sum(axis=-1)
    phi = (both - one.prod(axis=1)) / np.sqrt((one * (1 - one)).prod(axis=1))
    histogram(odds, np.abs(phi), "correlation of two answers given the truth", colour="second")


def draw_misreading(figure: Figure, name: str) -> None:
    """Draw how far a misreading moves a chance of 1/2, and the share of clusters misread."""
    structure = structure_of(f"hierarchical + {name}", "relevance", clusters=4)
    values = prior_draws(structure)
    axes, share = figure.subplots(1, 2)
    moved = 1 / (1 + np.exp(-values["misreading_loading"][:, 0, 0]))
    histogram(axes, moved, "chance of yes in a misread cluster, 1/2 in others")
    wrong = structure.readings.shares_of_groups(values, np)[:, 0]
    words = f"share of clusters of {RATERS} raters that one misreads"
    histogram(share, wrong, words, colour="second")


LAYERS: dict[str, Callable[[Figure, str], None]] = {
    "item_difficulty": draw_difficulty,
    "item_difficulty_continuous": draw_difficulty,
    "item_difficulty_by_rater": draw_difficulty,
    "item_difficulty_by_class": draw_difficulty,
    "drift": draw_drift,
    "halo": draw_halo,
    "lapses": draw_lapses,
    "misreading": draw_misreading,
    "perception": draw_perception,
    "system_bias": draw_system_bias,
}


if __name__ == "__main__":
    main(sys.argv[1:])

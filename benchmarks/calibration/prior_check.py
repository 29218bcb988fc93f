"""What the default priors say about the prevalence of each label, and about each metric.

For each label, its prevalence among the items whose other labels leave it free (rules and gates
admit every class): between 2 and 20 % of the prior mass should lie below 0.05, as much above 0.95;
with more than two classes, no class has more than half its mass below 1 / (10 K).

    python -m benchmarks prior_check --draws 8000 --seed 1

writes ``results/prior_labels.csv``, ``prior_metrics.csv`` and two figures.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import assay
from assay.data.rules import NOT_ASKED
from assay.data.task import Task
from assay.evaluation import metrics_for, metrics_of_labels
from assay.fits.latent_states import predict_states, running_prevalence
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

TASKS = ("retrieval", "grounding", "generation", "ais", "relevance", "single")
FOLDER = Path(__file__).resolve().parent / "results"


def prior_values(structure: Structure, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Draws of all parameters from their priors: (draw, ...)."""
    rng = np.random.default_rng(seed)
    blocks = structure.parameters()
    rows = [{b.name: b.draw(rng) for b in blocks} for _ in range(draws)]
    return {b.name: np.stack([row[b.name] for row in rows]) for b in blocks}


def free_states(task: Task, states: np.ndarray, label: int) -> np.ndarray:
    """Which states leave a label free: every class of it is admitted beside the other labels.

    Labels whose gates depend on the label, directly or not, do not count as others.
    """
    names = list(task.label_names)
    below = {names[label]}
    for _ in names:
        below |= {
            la.name
            for la in task.labels
            if la.asked_if and below & set(task.expression(la.asked_if).labels)
        }
    others = [n for n, name in enumerate(names) if name not in below]
    asked = states[:, label] != NOT_ASKED
    _, group = np.unique(states[:, others], axis=0, return_inverse=True)
    group = group.ravel() if others else np.zeros(len(states), int)
    classes = len(task.labels[label].classes)
    count = [len(set(states[asked & (group == g), label])) for g in group]
    return asked & (np.array(count) == classes)


def label_rows(name: str, draws: int, seed: int, **design: int) -> list[dict[str, object]]:
    """Prior mass of each label's free prevalence near the ends, for each class."""
    ratings = assay.simulate(
        name, raters="hierarchical", n_items=40, n_raters=2, ratings_per_item=1, rng=1, **design
    )
    structure = build_structure(ratings, make_spec(raters="hierarchical"))
    prevalence = structure.prevalence
    marginal = prevalence.marginal(prevalence.table(prior_values(structure, draws, seed), np), np)
    marginal = marginal if marginal.ndim == 2 else marginal[:, 0]
    states, task = prevalence.space.states, ratings.task
    rows = []
    for n, label in enumerate(task.labels):
        free = free_states(task, states, n)
        for code, text in enumerate(label.classes):
            if len(label.classes) == 2 and code == 0:
                continue
            share = marginal[:, free & (states[:, n] == code)].sum(1) / marginal[:, free].sum(1)
            rare = 1 / (10 * len(label.classes))
            rows.append(
                {
                    "task": name,
                    "design": "systems, ranks, clusters" if design else "plain",
                    "label": label.name,
                    "class": text,
                    "classes": len(label.classes),
                    "below 0.05": (share < 0.05).mean(),
                    "above 0.95": (share > 0.95).mean(),
                    "below 1/(10 K)": (share < rare).mean(),
                    "median": np.median(share),
                    "draws": share,
                }
            )
    return rows


def metric_rows(name: str, draws: int, seed: int) -> list[dict[str, object]]:
    """Prior distribution of each metric over 40 panels of 5 places (1 without ranks)."""
    places = 5 if name == "retrieval" else 1
    ratings = assay.simulate(
        name,
        raters="hierarchical",
        n_items=40 * places,
        n_raters=2,
        ratings_per_item=1,
        n_clusters=40,
        rng=1,
    )
    structure = build_structure(ratings, make_spec(raters="hierarchical"))
    values = prior_values(structure, draws, seed)
    states = predict_states(
        structure, running_prevalence(structure, values), np.random.default_rng(seed)
    )
    codes = structure.prevalence.space.states
    found = [metrics_of_labels(codes[s], ratings).set_index("metric")["value"] for s in states]
    table = pd.DataFrame(found)
    return [
        {
            "task": name,
            "metric": metric,
            **{f"{q:.1%}": table[metric].quantile(q) for q in (0.025, 0.25, 0.5, 0.75, 0.975)},
            "below 0.05": (table[metric] < 0.05).mean(),
            "above 0.95": (table[metric] > 0.95).mean(),
            "draws": table[metric].to_numpy(),
        }
        for metric in table.columns
    ]


def main() -> None:
    """Read the command line, write tables and figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    labels: list[dict[str, object]] = []
    for name in TASKS:
        labels += label_rows(name, chosen.draws, chosen.seed)
        labels += label_rows(name, chosen.draws // 4, chosen.seed, n_systems=2, n_clusters=8)
    table = pd.DataFrame(labels)
    table.drop(columns="draws").round(3).to_csv(FOLDER / "prior_labels.csv", index=False)
    metrics: list[dict[str, object]] = []
    for name in TASKS:
        if metrics_for(assay.load_task(name)) and name != "single":
            metrics += metric_rows(name, min(chosen.draws, 1000), chosen.seed)
    pd.DataFrame(metrics).drop(columns="draws").round(3).to_csv(
        FOLDER / "prior_metrics.csv", index=False
    )
    draw(table[table["design"] == "plain"], ["task", "label", "class"], "prior_labels.png")
    draw(pd.DataFrame(metrics), ["task", "metric"], "prior_metrics.png")


def draw(table: pd.DataFrame, names: list[str], file: str) -> None:
    """Draw a histogram of each row's draws."""
    import matplotlib.pyplot as plt

    columns = 5
    height = -(-len(table) // columns)
    figure, axes = plt.subplots(
        height, columns, figsize=(13, 1.7 * height), sharex=True, layout="constrained"
    )
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, (_, row) in zip(axes.flat, table.iterrows(), strict=False):
        axis.set_axis_on()
        axis.hist(row["draws"], bins=40, range=(0, 1), density=True, color="#33658a")
        axis.set_title(
            "\n".join(str(row[n]) for n in names[:1])
            + ": "
            + " = ".join(str(row[n]) for n in names[1:]),
            fontsize=7,
        )
        axis.set_yticks([])
    figure.savefig(FOLDER / file, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()

"""A reference group is a crew too: do intervals of a share hold what all such experts would say?

    python -m benchmarks reference_crew --sets 24 --seed 11

400 items have evidence; 3 experts rate 150 of them, 3 judges rate all, and each has a threshold.
Those of the experts are drawn around 0, where most of all experts say yes. ``reference="expert"``
is fitted by Laplace's approximation. Its labels are drawn with the experts' lean from their pool,
and without it. Writes ``results/reference_crew.csv``, a line per set and kind.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import assay
from assay.fits.latent_states import sample_states
from assay.fits.view import FitView

TARGET = Path(__file__).resolve().parent / "results" / "reference_crew.csv"
ITEMS, RATED, EACH = 400, 150, 3
CENTRE, SPREAD, NOISE = 0.2, 1.2, 0.7
"""Mean and SD of the evidence, and the SD with which a rater sees it."""
EXPERTS, JUDGES = (0.0, 0.5), (0.5, 0.3)
"""Mean and SD of the thresholds."""


def study(rng: np.random.Generator) -> tuple[pd.DataFrame, float]:
    """Draw the ratings, and the share of items that most of all experts call yes."""
    evidence = rng.normal(CENTRE, SPREAD, ITEMS)
    parts = []
    for group, (mean, sd), items in (
        ("expert", EXPERTS, rng.permutation(ITEMS)[:RATED]),
        ("judge", JUDGES, np.arange(ITEMS)),
    ):
        threshold = rng.normal(mean, sd, EACH)
        item, rater = (at.ravel() for at in np.indices((len(items), EACH)))
        seen = evidence[items][item] + rng.normal(0, NOISE, len(item))
        parts.append(
            pd.DataFrame(
                {
                    "item": items[item], "rater": [f"{group}_{r}" for r in rater], "group": group,
                    "label": np.where(seen > threshold[rater], "yes", "no"),
                }
            )
        )  # fmt: skip
    return pd.concat(parts), float((evidence > 0).mean())


def lines_of(seed: int, number: int) -> pd.DataFrame:
    """Fit a set: a line with the lean, and one without it."""
    frame, truth = study(np.random.default_rng([seed, number]))
    ratings = assay.read_ratings(frame, item="item", rater="rater", group="group")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(ratings, reference="expert", method="laplace", rng=1, progress=False)
    view = FitView.of(fit)
    plain = sample_states(view.structure, view.draws, np.random.default_rng(1)).states
    yes = list(ratings.task.labels[0].classes).index("yes")
    found = []
    for kind, states in (("default", view.states), ("without lean", plain)):
        share = (states == yes).mean(axis=1)
        lower, upper = np.quantile(share, [0.025, 0.975])
        found.append(
            {
                "set": number, "seed": seed, "labels": kind, "truth": truth, "share": share.mean(),
                "lower": lower, "upper": upper, "held": lower <= truth <= upper,
            }
        )  # fmt: skip
    return pd.DataFrame(found)


def main() -> None:
    """Fit the sets and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=24)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--file", type=Path, default=TARGET)
    chosen = parser.parse_args()
    parts = []
    for number in range(chosen.sets):
        parts.append(lines_of(chosen.seed, number))
        pd.concat(parts).to_csv(chosen.file, index=False, float_format="%.5g")


if __name__ == "__main__":
    main()

"""Hundreds of raters, or many classes: how long does the default take?

    python -m benchmarks many_raters --seed 1

Simulates 300 items with five classes and 461 raters (20 answers an item), and 700 items with ten
classes and 44 raters (6 answers an item). The default is fitted by each method, and a line of each
fit goes to ``results/many_raters.csv``: seconds, the largest R-hat and the smallest effective
sample size of the reported results, and the share of items whose likeliest class is right.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import assay

OUT = Path(__file__).resolve().parent / "results" / "many_raters.csv"
DESIGNS = ((300, 461, 5, 20), (700, 44, 10, 6))
"""Items, raters, classes, answers an item."""


def study(items: int, raters: int, classes: int, answers: int, seed: int) -> pd.DataFrame:
    """Draw answers of raters who err evenly: item, rater, label and truth."""
    rng = np.random.default_rng([seed, items, raters])
    truth = rng.choice(classes, items, p=rng.dirichlet(np.full(classes, 2.0)))
    right = rng.beta(8, 3, raters)
    rows = []
    for item, true in enumerate(truth):
        for rater in rng.choice(raters, answers, replace=False):
            said = true if rng.random() < right[rater] else rng.integers(classes)
            rows.append((f"i{item}", f"r{rater}", f"c{said}", f"c{true}"))
    return pd.DataFrame(rows, columns=["item", "rater", "label", "truth"])


def line(design: tuple[int, int, int, int], method: str, seed: int) -> dict[str, object]:
    """Fit a study once."""
    items, raters, classes, answers = design
    frame = study(items, raters, classes, answers, seed)
    ratings = assay.read_ratings(frame[["item", "rater", "label"]], item="item", rater="rater")
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(ratings, method=method, rng=seed, progress=False)
    seconds = time.perf_counter() - start
    said = json.loads(fit.attrs["diagnostics"])
    truth = frame.drop_duplicates("item").set_index("item")["truth"]
    classes_of = fit["labels"]["state_name"].to_numpy()
    likeliest = classes_of[fit["labels"]["state_probability"].to_numpy().argmax(axis=1)]
    right = likeliest == truth[fit["labels"]["item"].to_numpy()].to_numpy()
    return {
        "items": items, "raters": raters, "classes": classes, "ratings": len(frame),
        "method": method, "seconds": round(seconds), "r_hat": said.get("r_hat_results"),
        "ess": said.get("ess_results"), "accuracy": right.mean(), "seed": seed,
    }  # fmt: skip


def main() -> None:
    """Fit both studies by each method."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    lines = []
    for design in DESIGNS:
        for method in ("laplace", "nuts"):
            lines.append(line(design, method, chosen.seed))
            pd.DataFrame(lines).to_csv(OUT, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()

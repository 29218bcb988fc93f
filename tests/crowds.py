"""Simulated crowds that several test files fit."""

import numpy as np
import pandas as pd


def lenient_crowd() -> tuple[pd.DataFrame, np.ndarray]:
    """Raters who miss most items of a class that is half of all, each in a way of its own.

    Ratings of items by number, and whether each item is "off".
    """
    rng = np.random.default_rng(1)
    truth = rng.random(60) < 0.55
    off, relevant = rng.beta(8, 11, 40), rng.beta(10, 3, 40)
    lines = []
    for item in range(60):
        for rater in rng.choice(40, 12, replace=False):
            says = rng.random() < (off[rater] if truth[item] else 1 - relevant[rater])
            lines.append([item, f"r{rater:02d}", "off" if says else "relevant"])
    return pd.DataFrame(lines, columns=["item", "rater", "label"]), truth

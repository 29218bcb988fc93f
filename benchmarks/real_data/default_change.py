"""Are labels nearer to the gold than by an earlier version? Paired differences over items.

    python -m benchmarks real_families --stage nuts --methods "ability_bias + item_difficulty"
    python -m benchmarks default_change --before ../earlier/build/real_families

The first line, run in a checkout of each version, keeps what the default of more than two classes
says of each set. The second writes ``results/families/default_change.csv``: accuracy and log loss
by both versions, the paired standard error of their differences, and the exact p-value of
McNemar's test.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from benchmarks.real_data.family_sets import SETS, read_gold_set
from benchmarks.real_data.real_families import KEPT, PROJECT

OUT = Path(__file__).resolve().parent / "results" / "families" / "default_change.csv"
LEAST = 1e-6


def scores(kept: Path, gold: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return whether each item is right, its log loss, and R-hat."""
    with np.load(kept) as found:
        chance = np.clip(found["probability"].astype(float), LEAST, 1)
        r_hat = json.loads(str(found["line"]))["r_hat"]
    known = np.flatnonzero(gold >= 0)
    told = chance[known] / chance[known].sum(axis=1, keepdims=True)
    right = told.argmax(axis=1) == gold[known]
    return right, -np.log(told[np.arange(len(known)), gold[known]]), r_hat


def line(name: str, gold: np.ndarray, before: Path, now: Path) -> dict[str, object]:
    """Compare both versions on one set."""
    (right, loss, r_hat), (right_now, loss_now, r_hat_now) = scores(before, gold), scores(now, gold)
    more, less = int((right_now & ~right).sum()), int((right & ~right_now).sum())
    changed = loss_now - loss
    root = np.sqrt(len(right))
    return {
        "set": name, "items": len(right),
        "accuracy before": right.mean(), "accuracy now": right_now.mean(),
        "se of accuracy": (right_now.astype(float) - right).std(ddof=1) / root,
        "right only now": more, "right only before": less,
        "p": binomtest(more, more + less).pvalue if more + less else 1.0,
        "log loss before": loss.mean(), "log loss now": loss_now.mean(),
        "se of log loss": changed.std(ddof=1) / root,
        "r_hat before": r_hat, "r_hat now": r_hat_now,
    }  # fmt: skip


def main() -> None:
    """Compare the sets that both versions have."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--now", type=Path, default=KEPT)
    parser.add_argument("--job", default="nuts/ability_bias + item_difficulty")
    chosen = parser.parse_args()
    lines = []
    for name in SETS:
        both = [folder / name / f"{chosen.job}.npz" for folder in (chosen.before, chosen.now)]
        if all(path.exists() for path in both):
            gold = np.asarray(read_gold_set(chosen.data, name).gold)
            lines.append(line(name, gold, *both))
    pd.DataFrame(lines).to_csv(OUT, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()

"""DIRAS, Table 8: who is right where a student and the data set's label disagree.

Run ``python -m benchmarks diras_handeval [--data DIR] [--seed 1]``; it writes ``handeval.csv`` to
``results/diras``. ``DIR`` holds the folder ``diras_handeval``; ``../shared/data`` if not given.

The disagreements are a sample in two phases. Of each stratum of the student's confidence up to
100 pairs were drawn; of these, about half were judged. The printed shares pool the judged pairs.
Here a judged pair counts for the drawn pairs of its stratum and label, and the share of each such
cell has a Beta posterior with Jeffreys' prior.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.real_data.diras_tables import Line, write

HIGH = ("95-98", "98-100")
"""Strata with a confidence above 0.95."""
PRINTED: Mapping[tuple[str, str], float] = {
    ("eli5", "confidence up to 0.95"): 62.35,
    ("eli5", "confidence above 0.95"): 84.71,
    ("rag_bench", "confidence above 0.95"): 96.36,
}
"""In per cent: what is at hand of Ni et al. (2025), Table 8; the last from a public summary."""
DRAWS = 20_000
CELL = ["stratum", "original_relevant"]


def parts(pairs: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the rows of each part that the table has, as masks."""
    high, relevant = pairs["stratum"].isin(HIGH), pairs["original_relevant"] == 1
    return {
        "confidence up to 0.95": ~high,
        "confidence above 0.95": high,
        "label: relevant": relevant,
        "label: not relevant": ~relevant,
    }


def pooled(pairs: pd.DataFrame) -> float:
    """Return the share of the judged pairs in which the student is right, in per cent."""
    return float(100 * pairs["human"].mean())


def share_draws(pairs: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Draw the share of all drawn pairs in which the student is right, in per cent, (draw,)."""
    cells = pairs.groupby(CELL)["human"].agg(["size", "count", "sum"])
    size, judged, right = (cells[name].to_numpy(float) for name in ("size", "count", "sum"))
    share = rng.beta(right + 0.5, judged - right + 0.5, size=(DRAWS, len(cells)))
    return np.asarray(100 * share @ size / size.sum())


def strata_range(pairs: pd.DataFrame, rng: np.random.Generator) -> tuple[float, float]:
    """Return the lowest and highest mean share of a stratum, in per cent."""
    means = [share_draws(own, rng).mean() for _, own in pairs.groupby("stratum")]
    return float(min(means)), float(max(means))


def handeval_table(disagreements: pd.DataFrame, seed: int) -> Iterator[Line]:
    """Make a line for each data set and part: as printed, and as a sample in two phases."""
    rng = np.random.default_rng(seed)
    for name, own in disagreements.groupby("dataset"):
        for part, rows in parts(own).items():
            pairs = own[rows]
            drawn = share_draws(pairs, rng)
            low, high = np.quantile(drawn, (0.025, 0.975))
            ends = strata_range(pairs, rng)
            printed = PRINTED.get((str(name), part))
            yield {
                "data set": name,
                "part": part,
                "drawn": len(pairs),
                "judged": int(pairs["human"].count()),
                "pooled": f"{pooled(pairs):.2f}",
                "printed": "" if printed is None else f"{printed:.2f}",
                "two phases": f"{drawn.mean():.1f} ({low:.1f} to {high:.1f})",
                "by stratum": f"{ends[0]:.1f} to {ends[1]:.1f}",
            }


def read_disagreements(data: Path) -> pd.DataFrame:
    """Read the pairs from the folder ``diras_handeval`` of ``data``."""
    return pd.read_csv(data / "diras_handeval" / "disagreements.csv")


def main() -> None:
    """Read the command line and write the table."""
    project = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=project.parent / "shared" / "data")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    folder = Path(__file__).resolve().parent / "results" / "diras"
    write(handeval_table(read_disagreements(chosen.data), chosen.seed), folder / "handeval.csv")


if __name__ == "__main__":
    main()

"""Table 6 of the AIS study: agreement of raters, flagged answers excluded, from released counts.

Run ``python -m benchmarks ais_agreement [--data DIR] [--seed 1]``; it reads the vote counts in the
folder ``ais_votes`` of ``DIR`` (``../shared/data`` if not given) and writes
``results/ais/agreement.csv``: Krippendorff's alpha with its interval beside the printed one.

The counts say how many raters voted for the consensus. The votes of the others are read as votes
for the other answer; where they were flags, which the paper excludes, agreement is higher. Votes on
attribution were not released for outputs that the majority finds not interpretable; they are read
as missing. ``counts allow`` is the range over all readings: others flagged or not, and votes that
were not released *no* or *yes*.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import assay
from assay._util.typing import Floats
from assay.studies.ais import BOTH
from benchmarks.real_data.diras_tables import Line, write

SETS = {"QReCC": "qrecc", "Wizard of Wikipedia": "wow", "CNN/DM": "cnn_dm", "ToTTo": "totto"}
LABELS = {"Int": "interpretable", "AIS": BOTH}
PRINTED = {
    "QReCC": {"Int": 0.89, "AIS": 0.83},
    "Wizard of Wikipedia": {"Int": 0.75, "AIS": 0.75},
    "CNN/DM": {"Int": 0.83, "AIS": 0.56},
}
"""Rashkin et al. (2023), Table 6."""
RATERS = 5
"""Raters of an output of the three printed studies."""


def votes(counts: pd.DataFrame, name: str, *, flagged: bool, unreleased: str) -> Floats:
    """Return the votes no and yes on each output that is not flagged, (output, 2).

    flagged : whether raters who are not for the consensus on Int flagged, which excludes them
    unreleased : "missing", "no" or "yes", of the votes on attribution that were not released
    """
    held = counts[counts["n_agree_interpretable"] >= 0]
    clear, agree = held["interpretable"] == 1, held["n_agree_interpretable"].to_numpy(float)
    others = np.zeros(len(held)) if flagged else RATERS - agree
    if name == "Int":
        return np.where(clear.to_numpy()[:, None], np.c_[others, agree], np.c_[agree, others])
    same = held["n_agree_attributable"].to_numpy(float)
    yes = np.where(held["attributable"] == 1, same, agree - same)
    left = np.c_[others * (unreleased == "no"), others * (unreleased == "yes")]
    asked = np.c_[agree - yes + others, yes]
    return np.where(clear.to_numpy()[:, None], asked, np.c_[agree, 0 * agree] + left)


def alpha(table: Floats) -> float:
    """Return Krippendorff's alpha of votes (output, answer)."""
    table = table[table.sum(axis=1) >= 2]
    size, by_answer = table.sum(axis=1), table.sum(axis=0)
    seen = ((table * (size[:, None] - table)).sum(axis=1) / (size - 1)).sum()
    expected = (by_answer * (by_answer.sum() - by_answer)).sum() / (by_answer.sum() - 1)
    return float(1 - seen / expected)


def allowed(counts: pd.DataFrame, name: str) -> tuple[float, float]:
    """Return the lowest and highest alpha that the released counts allow."""
    found = [
        alpha(votes(counts, name, flagged=flagged, unreleased=unreleased))
        for flagged in (False, True)
        for unreleased in ("no", "yes")
    ]
    return min(found), max(found)


def agreement_lines(data: Path, study: str, seed: int) -> Iterator[Line]:
    """Make a line for each judgement of a study."""
    counts = pd.read_csv(data / "ais_votes" / f"{SETS[study]}.csv")
    ratings = assay.read_ratings(data / "ais_votes" / f"{SETS[study]}.csv")
    table = assay.ais_study(ratings, rng=seed).agreement
    found = table[table["statistic"] == "krippendorff_alpha"].set_index("label")
    for name, label in LABELS.items():
        line = found.loc[label]
        printed = PRINTED.get(study, {}).get(name)
        yield {
            "study": study,
            "judgement": name,
            "printed": "" if printed is None else f"{printed:.2f}",
            "from the counts": f"{line['value']:.3f}",
            "95 % interval": f"{line['lower']:.3f} to {line['upper']:.3f}",
            "counts allow": "" if printed is None else _range(allowed(counts, name)),
            "outputs": int(line["n_items"]),
            "votes": int(line["n_ratings"]),
        }


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.2f} to {ends[1]:.2f}"


def main() -> None:
    """Read the command line and write the table."""
    folder = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=folder.parents[2] / "shared" / "data")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    lines = [line for study in SETS for line in agreement_lines(chosen.data, study, chosen.seed)]
    write(lines, folder / "results" / "ais" / "agreement.csv")


if __name__ == "__main__":
    main()

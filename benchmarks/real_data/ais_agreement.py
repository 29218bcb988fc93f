"""Table 6 of the AIS study: agreement of raters, flagged answers excluded, from released counts.

Run ``python -m benchmarks ais_agreement [--data DIR] [--seed 1]``; it reads the vote counts in the
folder ``ais_votes`` of ``DIR`` (``../shared/data`` if not given) and writes
``results/ais/agreement.csv``: Krippendorff's alpha with its interval beside the printed one.

The counts say how many raters voted for the consensus. The votes of the others are read as votes
for the other answer; where they were flags, which the paper excludes, agreement is higher.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import assay
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


def agreement_lines(data: Path, study: str, seed: int) -> Iterator[Line]:
    """Make a line for each judgement of a study."""
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
            "outputs": int(line["n_items"]),
            "votes": int(line["n_ratings"]),
        }


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

"""Simulate the bundled examples of ``assay.load_example``: python docs/make_examples.py.

Each table is drawn from the numbers in this file with a fixed seed. The column ``true_...`` of a
table is its truth: the loader takes it off, and fits do not see it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay
from assay.cli.demo import VALUES

FOLDER = Path(__file__).parents[1] / "src" / "assay" / "io" / "examples" / "tables"
LABELS = ("topically_relevant", "evidence_sufficient", "misleading")
QUERIES, CHUNKS = 40, 5
SYSTEMS = ("baseline", "candidate")
PROTOCOL_RATERS = ("Ana", "Ben", "Chloe", "Dev", "Emma", "Finn")


def main() -> None:
    """Write all tables."""
    FOLDER.mkdir(exist_ok=True)
    for make in (protocol_study, rater_audit, judge_study):
        make().to_csv(FOLDER / f"{make.__name__}.csv", index=False, lineterminator="\n")


def protocol_study() -> pd.DataFrame:
    """Two systems, 40 queries, five chunks each; a tenth of the chunks is rated three times.

    The candidate finds sufficient evidence more often, and misleads as often as the baseline.
    """
    items = QUERIES * CHUNKS * len(SYSTEMS)
    often = np.random.default_rng(11).permutation(np.arange(items) % 10 == 0)
    gain = np.array([[-0.5, -0.7, 0.1], [0.5, 0.7, -0.1]])
    ratings = assay.simulate(
        "retrieval",
        raters="class_conditional",
        values={**VALUES, "system_offset": gain},
        n_items=items,
        n_raters=len(PROTOCOL_RATERS),
        ratings_per_item=[3 if again else 1 for again in often],
        n_systems=len(SYSTEMS),
        n_clusters=QUERIES,
        rng=11,
    )
    assert ratings.simulated is not None
    place = ratings.panels.set_index("item").loc[ratings.item]
    query = place["cluster"].str.removeprefix("cluster_").astype(int)
    frame = pd.DataFrame(
        {
            "query": [f"q{n:02d}" for n in query],
            "system": place["system"].map(
                dict(zip(("system_1", "system_2"), SYSTEMS, strict=True))
            ),
            "rank": place["rank"].to_numpy(),
            "rater": np.array(PROTOCOL_RATERS)[ratings.rater],
        }
    )
    truth = ratings.simulated.truth[ratings.item]
    for n, name in enumerate(LABELS):
        frame[name] = _words(ratings.answers[:, n])
        frame[f"true_{name}"] = _words(truth[:, n])
    return frame.sort_values(["query", "system", "rank"], kind="stable")


AUDITED = {
    # Probability of a right answer if the truth is no, and if it is yes; median seconds.
    "Ana": (0.95, 0.93, 21),
    "Ben": (0.93, 0.90, 24),
    "Chloe": (0.90, 0.94, 18),
    "Dev": (0.92, 0.88, 26),
    "Emma": (0.88, 0.92, 20),
    "Finn": (0.90, 0.62, 15),  # misses helpful answers
    "Gita": (0.94, 0.91, 30),
    "Hugo": (0.52, 0.55, 4),  # hardly looks
}


def rater_audit() -> pd.DataFrame:
    """Eight raters, 150 answers, four ratings each: one rater is harsh, one is careless."""
    rng = np.random.default_rng(7)
    truth = rng.random(150) < 0.6
    lines: list[dict[str, Any]] = []
    for item, true in enumerate(truth):
        for name in _some(rng, list(AUDITED), 4):
            no, yes, seconds = AUDITED[name]
            right = rng.random() < (yes if true else no)
            lines.append(
                {
                    "item": f"answer_{item + 1:03d}",
                    "rater": name,
                    "helpful": _word(true == right),
                    "seconds": round(seconds * np.exp(rng.normal(0, 0.4)), 1),
                    "true_helpful": _word(true),
                }
            )
    return pd.DataFrame(lines)


PEOPLE = {"Ana": (0.94, 0.90), "Ben": (0.90, 0.93), "Chloe": (0.92, 0.88)}
JUDGE = {"formal": (0.93, 0.86), "chatty": (0.66, 0.95)}
"""Of each system: the judge takes a third of the bad answers of the chatty one for good."""
GOOD = {"formal": 0.62, "chatty": 0.55}


def judge_study() -> pd.DataFrame:
    """Two systems answer 150 questions; a language model judges all, two people a random third."""
    rng = np.random.default_rng(3)
    lines: list[dict[str, Any]] = []
    for question in range(150):
        level = rng.normal(0, 0.6)
        asked = rng.random() < 0.33
        for system, share in GOOD.items():
            true = bool(rng.random() < 1 / (1 + np.exp(-(np.log(share / (1 - share)) + level))))
            chances = {"judge": JUDGE[system]}
            if asked:
                chances |= {name: PEOPLE[name] for name in _some(rng, list(PEOPLE), 2)}
            for name, (no, yes) in chances.items():
                right = rng.random() < (yes if true else no)
                lines.append(
                    {
                        "question": f"q{question + 1:03d}",
                        "system": system,
                        "rater": name,
                        "group": "model" if name == "judge" else "person",
                        "correct": _word(true == right),
                        "true_correct": _word(true),
                    }
                )
    return pd.DataFrame(lines)


def _some(rng: np.random.Generator, names: Sequence[str], count: int) -> list[str]:
    """Draw names without replacement, in their order."""
    return [names[n] for n in sorted(rng.permutation(len(names))[:count])]


def _word(yes: Any) -> str:
    return "yes" if yes else "no"


def _words(codes: Any) -> list[str]:
    return [_word(code) for code in codes]


if __name__ == "__main__":
    main()

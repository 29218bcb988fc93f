"""The systems that the AIS study's tables star come out as clearly worse than the best.

The table of ``docs/agreement.md`` comes from the same functions.
"""

import importlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import assay
from assay.studies.ais import BOTH

ROOT = Path(__file__).parents[3]
ais_tables: Any = importlib.import_module("benchmarks.real_data.ais_tables")
COUNTS = pd.read_csv(ROOT / "benchmarks" / "real_data" / "results" / "ais" / "counts.csv")
STUDIES = {
    "QReCC": {
        ("int", f"t5-{s}-{k}") for s in ("small", "base") for k in ("pretrained", "no-evidence")
    }
    | {
        ("ais", f"t5-{name}")
        for name in ("base-pretrained", "small-no-evidence", "base-no-evidence")
    },
    "Wizard of Wikipedia": {("int", "dinan_et_al")}
    | {("ais", name) for name in ("dinan_et_al", "dodeca", "t5", "reference")},
    "CNN/DM": {("ais", "bigbird"), ("ais", "reference")},
}
"""Metric and system of what a test of two proportions tells from the best at 0.01."""


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("seed", [2, 3])
def test_clearly_worse_is_what_the_test_of_proportions_stars(study: str, seed: int):
    counts = COUNTS[COUNTS["study"] == study].drop(columns="study")
    table = ais_tables.verdicts(counts, seed)
    pairs = zip(table["metric"], table["system"], strict=True)
    by_verdict = {p for p, worse in zip(pairs, table["clearly_worse"], strict=True) if worse}
    assert by_verdict == STUDIES[study]
    assert table["starred"].tolist() == table["clearly_worse"].tolist()


PRINTED_ALPHA = {("qrecc", "interpretable"): 0.89, ("qrecc", BOTH): 0.83, ("wow", BOTH): 0.75}
"""Values of Table 6 that the released vote counts allow: flags among the votes matter little."""


@pytest.mark.parametrize(("name", "label"), PRINTED_ALPHA)
def test_agreement_without_flags_comes_out_of_the_released_counts(
    name: str, label: str, shared_data: Path
):
    ratings = assay.read_ratings(shared_data / "ais_votes" / f"{name}.csv")
    table = assay.ais_study(ratings, draws=5).agreement
    found = table[(table["label"] == label) & (table["statistic"] == "krippendorff_alpha")]
    assert found["value"].item() == pytest.approx(PRINTED_ALPHA[name, label], abs=0.015)

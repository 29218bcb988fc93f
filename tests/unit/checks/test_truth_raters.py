"""Raters who are known truth, an adjudicator, or a summary of the others."""

import pandas as pd
import pytest

import assay
from assay.checks.findings import Finding
from assay.io import read_ratings

DIFFER = [n % 3 == 0 for n in range(60)]
ROWS = [(n, r, "xy"[(n + (r == "b" and DIFFER[n])) % 2]) for n in range(60) for r in "ab"]


def found(rows: list[tuple[int, str, str]]) -> list[Finding]:
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    findings = assay.check(read_ratings(table, task="single")).findings
    return [f for f in findings if f.code == "truth-rater"]


@pytest.mark.parametrize(
    "name", ["GOLD", "adjudicated", "expert_consensus", "final", "Reference standard"]
)
def test_a_rater_called_like_the_truth_is_a_warning(name: str) -> None:
    (told,) = found([*ROWS, *((n, name, "xy"[n % 2]) for n in range(60))])
    assert told.level == "warning"
    assert f"`truth_rater={name!r}`" in told.text


def test_a_majority_is_no_truth() -> None:
    (told,) = found([*ROWS, *((n, "majority_vote", "xy"[n % 2]) for n in range(60))])
    assert "summary" in told.text
    assert "truth_rater" not in told.text


def test_a_rater_who_answers_only_where_others_differ_decides() -> None:
    (told,) = found([*ROWS, *((n, "carl", "xy"[n % 2]) for n in range(60) if DIFFER[n])])
    assert "carl answers only items on which the others differ" in told.text
    some = [(n, "carl", "xy"[n % 2]) for n in range(60) if n % 2]
    assert not found([*ROWS, *some])
    assert not found(ROWS)
    assert not found([*ROWS, (0, "carl", "x"), (3, "carl", "x")])  # so few by chance

"""Assignments of Toloka."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assay.io import read_ratings

N = 30
ROWS = pd.DataFrame(
    {
        "INPUT:image": [f"https://example.org/{n // 3}.jpg" for n in range(N)],
        "OUTPUT:result": ["cat" if n // 3 % 2 else "dog" for n in range(N)],
        "GOLDEN:result": ["cat" if n // 3 == 1 else "" for n in range(N)],
        "HINT:text": "",
        "ASSIGNMENT:link": "https://example.org",
        "ASSIGNMENT:task_id": [f"0000--{n // 3}" for n in range(N)],
        "ASSIGNMENT:assignment_id": [f"a{n % 3}" for n in range(N)],
        "ASSIGNMENT:worker_id": [f"w{n % 3}" for n in range(N)],
        "ASSIGNMENT:status": ["ACTIVE" if n == 4 else "APPROVED" for n in range(N)],
    }
)


@pytest.mark.parametrize("keyed", [True, False])
def test_assignments_are_read_with_gold_and_without_those_that_are_unfinished(
    keyed: bool, tmp_path: Path
) -> None:
    path = tmp_path / "assignments.tsv"
    frame = ROWS if keyed else ROWS.drop(columns="ASSIGNMENT:task_id")
    frame.to_csv(path, sep="\t", index=False)
    ratings = read_ratings(path)
    assert (len(ratings.answers), len(ratings.items), len(ratings.raters)) == (N, 10, 3)
    assert ratings.task.name == "single"
    assert ratings.task.labels[0].classes == ("cat", "dog")
    assert np.flatnonzero(ratings.abstained).tolist() == [4]
    assert (ratings.truth >= 0).sum() == 1


def test_each_result_of_a_few_values_is_a_label(tmp_path: Path) -> None:
    path = tmp_path / "assignments.tsv"
    more = ROWS.assign(
        **{"OUTPUT:sharp": ["yes", "no"] * 15, "OUTPUT:comment": [f"note {n}" for n in range(N)]}
    )
    more.to_csv(path, sep="\t", index=False)
    ratings = read_ratings(path)
    assert ratings.task.label_names == ("result", "sharp")
    assert any(getattr(n, "code", "") == "results-left-out" for n in ratings.accounting.notes)

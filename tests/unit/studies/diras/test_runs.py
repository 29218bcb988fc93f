"""Runs and pairs that cannot be used are refused; runs that are alike share the first place."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import RatingsError
from assay.studies.diras import recall_of_runs
from assay.studies.diras.runs import read_runs

NAMES = [f"q:d{n}" for n in range(4)]


JUDGED: dict[str, Any] = {
    "truth": {name: n > 1 for n, name in enumerate(NAMES)},
    "runs": {"run": pd.DataFrame({"query_id": "q", "document_id": ["d0", "d1"], "rank": [1, 2]})},
    "pairs": pd.DataFrame(
        {
            "item": NAMES, "query_id": "q", "document_id": [f"d{n}" for n in range(4)],
            "stratum": "top", "stratum_size": 4, "weight": 1.0,
        }
    ),
    "pool": pd.DataFrame(
        {"query_id": "q", "document_id": [f"d{n}" for n in range(4)], "stratum": "top"}
    ),
    "k": 2, "draws": 10,
}  # fmt: skip


@pytest.mark.parametrize("column", ["stratum_size", "weight"])
@pytest.mark.parametrize("cell", ["many", "", None, np.nan, -1, 0, np.inf])
def test_pairs_whose_numbers_are_none_are_refused_with_their_row(column: str, cell: object) -> None:
    pairs = JUDGED["pairs"].astype(object)
    pairs.loc[1, column] = cell
    with pytest.raises(RatingsError, match=column, check=refusal("no-number", cells=1)):
        recall_of_runs(**JUDGED | {"pairs": pairs})


def test_pairs_that_are_repeated_are_refused() -> None:
    pairs = pd.concat([JUDGED["pairs"]] * 2, ignore_index=True)
    with pytest.raises(RatingsError, check=refusal("texts-repeated", rows=4)):
        recall_of_runs(**JUDGED | {"pairs": pairs})


RUN = JUDGED["runs"]["run"]


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        (None, "argument-type"),
        (1, "argument-type"),
        ([1], "argument-path"),
        ({"run": None}, "argument-path"),
        ({"run": RUN.assign(rank="first")}, "run-file"),
        ({"run": RUN.assign(rank=[[1], [2]])}, "run-file"),
        ({"run": pd.concat([RUN, RUN], axis=1)}, "run-file"),
        ({"run": RUN.drop(columns="rank")}, "run-file"),
    ],
)
def test_runs_that_cannot_be_used_are_refused(runs: object, code: str) -> None:
    with pytest.raises(assay.AssayError, check=refusal(code)):
        recall_of_runs(**JUDGED | {"runs": runs})


def test_ranks_as_text_are_ordered_as_numbers() -> None:
    run = pd.DataFrame({"query_id": "q", "document_id": ["x", "y"], "rank": ["10", "9"]})
    assert read_runs({"run": run})["run"]["document_id"].tolist() == ["y", "x"]


def test_a_truth_that_is_no_class_is_refused() -> None:
    with pytest.raises(assay.AssayError, check=refusal("argument-type")):
        recall_of_runs(**JUDGED | {"truth": {name: [1] for name in NAMES}})


def p_best(truth: object, runs: dict[str, pd.DataFrame]) -> list[float]:
    found = recall_of_runs(**JUDGED | {"truth": truth, "runs": runs})
    return found.table.set_index("metric").loc["recall_at_2", "p_best"].tolist()


def test_runs_that_are_alike_share_the_first_place() -> None:
    assert p_best(JUDGED["truth"], {"one": RUN, "two": RUN}) == [0.5, 0.5]


def test_no_run_is_best_where_no_draw_has_a_recall() -> None:
    nothing = pd.Series(dict.fromkeys(NAMES, False)).astype(pd.CategoricalDtype([False, True]))
    assert np.isnan(p_best(nothing, {"one": RUN, "two": RUN})).all()

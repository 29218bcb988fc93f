"""Results of deepeval: models that evaluate, and their scores."""

import json
from pathlib import Path

import numpy as np
import pytest

import assay
from tests.fixtures.formats.make.study import plain
from tests.studies import notes_of, read, said_by_name


def test_deepeval_has_models_that_evaluate_and_their_scores() -> None:
    ratings = read("deepeval.json")
    assert ratings.task.label_names == ("Positive", "Helpful")
    wanted = {(item, rater): "yes" if answer == "pos" else "no" for item, rater, answer in plain()}
    assert said_by_name(ratings) == wanted
    assert set(np.unique(ratings.scores[:, 0])) == {0.1, 0.4, 0.9}
    assert set(ratings.panels["system"]) == {"system-a"}


def test_deepeval_metrics_that_pass_when_low_are_turned_and_errors_are_missing(
    tmp_path: Path,
) -> None:
    cases = [
        {"name": f"c{n}", "metricsData": [
            {"name": "Bias", "success": score <= 0.5, "score": score, "threshold": 0.5,
             "evaluationModel": "m"},
            {"name": "Fit [GEval]", "success": None, "error": "no", "evaluationModel": "m"},
        ]}
        for n, score in enumerate((0.1, 0.9))
    ]  # fmt: skip
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": cases}))
    ratings = assay.read_ratings(path)
    assert ratings.task.label_names == ("label",)
    assert ratings.scores[:, 0].tolist() == pytest.approx([0.9, 0.1])
    assert notes_of(ratings)["metrics-failed"].startswith("2 metrics")

"""Results of promptfoo: judges of metrics and rubrics, on several systems."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay._util.errors import RatingsError
from tests.fixtures.formats.make.study import RATERS, plain
from tests.refusals import refusal
from tests.studies import jsonl, notes_of, read, said_by_name


@pytest.mark.parametrize("name", ["promptfoo.json", "promptfoo.jsonl"])
def test_promptfoo_has_judges_of_a_metric_on_two_systems(name: str) -> None:
    ratings = read(name)
    assert list(ratings.raters.index) == list(RATERS)
    assert set(ratings.raters["group"]) == {"llm"}
    assert set(ratings.panels["system"]) == {"system-a", "system-b"}
    assert ratings.items["cluster"].nunique() == 12
    answers = said_by_name(ratings)
    for item, rater, answer in plain():
        key = (f"test {int(item[1:]) + 1}, system-a", rater)
        if key in answers:
            assert answers[key] == ("yes" if answer == "pos" else "no")
    assert len([k for k in answers if "system-a" in k[0]]) == 36
    assert "icontains" in notes_of(ratings)["assertions-not-read"]
    assert np.nanmax(ratings.scores) <= 1


def result(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"testIdx": 0, "promptIdx": 0, "provider": {"id": "s"}, "vars": {},
            "gradingResult": {"pass": True, "componentResults": list(parts)}, **more}  # fmt: skip


def rubric(passed: object, text: str = "polite", **more: Any) -> dict[str, Any]:
    return {"pass": passed, "score": 1, "assertion": {"type": "llm-rubric", "value": text, **more}}


def test_promptfoo_rubrics_without_a_metric_are_labels_of_their_own(tmp_path: Path) -> None:
    records = [result(rubric(p, "polite"), rubric(not p, "short"), testIdx=n)
               for n, p in enumerate([True, False, True])]  # fmt: skip
    ratings = assay.read_ratings(jsonl(tmp_path / "results.jsonl", *records))
    assert ratings.task.label_names == ("llm-rubric: polite", "llm-rubric: short")
    assert list(ratings.raters.index) == ["default judge"]


def test_promptfoo_results_of_failed_providers_are_left_out_and_counted(tmp_path: Path) -> None:
    failed = {"testIdx": 5, "promptIdx": 0, "provider": {"id": "s"}, "gradingResult": None}
    path = jsonl(
        tmp_path / "results.jsonl", result(rubric(True)), result(rubric(False), testIdx=1), failed
    )
    ratings = assay.read_ratings(path)
    assert len(ratings.items) == 2
    assert "results-without-grading" in notes_of(ratings)


def test_promptfoo_assertions_without_a_verdict_are_refused(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "results.jsonl", result(rubric(True)), result(rubric(None), testIdx=1))
    with pytest.raises(RatingsError, match="result 2", check=refusal("damaged-export", places=1)):
        assay.read_ratings(path)


def test_promptfoo_files_without_numbers_of_tests_pair_systems_by_what_was_shown(
    tmp_path: Path,
) -> None:
    results = [
        {"provider": {"id": system}, "vars": {"q": n}, "prompt": {},
         "gradingResult": {"componentResults": [rubric(n == 1)]}}
        for system in ("s", "t") for n in (1, 2)
    ]  # fmt: skip
    path = tmp_path / "output.json"
    path.write_text(json.dumps({"results": {"version": 2, "results": results, "stats": {}}}))
    ratings = assay.read_ratings(path)
    assert ratings.items["cluster"].nunique() == 2
    assert len(ratings.items) == 4

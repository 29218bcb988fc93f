"""Judges' results: promptfoo, inspect-ai and deepeval."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay._util.errors import RatingsError
from tests.fixtures.formats.make.study import RATERS, plain
from tests.refusals import refusal
from tests.studies import notes_of, read


def said(ratings: assay.Ratings, label: int = 0) -> dict[tuple[str, str], str]:
    classes = ratings.task.labels[label].classes
    return {
        (str(ratings.items.index[i]), str(ratings.raters.index[r])): classes[a[label]]
        for i, r, a in zip(ratings.item, ratings.rater, ratings.answers, strict=True)
        if a[label] >= 0
    }


@pytest.mark.parametrize("name", ["promptfoo.json", "promptfoo.jsonl"])
def test_promptfoo_has_judges_of_a_metric_on_two_systems(name: str) -> None:
    ratings = read(name)
    assert list(ratings.raters.index) == list(RATERS)
    assert set(ratings.raters["group"]) == {"llm"}
    assert set(ratings.panels["system"]) == {"system-a", "system-b"}
    assert ratings.items["cluster"].nunique() == 12
    answers = said(ratings)
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


def write_lines(tmp_path: Path, *records: dict[str, Any]) -> Path:
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def rubric(passed: object, text: str = "polite", **more: Any) -> dict[str, Any]:
    return {"pass": passed, "score": 1, "assertion": {"type": "llm-rubric", "value": text, **more}}


def test_promptfoo_rubrics_without_a_metric_are_labels_of_their_own(tmp_path: Path) -> None:
    records = [result(rubric(p, "polite"), rubric(not p, "short"), testIdx=n)
               for n, p in enumerate([True, False, True])]  # fmt: skip
    ratings = assay.read_ratings(write_lines(tmp_path, *records))
    assert ratings.task.label_names == ("llm-rubric: polite", "llm-rubric: short")
    assert list(ratings.raters.index) == ["default judge"]


def test_promptfoo_results_of_failed_providers_are_left_out_and_counted(tmp_path: Path) -> None:
    failed = {"testIdx": 5, "promptIdx": 0, "provider": {"id": "s"}, "gradingResult": None}
    path = write_lines(tmp_path, result(rubric(True)), result(rubric(False), testIdx=1), failed)
    ratings = assay.read_ratings(path)
    assert len(ratings.items) == 2
    assert "results-without-grading" in notes_of(ratings)


def test_promptfoo_assertions_without_a_verdict_are_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path, result(rubric(True)), result(rubric(None), testIdx=1))
    with pytest.raises(RatingsError, match="result 2", check=refusal("damaged-export", places=1)):
        assay.read_ratings(path)


@pytest.mark.parametrize("name", ["inspect_graded.json", "inspect_graded.eval"])
def test_inspect_graders_of_right_and_wrong_are_raters_of_one_label(name: str) -> None:
    ratings = read(name)
    assert list(ratings.raters.index) == list(RATERS)
    wanted = {
        (item, rater): "yes" if answer == "pos" else "no"
        for item, rater, answer in plain()
        if not (rater == RATERS[2] and item.endswith("7"))
    }
    assert said(ratings) == wanted
    assert ratings.abstained.sum() == 3
    assert "scores-missing" in notes_of(ratings)
    assert set(ratings.panels["system"]) == {"mockllm/model"}


def inspect_log(model: str, scores: dict[str, Any], *, epochs: int = 1) -> dict[str, Any]:
    places = [(n, epoch) for n in range(2) for epoch in range(1, epochs + 1)]
    samples = [{"id": n, "epoch": epoch, "scores": scores} for n, epoch in places]
    return {"version": 2, "eval": {"model": model, "config": {"epochs": epochs}}, "plan": {},
            "samples": samples}  # fmt: skip


def test_a_folder_of_inspect_logs_has_a_system_for_each_model(tmp_path: Path) -> None:
    for model, value in (("m1", "C"), ("m2", "I")):
        log = inspect_log(model, {"match": {"value": value}}, epochs=2)
        (tmp_path / f"{model}.json").write_text(json.dumps(log))
    ratings = assay.read_ratings(tmp_path)
    assert set(ratings.panels["system"]) == {"m1", "m2"}
    assert len(ratings.items) == 8
    assert ratings.items["cluster"].nunique() == 2


def test_inspect_scores_of_several_parts_are_labels_and_fractions_are_scores(
    tmp_path: Path,
) -> None:
    scores = {"judge": {"value": {"clear": 3, "true": True, "likely": 0.25}}}
    path = tmp_path / "log.json"
    log = inspect_log("m", scores)
    log["samples"][1]["scores"] = {"judge": {"value": {"clear": 4, "true": False, "likely": 0.5}}}
    path.write_text(json.dumps(log))
    ratings = assay.read_ratings(path)
    assert set(ratings.task.label_names) == {"clear", "true", "likely"}
    column = ratings.task.label_names.index("likely")
    assert ratings.scores[:, column].tolist() == [0.25, 0.5]


def test_deepeval_has_models_that_evaluate_and_their_scores() -> None:
    ratings = read("deepeval.json")
    assert ratings.task.label_names == ("Positive", "Helpful")
    wanted = {(item, rater): "yes" if answer == "pos" else "no" for item, rater, answer in plain()}
    assert said(ratings) == wanted
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


def test_inspect_samples_a_line_without_a_header_number_the_scorers_of_a_name(
    tmp_path: Path,
) -> None:
    samples = [
        {"id": n, "epoch": 1, "scores": {"tone": {"value": "ab"[n]}, "tone1": {"value": "a"}}}
        for n in range(2)
    ]
    ratings = assay.read_ratings(write_lines(tmp_path, *samples))
    assert list(ratings.raters.index) == ["tone", "tone1"]
    assert ratings.task.label_names == ("label",)


def test_inspect_numbers_the_third_scorer_of_a_name_as_the_second() -> None:
    from assay.io.formats.inspect_ai import _scorers

    assert list(_scorers({"eval": {"scorers": [{"name": "pkg/tone"}] * 3}})) == [
        "tone", "tone1", "tone2"
    ]  # fmt: skip

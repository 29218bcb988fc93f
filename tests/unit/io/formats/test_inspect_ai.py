"""Logs of inspect-ai: graders of several models."""

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from tests.fixtures.formats.make.study import RATERS, plain
from tests.studies import jsonl, notes_of, read, said_by_name


@pytest.mark.parametrize("name", ["inspect_graded.json", "inspect_graded.eval"])
def test_inspect_graders_of_right_and_wrong_are_raters_of_one_label(name: str) -> None:
    ratings = read(name)
    assert list(ratings.raters.index) == list(RATERS)
    wanted = {
        (item, rater): "yes" if answer == "pos" else "no"
        for item, rater, answer in plain()
        if not (rater == RATERS[2] and item.endswith("7"))
    }
    assert said_by_name(ratings) == wanted
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


def test_inspect_samples_a_line_without_a_header_number_the_scorers_of_a_name(
    tmp_path: Path,
) -> None:
    samples = [
        {"id": n, "epoch": 1, "scores": {"tone": {"value": "ab"[n]}, "tone1": {"value": "a"}}}
        for n in range(2)
    ]
    ratings = assay.read_ratings(jsonl(tmp_path / "results.jsonl", *samples))
    assert list(ratings.raters.index) == ["tone", "tone1"]
    assert ratings.task.label_names == ("label",)


def test_inspect_numbers_the_third_scorer_of_a_name_as_the_second() -> None:
    from assay.io.formats.inspect_ai import _scorers

    assert list(_scorers({"eval": {"scorers": [{"name": "pkg/tone"}] * 3}})) == [
        "tone", "tone1", "tone2"
    ]  # fmt: skip

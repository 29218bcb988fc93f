"""Label Studio: controls, gates, options, predictions, gold, and what is damaged."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay._util.errors import RatingsError, TaskError
from assay.data.ratings import Ratings
from tests.refusals import refusal
from tests.studies import FIXTURES, notes_of, read

RICH = FIXTURES / "label_studio_rich.json"


def choices(name: str, *chosen: str, **more: object) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": "choices",
            "value": {"choices": list(chosen)}, **more}  # fmt: skip


def annotation(rater: object, *results: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"id": 1, "completed_by": rater, "result": list(results), **more}


def project(tmp_path: Path, *tasks: dict[str, Any]) -> Path:
    path = tmp_path / "export.json"
    full = [{"id": n, "data": {"text": "x"}, **task} for n, task in enumerate(tasks, start=1)]
    path.write_text(json.dumps(full))
    return path


def answers_to(ratings: Ratings, label: str) -> list[str]:
    column = ratings.task.label_names.index(label)
    classes = ratings.task.labels[column].classes
    return [classes[code] if code >= 0 else "" for code in ratings.answers[:, column]]


def test_cancelled_and_empty_annotations_are_abstentions(tmp_path: Path) -> None:
    path = project(
        tmp_path,
        {"annotations": [annotation(1, choices("tone", "a")), annotation(2, was_cancelled=True)]},
        {"annotations": [annotation(1, choices("tone", "b")), annotation(2)]},
    )
    ratings = assay.read_ratings(path)
    assert ratings.abstained.tolist() == [False, True, False, True]


def test_predictions_are_a_rater_with_scores_and_ground_truth_is_truth() -> None:
    ratings = assay.read_ratings(RICH)
    assert dict(ratings.raters["group"])["judge-1"] == "llm"
    scored = np.isfinite(ratings.scores).any(axis=0)
    labels = ratings.task.label_names
    assert scored[[labels.index("relevant"), labels.index("stars")]].all()
    assert {"shared-score", "scores-not-used"} <= notes_of(ratings).keys()
    assert ratings.has_truth.sum() == 4
    assert "lead@example.com" not in ratings.raters.index


def test_the_score_of_a_result_goes_before_that_of_its_prediction(tmp_path: Path) -> None:
    prediction = {"model_version": "m", "score": 0.6,
                  "result": [choices("ok", "yes", score=0.9), choices("done", "no")]}  # fmt: skip
    ratings = assay.read_ratings(
        project(
            tmp_path,
            *[
                {
                    "annotations": [annotation(1, choices("ok", w), choices("done", w))],
                    "predictions": [prediction],
                }
                for w in ("yes", "no")
            ],
        )
    )
    model = ratings.rater == list(ratings.raters.index).index("m")
    column = ratings.task.label_names.index("ok")
    assert ratings.scores[model, column].tolist() == [0.9, 0.9]
    assert np.isnan(ratings.scores[model, 1 - column]).all()


def test_a_label_config_gives_classes_gates_and_options_and_the_export_follows_it() -> None:
    task = assay.load_task(FIXTURES / "label_studio_rich.xml")
    assert task.label_names == ("sentiment", "relevant", "reason", "news", "sport", "tech", "stars")
    assert task.labels[2].asked_if == "relevant == yes"
    assert task.labels[6].ordered
    read_so = assay.read_ratings(RICH, task=FIXTURES / "label_studio_rich.xml")
    alone = assay.read_ratings(RICH)
    for label in task.label_names:
        assert answers_to(read_so, label) == answers_to(alone, label)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<View><Text name='t' value='$t'/></View>", "has no <Choices>"),
        ("<View>", "is not XML"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><View/>", "is not a label config"),
    ],
)
def test_a_config_that_asks_for_no_classes_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "config.xml"
    path.write_text(text)
    with pytest.raises(TaskError, match=said, check=refusal("label-config")) as caught:
        assay.load_task(path)
    assert caught.value.code == "label-config"


def test_visible_when_of_several_choices_and_of_what_was_not_chosen(tmp_path: Path) -> None:
    path = tmp_path / "config.xml"
    path.write_text(
        "<View><Choices name='kind' toName='t' choice='multiple'><Choice value='a'/>"
        "<Choice value='b b'/></Choices>"
        "<Choices name='why' toName='t' visibleWhen='choice-unselected' whenTagName='kind' "
        "whenChoiceValue='a,b b'><Choice value='x'/><Choice value='y' alias='z'/></Choices></View>"
    )
    task = assay.load_task(path)
    assert task.labels[2].asked_if == 'not (a or "b b")'
    assert task.labels[2].classes == ("x", "z")


def test_questions_left_open_at_random_are_no_gate(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    tasks = [
        {"annotations": [
            annotation(rater, choices("tone", rng.choice(["a", "b"])),
                       *([choices("lang", "en" if n % 3 else "de")] if rng.random() < 0.7 else []))
            for rater in (1, 2)
        ]}
        for n in range(40)
    ]  # fmt: skip
    ratings = assay.read_ratings(project(tmp_path, *tasks))
    assert [label.asked_if for label in ratings.task.labels] == ["", ""]
    assert "gate-found" not in notes_of(ratings)


def test_a_choice_of_several_that_is_left_open_chooses_nothing(tmp_path: Path) -> None:
    shared = choices("tone", "x")
    ratings = assay.read_ratings(
        project(
            tmp_path,
            {"annotations": [annotation(1, choices("tags", "a", "b"), shared)]},
            {"annotations": [annotation(1, choices("tags", "a"), choices("tone", "y"))]},
            {"annotations": [annotation(1, shared)]},
        )
    )
    assert answers_to(ratings, "a") == ["yes", "yes", "no"]
    assert answers_to(ratings, "b") == ["yes", "no", "no"]
    assert "nothing-chosen" in notes_of(ratings)


def test_options_of_one_name_are_told_apart_by_their_question(tmp_path: Path) -> None:
    several = [choices("before", "a", "b"), choices("after", "a", "c")]
    ratings = assay.read_ratings(
        project(tmp_path, *[{"annotations": [annotation(1, *several)]}] * 2)
    )
    assert set(ratings.task.label_names) == {"before: a", "b", "after: a", "c"}


def test_options_beyond_reach_are_left_out_and_named(tmp_path: Path) -> None:
    tags = [f"tag{n}" for n in range(15)]
    tasks = [
        {"annotations": [annotation(1, choices("tags", *tags[: max(n % 16, 2)]))]}
        for n in range(48)
    ]
    ratings = assay.read_ratings(project(tmp_path, *tasks))
    assert len(ratings.task.labels) == 12
    assert "tag14" in notes_of(ratings)["labels-left-out"]


def test_texts_regions_and_drafts_are_named_and_not_read(tmp_path: Path) -> None:
    text = {"from_name": "comment", "type": "textarea", "value": {"text": ["well"]}}
    box = {"from_name": "box", "type": "rectanglelabels", "value": {"x": 1, "y": 2}}
    tasks = [
        {"annotations": [annotation(1, choices("tone", word), {**text, "value": {"text": [str(n)]}},
                                    box)], "drafts": [{}]}
        for n, word in enumerate("abab")
    ]  # fmt: skip
    notes = notes_of(assay.read_ratings(project(tmp_path, *tasks)))
    assert {"questions-not-read", "regions-not-read", "drafts-left-out"} <= notes.keys()


def test_one_rater_who_annotates_a_task_twice_has_repeated_ratings(tmp_path: Path) -> None:
    tasks = [{"annotations": [annotation(1, choices("tone", w)) for w in pair]}
             for pair in ("ab", "bb")]  # fmt: skip
    ratings = assay.read_ratings(project(tmp_path, *tasks))
    assert ratings.replicate.tolist() == [0, 1, 0, 1]
    assert "repeated-annotations" in notes_of(ratings)


def test_data_of_tasks_give_system_cluster_and_rank(tmp_path: Path) -> None:
    tasks = [
        {"data": {"query_id": f"q{n // 2}", "model": "m", "rank": n % 2 + 1, "user": "nobody"},
         "annotations": [annotation(1, choices("tone", "a" if n % 2 else "b"))]}
        for n in range(4)
    ]  # fmt: skip
    ratings = assay.read_ratings(project(tmp_path, *tasks))
    assert set(ratings.panels["system"]) == {"m"}
    assert ratings.items["cluster"].tolist() == ["q0", "q0", "q1", "q1"]
    assert ratings.panels["rank"].tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"annotations": [{"id": 1, "completed_by": 1}]}, "without a list `result`"),
        ({"annotations": [annotation(None, choices("tone", "a"))]}, "without `completed_by`"),
        ({"annotations": [annotation(1, {"from_name": "tone", "type": "choices"})]},
         "without `value`"),
    ],
)  # fmt: skip
def test_damaged_annotations_are_refused_with_their_tasks(
    tmp_path: Path, broken: dict[str, Any], said: str
) -> None:
    good = {"annotations": [annotation(1, choices("tone", "a"))]}
    with pytest.raises(
        RatingsError, match="task 2", check=refusal("damaged-export", places=1)
    ) as caught:
        assay.read_ratings(project(tmp_path, good, broken))
    assert said in str(caught.value)


def test_an_export_without_annotations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RatingsError, check=refusal("no-ratings")):
        assay.read_ratings(project(tmp_path, {"annotations": []}))


def test_older_files_say_completions_and_skipped(tmp_path: Path) -> None:
    tasks = [
        {"completions": [{"id": 1, "completed_by": 1, "result": [choices("tone", w)]},
                         {"id": 2, "completed_by": 2, "result": [], "skipped": True}]}
        for w in "ab"
    ]  # fmt: skip
    ratings = assay.read_ratings(project(tmp_path, *tasks))
    assert ratings.abstained.sum() == 2


def test_a_csv_says_which_columns_it_takes_for_labels_and_a_task_decides() -> None:
    assert "sentiment as a label" in notes_of(read("label_studio_plain.csv"))["controls-or-data"]
    task = assay.load_task(FIXTURES / "label_studio_rich.xml")
    for name in ("label_studio_rich.csv", "label_studio_rich_min.json"):
        assert read(name, task=task).task.label_names == task.label_names


def test_a_task_of_one_label_takes_the_only_control() -> None:
    ratings = read("label_studio_plain.json", task="single")
    assert ratings.task.label_names == ("label",)
    assert len(ratings.answers) == 90


@pytest.mark.parametrize("labels", ["sentiment", ["relevant", "reason"], ["reason", "stars"]])
def test_some_labels_of_an_export_are_read_alone(labels: str | list[str]) -> None:
    whole, some = read(RICH), assay.read_ratings(RICH, labels=labels)
    names = [labels] if isinstance(labels, str) else labels
    assert list(some.task.label_names) == names
    for name in names:
        assert answers_to(some, name) == answers_to(whole, name)
    gates = {label.name: label.asked_if for label in some.task.labels}
    assert gates.get("reason", "") == ("relevant == yes" if "relevant" in names else "")

"""Argilla: responses aligned by user, their status, suggestions with scores, class labels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import assay
from assay._util.errors import RatingsError
from tests.refusals import refusal
from tests.studies import FIXTURES, notes_of, read


def test_records_do_not_tell_drafts_and_a_note_says_so() -> None:
    assert "status-lost" in notes_of(read("argilla_rich.json"))
    for name in ("argilla_rich_flat.json", "argilla_rich.parquet"):
        ratings = read(name)
        assert "status-lost" not in notes_of(ratings)
        assert ratings.abstained.sum() == 5


def test_suggestions_are_a_model_rater_with_its_scores() -> None:
    for name in ("argilla_rich.json", "argilla_rich_flat.json", "argilla_rich.parquet"):
        ratings = read(name)
        assert ratings.raters.loc["judge-1", "group"] == "llm"
        model = ratings.rater == list(ratings.raters.index).index("judge-1")
        scored = np.isfinite(ratings.scores[model])
        assert scored[:, ratings.task.label_names.index("relevant")].all()
        assert scored[:, ratings.task.label_names.index("news")].any()  # of options chosen
        assert not np.isfinite(ratings.scores[~model]).any()


def test_a_hugging_face_dataset_is_read_as_its_file() -> None:
    class Dataset:
        """What ``datasets.Dataset`` has."""

        def to_pandas(self) -> pd.DataFrame:
            return pd.DataFrame(
                {
                    "id": ["a", "b"],
                    "tone.responses": [["x", "y"], ["x"]],
                    "tone.responses.users": [["u", "v"], ["u"]],
                    "tone.responses.status": [["submitted", "draft"], ["submitted"]],
                    "tone.suggestion": [1, 0],
                    "tone.suggestion.score": [0.9, 0.8],
                    "tone.suggestion.agent": ["m", "m"],
                }
            )

        @property
        def features(self) -> dict[str, Any]:
            return {"tone.suggestion": {"names": ["x", "y"], "_type": "ClassLabel"}}

    ratings = assay.read_ratings(Dataset())  # type: ignore[arg-type]
    assert ratings.task.labels[0].classes == ("x", "y")
    assert list(ratings.raters.index) == ["u", "v", "m"]
    assert ratings.abstained.sum() == 1
    model = ratings.rater == 2
    assert ratings.scores[model, 0].tolist() == pytest.approx([0.9, 0.2])


def test_questions_of_different_length_are_aligned_by_user(tmp_path: Path) -> None:
    records = [
        {"id": n, "tone.responses": ["x", "y"], "tone.responses.users": ["u", "v"],
         "more.responses": ["yes" if n else "no"], "more.responses.users": ["v"]}
        for n in range(2)
    ]  # fmt: skip
    path = tmp_path / "flat.json"
    path.write_text(json.dumps(records))
    ratings = assay.read_ratings(path)
    said = {
        (int(i), str(ratings.raters.index[r])): list(a)
        for i, r, a in zip(ratings.item, ratings.rater, ratings.answers, strict=True)
    }
    assert said[0, "u"] == [0, -1]
    assert said[1, "v"] == [1, 1]


def test_lists_that_do_not_fit_are_refused_with_their_record(tmp_path: Path) -> None:
    records = [
        {"id": "a", "tone.responses": ["x"], "tone.responses.users": ["u"]},
        {"id": "b", "tone.responses": ["x", "y"], "tone.responses.users": ["u"]},
    ]
    path = tmp_path / "flat.json"
    path.write_text(json.dumps(records))
    with pytest.raises(RatingsError, match="record 2", check=refusal("damaged-export", places=1)):
        assay.read_ratings(path)


@pytest.mark.parametrize(
    ("responses", "said"),
    [({"tone": [{"value": "x"}]}, "without `user_id`"), ([{"user_id": "u"}], "without `values`")],
)
def test_damaged_responses_are_refused_with_their_record(
    tmp_path: Path, responses: Any, said: str
) -> None:
    path = tmp_path / "records.json"
    path.write_text(
        json.dumps([{"id": 1, "fields": {}, "suggestions": {}, "responses": responses}])
    )
    with pytest.raises(
        RatingsError, match="record 1", check=refusal("damaged-export", places=1)
    ) as caught:
        assay.read_ratings(path)
    assert said in str(caught.value)


def test_records_of_the_server_have_values_by_question(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    records = [
        {"id": str(n), "fields": {"text": "a"}, "suggestions": [
            {"question_name": "tone", "value": "x", "agent": "m", "score": 0.7}],
         "responses": [{"user_id": "u", "status": "submitted",
                        "values": {"tone": {"value": "xy"[n]}}},
                       {"user_id": "v", "status": "discarded", "values": {}}]}
        for n in range(2)
    ]  # fmt: skip
    path.write_text(json.dumps(records))
    ratings = assay.read_ratings(path)
    assert set(ratings.raters.index) >= {"u", "m"}
    assert len(ratings.answers[ratings.answered]) == 4


def test_a_dataset_saved_to_disk_is_read_from_its_folder(tmp_path: Path) -> None:
    import pyarrow as pa

    table = pa.Table.from_pandas(pd.read_parquet(FIXTURES / "argilla_plain.parquet"))
    target = tmp_path / "data-00000-of-00001.arrow"
    with pa.OSFile(str(target), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
    (tmp_path / "state.json").write_text(json.dumps(state))
    assert len(assay.read_ratings(tmp_path).answers) == 90
    splits = tmp_path / "splits"
    (splits / "train").mkdir(parents=True)
    (splits / "test").mkdir()
    (splits / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    for name in ("train", "test"):
        (splits / name / "state.json").write_text(json.dumps(state))
    with pytest.raises(RatingsError, match="train", check=refusal("several-files")):
        assay.read_ratings(splits)

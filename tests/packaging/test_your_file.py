"""What docs/your_file.md says works as it stands."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import assay

PAGE = (Path(__file__).parents[2] / "docs" / "your_file.md").read_text(encoding="utf-8")
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def annotation(task: int, rater: int) -> dict[str, object]:
    """Results stand in the order of clicking; a task may have none, and be cancelled."""
    tone = {"choices": ["Toxic" if task % 2 else "Fine"]}
    parts = [
        {"from_name": name, "to_name": "text", "type": "choices", "value": value}
        for name, value in (("tone", tone), ("lang", {"choices": ["en"]}))
    ]
    return {
        "id": 10 * task + rater,
        "completed_by": {"id": rater, "email": f"{rater}@example.org"},
        "result": [] if task == 4 and rater == 2 else parts[:: 1 if rater == 1 else -1],
        "was_cancelled": task == 3 and rater == 1,
    }


def run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.chdir(folder)
    space: dict[str, object] = {"assay": assay, "pandas": pd}
    exec(code, space)
    return space


def test_label_studio(tmp_path: Path) -> None:
    tasks = [
        {"id": 500 + n, "data": {"text": "x"}, "annotations": [annotation(n, r) for r in (1, 2)]}
        for n in range(6)
    ]
    (tmp_path / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
    ratings = assay.read_ratings(tmp_path / "export.json")
    assert len(ratings.answers) == 12
    assert int(ratings.abstained.sum()) == 2
    assert ratings.task.labels[0].classes == ("Fine", "Toxic")
    assert ratings.task.label_names == ("tone", "lang")
    assert ratings.items.index.tolist() == [str(500 + n) for n in range(6)]
    assert set(ratings.raters.index) == {"1@example.org", "2@example.org"}


def test_preferences_do_not_depend_on_who_stood_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        ("p1", "b", "a", "x", "model_a"), ("p1", "a", "b", "y", "model_b"),
        ("p2", "a", "b", "x", "tie"), ("p2", "b", "a", "y", "model_b"),
    ]  # fmt: skip
    columns = ["prompt_id", "model_a", "model_b", "judge", "winner"]
    pd.DataFrame(lines, columns=columns).to_csv(tmp_path / "battles.csv", index=False)
    space = run(CODE[0], tmp_path, monkeypatch)
    ratings, battles = space["ratings"], space["battles"]
    assert isinstance(battles, pd.DataFrame)
    assert isinstance(ratings, assay.Ratings)
    assert battles["preferred"].tolist() == ["second", "second", "tie", "first"]
    assert list(ratings.systems) == ["a v b"]
    assert ratings.items.index.tolist() == ["p1/a v b", "p2/a v b"]


def test_ordered_answers(tmp_path: Path) -> None:
    text = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0]
    (tmp_path / "essays.toml").write_text(text, encoding="utf-8")
    table = pd.DataFrame({"essay": [1, 1], "rater": ["a", "b"], "quality": [2, 5]})
    ratings = assay.read_ratings(table, task=tmp_path / "essays.toml")
    assert ratings.answers[:, 0].tolist() == [1, 4]


def test_prodigy() -> None:
    columns = ["_task_hash", "label", "answer", "_annotator_id"]
    lines = [(1, "X", "accept", "a"), (1, "X", "reject", "b"), (2, "X", "ignore", "a")]
    ratings = assay.read_ratings(
        pd.DataFrame(lines, columns=columns), task="single", item="_task_hash"
    )  # fmt: skip
    assert ratings.task.labels[0].classes == ("accept", "reject")
    assert ratings.abstained.tolist() == [False, False, True]


def test_argilla() -> None:
    frame = pd.DataFrame({
        "id": [1, 2],
        "tone.responses": [["good", "bad"], ["good"]],
        "tone.responses.users": [["u1", "u2"], ["u2"]],
        "tone.responses.status": [["submitted", "draft"], ["submitted"]],
    })  # fmt: skip
    named = re.search(r'`(rater="tone[^`]*)`', PAGE)
    assert named is not None
    ratings = eval(f"read(frame, task='single', {named[1]})",
                   {"read": assay.read_ratings, "frame": frame})  # fmt: skip
    assert ratings.abstained.tolist() == [False, True, False]


def test_options_and_votes(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"item": [1, 1, 2], "rater": list("aba"), "label": ["calm|sad", "sad", "calm"]}
    )
    call = re.search(r'frame\["label"\]\.str\.get_dummies\("\\\|"\)', PAGE)
    line = re.search(r"`(labels = \[.*?\])`", PAGE)
    assert call is not None
    assert line is not None
    options = eval(call[0].replace("\\|", "|"), {"frame": frame})
    (tmp_path / "own.toml").write_text(line[1], encoding="utf-8")
    ratings = assay.read_ratings(frame.join(options), task=tmp_path / "own.toml")
    assert ratings.answers.tolist() == [[1, 1], [0, 1], [1, 0]]
    votes = frame.drop(columns="rater").assign(label=["calm", "sad", "sad"], day=[1, 2, 3])
    assert "`--rater row`" in PAGE
    assert len(assay.read_ratings(votes, task="single", rater="row").raters) == 2


def test_a_sheet_with_a_column_for_each_rater() -> None:
    frame = pd.DataFrame({"tweet": [1, 2], "Ann": ["good", None], "GPT-4o": ["bad", "good"]})
    assert "`--wide Ann Bob GPT-4o`" in PAGE
    ratings = assay.read_ratings(frame, wide=["Ann", "GPT-4o"])
    assert len(ratings.answers) == 3
    assert set(ratings.raters.index) == {"Ann", "GPT-4o"}

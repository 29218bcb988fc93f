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
    choice = {"choices": ["Toxic" if task % 2 else "Fine"]}
    return {
        "id": 10 * task + rater,
        "completed_by": {"id": rater, "email": f"{rater}@example.org"},
        "result": [{"from_name": "tone", "to_name": "text", "type": "choices", "value": choice}],
        "was_cancelled": task == 3 and rater == 1,
    }


def run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.chdir(folder)
    space: dict[str, object] = {"assay": assay, "pandas": pd}
    exec(code, space)
    return space


def test_label_studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [
        {"id": 500 + n, "data": {"text": "x"}, "annotations": [annotation(n, r) for r in (1, 2)]}
        for n in range(6)
    ]
    (tmp_path / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
    ratings = run(CODE[0], tmp_path, monkeypatch)["ratings"]
    assert isinstance(ratings, assay.Ratings)
    assert len(ratings.answers) == 11
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
    space = run(CODE[1], tmp_path, monkeypatch)
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
        pd.DataFrame(lines, columns=columns), task="single", item="_task_hash",
        classes={"label": {"ignore": ""}},
    )  # fmt: skip
    assert ratings.task.labels[0].classes == ("accept", "reject")
    assert ratings.abstained.tolist() == [False, False, True]


def test_a_sheet_with_a_column_for_each_rater() -> None:
    frame = pd.DataFrame({"tweet": [1, 2], "Ann": ["good", None], "GPT-4o": ["bad", "good"]})
    call = re.search(r"frame\.melt\(\[\"tweet\"\].*?\.dropna\(\)", PAGE)
    assert call is not None
    ratings = assay.read_ratings(eval(call[0], {"frame": frame}), task="single", item="tweet")
    assert len(ratings.answers) == 3
    assert set(ratings.raters.index) == {"Ann", "GPT-4o"}

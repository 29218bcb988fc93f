"""The registry of formats: who claims an input, and what happens if nobody or several do."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from assay._util.errors import ArgumentError, RatingsError
from assay.data.task import Task
from assay.io import formats, read_ratings
from assay.io.files.sources import Source
from assay.io.formats import Export, Format, all_formats
from tests.refusals import refusal
from tests.studies import FIXTURES

FRAME = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": list("xyx")})


def made(name: str, word: str) -> Format:
    """Return a format of tables that have a column of a name."""

    def detect(source: Source) -> str:
        return f"a column {word}" if word in source.columns else ""

    def read(source: Source, task: Task | None) -> Export:
        return Export(table=source.tabled(FRAME), options={"labels": "label"})

    return Format(name=name, title=name.title(), recognised="", detect=detect, read=read)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register two formats that may claim the same table."""
    known = {one.name: one for one in (made("one", "a"), made("two", "b"))}
    monkeypatch.setattr(formats, "all_formats", lambda: known)


def test_every_format_has_a_name_for_the_command_line_and_says_how_it_is_recognised() -> None:
    for name, one in all_formats().items():
        assert name == one.name == name.lower()
        assert one.title
        assert one.recognised


@pytest.mark.usefixtures("two")
def test_the_only_format_that_claims_a_table_reads_it() -> None:
    ratings = read_ratings(pd.DataFrame({"a": ["?"]}))
    assert len(ratings.answers) == 3


@pytest.mark.usefixtures("two")
def test_two_formats_that_claim_a_table_are_named_and_the_option_decides() -> None:
    frame = pd.DataFrame({"a": ["?"], "b": ["?"]})
    with pytest.raises(RatingsError, check=refusal("two-formats")) as caught:
        read_ratings(frame)
    assert "One (it has a column a) or Two (it has a column b)" in str(caught.value)
    assert "`format='one'` or `format='two'`" in str(caught.value)
    assert len(read_ratings(frame, format="two").answers) == 3


@pytest.mark.usefixtures("two")
def test_a_table_that_nobody_claims_or_that_is_called_plain_is_a_table(tmp_path: Path) -> None:
    assert len(read_ratings(FRAME).answers) == 3
    path = tmp_path / "ratings.csv"
    FRAME.assign(a="?").to_csv(path, index=False)
    assert len(read_ratings(path, format="table").items) == 2


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(ArgumentError, match="pragmata", check=refusal("unknown-format")):
        read_ratings(FRAME, format="pragmatta")


@pytest.mark.parametrize(
    ("columns", "task"),
    [
        (["label"], "single"),
        (["topically_relevant", "evidence_sufficient", "misleading"], "retrieval"),
        (["flagged", "interpretable", "attributable"], "ais"),
        (["helpful"], "single"),
    ],
)
def test_without_a_task_the_one_is_taken_that_the_columns_fit(
    columns: list[str], task: str
) -> None:
    frame = pd.DataFrame({"item": [1, 2], "rater": ["a", "a"]})
    for column in columns:
        frame[column] = ["yes", "no"]
    given = {"labels": "helpful"} if columns == ["helpful"] else {}
    ratings = read_ratings(frame, **given)  # type: ignore[arg-type]
    assert ratings.task.name == task
    assert ratings.accounting.notes[0].startswith(f"task {task} is taken: ")
    assert ratings.accounting.notes[0].code == "task-chosen"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("file", "path", "value"),
    [
        ("prodigy_binary.jsonl", [0, "_input_hash"], [1]),
        ("prodigy_choice.jsonl", [0, "accept"], 1.5),
        ("promptfoo.jsonl", [0, "promptIdx"], "many"),
        ("deepeval.json", ["conversationalTestCases"], 5),
        ("inspect_graded.json", ["eval", "scorers"], -1),
        ("label_studio_rich.json", [0, "drafts"], 1),
    ],
)
def test_a_value_that_no_tool_writes_is_damage(
    file: str, path: list[Any], value: object, tmp_path: Path
) -> None:
    text = (FIXTURES / file).read_text(encoding="utf-8")
    by_line = file.endswith("l")
    whole = [json.loads(line) for line in text.splitlines()] if by_line else json.loads(text)
    held = whole
    for key in path[:-1]:
        held = held[key]
    held[path[-1]] = value
    out = tmp_path / file
    out.write_text("\n".join(map(json.dumps, whole)) if by_line else json.dumps(whole))
    with pytest.raises(RatingsError, check=refusal("damaged-export")):
        read_ratings(out)

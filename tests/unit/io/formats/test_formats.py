"""The registry of formats: who claims an input; one study, exported by every tool."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import assay
from assay._util.errors import ArgumentError, RatingsError
from assay.data.task import Task
from assay.io import formats, read_ratings
from assay.io.files.opening import open_source
from assay.io.files.sources import Source
from assay.io.formats import Export, Format, all_formats
from tests.fixtures.formats.make.study import MODEL, TOPICS, USERS, rich
from tests.refusals import refusal
from tests.studies import (
    FIXTURES,
    notes_of,
    plain_study,
    read,
    rich_study,
    said_in,
    same_raters,
)

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


OWN = ("make",)


NO_EXPORTS = (".xml",)


NUMBERS = same_raters("1", "2", "3")


UUIDS = {uuid: name for name, uuid in USERS.items()}


MAILS = same_raters("ann@example.com", "bob@example.com", "cy@example.com")


def number(text: str) -> int:
    return int("".join(sign for sign in text if sign.isdigit()))


def counted_from(first: int) -> Callable[[str], int]:
    return lambda name: number(name) - first


PLAIN = [
    ("label_studio_plain.json", counted_from(1), NUMBERS),
    ("label_studio_plain_min.json", counted_from(1), NUMBERS),
    ("label_studio_plain.csv", counted_from(1), NUMBERS),
    ("label_studio_plain.tsv", counted_from(1), NUMBERS),
    ("argilla_plain.json", number, UUIDS),
    ("argilla_plain_flat.json", number, UUIDS),
    ("argilla_plain.parquet", number, UUIDS),
    ("inspect_plain.json", number, same_raters("ann", "bob", "cy")),
    ("inspect_plain.eval", number, same_raters("ann", "bob", "cy")),
    ("prodigy_choice.jsonl", counted_from(2001), same_raters("study-ann", "study-bob", "study-cy")),
    ("prodigy_files", counted_from(2001), same_raters("ann", "bob", "cy")),
    ("doccano", counted_from(1), same_raters("ann", "bob", "cy")),
    ("doccano.zip", counted_from(1), same_raters("ann", "bob", "cy")),
    ("mturk.csv", lambda name: number(name[4:]), same_raters("AANN", "ABOB", "ACY")),
    ("appen.csv", counted_from(700000), same_raters("40000", "40001", "40002")),
]


@pytest.mark.parametrize(("name", "item", "raters"), PLAIN, ids=[row[0] for row in PLAIN])
def test_the_plain_study_is_the_same_from_each_tool(
    name: str, item: Callable[[str], int], raters: dict[str, str]
) -> None:
    ratings = read(name)
    assert said_in(ratings, item, raters) == plain_study()
    assert ratings.task.name == "single"
    assert ratings.task.labels[0].classes == ("neg", "neu", "pos")


@pytest.mark.parametrize(
    ("name", "item", "raters"),
    [
        ("peerannot.json", number, NUMBERS | same_raters("0", "1", "2")),
        ("qrels.txt", lambda name: number(name.partition("/")[2]), same_raters("ann", "bob", "cy")),
        (
            "qrels_files",
            lambda name: number(name.partition("/")[2]),
            same_raters("qrels.ann", "qrels.bob", "qrels.cy"),
        ),
    ],
)
def test_tools_that_number_classes_say_the_same(
    name: str, item: Callable[[str], int], raters: dict[str, str]
) -> None:
    ratings = read(name)
    words = {"0": "neg", "1": "neu", "2": "pos"}
    if name == "peerannot.json":
        raters = same_raters("0", "1", "2")
    said = said_in(ratings, item, raters)
    named = {key: {"label": words[next(iter(of.values()))]} for key, of in said.items()}
    assert named == plain_study()


RICH = [
    ("label_studio_rich.json", counted_from(1), MAILS | {MODEL: MODEL}, True, True),
    ("argilla_rich_flat.json", number, UUIDS | {MODEL: MODEL}, True, True),
    ("argilla_rich.parquet", number, UUIDS | {MODEL: MODEL}, True, True),
    ("label_studio_rich_min.json", counted_from(1), MAILS, False, False),
    ("label_studio_rich.csv", counted_from(1), MAILS, False, False),
    ("label_studio_rich.tsv", counted_from(1), MAILS, False, False),
]


@pytest.mark.parametrize(
    ("name", "item", "raters", "model", "withdrawn"), RICH, ids=[row[0] for row in RICH]
)
def test_the_rich_study_is_the_same_from_each_tool_but_for_what_the_format_loses(
    name: str,
    item: Callable[[str], int],
    raters: dict[str, str],
    model: bool,
    withdrawn: bool,
) -> None:
    ratings = read(name)
    said = {key: of for key, of in said_in(ratings, item, raters).items() if key[1] != "?"}
    assert said == rich_study(model=model, withdrawn=withdrawn)
    assert {label.name: label.asked_if for label in ratings.task.labels}["reason"] == (
        "relevant == yes"
    )
    assert ("format-loses" in notes_of(ratings)) is not withdrawn


def exports() -> list[Path]:
    found = [path for path in sorted(FIXTURES.iterdir()) if path.name not in OWN]
    return [path for path in found if path.suffix not in NO_EXPORTS and path.name != "README.md"]


@pytest.mark.parametrize("path", exports(), ids=[path.name for path in exports()])
def test_one_format_claims_each_fixture(path: Path) -> None:
    source = open_source(path)
    claims = {name: said for name, one in all_formats().items() if (said := one.detect(source))}
    assert len(claims) == 1, claims
    stem = path.stem.partition("_")[0]
    expected = {"label": "label-studio", "inspect": "inspect-ai"}.get(stem, stem)
    assert next(iter(claims)).startswith(expected)


def test_the_shared_study_is_the_same_from_each_format(shared_data: Path) -> None:
    folder = shared_data.parent / "cases" / "formats"

    names = ("ls.json", "ls_min.json", "ls.csv", "argilla.json", "argilla_hf.parquet",
             "prodigy.jsonl", "mturk.csv")  # fmt: skip
    reference = assay.read_ratings(folder / "crowdkit.csv")
    wanted = patterns(reference)
    for name in names:
        ratings = assay.read_ratings(folder / name)
        assert patterns(ratings) == wanted, name
        assert ratings.task == reference.task


def patterns(ratings: object) -> list[tuple[int, ...]]:
    """Return the answers of the raters, in the order of their names, of each item, sorted."""
    import numpy as np

    table = np.full((len(ratings.items), len(ratings.raters)), -1)  # type: ignore[attr-defined]
    order = np.argsort(np.argsort(ratings.raters.index))  # type: ignore[attr-defined]
    table[ratings.item, order[ratings.rater]] = ratings.answers[:, 0]  # type: ignore[attr-defined]
    return sorted(map(tuple, table.tolist()))


TOPICS_SAID = [
    ("prodigy_topics.jsonl", True), ("doccano_topics", False), ("doccano_topics_csv", False),
    ("mturk_rich.csv", True), ("mturk_task_answers.csv", True), ("appen_rich.csv", True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "withdrawn"), TOPICS_SAID)
def test_a_choice_of_several_is_a_label_for_each_option(name: str, withdrawn: bool) -> None:
    ratings = read(name)
    columns = [ratings.task.label_names.index(topic) for topic in TOPICS]
    people = [said for said in rich()[0] if said.rater != MODEL]
    wanted = [
        [-1, -1, -1] if said.cancelled else [int(topic in said.topics) for topic in TOPICS]
        for said in people
        if withdrawn or not said.cancelled
    ]
    found = ratings.answers[:, columns].tolist()
    assert sorted(found) == sorted(wanted)
    assert ratings.abstained.sum() == (withdrawn and sum(said.cancelled for said in people))

"""The same study, exported by every tool, is the same ratings; one format claims each fixture."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.io.files.opening import open_source
from assay.io.formats import all_formats
from tests.fixtures.formats.make.study import MODEL, USERS
from tests.studies import (
    FIXTURES,
    notes_of,
    plain_study,
    read,
    rich_study,
    said_in,
    same_raters,
)

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
    import assay

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

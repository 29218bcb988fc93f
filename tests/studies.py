"""The invented studies of ``tests/fixtures/formats``, and what ratings say of them."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import assay
from assay.data.ratings import Ratings
from tests.fixtures.formats.make.study import MODEL, RATERS, Answer, plain, rich

FIXTURES = Path(__file__).resolve().parent / "fixtures" / "formats"
Said = dict[tuple[int, str], dict[str, str]]
"""By number of the item and rater, the class of each label that was answered."""


def read(name: str, **options: object) -> Ratings:
    """Read a fixture."""
    return assay.read_ratings(FIXTURES / name, **options)  # type: ignore[arg-type]


def said_in(ratings: Ratings, item: Callable[[str], int], raters: Mapping[str, str]) -> Said:
    """Return what ratings say, under the names of the study; a rater that is not named stays."""
    found: Said = {}
    labels = ratings.task.labels
    for row in range(len(ratings.answers)):
        key = (
            item(str(ratings.items.index[ratings.item[row]])),
            raters.get(str(ratings.raters.index[ratings.rater[row]]), "?"),
        )
        codes = ratings.answers[row]
        found[key] = {
            label.name: label.classes[code]
            for label, code in zip(labels, codes, strict=True)
            if code >= 0
        }
    assert len(found) == len(ratings.answers)
    return found


def plain_study(label: str = "label") -> Said:
    """Return the plain study: one label of three classes."""
    return {(int(item[1:]), rater): {label: answer} for item, rater, answer in plain()}


def rich_study(*, model: bool, withdrawn: bool = True) -> Said:
    """Return the rich study: gated labels, and a choice of several as a label for each option."""
    ratings, _ = rich()
    kept = [said for said in ratings if model or said.rater != MODEL]
    return {
        (int(said.item[1:]), said.rater): {} if said.cancelled else answers_of(said)
        for said in kept
        if withdrawn or not said.cancelled
    }


def answers_of(said: Answer) -> dict[str, str]:
    """Return the classes of one answer of the rich study."""
    found = {"sentiment": said.sentiment, "relevant": said.relevant, "stars": str(said.stars)}
    found |= {topic: "yes" if topic in said.topics else "no" for topic in ("news", "sport", "tech")}
    return found | ({"reason": said.reason} if said.reason else {})


def notes_of(ratings: Ratings) -> dict[str, str]:
    """Return the notes of ratings, by code."""
    return {getattr(note, "code", ""): str(note) for note in ratings.accounting.notes}


def same_raters(*names: str) -> dict[str, str]:
    """Return what the raters of the study are called elsewhere."""
    return dict(zip(names, RATERS, strict=True))


def said_by_name(ratings: Ratings, label: int = 0) -> dict[tuple[str, str], str]:
    """Return the class of a label by item and rater, under their own names."""
    classes = ratings.task.labels[label].classes
    return {
        (str(ratings.items.index[i]), str(ratings.raters.index[r])): classes[a[label]]
        for i, r, a in zip(ratings.item, ratings.rater, ratings.answers, strict=True)
        if a[label] >= 0
    }


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    """Write records, one a line."""
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def quoted_csv(path: Path, *rows: dict[str, Any]) -> Path:
    """Write a table, each of its cells quoted."""
    pd.DataFrame(rows).to_csv(path, index=False, quoting=csv.QUOTE_ALL)
    return path

"""Exports of doccano: a file a rater, texts without a label, spans."""

from pathlib import Path

import pytest

import assay
from assay._util.errors import RatingsError
from tests.refusals import refusal
from tests.studies import jsonl, notes_of, read


def test_doccano_texts_without_a_label_are_no_ratings() -> None:
    notes = notes_of(read("doccano_topics"))
    assert notes["texts-without-label"].startswith("5 texts")
    assert "one-file-one-rater" in notes_of(read("doccano/ann.jsonl"))


def test_doccano_texts_without_an_id_are_refused_with_file_and_line(tmp_path: Path) -> None:
    good = {"id": 1, "text": "x", "label": ["a"], "Comments": []}
    jsonl(tmp_path / "ann.jsonl", good, {**good, "id": None})
    jsonl(tmp_path / "bob.jsonl", good)
    with pytest.raises(
        RatingsError, match=r"ann\.jsonl:2", check=refusal("damaged-export", places=1)
    ):
        assay.read_ratings(tmp_path)


def test_doccano_spans_are_no_classes_and_intents_beside_them_are(tmp_path: Path) -> None:
    text = {"id": 1, "text": "x", "label": [[0, 1, "name"]], "Comments": []}
    with pytest.raises(RatingsError, check=refusal("no-answers")):
        assay.read_ratings(jsonl(tmp_path / "ann.jsonl", text, {**text, "id": 2, "label": []}))
    both = {"id": 1, "text": "x", "cats": ["ask"], "entities": [[0, 1, "name"]], "Comments": []}
    path = jsonl(tmp_path / "ann.jsonl", both, {**both, "id": 2, "cats": ["tell"]})
    ratings = assay.read_ratings(path)
    assert ratings.task.labels[0].classes == ("ask", "tell")
    assert "regions-not-read" in notes_of(ratings)

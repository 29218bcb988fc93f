"""Judgements of TREC: topics are clusters, documents items."""

from pathlib import Path

import pytest

import assay
from assay._util.errors import RatingsError
from tests.refusals import refusal
from tests.studies import notes_of


def test_qrels_have_topics_as_clusters_and_minus_one_is_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("1 a d1 2\n1 b d1 -1\n2 a d2 0\n2 b d2 1\n")
    ratings = assay.read_ratings(path)
    assert ratings.task.labels[0].ordered
    assert ratings.items["cluster"].tolist() == ["1", "2"]
    assert ratings.abstained.tolist() == [False, True, False, False]
    path.write_text("1 0 d1 2\n1 0 d2 1\n2 0 d2 0\n")
    assert "one-file-one-rater" in notes_of(assay.read_ratings(path))


def test_lines_that_are_no_judgement_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("1 a d1 2\n" * 60 + "1 a d1\n")
    with pytest.raises(RatingsError, match="line 61", check=refusal("damaged-export", places=1)):
        assay.read_ratings(path)

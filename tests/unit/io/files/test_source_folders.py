"""Folders and lists of files as one input."""

from pathlib import Path

import assay
from tests.studies import FIXTURES


def test_a_list_of_files_is_read_as_a_folder_of_them() -> None:
    files = sorted((FIXTURES / "prodigy_files").iterdir())
    ratings = assay.read_ratings(files)
    assert list(ratings.raters.index) == ["ann", "bob", "cy"]


def test_files_in_a_folder_that_nobody_reads_may_be_damaged(tmp_path: Path) -> None:
    (tmp_path / "single.csv").write_text("item,rater,label\n1,a,x\n1,b,y\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    assert len(assay.read_ratings(tmp_path, task="single").answers) == 2

"""Tables as people have them: indexes, accents, columns without a name or of one name, objects."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reader_notes import note_codes, note_of
from refusals import refusal

from assay import load_task, read_ratings
from assay._util.errors import RatingsError
from assay.data.ratings import Ratings
from assay.io.identifiers import like_named
from assay.io.tables import cell_text, text_of, where_lines

ROWS = pd.DataFrame(
    {"item": ["a", "a", "b"], "rater": ["x", "y", "x"], "flagged": ["yes", "no", "yes"]}
)


TASK = '[[labels]]\nname = "gr\N{LATIN SMALL LETTER O WITH DIAERESIS}sse"\n'


APART = "gro\N{COMBINING DIAERESIS}sse"


def read(source: object) -> Ratings:
    return read_ratings(source, task="ais", labels={"flagged": "flagged"})  # type: ignore[arg-type]


class Foreign:
    """A table of another library, as far as a reader looks."""

    def to_pandas(self) -> pd.DataFrame:
        return ROWS


def test_a_table_of_another_library_is_read_as_the_table_that_it_turns_into() -> None:
    assert read(Foreign()).answers.tolist() == read(ROWS).answers.tolist()


def test_so_is_a_table_of_truths() -> None:
    class Truths:
        def to_pandas(self) -> pd.DataFrame:
            return pd.DataFrame({"item": ["b"], "flagged": ["no"]})

    known = read_ratings(ROWS, task="ais", truth=Truths())  # type: ignore[arg-type]
    assert known.truth[:, 0].tolist() == [-1, 0]


def test_an_arrow_table_is_read() -> None:
    pa = pytest.importorskip("pyarrow")
    assert read(pa.Table.from_pandas(ROWS)).answers.tolist() == read(ROWS).answers.tolist()


def test_the_index_of_a_parquet_file_is_columns_like_the_others(tmp_path: Path) -> None:
    ROWS.set_index(["item", "rater"]).to_parquet(tmp_path / "indexed.parquet")
    found = read(tmp_path / "indexed.parquet")
    assert found.items.index.tolist() == ["a", "b"]
    assert found.answers.tolist() == read(ROWS).answers.tolist()


@pytest.mark.parametrize("form", ["csv", "frame", "parquet"])
def test_names_that_look_alike_are_alike(form: str, tmp_path: Path) -> None:
    (tmp_path / "task.toml").write_text(TASK, encoding="utf-8")
    apart, joined = "Mu\N{COMBINING DIAERESIS}ller", "M\N{LATIN SMALL LETTER U WITH DIAERESIS}ller"
    frame = pd.DataFrame({"item": ["1", "2"], "rater": [apart, joined], APART: ["yes", "no"]})
    source: object = frame.astype("str") if form == "frame" else tmp_path / f"ratings.{form}"
    if form == "csv":
        frame.to_csv(tmp_path / "ratings.csv", index=False)
    if form == "parquet":
        frame.to_parquet(tmp_path / "ratings.parquet")
    ratings = read_ratings(source, task=tmp_path / "task.toml")  # type: ignore[arg-type]
    assert ratings.raters.index.tolist() == [joined]
    assert ratings.answers.tolist() == [[1], [0]]


def test_a_task_file_may_write_its_accents_apart(tmp_path: Path) -> None:
    (tmp_path / "task.toml").write_text(f'[[labels]]\nname = "{APART}"\n', encoding="utf-8")
    assert load_task(tmp_path / "task.toml").label_names == (
        "gr\N{LATIN SMALL LETTER O WITH DIAERESIS}sse",
    )


@pytest.mark.parametrize(
    "text",
    [
        '[{"item": "a", "rater": "x", "flagged": true}]',
        '{"item": "a", "rater": "x", "flagged": 1}\n{"item": "b", "rater": "x", "flagged": 0}\n',
    ],
)
def test_json_is_read_whole_and_by_the_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "ratings.json").write_text(text)
    assert read(tmp_path / "ratings.json").answers[0, 0] == 1


@pytest.mark.parametrize("text", ['[{"item": "a"', '{"item": "a"}\n{"item": \n', "[1, 2,"])
def test_damaged_json_is_refused_with_its_place(text: str, tmp_path: Path) -> None:
    (tmp_path / "ratings.json").write_text(text)
    with pytest.raises(RatingsError, check=refusal("json-file"), match=r"line \d"):
        read(tmp_path / "ratings.json")


def test_two_items_are_not_made_one_by_the_slash_between_their_parts() -> None:
    frame = pd.DataFrame(
        {"query": ["a/b", "a", "c"], "chunk": ["c", "b/c", "d"], "rater": list("xyx"),
         "flagged": ["yes", "no", "no"]}
    )  # fmt: skip
    with pytest.raises(RatingsError, check=refusal("same-names")) as caught:
        read_ratings(frame, task="ais", labels={"flagged": "flagged"}, item=["query", "chunk"])
    assert "'a/b' and 'c', 'a' and 'b/c' (column query, chunk, rows 0, 1)" in str(caught.value)
    apart = frame.assign(query=["a/b", "z", "c"])
    ratings = read_ratings(
        apart, task="ais", labels={"flagged": "flagged"}, item=["query", "chunk"]
    )
    assert ratings.items.index.tolist() == ["a/b/c", "z/b/c", "c/d"]


def test_half_a_key_is_no_name_that_another_could_share() -> None:
    frame = pd.DataFrame({"query": ["", "x/", "x"], "chunk": ["y", "", ""]}, dtype="str")
    assert like_named(frame, ["query", "chunk"]).tolist() == []


def test_places_without_a_system_are_noted_where_others_have_one() -> None:
    frame = ROWS.assign(system=["s", "s", None])
    assert note_of(read(frame), "system-missing").numbers == {"places": 1}
    assert "system-missing" not in note_codes(read(ROWS.assign(system=None)))


def test_lines_are_named_with_their_column() -> None:
    assert where_lines(np.array([3, 8]), "line", "rank") == "column rank, lines 3, 8"


def test_whole_floats_lose_their_decimals() -> None:
    assert text_of(pd.Series([1.0, None, 2.5])).tolist() == ["1", "", "2.5"]


def test_arrays_become_json() -> None:
    assert (cell_text(2.0), cell_text(np.array(["a", "b"]))) == ("2", '["a", "b"]')


def codes(ratings: Ratings) -> list[str]:
    return [getattr(note, "code", "") for note in ratings.accounting.notes]


def csv(folder: Path, text: str) -> Path:
    path = folder / "ratings.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_without_a_name_are_called_by_their_places(tmp_path: Path) -> None:
    path = csv(tmp_path, "item,rater,label,,\n1,a,x,1,2\n1,b,y,3,4\n")
    ratings = read_ratings(path, task="single", seconds="column 5")
    assert "nameless-columns" in codes(ratings)
    assert ratings.seconds is not None
    assert ratings.seconds.ravel().tolist() == [2, 4]


def test_columns_of_one_name_are_told_apart(tmp_path: Path) -> None:
    path = csv(tmp_path, "item,rater,label,label\n1,a,x,y\n2,a,y,y\n")
    ratings = read_ratings(path, task="single")
    assert "repeated-columns" in codes(ratings)
    assert ratings.answers[:, 0].tolist() == [0, 1]
    other = read_ratings(path, task="single", labels="label (2)")
    assert set(other.answers[:, 0]) == {1} or other.task.labels[0].classes[0] == "y"


def test_a_column_that_repeats_another_is_left_out(tmp_path: Path) -> None:
    path = csv(tmp_path, "item,rater,label,item\n1,a,x,1\n2,a,y,2\n")
    ratings = read_ratings(path, task="single")
    (note,) = [n for n in ratings.accounting.notes if getattr(n, "code", "") == "repeated-columns"]
    assert "item" in note
    assert len(ratings.items) == 2


def test_questions_of_a_form_may_have_one_title() -> None:
    answers = [["p", "yes", "no", "yes"], ["q", "no", "no", "yes"], ["r", "yes", "no", "no"]]
    form = pd.DataFrame(answers, columns=["Email Address", *["Is it right?"] * 3])
    ratings = read_ratings(form, wide_items="Is it right?*")
    assert len(ratings.items) == 3
    assert len(ratings.answers) == 9


@pytest.mark.parametrize("frame", [True, False])
def test_the_character_nul_is_removed(frame: bool, tmp_path: Path) -> None:
    text = "item,rater,label\n1,a,x\0\n1,b,y\n2,a,x\n"
    source = (
        pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": ["x\0", "y", "x"]})
        if frame else csv(tmp_path, text)
    )  # fmt: skip
    ratings = read_ratings(source, task="single")
    assert ratings.task.labels[0].classes == ("x", "y")
    assert "nul-character" in codes(ratings)


@pytest.mark.parametrize("cells", [["['x' 'y']", "['x']"], ["['x', 'y']", "['x']"]])
def test_printed_lists_are_read_as_lists(cells: list[str]) -> None:
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": list("abab"), "label": cells * 2})
    assert set(read_ratings(frame).task.label_names) == {"x", "y"}


def test_cells_that_are_objects_are_read_as_those_of_json() -> None:
    label = [{"value": "x"}, {"value": "y"}]
    frame = pd.DataFrame({"item": [1, 1], "rater": list("ab"), "label": label})
    ratings = read_ratings(frame, task="single")
    assert ratings.task.labels[0].classes == ("x", "y")

"""What people hand over first: wide tables, other encodings, per cent signs, half a key."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reader_notes import note_codes, note_of
from refusals import refusal

import assay
from assay._util.errors import ArgumentError, RatingsError
from assay.io import read_ratings

GRADES = ["none", "some", "much"]
WIDE = pd.DataFrame(
    {
        "case": [f"c{n}" for n in range(30)],
        "ward": ["A", "B"] * 15,
        "Dr. Müller": GRADES * 10,
        "Sørensen": [*GRADES, ""] * 7 + GRADES[:2],
    }
)
RETRIEVAL = pd.DataFrame(
    {
        "query_id": ["q1", "q1", "q2"],
        "chunk_id": ["a", "b", "a"],
        "annotator": ["x", "y", "x"],
        "topically_relevant": [1, 0, 1],
    }
)


def error_of(table: pd.DataFrame | Path, **named: object) -> RatingsError:
    with pytest.raises(RatingsError) as error:
        read_ratings(table, **named)
    return error.value


def refused(table: pd.DataFrame | Path, **named: object) -> str:
    return str(error_of(table, **named))


def own_task(folder: Path, labels: str) -> Path:
    path = folder / "own.toml"
    path.write_text(f'name = "own"\ndescription = ""\nmetrics = []\n{labels}', encoding="utf-8")
    return path


@pytest.mark.parametrize("classes", [GRADES, []])
def test_a_column_for_each_rater_is_told_how_to_turn_round(
    tmp_path: Path, classes: list[str]
) -> None:
    task = own_task(tmp_path, f'[[labels]]\nname = "grade"\ndescription = ""\nclasses = {classes}')
    error = error_of(WIDE, task=task, item="case")
    (problem,) = error.problems
    assert (problem.code, problem.numbers) == ("wide-table", {"columns": 2})
    assert "grade: Dr. Müller, Sørensen" in problem.what
    assert error.go_on == {"wide": ["Dr. Müller", "Sørensen"]}
    ratings = read_ratings(WIDE, task=task, item="case", wide=["Dr. Müller", "Sørensen"])
    assert len(ratings.answers) == WIDE[["Dr. Müller", "Sørensen"]].ne("").to_numpy().sum()
    assert set(ratings.raters.index) == {"Dr. Müller", "Sørensen"}


def test_rows_that_are_items_get_a_number_when_they_are_turned_round() -> None:
    wide = pd.DataFrame({"r_1": [1, 2] * 8, "r_2": [2, 2] * 8})
    assert refused(wide, task="single").endswith("Go on with `wide=['r_1', 'r_2']`")
    ratings = read_ratings(wide, task="single", wide=["r_1", "r_2"])
    assert ratings.answers.shape == (32, 1)
    assert len(ratings.items) == 16


def test_grouped_answers_are_counted_out() -> None:
    grouped = pd.DataFrame(
        {"r1": ["1", "1", "2", "2"] * 4, "r2": ["1", "2", "1", "2"] * 4, "n": [5, 1, 2, 4] * 4}
    )
    error = error_of(grouped, task="single")
    assert refusal("wide-table", columns=2)(error)
    assert error.go_on == {"wide": ["r1", "r2"]}
    ratings = read_ratings(grouped, task="single", wide=["r1", "r2"])
    assert len(ratings.items) == grouped["n"].sum()
    assert np.bincount(ratings.answers.ravel()).tolist() == [4 * 13, 4 * 11]


def test_known_truth_is_not_offered_for_the_answers() -> None:
    rows = range(30)
    table = pd.DataFrame(
        {
            "HIT": [n // 3 for n in rows],
            "worker": [n % 3 for n in rows],
            "mood": [["Joy", "joy", "JOY", "Fear"][n % 4] for n in rows],
            "gold": ["Joy" if n // 3 % 2 else "Fear" for n in rows],
        }
    )
    error = error_of(table, task="single", item="HIT")
    assert (error.code, error.go_on) == ("no-answers", {"labels": "mood"})


def test_columns_of_other_words_are_no_raters() -> None:
    said = refused(WIDE[["case", "ward"]], task="relevance", item="case")
    assert "melt" not in said
    assert "no column holds answers" in said


def test_half_a_key_is_offered_with_the_cluster() -> None:
    error = error_of(RETRIEVAL, task="retrieval")
    assert error.code == "no-item"
    assert "['query_id', 'chunk_id']`; chunk_id alone" in str(error)
    ratings = read_ratings(RETRIEVAL, task="retrieval", item=["query_id", "chunk_id"])
    assert len(ratings.items) == 3


def test_a_partial_labels_argument_says_what_it_leaves_out() -> None:
    ratings = read_ratings(
        RETRIEVAL.assign(misleading=0), task="retrieval", item=["query_id", "chunk_id"],
        labels={"topically_relevant": "topically_relevant"},
    )  # fmt: skip
    assert any(
        "`labels=` leaves out {'misleading': 'misleading'}" in n for n in ratings.accounting.notes
    )


@pytest.mark.parametrize("sign", ["%", " %"])
def test_per_cent_signs_say_the_scale(sign: str) -> None:
    table = pd.DataFrame(
        {
            "item": [1, 1, 2],
            "rater": ["a", "b", "a"],
            "relevance": ["yes", "no", "yes"],
            "relevance_score": [f"83{sign}", "", f"100{sign}"],
        }
    )
    ratings = read_ratings(table, task="relevance")
    assert ratings.scores[0, 0] == pytest.approx(0.83)
    assert ratings.scores[2, 0] == 1
    assert "relevance_score" in note_of(ratings, "per-cent")


def test_some_per_cent_signs_are_two_scales() -> None:
    table = pd.DataFrame(
        {"item": [1, 2], "rater": "a", "label": ["no", "yes"], "score": ["83%", "0.9"]}
    )
    assert "1 cell holds no score: '83%'" in refused(table, task="single")


@pytest.mark.parametrize("column", ["weight", "score", "seconds"])
def test_decimal_commas_throughout_are_read_and_noted(column: str) -> None:
    cells = ["0,25", "", "1"]
    table = pd.DataFrame({"item": [1, 2, 3], "rater": "a", "label": ["no", "yes", "no"]})
    read, points = (
        read_ratings(table.assign(**{column: written}), task="single")
        for written in (cells, [cell.replace(",", ".") for cell in cells])
    )
    for found in ("scores", "seconds"):
        np.testing.assert_array_equal(getattr(read, found), getattr(points, found))
    np.testing.assert_array_equal(read.items["weight"], points.items["weight"])
    assert f"column {column} has decimal commas" in read.accounting.notes
    assert not any("commas" in note for note in points.accounting.notes)


@pytest.mark.parametrize(("column", "other"), [("weight", "0.5"), ("score", "0.5"), ("score", "x")])
def test_a_decimal_comma_beside_points_is_answered_with_a_point(column: str, other: str) -> None:
    table = pd.DataFrame(
        {"item": [1, 2], "rater": "a", "label": ["no", "yes"], column: ["0,25", other]}
    )
    assert "write decimal points: 0.25" in refused(table, task="single")


def test_what_may_be_thousands_is_no_decimal_comma() -> None:
    table = pd.DataFrame(
        {"item": [1, 2], "rater": "a", "label": ["no", "yes"], "weight": ["1,250", "900"]}
    )
    error = error_of(table, task="single")
    assert error.code == "weight-words"
    assert "1250" in str(error)


@pytest.mark.parametrize(
    ("no", "yes"), [("nein", "ja"), ("FALSCH", "WAHR"), ("non", "Oui"), ("no", "sí"), ("否", "是")]
)
def test_no_and_yes_of_other_languages_are_read_and_noted(no: str, yes: str) -> None:
    table = pd.DataFrame({"item": [1, 2, 3], "rater": "a", "misleading": [no, yes, ""]})
    ratings = read_ratings(table, task="retrieval")
    assert ratings.answers[:, 2].tolist() == [0, 1, -1]
    assert any(f"{yes.casefold()} is yes" in note for note in ratings.accounting.notes)


def test_classes_of_another_label_keep_their_words() -> None:
    table = pd.DataFrame({"item": [1, 2], "rater": "a", "label": ["ja", "nein"]})
    ratings = read_ratings(table, task="single")
    assert ratings.task.labels[0].classes == ("nein", "ja")
    assert ratings.accounting.notes == ()


def test_places_say_cluster_and_rank_of_items_that_nobody_rated() -> None:
    rated = RETRIEVAL[["chunk_id", "annotator", "topically_relevant", "query_id"]]
    rated = rated.assign(chunk_id=["a", "b", "c"])
    panels = pd.DataFrame(
        {"chunk_id": list("abcd"), "query_id": ["q1", "q1", "q2", "q2"], "rank": [1, 2, 1, 2]}
    )
    ratings = read_ratings(rated, task="retrieval", item="chunk_id", panels=panels)
    assert ratings.items["cluster"].tolist() == ["q1", "q1", "q2", "q2"]
    assert "own-clusters" not in note_codes(ratings)
    roles = ratings.accounting.roles.set_index("column")["role"]
    assert roles["panels (a DataFrame): rank"] == "rank"
    assert "ranked-lists" in {finding.code for finding in assay.check(ratings).findings}


def test_items_without_a_cluster_are_counted_once_all_tables_have_spoken() -> None:
    rated = RETRIEVAL.assign(chunk_id=["a", "b", "c"])
    panels = pd.DataFrame({"chunk_id": list("abcd"), "query_id": ["q1", "q1", "", ""]})
    ratings = read_ratings(rated, task="retrieval", item="chunk_id", panels=panels)
    assert note_of(ratings, "own-clusters").numbers == {"items": 1}


def test_check_asks_about_a_column_called_gold() -> None:
    table = pd.DataFrame(
        {"item": [1, 2], "rater": "a", "label": ["x", "y"], "Gold label": ["x", "y"]}
    )
    found = assay.check(read_ratings(table, task="single")).findings
    (told,) = (f for f in found if f.level == "warning" and f.topic == "columns")
    assert told.code == "unused-truth-column"
    assert "`truth='Gold label'`" in told.text
    told = assay.check(read_ratings(table, task="single", truth="Gold label")).findings
    assert not any(f.code == "unused-truth-column" for f in told)


def test_check_says_what_it_takes() -> None:
    with pytest.raises(ArgumentError, match="check takes Ratings", check=refusal("argument-type")):
        assay.check(WIDE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("item;rater;label;;\n1;A;yes;;\n1;B;no;;\n", "2 nameless, empty columns were skipped"),
        ("item;rater;label;\n1;A;yes;\n1;B;no;\n", "1 nameless, empty column was skipped"),
        ("sep=;\nitem;rater;label\n1;A;yes\n1;B;no\n", ""),
        ("\n\nSEP=,\r\nitem,rater,label\n1,A,yes\n1,B,no\n", ""),
    ],
)
def test_what_spreadsheets_add_is_skipped(tmp_path: Path, text: str, note: str) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes(text.encode())
    ratings = read_ratings(path, task="single")
    assert list(ratings.raters.index) == ["A", "B"]
    assert ratings.accounting.notes == ((note,) if note else ())


def test_lines_are_counted_from_the_line_that_names_the_separator(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("sep=;\nitem;rater;relevance\n1;A;yes\n1;B;perhaps\n", encoding="utf-8")
    assert "line 4" in refused(path, task="relevance")


def test_a_title_above_the_header_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("Study 7;;\nitem;rater;label\n1;A;yes\n", encoding="utf-8")
    ratings = read_ratings(path, task="single")
    assert list(ratings.raters.index) == ["A"]
    note = note_of(ratings, "title-rows")
    assert "1 line " in note
    assert "Study 7" in note
    path.write_text("item,rater,label,note\n1,A,x,so; so\n2,A,y,no; yes\n", encoding="utf-8")
    assert "title-rows" not in note_codes(read_ratings(path, task="single"))
    path.write_text("Study 7\n\nitem;rater;label\n1;A;yes\n1;A\n", encoding="utf-8")
    assert "line 5 has 2" in refused(path, task="single")


def test_the_index_that_pandas_writes_is_a_column_without_a_role(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    pd.DataFrame({"item": [1, 1], "rater": ["A", "B"], "label": ["yes", "no"]}).to_csv(path)
    ratings = read_ratings(path, task="single")
    assert len(ratings.answers) == 2
    assert ratings.accounting.roles["role"].tolist() == ["", "item", "rater", "label label"]


def test_classes_that_differ_in_case_are_one_and_a_note_says_so() -> None:
    table = pd.DataFrame(
        {
            "item": [1, 1, 2, 2, 3],
            "rater": list("ababa"),
            "label": ["Joy", "JOY ", "x", "joy", "Joy"],
        }
    )
    ratings = read_ratings(table, task="single")
    assert ratings.task.labels[0].classes == ("Joy", "x")
    assert ratings.answers.ravel().tolist() == [0, 0, 1, 0, 0]
    assert note_codes(ratings) == ["cases-merged"]
    assert "joy, JOY as Joy;" in note_of(ratings, "cases-merged")
    again = read_ratings(table[::-1], task="single")
    assert again.task.labels[0].classes == ("Joy", "x")
    assert read_ratings(table, task="single", truth=table[["item", "label"]][2:3]).truth[1, 0] == 1


def test_no_and_yes_in_several_spellings_say_how_to_be_two_classes() -> None:
    table = pd.DataFrame(
        {"item": [1, 1, 2, 2], "rater": list("abab"), "label": ["1", "TRUE", "0", "FALSE"]}
    )
    with pytest.raises(RatingsError, check=refusal("binary-spellings", classes=4)) as caught:
        read_ratings(table, task="single")
    message = str(caught.value)
    call = eval(f"dict({message[message.index('classes=') : message.index('` makes')]})")
    assert call == caught.value.go_on
    two = read_ratings(table, task="single", **call)
    assert two.task.labels[0].classes == ("no", "yes")
    assert two.answers.ravel().tolist() == [1, 1, 0, 0]
    table["label"] = ["1", "0", "1", "0"]
    assert read_ratings(table, task="single").accounting.notes == ()
    table["label"] = ["1", "0", "2", "0"]
    assert read_ratings(table, task="single").accounting.notes == ()


def test_a_task_file_keeps_classes_that_differ_in_case_apart(tmp_path: Path) -> None:
    task = tmp_path / "tags.toml"
    task.write_text(
        'name = "tags"\ndescription = "Tags."\nmetrics = []\n\n[[labels]]\nname = "tag"\n'
        'description = "Tag."\nclasses = ["in", "IN"]\n',
        encoding="utf-8",
    )
    table = pd.DataFrame({"item": [1, 1], "rater": ["a", "b"], "tag": ["IN", "in"]})
    assert read_ratings(table, task=task).answers.ravel().tolist() == [1, 0]


def test_dates_with_dots_are_day_month_year() -> None:
    days = ["05.03.2024", "28.02.2024", "1.12.2023"]
    table = pd.DataFrame(
        {"item": [1, 2, 3], "rater": "a", "label": ["x", "y", "x"], "session": days}
    )
    ratings = read_ratings(table, task="single")
    assert ratings.sessions == tuple(reversed(days))
    assert any("by date (day.month.year)" in note for note in ratings.accounting.notes)
    table["session"] = ["05.03.2024", "28.02.2024", "31.02.2024"]  # no such day: no date
    assert read_ratings(table, task="single").sessions == tuple(table["session"])


def test_places_in_a_table_beside_the_ratings_carry_its_name(tmp_path: Path) -> None:
    rated = RETRIEVAL.assign(chunk_id=["a", "b", "c"])
    panels = tmp_path / "lists.csv"
    panels.write_text("chunk_id,query_id,rank\na,q1,1\nb,q1,1\nc,q2,1\n", encoding="utf-8")
    said = refused(rated, task="retrieval", item="chunk_id", panels=panels)
    assert "(lists.csv, column rank, lines 2, 3)" in said
    truth = tmp_path / "gold.csv"
    truth.write_text("item,relevance\n1,perhaps\n", encoding="utf-8")
    table = pd.DataFrame({"item": [1, 2], "rater": "a", "relevance": ["no", "yes"]})
    said = refused(table, task="relevance", truth=truth)
    assert "(gold.csv, column relevance, line 2)" in said

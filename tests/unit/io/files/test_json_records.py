"""JSON as records, also read one by one."""

import json

import pytest

from assay._util.errors import RatingsError
from assay.io.files.json_records import (
    flattened,
    looks_like_json,
    records_of,
    stream_records,
    without_lone_surrogates,
)
from tests.refusals import refusal


def test_a_header_in_brackets_is_no_json() -> None:
    assert [
        looks_like_json(text) for text in ('[{"a": 1}]', '{"a": 1}\n{"a": 2}', "[id],label")
    ] == [True, True, False]


def test_lone_surrogates_become_question_marks() -> None:
    assert (
        without_lone_surrogates(r'"\ud83d\ude00 \ud83d \\ud83d"') == '"\\ud83d\\ude00 ? \\\\ud83d"'
    )


def test_columns_and_nested_lists_become_records() -> None:
    assert records_of({"item": ["a", "b"], "label": [1, 0]}) == [
        {"item": "a", "label": 1},
        {"item": "b", "label": 0},
    ]
    assert records_of({"data": [{"item": "a"}], "version": 1}) == [{"item": "a"}]


def test_each_rating_of_a_nested_list_is_a_row() -> None:
    rows, of = flattened([{"id": 7, "ratings": [{"rater": "a", "says": {"label": "x"}}] * 2}])
    assert (rows[0], of) == ({"id": 7, "rater": "a", "label": "x"}, [0, 0])


def test_records_side_by_side_are_rows_if_each_names_its_system() -> None:
    one = {"model": "a", "score": 3}, {"model": "b", "score": 5}
    rows, of = flattened([{"id": 7, "summary 1": one[0], "summary 2": one[1]}])
    assert rows == [{"id": 7, "summary": str(n), **one[n - 1]} for n in (1, 2)]
    assert of == [0, 0]
    rows, _ = flattened([{"id": 7, "texts": {"p": one[0], "q": one[1]}}])
    assert [row["texts"] for row in rows] == ["p", "q"]
    pair = {"a": {"id": 1, "text": "p"}, "b": {"id": 2, "text": "q"}}
    rows, _ = flattened([{"pair": pair, "winner": "a"}])  # what is compared is no rating
    assert len(rows) == 1
    asked = {"tone": {"score": 1, "why": ""}, "length": {"score": 2, "why": ""}}
    rows, _ = flattened([{"id": 7, "answers": asked}])  # may be questions: these stay columns
    assert len(rows) == 1


def test_no_part_of_several_takes_the_name_of_all() -> None:
    record = {"id": 7, "tone": {"verdict": "a", "why": ""}, "length": {"verdict": "b"}}
    rows, _ = flattened([record])
    assert set(rows[0]) == {"id", "tone.verdict", "length.verdict", "why"}


def test_objects_are_numbered() -> None:
    assert list(stream_records('[{"a": 1}, {"a": 2}]', "a.json")) == [(1, {"a": 1}), (2, {"a": 2})]
    assert list(stream_records('{"a": 1}\n\n{"a": 2}', "a.json")) == [(1, {"a": 1}), (3, {"a": 2})]
    assert list(stream_records(" [ ] \n", "a.json")) == []


def test_json_that_is_cut_anywhere_is_refused() -> None:
    records = [{"a": 1, "b": [{"c": "x]"}]}, {"a": 2}, {"a": 3}]
    for text in (json.dumps(records), json.dumps(records, indent=1)):
        for end in range(1, len(text)):
            with pytest.raises(RatingsError, check=refusal("json-file")):
                list(stream_records(text[:end], "a.json"))


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ('[{"a": 1}, {"a": 2}', "2 whole records"),
        ('[{"a": 1}, {"a": 2},', "2 whole records"),
        ('[{"a": 1}, {"a"', "1 whole record"),
        ('[{"a": 1} {"a": 2}]', "1 whole record"),
        ('[{"a": 1}, {"a": 2}] {"a": 3}', "2 whole records"),
        ('[{"a": 1}]]', "1 whole record"),
        ('{"a": 1}\n{"a": 2', "1 whole record"),
        ('{"a": 1}]', "1 whole record"),
        ('{"a": 1},\n{"a": 2}', "1 whole record"),
    ],
)
def test_damage_is_told_with_the_records_before_it(text: str, whole: str) -> None:
    with pytest.raises(RatingsError, match=f"after {whole}", check=refusal("json-file")):
        list(stream_records(text, "a.json"))

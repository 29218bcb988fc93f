"""JSON whose records are read one by one."""

import json

import pytest

from assay._util.errors import RatingsError
from assay.io.files.json_records import stream_records
from tests.refusals import refusal


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

import pandas as pd

from assay.data.task import Label
from assay.io.wide_tables import _called_alike, answer_columns, names_people, vote_columns


def test_columns_of_classes_are_found() -> None:
    frame = pd.DataFrame({"case": ["1", "2"], "Ann": ["yes", "no"], "Ben": ["no", ""]})
    assert answer_columns(frame, Label(name="ill")) == ["Ann", "Ben"]


def test_names_may_differ_in_one_number() -> None:
    assert [_called_alike(name, ["1_Q1", "2_Q1"]) for name in ("30_Q1", "3_Q2", "note")] == [
        True,
        False,
        False,
    ]


def test_columns_of_people_are_known_by_name() -> None:
    assert [
        names_people(name) for name in ("Email Address", "tone.responses.users", "subject")
    ] == [True, True, False]


def test_columns_of_steady_sums_are_votes() -> None:
    frame = pd.DataFrame({"unit": ["1", "2", "3"], "a": ["3", "0", "2"], "b": ["0", "3", "1"]})
    assert vote_columns(frame) == ["a", "b"]

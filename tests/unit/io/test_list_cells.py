import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.data.task import Label
from assay.io import read_ratings
from assay.io.list_cells import is_nested, joined_answers, lists_of, parallel, task_line
from tests.refusals import refusal


def test_lists_of_equal_lengths_are_parallel() -> None:
    frame = pd.DataFrame({"who": ['["a", "b"]', "[]"], "said": ["[1, 2]", ""], "n": [1, 2]})
    assert parallel(frame.astype("str"), "who") == ["who", "said"]


def test_printed_lists_and_dicts_are_nested() -> None:
    assert [is_nested(cell) for cell in ("['a' 'b']", '{"a": 1}', "(1, 2)", "[a]", "(none)")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_column_of_lists_has_lists_only() -> None:
    assert lists_of(pd.Series(['["a", "b"]', ""])) == {'["a", "b"]': ["a", "b"], "": []}
    assert lists_of(pd.Series(['["a", "b"]', "c"])) == {}


LONG = [(n, rater, "xy"[n % 3 == (rater == "b")]) for n in range(12) for rater in "ab"]


def test_parts_of_the_name_of_an_item_are_joined() -> None:
    rows = [(["p", f"q{n}"], rater, label) for n, rater, label in LONG]
    ratings = read_ratings(pd.DataFrame(rows, columns=["item", "rater", "label"]))
    assert list(ratings.items.index) == [f"p/q{n}" for n in range(12)]
    codes = [getattr(note, "code", "") for note in ratings.accounting.notes]
    assert "name-lists" in codes


def test_only_lists_of_answers_are_votes() -> None:
    rows = [(["a sentence", f"and {n}"], n, label) for n, _, label in LONG]
    frame = pd.DataFrame(rows, columns=["text", "item", "label"])
    assert len(read_ratings(frame, rater="row").answers) == len(LONG)


def test_parts_must_be_answers_by_themselves() -> None:
    single = Label(name="label", classes=())
    assert joined_answers(["calm", "calm|sad", "sad"], single).options == ("calm", "sad")
    joined_answers(["agree, strongly", "disagree, strongly", "neutral"], single)


def test_each_option_is_a_label() -> None:
    assert task_line(["calm", "sad"]) == 'labels = [{name = "calm"}, {name = "sad"}]'


@pytest.mark.parametrize("exploded", [True, False])
def test_rows_are_options_for_the_reason_that_was_found(exploded: bool) -> None:
    chosen = [["calm", "sad", "calm"] if exploded else ["calm", "sad"], ["angry"]] * 12
    table = pd.DataFrame({"item": range(24), "rater": list("ab") * 12, "label": chosen})
    rows = table.explode("label", ignore_index=not exploded)
    with pytest.raises(RatingsError, check=refusal("multi-select-rows")) as caught:
        read_ratings(rows, replicate="row")
    assert ("never the same one twice" in str(caught.value)) != exploded
    assert ("come from one row" in str(caught.value)) == exploded

"""What the caller says of columns and cells."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import AssayError, RatingsError
from assay.io import read_ratings
from assay.io.arguments import COLUMNS, ONE_COLUMN, PER_LABEL, Arguments
from tests.refusals import refusal

TABLE = pd.DataFrame({"item": [1, 1, 2, 2], "rater": list("abab"), "label": list("xyxx")})


def test_the_callers_arguments_take_precedence_over_the_format() -> None:
    assert Arguments(item="text").with_known({"item": "id", "rater": "who"}).roles["rater"] == "who"


@pytest.mark.parametrize("name", [*ONE_COLUMN, *COLUMNS, *PER_LABEL, "labels", "group"])
@pytest.mark.parametrize("given", [-1, 2.5, True, b"item", TABLE], ids=str)
def test_arguments_that_name_no_column_are_refused(name: str, given: Any) -> None:
    with pytest.raises(AssayError, check=refusal("argument-type")):
        read_ratings(TABLE, **{name: given})


@pytest.mark.parametrize("name", [*COLUMNS, "labels", "group"])
def test_lists_hold_names_only(name: str) -> None:
    given: Any = {name: ["item", None]}
    with pytest.raises(AssayError, check=refusal("argument-type")) as caught:
        read_ratings(TABLE, **given)
    assert caught.value.go_on == {name: None}


@pytest.mark.parametrize("kind", [tuple, np.array, pd.Index, pd.Series])
def test_columns_may_be_given_as_an_array(kind: Any) -> None:
    wide = pd.DataFrame({"item": [1, 2], "ann": ["x", "y"], "bob": ["x", "x"]})
    assert len(read_ratings(wide, wide=kind(["ann", "bob"])).raters) == 2


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"format": ["table"]}, "argument-names"),
        ({"format": TABLE}, "argument-names"),
        ({"sheet": 1}, "argument-names"),
        ({"encoding": b"utf-8"}, "argument-names"),
        ({"set_aside": "no"}, "argument-flag"),
    ],
)
def test_arguments_of_a_wrong_type_are_refused(given: dict[str, Any], code: str) -> None:
    with pytest.raises(AssayError, check=refusal(code)):
        read_ratings(TABLE, **given)


def test_a_truth_whose_items_have_no_names_is_refused() -> None:
    truth = pd.DataFrame({"item": ["", " "], "label": ["x", "y"]})
    with pytest.raises(AssayError, check=refusal("truth-unmatched")):
        read_ratings(TABLE, truth=truth)


@pytest.mark.parametrize(
    "given",
    [
        {"labels": "said", "item": "said"},
        {"labels": {"label": "said"}, "rater": "Said"},
        {"value": "said", "item": ["doc", "said"]},
        {"labels": "said", "truth": "said"},
        {"labels": "said", "rater": "who", "item": "who"},
    ],
    ids=str,
)
def test_a_column_in_two_roles_is_refused_by_its_name(given: dict[str, Any]) -> None:
    table = pd.DataFrame({"doc": list("112233"), "who": list("ababab"), "said": list("xyxxyy")})
    with pytest.raises(RatingsError, match="cannot be both") as caught:
        read_ratings(table, **given)
    (problem,) = caught.value.problems
    assert problem.code == "two-roles"
    kept = {name: value for name, value in given.items() if name not in problem.go_on}
    ratings = read_ratings(table, **({"item": "doc", "rater": "who"} | kept))
    assert (len(ratings.items), len(ratings.raters)) == (3, 2)


def test_a_column_may_have_two_roles_that_it_can_have() -> None:
    table = pd.DataFrame({"doc": list("112233"), "who": list("ababab"), "said": list("xyxxyy")})
    ratings = read_ratings(
        table, item="doc", cluster="doc", rater="who", group="who", labels="said"
    )
    assert len(ratings.items) == 3


def test_a_column_proposed_for_the_answers_is_proposed_for_nothing_else() -> None:
    words, said = ["agree", "unsure", "against", "no idea"], {}
    for n in (1, 2, 3):
        said[f"rater{n}_rating"] = [words[k * n % 4] for k in range(40)]
        said[f"rater{n}_reason"] = [f"as {k} is {n}" for k in range(40)]
    table = pd.DataFrame({"item_id": [f"s{k}" for k in range(40)], **said})
    with pytest.raises(RatingsError) as caught:
        read_ratings(table)
    labels = caught.value.go_on["labels"]
    assert caught.value.go_on["rater"] not in labels

"""Names as clean strings, and names that nearly match."""

import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import RatingsError
from assay.io import read_ratings
from assay.io.identifiers import clean_ids, folded, like_named, near_groups


def test_whole_numbers_lose_their_decimals() -> None:
    assert clean_ids(pd.Series([" 1.0", "2.0", ""], dtype="str")).tolist() == ["1", "2", ""]


def test_keys_that_join_to_one_name_are_found() -> None:
    frame = pd.DataFrame({"query": ["a/b", "a"], "chunk": ["c", "b/c"]}, dtype="str")
    assert repr(like_named(frame, ["query", "chunk"])) == "array([0, 1])"


def test_names_that_nearly_match_fold_alike() -> None:
    assert (folded("I1") == folded("i01"), folded("Аnna") == folded("Anna"), folded("a b")) == (
        True,
        True,
        "a b",
    )


def test_nearly_matching_names_are_grouped() -> None:
    assert near_groups(["01", "2", "1", "Bea", "bea"]) == [["01", "1"], ["Bea", "bea"]]


@pytest.mark.parametrize(("number", "name"), [("id", "url"), ("item", "abstract"), ("id", "text")])
def test_numbers_that_restart_for_each_rater_are_not_the_item_unasked(
    number: str, name: str
) -> None:
    rows = [
        (n + 1, f"doc{(5 * k + 3 * n) % 8}", rater, "ab"[(k + n) % 2])
        for k, rater in enumerate(("eva", "finn", "gus")) for n in range(8)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=[number, name, "rater", "label"])
    with pytest.raises(RatingsError, check=refusal("which-item", columns=2)) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"item": name}
    assert read_ratings(frame, item=name).items.index[0] == "doc0"
    assert len(read_ratings(frame, item=number).items) == 8
    remarks = frame.assign(**{name: [f"remark {n}" for n in range(len(frame))]})
    ranks = frame.assign(**{name: frame[name].str.removeprefix("doc")})
    systems = frame.rename(columns={name: "system"})
    alike = frame.assign(**{name: "doc" + frame[number].astype(str)})
    for other in (remarks, ranks, alike):
        assert read_ratings(other).items.index[0] == "1"
    assert "which-item" not in _codes(systems)


def _codes(frame: pd.DataFrame) -> list[str]:
    try:
        read_ratings(frame)
    except RatingsError as error:
        return [problem.code for problem in error.problems]
    return []

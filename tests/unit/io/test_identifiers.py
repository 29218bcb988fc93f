"""Names as clean strings, and names that nearly match."""

import pandas as pd

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

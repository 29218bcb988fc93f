import pandas as pd

from assay.io.identifiers import clean_ids, like_named


def test_whole_numbers_lose_their_decimals() -> None:
    assert clean_ids(pd.Series([" 1.0", "2.0", ""], dtype="str")).tolist() == ["1", "2", ""]


def test_keys_that_join_to_one_name_are_found() -> None:
    frame = pd.DataFrame({"query": ["a/b", "a"], "chunk": ["c", "b/c"]}, dtype="str")
    assert repr(like_named(frame, ["query", "chunk"])) == "array([0, 1])"

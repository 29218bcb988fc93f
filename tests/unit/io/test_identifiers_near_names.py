from assay.io.identifiers import folded, near_groups


def test_names_that_nearly_match_fold_alike() -> None:
    assert (folded("I1") == folded("i01"), folded("Аnna") == folded("Anna"), folded("a b")) == (
        True,
        True,
        "a b",
    )


def test_nearly_matching_names_are_grouped() -> None:
    assert near_groups(["01", "2", "1", "Bea", "bea"]) == [["01", "1"], ["Bea", "bea"]]

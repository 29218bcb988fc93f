from assay.io.missing_words import with_words


def test_with_words_example() -> None:
    assert with_words({"a": {"x": "y"}}, {"a": {"x": "", "z": ""}}) == {"a": {"x": "y", "z": ""}}

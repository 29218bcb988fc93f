from assay.io.answer_words import with_words


def test_the_first_meaning_of_a_word_holds() -> None:
    assert with_words({"a": {"x": "y"}}, {"a": {"x": "", "z": ""}}) == {"a": {"x": "y", "z": ""}}

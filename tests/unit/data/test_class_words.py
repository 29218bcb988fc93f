"""Spellings of classes."""

import pytest

from assay.data.class_words import canonical, no_before_yes


def test_equal_numbers_and_words_have_one_spelling():
    assert [canonical(text) for text in (" 2.0 ", "Yes")] == ["2", "yes"]


@pytest.mark.parametrize(
    ("pair", "expected"),
    [(("0", "1"), True), (("nein", "ja"), True), (("ja", "nein"), False), (("a", "b"), False)],
)
def test_no_comes_before_yes_in_several_languages(pair, expected):
    assert no_before_yes(pair) is expected

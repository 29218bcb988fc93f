"""A typed command, divided into options with their values."""

from assay._util.typed_options import is_option, typed_options


def test_numbers_and_standard_input_are_no_options() -> None:
    assert [is_option(word) for word in ("--item", "-o", "-1", "-", "item")] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_options_end_with_their_values_or_at_the_next_option() -> None:
    takes = {"--wide": 9, "--item": 1, "--range": 2, "-q": 0}
    words = ["fit", "--wide", "A", "-1", "--item=x", "a.csv", "-q", "b.csv", "--range", "0", "1"]
    words += ["--item", "--wide"]
    found = list(typed_options(words, lambda name: takes[name]))
    assert found == [
        ("", ["fit"]),
        ("--wide", ["--wide", "A", "-1"]),
        ("--item", ["--item=x"]),
        ("", ["a.csv"]),
        ("-q", ["-q"]),
        ("", ["b.csv"]),
        ("--range", ["--range", "0", "1"]),
        ("--item", ["--item"]),
        ("--wide", ["--wide"]),
    ]

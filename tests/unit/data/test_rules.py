import numpy as np
import pytest
from refusals import refusal

from assay._util.errors import TaskError
from assay.data.rules import NOT_ASKED, as_written, parse

CLASSES = {"a": ("no", "yes"), "b": ("no", "yes"), "c": ("low", "mid", "high")}
A, B = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])

TRUTH_TABLES = {
    "a": [0, 0, 1, 1],
    "not a": [1, 1, 0, 0],
    "a and b": [0, 0, 0, 1],
    "a or b": [0, 1, 1, 1],
    "a -> b": [1, 1, 0, 1],
    "a -> not b": [1, 1, 1, 0],
    "not a or b": [1, 1, 0, 1],
    "not (a or b)": [1, 0, 0, 0],
    "a == yes and b != yes": [0, 0, 1, 0],
    "exactly_one(a, b)": [0, 1, 1, 0],
    "at_most_one(a, b)": [1, 1, 1, 0],
    "at_least_one(a, b)": [0, 1, 1, 1],
}


@pytest.mark.parametrize("text", TRUTH_TABLES)
def test_truth_table(text: str) -> None:
    assert parse(text, CLASSES)({"a": A, "b": B}).tolist() == [bool(v) for v in TRUTH_TABLES[text]]


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("a or b and not a", "a or (b and (not a))"),
        ("a -> b -> a", "a -> (b -> a)"),
        ("a and b -> b or a", "(a and b) -> (b or a)"),
    ],
)
def test_precedence(text: str, same_as: str) -> None:
    codes = {"a": A, "b": B}
    assert (parse(text, CLASSES)(codes) == parse(same_as, CLASSES)(codes)).all()


@pytest.mark.parametrize("text", ["c == mid", "c != mid", "not c == low and c != mid"])
def test_what_is_not_asked_satisfies_no_comparison(text: str) -> None:
    expected = text.startswith("not")  # "not" turns the false comparison; the "and" then fails
    value = parse(text.split(" and ")[0], CLASSES)({"c": np.array([NOT_ASKED])})
    assert value.tolist() == [expected]


def test_a_bare_label_that_is_not_asked_is_false() -> None:
    assert not parse("a", CLASSES)({"a": np.array([NOT_ASKED])}).any()


def test_an_expression_names_its_labels_once_in_order() -> None:
    assert parse("b -> a and b", CLASSES).labels == ("b", "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a ->", "cannot be read"),
        ("a b", "cannot be read at character 3"),
        ("", "cannot be read"),
        ("(a", "cannot be read"),
        ("exactly_one()", "cannot be read"),
        ("aa -> b", "did you mean a?"),
        ("c -> a", "Write c == low"),
        ("c == hihg", "did you mean high?"),
    ],
)
def test_an_error_says_what_is_wrong_and_what_is_valid(text: str, words: str) -> None:
    with pytest.raises(TaskError) as caught:
        parse(text, CLASSES)
    assert words in str(caught.value)


def test_classes_may_be_numbers_and_quoted_words() -> None:
    classes = {"grade": ("1", "2"), "my label": ("not sure", "sure")}
    codes = {"grade": np.array([0, 1]), "my label": np.array([0, 1])}
    assert parse("grade == 2", classes)(codes).tolist() == [False, True]
    assert parse("'my label' == \"not sure\"", classes)(codes).tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exactly_one_good -> not other", [True, False]),
        ("exactly_one (exactly_one_good, other)", [False, False]),
        ("at_least_one(exactly_one_good)", [False, True]),
    ],
)
def test_a_label_may_begin_with_the_name_of_a_count(text: str, expected: list[bool]) -> None:
    classes = {"exactly_one_good": ("no", "yes"), "other": ("no", "yes")}
    codes = {"exactly_one_good": np.array([0, 1]), "other": np.array([0, 1])}
    assert parse(text, classes)(codes).tolist() == expected


def test_quotes_inside_a_name_belong_to_it() -> None:
    classes = {"c": ("'tis", "the dogs'")}
    assert parse('c == "\'tis"', classes)({"c": np.array([0, 1])}).tolist() == [True, False]
    assert parse('c == "the dogs\'"', classes)({"c": np.array([0, 1])}).tolist() == [False, True]


def test_what_an_error_proposes_can_be_read() -> None:
    classes = {"art & form": ("not sure", "sure", "x"), "b": ("no", "yes")}
    with pytest.raises(TaskError, check=refusal("rule-not-binary")):
        parse("'art & form' -> b", classes)
    assert parse("'art & form' == 'not sure' -> b", classes).labels == ("art & form", "b")


@pytest.mark.parametrize("name", ["ok", "not sure", "it's", 'is it "ok"?', "a\\b"])
def test_names_are_written_as_rules_read_them(name):
    rule = parse(as_written(name), {name: ("no", "yes")})
    assert rule({name: np.array([0, 1])}).tolist() == [False, True]

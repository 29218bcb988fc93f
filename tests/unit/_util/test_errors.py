import math

from assay._util.errors import going_on, plain_numbers, suggest


def test_plain_numbers_example() -> None:
    assert plain_numbers({"items": 3, "share": 0.5, "k_hat": math.inf}) == {
        "items": 3,
        "share": 0.5,
    }


def test_going_on_example() -> None:
    assert going_on({"item": "text"}) == "\nGo on with `item='text'`"


def test_suggest_example() -> None:
    assert suggest("retreival", ["ais", "retrieval"]) == "did you mean retrieval?"
    assert suggest("zzz", ["ais", "retrieval"]) == "valid: ais, retrieval"

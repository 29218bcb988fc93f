import math

from assay._util.errors import going_on, plain_numbers, suggest


def test_infinite_numbers_are_left_out() -> None:
    assert plain_numbers({"items": 3, "share": 0.5, "k_hat": math.inf}) == {
        "items": 3,
        "share": 0.5,
    }


def test_a_refusal_ends_with_the_arguments_that_continue() -> None:
    assert going_on({"item": "text"}) == "\nGo on with `item='text'`"


def test_near_names_are_suggested() -> None:
    assert suggest("retreival", ["ais", "retrieval"]) == "did you mean retrieval?"
    assert suggest("zzz", ["ais", "retrieval"]) == "valid: ais, retrieval"

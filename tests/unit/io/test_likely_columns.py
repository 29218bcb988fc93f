import pandas as pd

from assay.io.likely_columns import likely_answers, likely_columns, likely_key


def test_item_rater_and_answer_are_guessed() -> None:
    rows = [(f"t{n // 2}", "ab"[n % 2], "yn"[n % 3 % 2]) for n in range(20)]
    frame = pd.DataFrame(rows, columns=["text", "who", "ok"])
    assert likely_columns(frame, ["text", "who", "ok"], {}) == {
        "item": "text",
        "rater": "who",
        "answer": "ok",
    }


def test_columns_of_the_item_are_no_answers() -> None:
    rows = [("a", "p", "en", "y"), ("a", "q", "en", "n"), ("b", "p", "de", "n")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "language", "ok"])
    assert likely_answers(frame, ["language", "ok"], ["item"], ["rater"]) == ["ok"]


def test_the_smallest_unique_key_is_guessed() -> None:
    rows = [(q, m, r) for q in "pqs" for m in "AB" for r in "xy"]
    frame = pd.DataFrame(rows, columns=["Thema", "model", "rater"])
    assert likely_key(frame, ["Thema"], ["model"], ["rater"]) == ["Thema", "model"]

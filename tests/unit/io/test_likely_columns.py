import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.io import read_ratings
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


def test_a_key_of_several_columns_is_found_that_no_name_recommends() -> None:
    rows = [
        (f"https://a.org/{n // 4}", f"{n // 8}/2/2025", ("intro", "api")[n % 2], f"{n % 4}", rater,
         f"{n * k}" if n % 3 else "", "xyz"[(n + k) % 3])
        for n in range(48) for k, rater in enumerate(("ann", "ben", "cat")) if (n + k) % 5
    ]  # fmt: skip
    columns = ["url", "date", "section", "place", "rater", "comment", "verdict"]
    frame = pd.DataFrame(rows, columns=columns, dtype="str")
    free = ["url", "date", "section", "place", "comment"]
    assert likely_key(frame, free, [], ["rater"], wide=True) == ["url", "place"]
    assert likely_key(frame, free[:3], [], ["rater"], wide=True) == []
    assert likely_key(frame, free, [], ["rater"]) == []


def test_a_message_names_all_columns_of_the_item() -> None:
    rows = [
        (f"https://a.org/{n // 4}", f"part {n % 4}", rater, "xyz"[(n + k) % 3])
        for n in range(48) for k, rater in enumerate(("ann", "ben", "cat")) if (n + k) % 5
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["url", "section", "reviewer", "verdict"])
    for given in ({}, {"item": "url"}):
        with pytest.raises(RatingsError) as caught:
            read_ratings(frame, **given)
        assert caught.value.go_on["item"] == ["url", "section"]
        assert len(read_ratings(frame, **caught.value.go_on).items) == 48


def test_a_system_is_part_of_the_item_and_remarks_are_no_raters() -> None:
    rows = [
        (f"t{n}", bot, rater, "hm" if n % 2 else "", "yn"[(n + k) % 3 % 2])
        for n in range(12) for bot in "AB" for k, rater in enumerate("abc") if (n + k) % 4
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["text", "chatBot", "wer", "comment", "ok"], dtype="str")
    guess = {"item": "text", "rater": "wer", "answer": "ok", "system": "chatBot"}
    assert likely_columns(frame, list(frame), {}) == guess
    assert "rater" not in likely_columns(frame.drop(columns="wer"), ["text", "comment", "ok"], {})
    again = pd.concat([frame, frame.head(4).assign(ok="y")])
    assert likely_columns(again, list(frame), {}) == guess

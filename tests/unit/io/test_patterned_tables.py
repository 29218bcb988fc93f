"""Columns whose names have several parts: the refusal ends with the pattern that reads them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.io.name_patterns import find_grid, parts_of
from assay.io.reader import read_ratings

ROWS = 16
SYSTEMS, RATERS, LABELS = ["llama", "qwen", "gpt-4"], ["ann", "bob"], ["relevance", "fluency"]
SEED = 3
rng = np.random.default_rng(SEED)


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Draw the same answers in whatever order the tests run."""
    global rng
    rng = np.random.default_rng(SEED)


def answers(classes: str = "0123") -> list[str]:
    return rng.choice(list(classes), ROWS).tolist()


def read_as_told(frame: pd.DataFrame) -> tuple[dict[str, Any], Any]:
    """Read a table with the arguments that the refusal ends with."""
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    go_on = dict(caught.value.go_on)
    return go_on, read_ratings(frame, **go_on)


@pytest.mark.parametrize(
    "pattern",
    ["{system}.{label}.{rater}", "{rater} | {system} | {label}", "{label}__{rater}__{system}"],
)
def test_names_of_a_system_a_question_and_a_rater(pattern: str) -> None:
    cells = {
        pattern.format(system=system, rater=rater, label=label): answers("0123"[k:])
        for system in SYSTEMS for rater in RATERS for k, label in enumerate(LABELS)
    }  # fmt: skip
    frame = pd.DataFrame({"query_id": [f"q{n}" for n in range(ROWS)]} | cells)
    go_on, ratings = read_as_told(frame)
    assert go_on == {"wide": pattern}
    assert (set(ratings.raters.index), set(ratings.systems)) == (set(RATERS), set(SYSTEMS))
    assert set(ratings.task.label_names) == set(LABELS)
    assert (len(ratings.items), ratings.items["cluster"].nunique()) == (48, ROWS)
    for column, told in cells.items():
        parts = parts_of([*cells], pattern)[column]
        item = ratings.items.index.get_indexer([f"q5/{parts['system']}"])[0]
        rater = ratings.raters.index.get_loc(parts["rater"])
        n = ratings.task.label_names.index(parts["label"])
        (row,) = np.flatnonzero((ratings.item == item) & (ratings.rater == rater))
        assert ratings.task.labels[n].classes[ratings.answers[row, n]] == told[5]


def test_a_word_that_all_names_share_is_no_part_and_remarks_are_no_answers() -> None:
    cells = {
        f"{system}_{rater}_{what}": answers() if what == "score" else [f"well {n % 5}"] * ROWS
        for n, system in enumerate(SYSTEMS) for rater in RATERS for what in ("score", "comment")
    }  # fmt: skip
    go_on, ratings = read_as_told(pd.DataFrame({"Prompt-ID": range(ROWS)} | cells))
    assert go_on == {"wide": "{system}_{rater}_score"}
    assert (sorted(ratings.systems), sorted(ratings.raters.index)) == (sorted(SYSTEMS), RATERS)


def test_words_before_the_parts_say_what_they_are() -> None:
    cells = {
        f"outputs.{system}.ratings.{rater}": answers() for system in ("m7", "m9") for rater in "uv"
    }
    go_on, ratings = read_as_told(pd.DataFrame({"id": range(ROWS)} | cells))
    assert go_on == {"wide": "outputs.{system}.ratings.{rater}"}
    assert list(ratings.systems) == ["m7", "m9"]


@pytest.mark.parametrize("pattern", ["Text {item}: {label}", "{label} [Reply {item}]"])
def test_questions_of_a_form_about_several_items(pattern: str) -> None:
    asked = {"Is it faithful?": ["No", "Yes"], "How fluent is it?": ["1", "2", "3", "4", "5"]}
    cells = {
        pattern.format(item=n, label=label): rng.choice(classes, 6)
        for n in range(1, 10) for label, classes in asked.items()
    }  # fmt: skip
    people = {"Timestamp": ["2024/03/01"] * 6, "Email Address": [f"u{n}@x.org" for n in range(6)]}
    go_on, ratings = read_as_told(pd.DataFrame(people | cells))
    assert go_on.keys() == {"wide"}
    assert set(ratings.task.label_names) == set(asked)
    assert (len(ratings.items), len(ratings.raters), len(ratings.answers)) == (9, 6, 54)


def test_one_slot_names_raters_without_the_rest_of_the_name() -> None:
    frame = pd.DataFrame({"id": range(ROWS), "score_ann": answers(), "score_bob": answers()})
    ratings = read_ratings(frame, wide="score_{rater}")
    assert list(ratings.raters.index) == RATERS


def test_columns_that_share_no_values_are_no_grid() -> None:
    cells = {
        f"{system}.{label}.{rater}": [f"{system}{rater}{label}{n % 3}" for n in range(ROWS)]
        for system in SYSTEMS for rater in RATERS for label in LABELS
    }  # fmt: skip
    assert find_grid(pd.DataFrame(cells), [*cells]) is None


def test_names_with_a_part_in_brackets() -> None:
    cells = {f"{system} ({rater})": answers("xy") for system in SYSTEMS for rater in RATERS}
    go_on, ratings = read_as_told(pd.DataFrame({"Prompt": range(ROWS)} | cells))
    assert go_on == {"wide": "{system} ({rater})"}
    assert len(ratings.items) == 3 * ROWS


def test_the_answer_that_is_rated_is_no_label() -> None:
    frame = pd.DataFrame({
        "Question": [f"q{n // 3}" for n in range(36)],
        "Answer": [f"text {n // 3}" for n in range(36)],
        "Rater": list("uvw") * 12, "Correctness": rng.choice(["right", "partly", "wrong"], 36),
    })  # fmt: skip
    assert read_as_told(frame)[1].task.label_names == ("Correctness",)


def test_the_order_of_a_pair_numbers_replicates() -> None:
    rows = [
        (q, *(pair if order == 1 else pair[::-1]), judge, order, rng.choice(list("ABC")))
        for q in range(16) for pair in (("gpt-4", "llama"), ("gpt-4", "qwen"), ("llama", "qwen"))
        for judge in ("u", "v") for order in (1, 2)
    ]  # fmt: skip
    names = ["question_id", "model_1", "model_2", "judge", "order", "verdict"]
    go_on, ratings = read_as_told(pd.DataFrame(rows, columns=names))
    assert go_on["replicate"] == "order"
    assert "system" not in go_on
    assert (len(ratings.items), len(ratings.answers)) == (48, 192)


def test_a_slot_that_stands_twice_is_refused() -> None:
    frame = pd.DataFrame({"id": range(ROWS), "a_b": answers(), "b_a": answers()})
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame, wide="{rater}_{rater}")
    assert caught.value.code == "unknown-column"


def test_times_are_no_systems() -> None:
    cells = {f"{who}_{q}_{when}": answers() for who in RATERS for q in ("q1", "q2")
             for when in ("pre", "post")}  # fmt: skip
    grid = find_grid(pd.DataFrame(cells), [*cells])
    assert grid is None or "system" not in grid.pattern
